"""Spec 03 §1 to §4: the entry point, the stamp, the registry and the order of checks."""

import copy
from typing import Any

import pytest

from eval_quality.core.compile.codes import FAILURE_CODES
from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.compile.sequence import CHECKS, compile_contract
from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.catalogue import CATALOGUE
from eval_quality.core.explain.failures import STRUCTURAL_FAILURES
from eval_quality.core.explain.patch import Edit, add, apply, put, remove
from eval_quality.errors import (
    AGGREGATION_REFUSAL_CODES,
    RUNTIME_FAULT_CODES,
    RuntimeFault,
    SchemaIssues,
    StructuralFailure,
)
from eval_quality.model.decode import to_value
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_value
from support.contracts import error_of, lend_book, library, lit, p, shape, verdict
from support.program import call


@pytest.mark.parametrize("stamp", [6, 8, 7.5, -1, 0, 1e300])
def test_s1_1_a_stale_stamp_is_looked_at_before_the_shape(stamp: float) -> None:
    error = error_of({"schemaVersion": stamp})
    assert error is not None
    assert (error.code, error.artifact_path) == ("schema-version-mismatch", "EvalContract.schemaVersion")


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, {"schemaVersion": None}, {"schemaVersion": True}, {"schemaVersion": "7"}]
)
def test_s1_1_anything_else_is_left_to_the_shape(value: Any) -> None:
    with pytest.raises(RuntimeFault) as caught:
        compile_value(value)
    assert (caught.value.code, caught.value.artifact_path) == ("schema-parse-failure", "EvalContract")
    assert isinstance(caught.value.cause, SchemaIssues)
    assert caught.value.cause.issues
    for issue in caught.value.cause.issues:
        assert issue.message not in caught.value.detail


def test_s1_1_seven_may_be_written_as_a_float() -> None:
    assert verdict(library(put("/schemaVersion", 7.0))) == "ok"


def test_s1_1_the_result_shares_nothing_with_the_input() -> None:
    document = library()
    compiled = compile_value(document)
    before = to_value(compiled)
    document["behaviors"][0]["requirementLinks"].clear()
    document["interactionPlan"][0]["inputBinding"]["body"]["copyId"]["literal"] = 9
    assert to_value(compiled) == before


def test_s1_1_the_input_is_never_changed() -> None:
    document = library()
    untouched = copy.deepcopy(document)
    compile_value(document)
    compile_value(document, strict=False)
    assert document == untouched


def test_s1_2_the_compiled_contract_is_the_contract() -> None:
    compiled = compile_value(base_contract())
    assert to_value(compiled) == base_contract()
    assert digest_value(to_value(compiled), "x") == digest_value(base_contract(), "x")
    assert compile_value(to_value(compiled)) == compiled
    assert compile_contract(compiled) is compiled


def test_s1_2_lineage_is_left_alone() -> None:
    document = library(put("/parentDigest", "sha256:" + "a" * 64), put("/revisionCount", 4))
    compiled = compile_value(document)
    assert (compiled.parent_digest, compiled.revision_count, compiled.schema_version) == ("sha256:" + "a" * 64, 4, 7)


def test_s1_3_the_command_writes_canonical_text_and_one_newline(tmp_path: Any) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(canonicalize(library(), "x"))
    outcome = call("compile", "--in", path)
    assert outcome == (0, canonicalize(library(), "x").decode() + "\n", "")


@pytest.mark.parametrize(
    ("edits", "arguments", "code"),
    [
        ((put("/oracles/0/check", None),), (), 4),
        ((put("/schemaVersion", 6),), (), 5),
        ((remove("/budgets"),), (), 5),
        ((add("/interactionPlan/0/inputBinding/body/colour", lit("red")),), (), 4),
        ((add("/interactionPlan/0/inputBinding/body/colour", lit("red")),), ("--no-strict-inputs",), 0),
        (
            (add("/interactionPlan/0/inputBinding/body/colour", lit("red")),),
            ("--no-strict-inputs", "--strict-inputs"),
            4,
        ),
    ],
)
def test_s1_3_exit_codes_and_nothing_written_on_failure(
    edits: tuple[Edit, ...], arguments: tuple[str, ...], code: int, tmp_path: Any
) -> None:
    path, out = tmp_path / "c.json", tmp_path / "out"
    path.write_bytes(canonicalize(library(*edits), "x"))
    outcome = call("compile", "--in", path, "--out", out, *arguments)
    assert outcome[0] == code
    assert out.exists() is (code == 0)
    assert outcome[1] == ""
    if code:
        error = error_of(library(*edits), strict="--no-strict-inputs" not in arguments[-1:])
        assert error is not None
        assert outcome[2].startswith(f"eval-quality: {error.code}: {error.artifact_path}: ")


