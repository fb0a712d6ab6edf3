"""Verdicts read back as reasons, deciding nodes, and the first difference between two documents."""

import random
from typing import Any

import pytest

from eval_quality.core.contract.keys import js_order
from eval_quality.core.difference import Difference, first_difference
from eval_quality.core.evaluation import make_resolve_operand, resolve_check
from eval_quality.core.score.ladder import CONCERNS_ROWS, FAIL_ROWS, RUNGS, WAIVED_ROWS
from eval_quality.core.why.deciding import MOST_NODES, deciding_nodes
from eval_quality.core.why.explain import BASIS_ROWS, Explanation, explain
from eval_quality.core.why.remedies import REMEDIES, STATES
from eval_quality.model.artifact import EvidenceArtifact
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.expression import CheckResolution, Existence
from eval_quality.model.probe import Probe
from eval_quality.value.compare import json_equal
from support import judgment as j
from support.judgment import equality, literal, pointer
from support.reference import load, present


def artifact(**over: Any) -> EvidenceArtifact:
    found = j.run(**over).artifact
    assert found is not None
    return found


def edited(base: EvidenceArtifact, **members: Any) -> EvidenceArtifact:
    return decode(EvidenceArtifact, {**to_value(base), **members}, "x")


def rows(found: Explanation) -> list[str]:
    return [reason.row for reason in found.reasons]


# --- the tables -----------------------------------------------------------------------------------------------------


def test_every_row_of_both_ladders_has_a_remedy() -> None:
    assert list(REMEDIES) == [row.name for rung in RUNGS for row in rung.rows]
    assert all(remedy.means.endswith(".") and remedy.remedy.endswith(".") for remedy in REMEDIES.values())


def test_every_row_an_artifact_can_hold_is_recognised() -> None:
    assert [row for row, _ in BASIS_ROWS] == [row.name for row in (*FAIL_ROWS, *CONCERNS_ROWS, *WAIVED_ROWS)]


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_explained(state: str) -> None:
    base = artifact()
    text = f"oracle O-002 resolved {state}" + ("" if state == "unreached" else " at or above the severity floor")
    outcomes = [{**outcome, "state": state} for outcome in to_value(base)["outcomes"]]
    found = explain(edited(base, verdictBasis=[text], outcomes=outcomes, contractVerdict="FAIL"))
    (reason,) = found.reasons
    means, remedy, effect = STATES[state]
    assert reason.means == f"O-002: {means}"
    assert (reason.remedy, reason.effect) == (remedy, effect)
    assert reason.decided_by[0].startswith(f"trial 1: {state}; looked at obs-1; check false")


# --- explanations ---------------------------------------------------------------------------------------------------


def test_a_pass_has_no_reason() -> None:
    found = explain(artifact())
    assert (found.verdict, found.reasons, found.then, found.next_rung) == ("PASS", (), (), None)
    assert found.strength == ("defect: 1 of 1 caught",)
    assert (found.probe_id, found.mode, found.run_id) == ("P-001", "contract-scoring", "run-1")


def missed() -> EvidenceArtifact:
    contract = j.contract(
        siblingGroups=None, behaviors=[j.behavior(1, "O-001", severity="low"), j.behavior(2, "O-002")]
    )
    uncited = j.finding(4, oracleId=None, observationIds=["obs-2"], quotedEvidence=[j.quote("0", "exit-code")])
    record = j.record(
        contract,
        findings=[uncited],
        observations=[j.observation(1), j.observation(2, operationId="other")],
        oracleDispositions=[j.disposition(1, "held", "obs-1"), j.disposition(2, "held", "obs-1")],
    )
    return artifact(contract=contract, record=record, policy=j.policy(minimumTrialCount=2))


