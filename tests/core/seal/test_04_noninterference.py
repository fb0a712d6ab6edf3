"""Spec 04 §8.2: what the brief must not reveal cannot be seen in it.

For each private part on its own: change that part alone, and every byte of the brief but the contract's digest stays
the same. `PARTS` maps a part to the function that changes it in place.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.seal.brief import seal_contract
from eval_quality.model.decode import to_value
from eval_quality.value.canonical import canonicalize
from support.generated import WORDS, generated

Json = Any
CONTRACTS = 2000


def brief_bytes(document: Json) -> bytes:
    value = to_value(seal_contract(read_contract(document)))
    del value["contractDigest"]
    return canonicalize(value, "SealedEvaluatorBrief")


def nodes(value: Json) -> Iterator[Json]:
    """Every object below a value, the value included."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            yield current
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)


def checks(document: Json, chance: random.Random) -> None:
    """More conjuncts, and a double negation around what was there: everything announced is still read."""
    for oracle in document["oracles"]:
        pointer = next(each["pointer"] for each in nodes(oracle["check"]) if "pointer" in each)
        extra = {"op": "existence", "operands": [{"pointer": pointer}]}
        doubled = {"op": "not", "operands": [{"op": "not", "operands": [oracle["check"]]}]}
        oracle["check"] = {"op": chance.choice(("all", "any")), "operands": [doubled, extra]}


def check_literals(document: Json, chance: random.Random) -> None:
    for oracle in document["oracles"]:
        for node in nodes(oracle["check"]):
            if "literal" in node:
                fresh = f"changed {chance.random()}"
                node["literal"] = [fresh] if isinstance(node["literal"], list) else fresh
            if "pattern" in node:
                node["pattern"] = f"^{chance.choice(WORDS)}-changed$"


def reference_sets(document: Json, chance: random.Random) -> None:
    """Another name, another key, other members, another commentary."""
    for node in nodes(document):
        if node.get("referenceSet") == "known":
            node["referenceSet"] = "renamed"
    members = [{"j": chance.random()} for _ in range(chance.randint(0, 4))]
    document["referenceSets"] = {"renamed": {"keys": ["j"], "members": members, "commentary": "changed"}}


def plan(document: Json, chance: random.Random) -> None:
    """Other step names in the same order, other cardinalities, another order, and a step that no oracle reads."""
    for node in nodes(document):
        for key, value in node.items():
            if isinstance(value, str) and value.startswith("/interactions/s"):
                node[key] = value.replace("/interactions/", "/interactions/renamed-", 1)
            elif isinstance(value, list):
                node[key] = [
                    each.replace("/interactions/", "/interactions/renamed-", 1)
                    if isinstance(each, str) and each.startswith("/interactions/s")
                    else each
                    for each in value
                ]
    for step in document["interactionPlan"]:
        step["stepId"] = f"renamed-{step['stepId']}"
        step["after"] = step["after"] and f"renamed-{step['after']}"
        step["cardinality"] = chance.choice(("exactly-one", "at-most-one", "any"))
    spare = {**copy.deepcopy(document["interactionPlan"][0]), "stepId": "zz-spare", "after": None}
    document["interactionPlan"].append(spare)
    chance.shuffle(document["interactionPlan"])


def plan_literals(document: Json, chance: random.Random) -> None:
    """Other bound values, in the steps that no direction compares with another step of their operation."""
    operation_of = {each["stepId"]: each["operationId"] for each in document["interactionPlan"]}
    compared: set[str] = set()
    for oracle in document["oracles"]:
        named = {target.split("/")[2] for target in oracle["direction"]["evidenceTargets"]}
        for name in named:
            if any(operation_of[name] == operation_of[other] for other in named - {name}):
                compared.add(name)
    for step in document["interactionPlan"]:
        if step["stepId"] not in compared:
            for node in nodes(step["inputBinding"]):
                if "literal" in node:
                    node["literal"] = f"changed {chance.random()}"


def test_data(document: Json, chance: random.Random) -> None:
    document["testData"]["setup"] = f"changed {chance.random()}"
    document["testData"]["cleanup"] = chance.choice((None, "changed"))
    for principal in document["testData"]["principals"].values():
        principal["kind"] = f"changed-{chance.randint(0, 99)}"


test_data.__test__ = False  # type: ignore[attr-defined]