def test_s1_4_a_failure_is_its_own_type_and_its_message_can_be_taken_apart() -> None:
    error = error_of(library(put("/oracles/0/check", None)))
    assert isinstance(error, StructuralFailure)
    assert not isinstance(error, RuntimeFault)
    assert str(error) == f"{error.code} in {error.artifact_path}: {error.detail}"
    assert not set(FAILURE_CODES) & {*RUNTIME_FAULT_CODES, *AGGREGATION_REFUSAL_CODES}


def test_s2_the_detail_names_both_numbers_and_the_way_out() -> None:
    error = error_of(library(put("/schemaVersion", 6)))
    assert isinstance(error, RuntimeFault)
    assert 'carries "schemaVersion" 6 where this build reads 7' in error.detail
    assert "migrate" in error.detail


def test_s2_the_parsed_value_is_checked_as_well() -> None:
    import msgspec

    stale = msgspec.structs.replace(read_contract(library()), schema_version=6)
    with pytest.raises(RuntimeFault) as caught:
        compile_contract(stale)
    assert (caught.value.code, caught.value.artifact_path) == ("schema-version-mismatch", "EvalContract.schemaVersion")


def test_s3_the_registry_is_closed_ordered_and_kebab_case() -> None:
    import re

    assert len(FAILURE_CODES) == len(set(FAILURE_CODES)) == 27
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in FAILURE_CODES)
    assert FAILURE_CODES[0] == "missing-requirement-linkage"
    assert FAILURE_CODES[22] == "brief-exceeds-scripting-bound"
    assert FAILURE_CODES[-1] == "duplicate-interface-identifier"


def test_s3_no_waiver_reaches_a_structural_code() -> None:
    waiver = {
        "id": "W-001",
        "rule": "oracle-missing-channel",
        "rationale": "asked for",
        "condition": None,
        "approval": "everyone",
        "expiresAt": "2099-01-01T00:00:00Z",
    }
    assert verdict(library(put("/waivers", [waiver]), put("/oracles/0/check", None))).startswith(
        "oracle-missing-channel"
    )


def test_s4_the_sequence_is_the_tabled_one() -> None:
    steps = [check.step for check in CHECKS]
    assert steps == [*map(str, range(2, 8)), "7b", *map(str, range(8, 35))]
    assert [check.step for check in CHECKS if check.strict_only] == ["15", "16"]


STEP_OF = {
    "duplicate-interface-identifier": 2,
    "missing-requirement-linkage": 3,
    "no-observable-success-criterion": 4,
    "unresolved-artifact-reference": 5,
    "unreachable-check-evidence": 6,
    "malformed-operator-expression": 9,
    "quantifier-over-non-collection": 11,
    "quantifier-nesting-exceeded": 12,
    "unresolved-reference-set": 13,
    "duplicate-operation-signature": 14,
    "undeclared-mandatory-input": 15,
    "oracle-missing-channel": 17,
    "direction-check-misaligned": 18,
    "unsupported-interface-kind": 19,
    "nested-temporal-clause": 20,
    "plan-exceeds-scripting-bound": 21,
    "binding-cycle": 22,
    "captured-channel-undeclared": 23,
    "rubric-scores-reasoning-prose": 25,
    "rubric-unanchored": 26,
    "rubric-evidence-unreachable": 27,
    "forbidden-input-floor-incomplete": 28,
    "excluded-content-in-declaration": 29,
    "scoped-reference-resolves-forbidden": 30,
    "waiver-incomplete": 31,
}
INDEPENDENT = [entry for entry in STRUCTURAL_FAILURES if entry.code in STEP_OF]
OVERLAPPING = {
    # both edits change one member, so the later one alone is left in the document
    frozenset({"unresolved-artifact-reference", "unreachable-check-evidence"}),
    frozenset({"unresolved-artifact-reference", "malformed-operator-expression"}),
    frozenset({"unreachable-check-evidence", "malformed-operator-expression"}),
    frozenset({"quantifier-nesting-exceeded", "unresolved-reference-set"}),
    frozenset({"nested-temporal-clause", "plan-exceeds-scripting-bound"}),
    frozenset({"oracle-missing-channel", "direction-check-misaligned"}),
}