def test_a_fail_names_what_decided_it_and_what_comes_after() -> None:
    found = explain(missed())
    assert (found.verdict, found.exit_code, found.next_rung) == ("FAIL", 2, "CONCERNS")
    assert rows(found) == ["behavioural-failure-at-or-above-floor"]
    assert found.then == (
        "coverage gap sibling-cross-check, severity material, if the policy's floor is not above it",
        "finding F-004: defect finding citing no oracle",
        "1 completed trials below the declared minimum of 2",
    )
    assert found.strength[0] == "defect: 0 of 1 caught"
    assert found.strength[1].startswith("not comparable: 1 admitted probe over 1 completed trial. Below")


def test_a_fail_also_shows_failures_below_the_floor_and_unreached_oracles() -> None:
    base = missed()
    value = to_value(base)["outcomes"]
    below = edited(base, outcomes=[{**value[0], "state": "abstained"}, value[1]])
    assert explain(below).then[0] == "oracle O-001 resolved abstained below the severity floor"
    unreached = edited(base, outcomes=[{**value[0], "state": "unreached"}, value[1]])
    assert explain(unreached).then[-1] == "oracle O-001 resolved unreached"


def test_concerns_are_explained_row_by_row() -> None:
    base = missed()
    texts = [
        "oracle O-001 resolved bypassed below the severity floor",
        "coverage gap sibling-cross-check unsatisfied at or above the severity floor",
        "finding F-001 confidence 0.3 below the policy threshold",
        "finding F-004: defect finding citing no oracle",
        "1 completed trials below the declared minimum of 2",
        "1 completed trials below the declared minimum of 2",
        "evaluator recommendation CONCERNS",
        "something another build writes",
    ]
    found = explain(edited(base, verdictBasis=texts, contractVerdict="CONCERNS", exitCode=0))
    assert rows(found) == [
        "behavioural-failure-below-floor",
        "coverage-gap-at-or-above-floor",
        "finding-confidence-below-threshold",
        "uncited-defect-finding",
        "below-minimum-trial-count",
        "evaluator-recommendation-concerns",
        "",
    ]
    decided = [reason.decided_by for reason in found.reasons]
    assert decided == [
        (),
        ("coverage rule sibling-cross-check, severity material",),
        (),
        ("finding F-004, severity critical, citing obs-2",),
        ("completed trials 1; declared minimum 2",),
        (),
        (),
    ]
    assert (found.then, found.next_rung) == ((), "PASS")


def test_a_waived_verdict_and_a_production_one() -> None:
    base = artifact()
    waived = explain(edited(base, verdictBasis=["oracle O-002 waived (not-applicable)"], contractVerdict="WAIVED"))
    assert (rows(waived), waived.next_rung) == (["waiver-honoured"], "PASS")
    assert waived.reasons[0].means == REMEDIES["waiver-honoured"].means
    production = artifact(record=j.record(mode="production", evaluatorRecommendation="FAIL"))
    found = explain(production)
    assert (found.verdict, rows(found), found.mode) == ("FAIL", ["evaluator-recommendation-fail"], "production")
    uncited = edited(
        production, verdictBasis=["finding F-004: defect finding citing no oracle"], productionVerdict="CONCERNS"
    )
    assert explain(uncited).reasons[0].decided_by == ()


def test_a_class_that_was_never_exercised() -> None:
    baseline = j.quiet_record(observations=[j.observation(1, ["front"], provenance="baseline")])
    assert explain(artifact(record=baseline)).strength == ("defect: never exercised",)
    control = artifact(record=j.quiet_record(), probe=j.clean_probe())
    assert explain(control).strength == ()


def test_a_contract_adds_what_is_asked_and_which_node_decided() -> None:
    base = missed()
    contract = decode(EvalContract, j.contract(), "x")
    (reason,) = explain(base, contract).reasons
    assert reason.means.startswith("O-002 (what the agent selects): the planted defect showed")
    assert [(node.path, node.op, node.resolution) for node in reason.nodes] == [
        ("check.operands[0].predicate[element 0]", "set-membership", "false"),
        ("check.operands[0].predicate[element 1]", "set-membership", "true"),
    ]
    other = decode(EvalContract, j.contract(oracles=[], behaviors=[j.behavior(1)]), "x")
    (reason,) = explain(base, other).reasons
    assert (reason.nodes, reason.means.startswith("O-002: ")) == ((), True)