def commentary(document: Json, chance: random.Random) -> None:
    for oracle in document["oracles"]:
        oracle["commentary"] = chance.choice((None, f"changed {chance.random()}"))
    document["referenceSets"]["known"]["commentary"] = f"changed {chance.random()}"


def witnesses(document: Json, chance: random.Random) -> None:
    """Other leg names, other values, another relation, another identifier."""
    for number, operation in enumerate(document["permittedInterfaces"][0]["operations"]):
        witness = operation["sensitivityWitness"]
        names = [f"changed-{number}-{side}" for side in "ab"]
        for leg, name, value in zip(witness["legs"], names, ("one", "two"), strict=True):
            leg["legId"] = name
            sent = leg["inputs"][witness["channel"]]
            sent[next(iter(sent))] = f"{value} {chance.random()}"
        witness["witnessId"] = f"changed-{chance.randint(0, 99)}"
        reads = [
            {"op": "existence", "operands": [{"pointer": f"/interactions/{name}/call-inputs/{witness['channel']}"}]}
            for name in names
        ]
        witness["relation"] = {"op": "any", "operands": reads}


def inventory(document: Json, chance: random.Random) -> None:
    """How operations are reached and described, and everything else the contract keeps to itself."""
    for number, operation in enumerate(document["permittedInterfaces"][0]["operations"]):
        if "method" in operation:
            operation["method"], operation["pathTemplate"] = "PUT", f"/changed/{number}/{{id}}"
        elif "invocation" in operation:
            operation["invocation"] = {"executable": f"changed-{number}", "subcommandPath": ["deep"]}
        else:
            operation["toolName"] = f"changed_{number}"
        operation["responseDescriptor"]["permittedKeys"].append(f"changed-{chance.randint(0, 99)}")
        operation["responseDescriptor"]["channelRoles"] = {"/elsewhere": "payload"}
        operation["volatilePointers"] = ["/changed"]
    document["requiredEvidence"] = ["changed"]
    document["siblingGroups"] = {"operations": [], "parameters": [["changed", "x"]]}
    document["parentDigest"], document["revisionCount"] = "sha256:" + "c" * 64, 5
    document["contractId"] = "changed"
    document["waivers"] = [
        {
            "id": "W-001",
            "rule": "changed",
            "rationale": "changed",
            "condition": None,
            "approval": "changed",
            "expiresAt": "2030-01-01T00:00:00Z",
        }
    ]


PARTS: dict[str, Callable[[Json, random.Random], None]] = {
    "checks": checks,
    "check literals": check_literals,
    "reference sets": reference_sets,
    "plan": plan,
    "plan literals": plan_literals,
    "test data": test_data,
    "commentary": commentary,
    "witnesses": witnesses,
    "inventory": inventory,
}


@cache
def written(seed: int) -> tuple[str, bytes]:
    """A generated contract as text, and its brief's bytes; every part changes the same contracts."""
    document = generated(seed)
    return json.dumps(document), brief_bytes(document)


def changed(part: str, seed: int) -> Json:
    """A generated contract with one private part changed."""
    other = json.loads(written(seed)[0])
    PARTS[part](other, random.Random(f"{part}/{seed}"))
    return other


@pytest.mark.parametrize("part", PARTS)
def test_s8_2_the_change_is_one(part: str) -> None:
    for seed in range(12):
        other = changed(part, seed)
        assert canonicalize(generated(seed), "x") != canonicalize(other, "x") or part == "plan literals"
        assert brief_bytes(other) == written(seed)[1]


def test_s8_2_what_the_brief_reveals_does_change_it() -> None:
    for seed in range(20):
        document = generated(seed)
        for path in ("scope", "negativeDomain"):
            other = copy.deepcopy(document)
            other["oracles"][0]["direction"][path] = "changed"
            assert brief_bytes(document) != brief_bytes(other)
        other = copy.deepcopy(document)
        other["safetyLimits"].append("changed")
        assert brief_bytes(document) != brief_bytes(other)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_s8_2_no_private_part_shows_over_many_contracts(part: str) -> None:
    different = 0
    for seed in range(CONTRACTS):
        other = changed(part, seed)
        different += json.dumps(other) != written(seed)[0]
        assert brief_bytes(other) == written(seed)[1], (part, seed)
    assert different > CONTRACTS * 0.6
