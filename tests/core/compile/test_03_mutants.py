"""Spec 03 §1 and §1.4 over mutated contracts: compile raises nothing but its typed failures, and changes nothing."""

import json
import random
from typing import Any

import pytest

from eval_quality.core.compile.codes import FAILURE_CODES
from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.explain.base import base_contract
from eval_quality.core.seal.brief import seal_contract
from eval_quality.errors import RUNTIME_FAULT_CODES, CodedError, StructuralFailure
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import to_value
from eval_quality.value.digest import digest_value
from support.contracts import command_contract, desk, library, tool_contract
from support.generated import generated
from support.mutants import mutants

WILD = 12_000
SHAPED = 38_000
PART = 2_000
"""Mutants in one test: the sets are cut in parts, so that no part runs long on a busy machine."""


def bases() -> list[Any]:
    return [base_contract(), library(), desk(), command_contract(), tool_contract(), *map(generated, range(5))]


def outcome(document: Any, strict: bool, compared: bool) -> str:
    """`ok`, or the code raised; anything but a typed failure escapes. `compared`: hold the digests together too."""
    try:
        record = compile_value(document, strict)
        if compared and digest_value(to_value(record), "EvalContract") != digest_value(document, "EvalContract"):
            return "changed"
    except CodedError as error:
        return _typed(error)
    return "ok"


def _typed(error: CodedError) -> str:
    registry = FAILURE_CODES if isinstance(error, StructuralFailure) else RUNTIME_FAULT_CODES
    known = error.code in registry and error.artifact_path.startswith("EvalContract")
    return error.code if known else f"unknown: {error}"


Place = tuple[Any, ...]


def places(document: Any) -> dict[str, list[Place]]:
    """Paths by kind: the values at two places of one kind can usually change places and still read."""
    found: dict[str, list[Place]] = {}
    pending: list[tuple[Any, Place]] = [(document, ())]
    while pending:
        current, at = pending.pop()
        for key, member in current.items() if isinstance(current, dict) else enumerate(current):
            found.setdefault(_kind(key, member), []).append((*at, key))
            if isinstance(member, dict | list):
                pending.append((member, (*at, key)))
    return {kind: paths for kind, paths in found.items() if len(paths) > 1}


def _kind(key: Any, member: Any) -> str:
    if isinstance(member, str) and member.startswith("/interactions/"):
        return "pointer"
    if isinstance(member, dict) and "op" in member:
        return "expression"
    if isinstance(member, dict) and len(member) == 1:
        return "operand" if {*member} & {"pointer", "referenceSet"} else "value"
    name = key if isinstance(key, str) else "element"
    return f"{type(member).__name__} {name}"


def _at(document: Any, path: Place) -> Any:
    for token in path:
        document = document[token]
    return document


def reshaped(document: Any, original: Any, known: dict[str, list[Place]], chance: random.Random) -> Any:
    """One to five edits: a value from another place of the same kind, an element dropped or repeated."""
    for _ in range(chance.randint(1, 5)):
        paths = known[chance.choice(sorted(known))]
        *parents, key = chance.choice(paths)
        try:
            holder = _at(document, tuple(parents))
            value = json.loads(json.dumps(_at(original, chance.choice(paths))))
            if isinstance(holder, list) and chance.random() < 0.4:
                holder[key : key + 1] = chance.choice(([], [value, value]))
            else:
                holder[key] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier edit took the place away
    return document


def check(documents: Any) -> dict[str, int]:
    seen: dict[str, int] = {}
    for number, document in enumerate(documents):
        found = outcome(document, strict=number % 3 > 0, compared=number % 4 == 0)
        seen[found] = seen.get(found, 0) + 1
        if found == "ok" and number % 10 == 0:
            record = read_contract(document)
            coverage_gaps(record)
            sealed = _sealed(record)
            seen[sealed] = seen.get(sealed, 0) + 1
    assert not [code for code in seen if code.startswith(("unknown", "changed"))]
    return seen


def _sealed(record: EvalContract) -> str:
    try:
        seal_contract(record, strict=False)
    except CodedError as error:
        return f"seal: {_typed(error)}"
    return "seal: ok"


def compiled(seen: dict[str, int]) -> int:
    return sum(count for code, count in seen.items() if not code.startswith("seal"))


def shaped(count: int, seed: str) -> Any:
    chance = random.Random(seed)
    known = [(json.dumps(each), each, places(each)) for each in bases()]
    for _ in range(count):
        text, original, paths = chance.choice(known)
        yield reshaped(json.loads(text), original, paths, chance)


def test_s1_4_a_few_mutants_raise_typed_failures_only() -> None:
    assert len(check(mutants(bases(), 150, "few"))) > 2
    assert len(check(shaped(300, "few"))) > 8


@pytest.mark.slow
@pytest.mark.parametrize("part", range(WILD // PART))
def test_s1_4_wild_mutants_raise_typed_failures_only(part: int) -> None:
    seen = check(mutants(bases(), PART, f"wild/{part}"))
    assert compiled(seen) == PART
    assert seen["schema-parse-failure"] > PART / 4
    assert len(seen) > 8


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SHAPED // PART))
def test_s1_4_mutants_that_still_read_raise_typed_failures_only(part: int) -> None:
    seen = check(shaped(PART, f"shaped/{part}"))
    assert compiled(seen) == PART
    assert seen.get("schema-parse-failure", 0) < PART / 2
    assert seen["ok"] > PART / 20
    assert len(seen) > 10