@present
def test_the_published_chain_is_explained() -> None:
    found = explain(
        decode(EvidenceArtifact, load("worked/spike-worked-example/evidence-artifact.json"), "x"),
        decode(EvalContract, load("worked/spike-worked-example/eval-contract.json"), "x"),
    )
    (reason,) = found.reasons
    (node,) = reason.nodes
    assert (node.op, node.introduction_condition) == ("for-all", "empty-collection")
    assert found.then[-1] == "oracle O-005 resolved unreached"


# --- deciding nodes -------------------------------------------------------------------------------------------------

TRUE, FALSE = equality(literal(1), literal(1)), equality(literal(1), literal(2))
UNKNOWN = equality(literal([]), literal(1))


def nodes(check: dict[str, Any]) -> list[str]:
    expression = decode(Probe, j.probe(defectSignature=j.with_predicate(check)), "x").defect_signature
    assert expression is not None
    predicate = expression.condition.predicate  # type: ignore[union-attr]
    resolution = resolve_check(predicate, make_resolve_operand({}, {}), lambda _: False, {}, 100, "x")
    return [node.path.removeprefix("check") for node in deciding_nodes(predicate, resolution)]


def op(name: str, *operands: dict[str, Any]) -> dict[str, Any]:
    return {"op": name, "operands": list(operands)}


def each(name: str, members: list[Any], wanted: Any) -> dict[str, Any]:
    return {"op": name, "collection": literal(members), "predicate": equality(pointer("@/"), literal(wanted))}


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (TRUE, [""]),
        (op("all", TRUE, FALSE, FALSE), [".operands[1]"]),
        (op("all", TRUE, TRUE), [".operands[0]", ".operands[1]"]),
        (op("all", TRUE, UNKNOWN, UNKNOWN), [".operands[0]", ".operands[1]", ".operands[2]"]),
        (op("any", TRUE, UNKNOWN, UNKNOWN), [".operands[1]"]),
        (op("any", FALSE, TRUE), [".operands[0]", ".operands[1]"]),
        (op("any", FALSE, FALSE), [".operands[0]", ".operands[1]"]),
        (op("not", op("all", FALSE, TRUE)), [".operands[0].operands[0]"]),
        (each("for-all", [1, 2, 2], 1), [".predicate[element 1]"]),
        (each("for-any", [1, 2, 1], 1), [".predicate[element 0]", ".predicate[element 1]", ".predicate[element 2]"]),
        (each("for-any", [], 1), [""]),
        (each("for-all", [1] * 20, 1), [f".predicate[element {n}]" for n in range(MOST_NODES)]),
    ],
)
def test_which_nodes_decide(check: dict[str, Any], expected: list[str]) -> None:
    assert nodes(check) == expected


def test_what_a_quantifier_over_nothing_read_is_its_collection() -> None:
    quantifier = decode(EvalContract, j.contract(oracles=[j.oracle(1, each("for-any", [], 1))]), "x").oracles[0].check
    assert quantifier is not None
    nothing = CheckResolution(
        resolution="insufficient-evidence", introduction_condition="empty-collection", children=()
    )
    (node,) = deciding_nodes(quantifier, nothing)
    assert node.reads == '{"literal":[]}'


def test_a_tree_of_another_check_decides_nothing() -> None:
    leaf = Existence(operands=())  # type: ignore[arg-type]
    answer = CheckResolution(resolution="true", introduction_condition=None, children=())
    parent = CheckResolution(resolution="true", introduction_condition=None, children=(answer,))
    assert deciding_nodes(leaf, parent) == ()


