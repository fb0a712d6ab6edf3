"""Spec 03 §18: every worked micro-example, on the contract that section describes."""

import pytest

from eval_quality.core.compile.entry import compile_value
from eval_quality.core.explain.patch import Edit, add, put, remove
from eval_quality.model.decode import to_value
from support.contracts import (
    api_binding,
    api_inputs,
    api_operation,
    every,
    exists,
    json_body,
    keys,
    library,
    lit,
    p,
    refset,
    shape,
    step,
    verdict,
)

CHECK = "/oracles/0/check"
OPERAND = "EvalContract.oracles[id=O-001].check.operands[0]"
UNREACHABLE = "unreachable-check-evidence"
MALFORMED = "malformed-operator-expression"


def checks(pointer: str) -> tuple[Edit, ...]:
    """Replace what the check reads first; the direction follows so that nothing else is wrong."""
    return (put(f"{CHECK}/operands/0", p(pointer)),)


def books(*members: object, names: tuple[str, ...] = ("id",)) -> Edit:
    return put("/referenceSets", {"books": {"keys": [*names], "members": [*members], "commentary": None}})


def regex(pattern: str) -> Edit:
    return put(CHECK, {"op": "regex", "operands": [p("read/response-body/loanId")], "pattern": pattern})


def rubric(**over: object) -> Edit:
    return put(
        "/rubrics",
        [
            {
                "id": "R-001",
                "scaleLevels": [{"level": 1, "anchor": "good"}],
                "failureModePenalties": [{"name": "vague", "description": ""}],
                "maxLength": 10,
                "criteria": [{"id": "RC-001", "text": "Is it there?", "evidence": "/interactions/read/response-body"}],
                **over,
            }
        ],
    )


COVERS = {
    "op": "covers-by-key",
    "operands": [refset("books"), p("read/response-body/items")],
    "expectedKey": "id",
    "actualKey": "id",
}
MEMBER = {"op": "set-membership", "operands": [p("read/response-body/loanId"), refset("books")]}
LEND_BINDING = "/interactionPlan/0/inputBinding/body"
COLOUR = 'undeclared-mandatory-input @ EvalContract.interactionPlan[stepId=lend].inputBinding.body["colour"]'
RESET = {"legId": "reset", "interfaceId": "library", "operationId": "lend-book", "inputs": api_inputs()}