@pytest.mark.parametrize("first", INDEPENDENT, ids=lambda entry: entry.code)
def test_s4_of_two_faults_the_earlier_step_is_reported(first: Any) -> None:
    """Every pair of catalogue faults in one contract: the first step of §4 wins, whatever the registry's rank."""
    for second in INDEPENDENT:
        if STEP_OF[second.code] <= STEP_OF[first.code] or {first.code, second.code} in OVERLAPPING:
            continue
        error = error_of(apply(base_contract(), (*first.failing, *second.failing)))
        assert error is not None
        assert error.code == first.code, second.code


def test_s4_not_strict_removes_two_steps_only() -> None:
    for entry in INDEPENDENT:
        error = error_of(apply(base_contract(), entry.failing), strict=False)
        if entry.code == "undeclared-mandatory-input":
            assert error is None
        else:
            assert error is not None
            assert error.code == entry.code


def test_s4_state_reset_pointers_come_directly_after_captures() -> None:
    reset = add("/permittedInterfaces/0/operations/1/stateResetPointers", ["/nowhere"])
    capture = put("/interactionPlan/1/inputBinding/path/id", {"captured": "/interactions/lend/response-body/x"})
    unbound = put("/oracles/0/check", {"op": "existence", "operands": [p("@/x")]})
    assert "inputBinding" in verdict(library(reset, capture, unbound))
    assert "stateResetPointers[0]" in verdict(library(reset, unbound))
    assert verdict(library(unbound)).startswith("malformed-operator-expression")


@pytest.mark.parametrize(
    "edits",
    [
        (add("/behaviors/-", base_contract()["behaviors"][0]),),
        (put("/behaviors/0/oracles", ["O-999"]),),
        (put("/behaviors/0/oracles", []),),
        (add("/oracles/-", library()["oracles"][0]),),
        (
            put("/interactionPlan/0/operationId", "nowhere"),
            put("/oracles", []),
            put("/interactionPlan/1/inputBinding/path", None),
        ),
        (put("/interactionPlan/0/inputBinding/body", {"note": lit("x")}),),
        (put("/interactionPlan/1/after", "nowhere"),),
        (
            put("/permittedInterfaces/0/operations/1/requestShape/path/types", {"other": "string"}),
            put("/interactionPlan/1/inputBinding/path/id", lit("x")),
        ),
        (
            put(
                "/siblingGroups",
                {"operations": [[{"interfaceId": "a", "operationId": "b"}] * 2], "parameters": [["x", "y"]]},
            ),
            put("/permittedInterfaces/0/operations/1/responseDescriptor/channelRoles", {"/nowhere": "payload"}),
            put("/permittedInterfaces/0/operations/1/responseDescriptor/collectionLocations/0/pointer", "/nowhere"),
            put("/permittedInterfaces/0/operations/1/responseDescriptor/collectionLocations/0/referenceSet", "nowhere"),
            put("/permittedInterfaces/0/operations/1/volatilePointers", ["/nowhere"]),
        ),
        (put("/referenceSets", {"unused": {"keys": ["k"], "members": [], "commentary": None}}),),
        (
            put(
                "/waivers",
                [
                    {
                        "id": "W-001",
                        "rule": "r",
                        "rationale": "x",
                        "condition": None,
                        "approval": "y",
                        "expiresAt": "1999-01-01T00:00:00Z",
                    }
                ]
                * 2,
            ),
        ),
    ],
)
def test_s4_1_what_compile_does_not_check(edits: tuple[Edit, ...]) -> None:
    assert verdict(library(*edits)) == "ok"


def test_s4_1_a_bound_element_outside_a_quantifier_of_a_relation_is_not_checked() -> None:
    relation = "/permittedInterfaces/0/operations/0/sensitivityWitness/relation"
    both_legs = lend_book()["sensitivityWitness"]["relation"]
    stray = {"op": "all", "operands": [both_legs, {"op": "existence", "operands": [p("@/x")]}]}
    assert verdict(library(put(relation, stray))) == "ok"


def test_s4_1_a_duplicate_operation_id_makes_the_id_unresolvable_only() -> None:
    spare = {**lend_book(), "pathTemplate": "/other", "sensitivityWitness": None, "requestShape": shape()}
    unused = library(
        add("/permittedInterfaces/0/operations/-", {**spare, "operationId": "spare"}),
        add("/permittedInterfaces/0/operations/-", {**spare, "operationId": "spare", "pathTemplate": "/more"}),
    )
    assert verdict(unused) == "ok"
    used = library(add("/permittedInterfaces/0/operations/-", spare))
    assert verdict(used).startswith("unreachable-check-evidence")


def test_s3_the_catalogue_knows_every_code() -> None:
    assert set(FAILURE_CODES) <= set(CATALOGUE)