def folded(check: dict[str, Any], answers: dict[str, str], path: str = "") -> str:
    """An answer for every leaf, folded as spec 05 §5.6.2 says."""
    if check["op"] in ("all", "any"):
        found = [folded(child, answers, f"{path}.operands[{n}]") for n, child in enumerate(check["operands"])]
        order = ("false", "insufficient-evidence") if check["op"] == "all" else ("insufficient-evidence", "true")
        last = "true" if check["op"] == "all" else "false"
        return next((answer for answer in order if answer in found), last)
    if check["op"] == "not":
        inner = folded(check["operands"][0], answers, f"{path}.operands[0]")
        return {"true": "false", "false": "true"}.get(inner, inner)
    return answers[path]


def random_check(chance: random.Random, depth: int) -> dict[str, Any]:
    kind = chance.choice(["leaf", "all", "any", "not"]) if depth else "leaf"
    if kind == "leaf":
        return chance.choice([TRUE, FALSE, UNKNOWN])
    count = 1 if kind == "not" else chance.randint(2, 3)
    return op(kind, *(random_check(chance, depth - 1) for _ in range(count)))


def leaves(check: dict[str, Any], path: str = "") -> list[str]:
    if check["op"] in ("all", "any", "not"):
        return [leaf for n, child in enumerate(check["operands"]) for leaf in leaves(child, f"{path}.operands[{n}]")]
    return [path]


def test_deciding_nodes_are_sufficient() -> None:
    """Replacing every other leaf by any answer leaves the root unchanged."""
    chance = random.Random("deciding")
    values = ("true", "false", "insufficient-evidence")
    given = {id(TRUE): "true", id(FALSE): "false", id(UNKNOWN): "insufficient-evidence"}
    checked = 0
    for _ in range(300):
        check = op("all", random_check(chance, 2), random_check(chance, 2))

        def answers_of(node: dict[str, Any], path: str = "") -> dict[str, str]:
            if node["op"] in ("all", "any", "not"):
                merged: dict[str, str] = {}
                for n, child in enumerate(node["operands"]):
                    merged |= answers_of(child, f"{path}.operands[{n}]")
                return merged
            return {path: given[id(node)]}

        answers = answers_of(check)
        root = folded(check, answers)
        decisive = set(nodes(check))
        assert decisive <= set(leaves(check))
        if len(decisive) == MOST_NODES:
            continue
        checked += 1
        for _ in range(4):
            changed = {path: answers[path] if path in decisive else chance.choice(values) for path in answers}
            assert folded(check, changed) == root
    assert checked > 200


# --- the first difference -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1}, None),
        (1, True, Difference("", "1", "true")),
        ({"a": 1, "b": 2}, {"a": 2, "b": 3}, Difference("/a", "1", "2")),
        ({"a": {"b": [0, 1]}}, {"a": {"b": [0, 2]}}, Difference("/a/b/1", "1", "2")),
        ([1], [1, 2], Difference("/1", "nothing", "2")),
        ([1, 2], [1], Difference("/1", "2", "nothing")),
        ({"a/b": 1}, {}, Difference("/a~1b", "1", "nothing")),
        ({}, {"x": {}}, Difference("/x", "nothing", "{}")),
        ({"a": []}, {"a": {}}, Difference("/a", "[]", "{}")),
        ("x" * 300, "y", Difference("", '"' + "x" * 199 + "...", '"y"')),
    ],
)
def test_the_first_difference(left: Any, right: Any, expected: Difference | None) -> None:
    assert first_difference(left, right) == expected
    assert (first_difference(left, right) is None) == json_equal(left, right)


def test_objects_are_read_in_the_left_documents_order() -> None:
    assert js_order({"b": 1, "a": 2}) == ["b", "a"]
    found = first_difference({"b": 1, "a": 2}, {"a": 3, "b": 4})
    assert found is not None
    assert found.path == "/b"