EXAMPLES: dict[str, tuple[tuple[Edit, ...], str]] = {
    "none": ((), "ok"),
    "stale-stamp": (
        (put("/schemaVersion", 6), remove("/behaviors")),
        "schema-version-mismatch @ EvalContract.schemaVersion",
    ),
    "no-stamp": ((remove("/schemaVersion"),), "schema-parse-failure @ EvalContract"),
    "second-library": (
        (add("/permittedInterfaces/-", {"logicalId": "library", "kind": "mcp", "operations": []}),),
        "duplicate-interface-identifier @ EvalContract.permittedInterfaces[1].logicalId",
    ),
    "unlinked-beats-unreachable": (
        (put("/behaviors/0/requirementLinks", []), *checks("read/response-body/owner")),
        "missing-requirement-linkage @ EvalContract.behaviors[id=B-001]",
    ),
    "unknown-field": (checks("read/response-body/owner"), f"{UNREACHABLE} @ {OPERAND}"),
    "into-a-scalar": (checks("read/response-body/loanId/x"), f"{UNREACHABLE} @ {OPERAND}"),
    "exit-code-on-http": (
        (
            *checks("read/exit-code"),
            put("/oracles/0/direction/evidenceTargets", ["/interactions/read/exit-code"]),
        ),
        "ok",
    ),
    "stdin-on-http": (checks("read/call-inputs/stdin"), f"{UNREACHABLE} @ {OPERAND}"),
    "artifact-on-http": (checks("read/artifact/report"), f"unresolved-artifact-reference @ {OPERAND}"),
    "existence-of-a-literal": ((put(CHECK, {"op": "existence", "operands": [lit(1)]}),), f"{MALFORMED} @ {OPERAND}"),
    "for-all-over-a-string": (
        (put(CHECK, every("read/response-body/loanId", exists("@/id"))),),
        "quantifier-over-non-collection @ EvalContract.oracles[id=O-001].check.collection",
    ),
    "for-any-inside-for-all": (
        (
            put(
                CHECK,
                every(
                    "read/response-body/items",
                    {"op": "all", "operands": [exists("@/id"), every("@/parts", exists("@/id"), "for-any")]},
                ),
            ),
        ),
        "quantifier-nesting-exceeded @ EvalContract.oracles[id=O-001].check.predicate.operands[1]",
    ),
    "top-level-alternation": ((regex("^ok|fail$"),), f"{MALFORMED} @ EvalContract.oracles[id=O-001].check.pattern"),
    "escaped-backslash-digit": ((regex("^\\\\1$"),), f"{MALFORMED} @ EvalContract.oracles[id=O-001].check.pattern"),
    "grouped-alternation": (
        (
            regex("^(?:ok|fail)$"),
            put("/oracles/0/direction/relation", "regex"),
            put("/oracles/0/direction/evidenceTargets", ["/interactions/read/response-body/loanId"]),
        ),
        "ok",
    ),
    "membership-with-two-keys": (
        (put(CHECK, MEMBER), books(names=("id", "isbn"))),
        f"{MALFORMED} @ EvalContract.oracles[id=O-001].check.operands[1]",
    ),
    "covers-with-one-value-twice": (
        (put(CHECK, COVERS), books({"id": 1}, {"id": 1.0})),
        f"{MALFORMED} @ EvalContract.referenceSets[id=books].members[1].id",
    ),
    "same-template-shape": (
        (
            put("/permittedInterfaces/0/operations/1/pathTemplate", "/loans/{loan}"),
            add("/permittedInterfaces/0/operations/-", api_operation("find-loan", "GET", "/loans/{x}")),
        ),
        "duplicate-operation-signature @ "
        "EvalContract.permittedInterfaces[logicalId=library].operations[operationId=find-loan]",
    ),
    "undeclared-key": ((add(f"{LEND_BINDING}/colour", lit("red")),), COLOUR),
    "cycle-through-note": (
        (add(f"{LEND_BINDING}/note", {"captured": "/interactions/read/response-body/loanId"}),),
        'binding-cycle @ EvalContract.interactionPlan[stepId=lend].inputBinding.body["note"]',
    ),
    "type-beats-cycle": (
        (put(f"{LEND_BINDING}/copyId", {"captured": "/interactions/read/response-body/loanId"}),),
        f'{UNREACHABLE} @ EvalContract.interactionPlan[stepId=lend].inputBinding.body["copyId"]',
    ),
    "captured-status": (
        (put("/interactionPlan/1/inputBinding/path/id", {"captured": "/interactions/lend/response-status"}),),
        'captured-channel-undeclared @ EvalContract.interactionPlan[stepId=read].inputBinding.path["id"]',
    ),
    "three-after-lend": (
        tuple(add("/interactionPlan/-", step(name, "get-loan", "lend")) for name in ("b", "c")),
        "plan-exceeds-scripting-bound @ EvalContract.interactionPlan",
    ),
    "five-pairs": (
        tuple(
            add("/interactionPlan/-", each)
            for n in range(2, 6)
            for each in (step(f"w{n}", "lend-book"), step(f"r{n}", "get-loan", f"w{n}"))
        ),
        "plan-exceeds-scripting-bound @ EvalContract.interactionPlan",
    ),
    "after-itself": (
        (put("/interactionPlan/1/after", "read"),),
        "nested-temporal-clause @ EvalContract.interactionPlan[stepId=read].after",
    ),
    "leg-named-like-a-step": (
        (
            put("/permittedInterfaces/0/operations/1/sensitivityWitness/legs/0/legId", "lend"),
            put(
                "/permittedInterfaces/0/operations/1/sensitivityWitness/relation/operands/0/operands/0",
                p("lend/response-body/loanId"),
            ),
        ),
        f"{MALFORMED} @ EvalContract.permittedInterfaces[0].operations[1].sensitivityWitness.legs[0].legId",
    ),
    "witness-of-a-write-on-path": (
        (put("/permittedInterfaces/0/operations/0/sensitivityWitness/channel", "path"),),
        f"{MALFORMED} @ EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness",
    ),
    "legs-that-differ-in-key-order": (
        (
            put("/permittedInterfaces/0/operations/0/requestShape", shape(body=keys({"a": "number", "b": "number"}))),
            put(
                "/permittedInterfaces/0/operations/0/sensitivityWitness/legs/0/inputs",
                api_inputs(body=json_body({"a": 1, "b": 2})),
            ),
            put(
                "/permittedInterfaces/0/operations/0/sensitivityWitness/legs/1/inputs",
                api_inputs(body=json_body({"b": 2, "a": 1})),
            ),
            put("/interactionPlan/0/inputBinding", api_binding()),
        ),
        "ok",
    ),
    "reset-by-a-read": (
        (put("/fixtureReset", {**RESET, "operationId": "get-loan"}),),
        f"{MALFORMED} @ EvalContract.fixtureReset",
    ),
    "address-in-a-limit": (
        (put("/safetyLimits", ["mail ada@example.com"]),),
        "excluded-content-in-declaration @ EvalContract.safetyLimits[0]",
    ),
    "scoped-resource": (
        (put("/scopedResources", [{"reference": "seed", "kind": "file"}]),),
        "scoped-reference-resolves-forbidden @ EvalContract.scopedResources[0].reference",
    ),
    "waiver-without-approval": (
        (
            put(
                "/waivers",
                [
                    {
                        "id": "W-001",
                        "rule": "whole-body",
                        "rationale": "small",
                        "condition": None,
                        "approval": None,
                        "expiresAt": None,
                    }
                ],
            ),
        ),
        "waiver-incomplete @ EvalContract.waivers[id=W-001].approval",
    ),
    "chain-of-thought": (
        (
            rubric(
                criteria=[
                    {
                        "id": "RC-001",
                        "text": "Is the chain\u2011of\u2011thought sound?",
                        "evidence": "/interactions/read/response-body",
                    }
                ]
            ),
        ),
        "rubric-scores-reasoning-prose @ EvalContract.rubrics[id=R-001].criteria[id=RC-001].text",
    ),
    "repeated-criterion-beats-empty-scale": (
        (
            rubric(
                scaleLevels=[],
                criteria=[
                    {"id": "RC-001", "text": "a", "evidence": "/interactions/read/response-body"},
                    {"id": "RC-001", "text": "b", "evidence": "/interactions/read/response-body"},
                ],
            ),
        ),
        "rubric-unanchored @ EvalContract.rubrics[id=R-001].criteria[1].id",
    ),
    "web": (
        (put("/permittedInterfaces/0/kind", "web"),),
        "unsupported-interface-kind @ EvalContract.permittedInterfaces[logicalId=library].kind",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_s18_worked_example(name: str) -> None:
    edits, expected = EXAMPLES[name]
    assert verdict(library(*edits)) == expected


def test_s18_an_unchanged_contract_compiles_to_itself() -> None:
    assert to_value(compile_value(library())) == library()


def test_s18_an_undeclared_key_compiles_without_strict_inputs() -> None:
    edits, _ = EXAMPLES["undeclared-key"]
    assert verdict(library(*edits), strict=False) == "ok"


def test_s18_an_incomplete_reset_is_refused_without_strict_inputs_too() -> None:
    document = library(put("/fixtureReset", RESET))
    expected = "undeclared-mandatory-input @ EvalContract.fixtureReset.inputs"
    assert verdict(document, strict=False) == expected
    assert verdict(document, strict=True) == expected


def test_s18_the_escaped_backslash_is_reported_as_a_backreference() -> None:
    from support.contracts import error_of

    edits, _ = EXAMPLES["escaped-backslash-digit"]
    error = error_of(library(*edits))
    assert error is not None
    assert "backreference" in error.detail
