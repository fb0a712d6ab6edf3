"""Step selection against the procedure of spec 08 §3 written out recursively, over random plans and records."""

import random
from typing import Any

from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.score.selection import SelectionPlan
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.run_record import SealedRunRecord
from support import judgment as j

ABSENT = object()


class Literal:
    """The chapter's own steps: tiers first, then captured values, then filtered selection, with a guarded recursion."""

    def __init__(self, plan: list[dict[str, Any]], observations: list[dict[str, Any]]) -> None:
        self.plan = {step["stepId"]: step for step in plan}
        self.seen = sorted(observations, key=lambda one: (one["sequence"], one["observationId"]))
        self.sites: dict[tuple[str, str], tuple[Any, int]] = {}
        self.tiers = self.place()
        for tier in self.tiers:
            for step_id in tier:
                for key, pointer in self.captures(step_id):
                    self.resolve(step_id, key, pointer)

    def captures(self, step_id: str) -> list[tuple[str, str]]:
        bound = self.plan[step_id]["inputBinding"]["option"] or {}
        return [(key, value["captured"]) for key, value in bound.items() if "captured" in value]

    def depends(self, step_id: str) -> set[str]:
        named = {pointer.split("/")[2] for _, pointer in self.captures(step_id)} | {self.plan[step_id]["after"]}
        return {name for name in named if name in self.plan}

    def place(self) -> list[list[str]]:
        placed: set[str] = set()
        tiers = []
        while True:
            tier = [name for name in self.plan if name not in placed and self.depends(name) <= placed]
            if not tier:
                return tiers
            tiers.append(tier)
            placed |= set(tier)

    def resolve(self, step_id: str, key: str, pointer: str) -> None:
        _, _, source, _, member = pointer.split("/")
        if source not in self.plan:
            return
        one = self.single(source, frozenset())
        if one is not None:
            self.sites[step_id, key] = (one["stdout"]["value"].get(member, ABSENT), one["sequence"])

    def single(self, step_id: str, guard: frozenset[str]) -> dict[str, Any] | None:
        found = self.select(step_id, guard)
        if len(found) == 1 or (found and self.plan[step_id]["cardinality"] == "any"):
            return found[0]
        return None

    def select(self, step_id: str, guard: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
        if step_id in guard:
            return []
        step = self.plan[step_id]
        floor = 0
        if step["after"] in self.plan:
            anchor = self.single(step["after"], guard | {step_id})
            if anchor is None:
                return []
            floor = anchor["sequence"]
        for key, _ in self.captures(step_id):
            if (step_id, key) not in self.sites:
                return []
            floor = max(floor, self.sites[step_id, key][1])
        return [one for one in self.seen if one["sequence"] > floor and self.admits(step_id, one)]

    def admits(self, step_id: str, one: dict[str, Any]) -> bool:
        bound = self.plan[step_id]["inputBinding"]["option"]
        if bound is None:
            return True
        sent = one["callInputs"]["option"]
        if sent is None:
            return False
        for key, value in bound.items():
            if key not in sent:
                return False
            if "captured" in value and self.sites[step_id, key][0] != sent[key]:
                return False
            if "literal" in value and value["literal"] != sent[key]:
                return False
        return True


def random_plan(chance: random.Random) -> list[dict[str, Any]]:
    names = [f"s-{n}" for n in range(chance.randint(1, 6))]
    steps = []
    for name in names:
        bound: dict[str, Any] = {}
        for key in chance.sample(["a", "b"], chance.randint(0, 2)):
            kind = chance.randint(0, 3)
            if kind == 0:
                bound[key] = {"matcher": "any"}
            elif kind == 1:
                bound[key] = {"literal": chance.choice("xyz")}
            else:
                source = chance.choice([*names, "ghost"])
                bound[key] = {"captured": f"/interactions/{source}/stdout/{chance.choice(['t', 'u'])}"}
        steps.append(
            j.step(
                name,
                j.cli_binding(option=bound or None),
                after=chance.choice([None, None, *names, "ghost"]),
                cardinality=chance.choice(["any", "exactly-one", "at-most-one"]),
            )
        )
    return steps


def random_observations(chance: random.Random) -> list[dict[str, Any]]:
    count = chance.randint(0, 6)
    order = chance.sample(range(1, 20), count)
    return [
        j.observation(
            number,
            sequence=sequence,
            callInputs=j.call_inputs(
                option=chance.choice([None, {"a": chance.choice("xyz"), "b": chance.choice("xyz")}, {"a": "x"}])
            ),
            stdout=j.json_body({"t": chance.choice("xyz"), **({"u": "x"} if chance.random() < 0.5 else {})}),
        )
        for number, sequence in enumerate(order, 1)
    ]


def test_s3_selection_is_the_chapters_procedure() -> None:
    chance = random.Random("selection")
    results = {"none": 0, "one": 0, "several": 0}
    for _ in range(600):
        plan, observations = random_plan(chance), random_observations(chance)
        contract = decode(EvalContract, j.contract(interactionPlan=plan), "x")
        record = decode(SealedRunRecord, j.record(observations=observations), "x")
        ordered = sorted(record.observations, key=lambda one: (one.sequence, one.observation_id))
        expected = Literal(plan, observations)
        for found in SelectionPlan(PlanIndex(contract)).select(ordered):
            results[found.result] += 1
            wanted = [one["observationId"] for one in expected.select(found.step_id)]
            assert list(found.observation_ids) == wanted, (plan, observations, found.step_id)
    assert min(results.values()) > 50, results
