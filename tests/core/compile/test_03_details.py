"""Spec 03 §1.4: the detail of a failure carries what its code owes the reader. The sentences are pinned here, whole."""

# ruff: noqa: E501 - a sentence is easier to compare on one line

from typing import Any

import pytest

from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.failures import STRUCTURAL_FAILURES
from eval_quality.core.explain.patch import Edit, add, put
from eval_quality.core.explain.record import Explanation
from support.contracts import (
    api_binding,
    api_inputs,
    apply,
    both,
    cli_binding,
    cli_inputs,
    command_contract,
    eq,
    error_of,
    every,
    exists,
    json_body,
    keys,
    library,
    lit,
    negated,
    oracle,
    p,
    raw_body,
    refset,
    response,
    shape,
    step,
    tool_contract,
    witness,
)

OPERATION = "/permittedInterfaces/0/operations/0"
WITNESS = f"{OPERATION}/sensitivityWitness"


def reads(pointer: str, *edits: Edit) -> Any:
    return library(put("/oracles", [oracle(1, exists(pointer))]), *edits)


def checks(check: Any, members: Any = ({"id": 1},), names: Any = ("id",)) -> Any:
    books = {"books": {"keys": [*names], "members": [*members], "commentary": None}}
    return library(put("/referenceSets", books), put("/oracles", [oracle(1, check)]))


def rubric(**over: Any) -> Any:
    found = {
        "id": "R-001",
        "scaleLevels": [{"level": 1, "anchor": "good"}],
        "failureModePenalties": [{"name": "vague", "description": ""}],
        "maxLength": 10,
        "criteria": [{"id": "RC-001", "text": "x", "evidence": "/interactions/read/response-body"}],
    }
    return library(put("/rubrics", [{**found, **over}]))


def captures(pointer: str) -> Any:
    return library(put("/interactionPlan/1/inputBinding/path/id", {"captured": f"/interactions/{pointer}"}))


def legs(first: Any, second: Any) -> Any:
    return library(put(f"{WITNESS}/legs/0/inputs", first), put(f"{WITNESS}/legs/1/inputs", second))


def relates(relation: Any, *edits: Edit) -> Any:
    return library(put(f"{WITNESS}/relation", relation), *edits)


def regex(pattern: str) -> Any:
    return checks({"op": "regex", "operands": [p("read/response-body/loanId")], "pattern": pattern})


def reset(**over: Any) -> Any:
    sent = api_inputs(body=json_body({"copyId": 0}))
    found = {"legId": "reset", "interfaceId": "library", "operationId": "lend-book", "inputs": sent}
    return library(put("/fixtureReset", {**found, **over}))


MEMBER = {"op": "set-membership", "operands": [p("read/response-body/loanId"), refset("books")]}
COVERS = {
    "op": "covers-by-key",
    "operands": [refset("books"), p("read/response-body/items")],
    "expectedKey": "id",
    "actualKey": "id",
}
ONE = api_inputs(body=json_body({"copyId": 1}))

SCENARIOS: dict[str, Any] = {
    "descriptor: unknown artifact": command_contract(
        put(f"{OPERATION}/descriptorChannel", {"kind": "artifact", "artifactId": "other"})
    ),
    "reach: no structure of an artifact": command_contract(put("/oracles", [oracle(1, exists("run/artifact/log/x"))])),
    "reach: tool channel": tool_contract(put("/oracles", [oracle(1, exists("ask/stdout"))])),
    "reach: no structure of a stream": command_contract(put("/oracles", [oracle(1, exists("run/stderr/x"))])),
    "reach: command channel": command_contract(put("/oracles", [oracle(1, exists("run/response-status"))])),
    "reach: foreign input channel": reads("lend/call-inputs/stdin"),
    "reach: undeclared input": reads("lend/call-inputs/body/x"),
    "reach: scalar input": reads("lend/call-inputs/body/copyId/x"),
    "reach: scalar field": reads("lend/response-body/loanId/x"),
    "reach: no step": reads("nowhere/stdout"),
    "reach: no operation": reads("lend/stdout", put("/interactionPlan/0/operationId", "nowhere")),
    "reach: two operations": reads(
        "lend/stdout",
        add("/permittedInterfaces/0/operations/-", library()["permittedInterfaces"][0]["operations"][0]),
    ),
    "reach: index": reads(
        "lend/response-body/7",
        put(
            f"{OPERATION}/responseDescriptor/collectionLocations",
            [{"pointer": "", "expectedCardinality": {"mode": "exact", "count": 2}, "referenceSet": None}],
        ),
    ),
    "reset: volatile": library(
        add(f"{OPERATION}/stateResetPointers", ["/status"]), put(f"{OPERATION}/volatilePointers", ["/status"])
    ),
    "reset: wildcard": library(
        put(f"{OPERATION}/responseDescriptor", response()),
        put("/oracles", []),
        put("/interactionPlan/1/inputBinding/path/id", lit("x")),
        add(f"{OPERATION}/stateResetPointers", ["/*"]),
    ),
    "capture: no step": captures("nowhere/stdout"),
    "capture: whole": captures("lend/response-body"),
    "capture: deep": captures("lend/response-body/status/x/y"),
    "capture: undeclared": captures("lend/response-body/x"),
    "bound: outside": checks(exists("@/x")),
    "operand: pointer or literal": checks(eq(refset("books"), lit(1))),
    "operand: ordering": checks(
        {"op": "ordering", "operands": [p("lend/call-inputs/body")], "key": "k", "order": "ascending"}
    ),
    "set: keys": checks(MEMBER, names=("id", "isbn")),
    "set: member": checks(MEMBER, members=({},)),
    "cover: member": checks(COVERS, members=({},)),
    "cover: twice": checks(COVERS, members=({"id": 2}, {"id": 1}, {"id": 1})),
    "regex: invalid": regex("^($"),
    "regex: not anchored": regex("^a|b$"),
    "regex: backreference": regex("^(a)\\1$"),
    "regex: lookbehind": regex("^(?<=a)b$"),
    "regex: nested group": regex("^((a)|b)$|c$"),
    "cover: nested": checks(every("read/response-body/items", COVERS)),
    "inputs: principal": library(
        put("/interactionPlan/0/inputBinding", api_binding(body={"note": {"principal": "bob"}}))
    ),
    "inputs: two content types": library(
        put("/oracles", []),
        put("/interactionPlan/0/inputBinding", api_binding(header={"content-type": lit("x")}, body=raw_body())),
    ),
    "witness: none": library(put(WITNESS, None)),
    "leg: missing": legs(api_inputs(), ONE),
    "leg: extra": legs(ONE, api_inputs(body=json_body({"copyId": 2, "x": 1}))),
    "leg: spelling": legs(ONE, cli_inputs()),
    "leg: raw beside a header": apply(
        legs(ONE, api_inputs(header={"content-type": "a/b"}, body=raw_body())),
        (put(f"{OPERATION}/requestShape/header", keys({}, {"content-type": "string"})),),
    ),
    "leg: text": command_contract(
        put(f"{OPERATION}/requestShape/stdin", keys({"a": "string", "b": "string"})),
        put(
            WITNESS,
            witness(
                "stdin",
                cli_inputs(stdin={"kind": "text", "value": "x"}),
                cli_inputs(stdin={"kind": "text", "value": "y"}),
                "stdout/count",
            ),
        ),
    ),
    "oracle: check": library(put("/oracles/0/check", None)),
    "align: target": library(put("/oracles/0/direction/evidenceTargets", ["/interactions/read/stdout"])),
    "align: polarity": library(put("/oracles/0/polarity", "expects-violation")),
    "rubric: twice": library(put("/rubrics", [rubric()["rubrics"][0]] * 2)),
    "rubric: criterion twice": rubric(criteria=[rubric()["rubrics"][0]["criteria"][0]] * 2),
    "rubric: level twice": rubric(scaleLevels=[{"level": 3, "anchor": "a"}] * 2),
    "rubric: anchor": rubric(scaleLevels=[{"level": 3, "anchor": " "}]),
    "rubric: length": rubric(maxLength=None),
    "rubric: penalties": rubric(failureModePenalties=None),
    "rubric: penalty": rubric(failureModePenalties=[{"name": " ", "description": ""}]),
    "rubric: criterion": rubric(
        criteria=[{"id": "RC-001", "text": " ", "evidence": "/interactions/read/response-body"}]
    ),
    "floor: resource": library(put("/testData/resources", {"seed": {"kind": "file"}})),
    "plan: anchors": library(
        put("/oracles", []),
        put(
            "/interactionPlan",
            [
                step(f"{kind}{n}", "get-loan", None if kind == "a" else f"a{n}")
                for n in range(3)
                for kind in ("a", "b", "c")
            ],
        ),
    ),
    "steps: shared interface": library(
        put("/permittedInterfaces/0/operations/1/requestShape", shape(path=keys({"id": "string"}))),
        add(
            "/permittedInterfaces/-",
            {
                "logicalId": "archive",
                "kind": "api",
                "operations": [
                    {
                        **library()["permittedInterfaces"][0]["operations"][1],
                        "pathTemplate": "/archive/{id}",
                        "sensitivityWitness": witness(
                            "path",
                            api_inputs(path={"id": "x"}),
                            api_inputs(path={"id": "y"}),
                            "response-body/loanId",
                            ("leg-e", "leg-f"),
                        ),
                    }
                ],
            },
        ),
        put("/interactionPlan/1/inputBinding", api_binding()),
        add("/interactionPlan/-", step("again", "get-loan")),
        put("/oracles", [oracle(1, both(exists("read/stdout"), exists("again/stdout")))]),
    ),
    "legs: one name": apply(
        library(put(f"{WITNESS}/legs/1/legId", "leg-a")), (put(f"{WITNESS}/relation", exists("leg-a/response-status")),)
    ),
    "legs: a step's name": apply(
        library(put(f"{WITNESS}/legs/1/legId", "read")), (put(f"{WITNESS}/relation", exists("read/response-status")),)
    ),
    "legs: another leg's name": library(
        put("/permittedInterfaces/0/operations/1/sensitivityWitness/legs/0/legId", "leg-a"),
    ),
    "witness: channel": library(put(f"{WITNESS}/channel", "query")),
    "witness: read channel": library(put("/permittedInterfaces/0/operations/1/sensitivityWitness/channel", "body")),
    "relaxed witness: no channel": legs(ONE, {"arguments": {}}),
    "witness: same": legs(ONE, ONE),
    "relation: foreign": relates(exists("read/stdout")),
    "relation: one leg": relates(exists("leg-a/response-status")),
    "relation: channel": relates(both(exists("leg-a/exit-code"), exists("leg-b/response-status"))),
    "relation: undeclared": relates(both(exists("leg-a/response-body/x"), exists("leg-b/response-status"))),
    "relation: volatile": relates(
        both(exists("leg-a/response-body/status"), exists("leg-b/response-status")),
        put(f"{OPERATION}/volatilePointers", ["/x", "/status"]),
    ),
    "fixture: unknown": reset(operationId="nowhere"),
    "fixture: a read": reset(operationId="get-loan"),
    "fixture: inputs": reset(inputs=api_inputs()),
    "fixture: leg": reset(legId="leg-b"),
    "command: relation channel": command_contract(
        put(f"{OPERATION}/requestShape/option", keys({"o": "string"})),
        put(WITNESS, witness("option", cli_inputs(option={"o": "a"}), cli_inputs(option={"o": "b"}), "stderr")),
    ),
    "command: binding": command_contract(
        put("/interactionPlan/0/inputBinding", cli_binding(option={"x": lit(1)})),
    ),
    "negation": checks(negated(exists("@/x"))),
}


DETAILS: dict[str, str] = {
    "descriptor: unknown artifact": 'operation "lint" describes artifact "other", which it does not declare',
    "reach: no structure of an artifact": '"/interactions/run/artifact/log/x": operation "lint" declares no structure for artifact "log"',
    "reach: tool channel": '"/interactions/ask/stdout": operation "search" is a tool call, which has no stdout',
    "reach: no structure of a stream": '"/interactions/run/stderr/x": operation "lint" declares no structure for stderr',
    "reach: command channel": '"/interactions/run/response-status": operation "lint" is a command, which has no response-status',
    "reach: foreign input channel": '"/interactions/lend/call-inputs/stdin": operation "lend-book" has no input channel stdin',
    "reach: undeclared input": '"/interactions/lend/call-inputs/body/x": operation "lend-book" declares no body key "x"',
    "reach: scalar input": '"/interactions/lend/call-inputs/body/copyId/x": operation "lend-book" declares body key "copyId" a number, which has no members',
    "reach: scalar field": '"/interactions/lend/response-body/loanId/x": operation "lend-book" declares field "loanId" a string, which has no members',
    "reach: no step": '"/interactions/nowhere/stdout": the interaction plan does not declare one step "nowhere"',
    "reach: no operation": '"/interactions/lend/stdout": step "lend" names operation "nowhere" on interface "library", which that interface does not declare',
    "reach: two operations": '"/interactions/lend/stdout": step "lend" names operation "lend-book" on interface "library", which that interface declares more than once',
    "reach: index": '"/interactions/lend/response-body/7": index 7 is outside the root collection, declared exact 2',
    "reset: volatile": '"/status": the pointer would compare nothing: volatile pointer "/status" covers it',
    "reset: wildcard": '"/*": the pointer would compare nothing: operation "lend-book" declares no member for "*" to stand for',
    "capture: no step": '"/interactions/nowhere/stdout": the interaction plan does not declare one step "nowhere"',
    "capture: whole": '"/interactions/lend/response-body": it captures the whole channel, not one declared field',
    "capture: deep": '"/interactions/lend/response-body/status/x/y": operation "lend-book" declares field "status" a string, which has no members',
    "capture: undeclared": '"/interactions/lend/response-body/x": the response-body of operation "lend-book" declares no field "x"',
    "bound: outside": '"@/x" stands outside every quantifier, so it is bound to no element',
    "operand: pointer or literal": "equality takes no reference-set as operand 0; it takes pointer or literal",
    "operand: ordering": 'ordering reads observed output only, and "/interactions/lend/call-inputs/body" is what was sent',
    "set: keys": 'set-membership needs one key, and reference set "books" declares 2',
    "set: member": 'a member of reference set "books" lacks its key "id"',
    "cover: member": 'a member of reference set "books" lacks key "id"',
    "cover: twice": 'members 1 and 2 of reference set "books" have the same "id"',
    "regex: invalid": "the pattern is not a valid ECMA-262 regular expression",
    "regex: not anchored": "the pattern is not anchored as a whole",
    "regex: backreference": "the pattern carries a backreference",
    "regex: lookbehind": "the pattern carries a lookbehind",
    "regex: nested group": "the pattern is not anchored as a whole",
    "cover: nested": "covers-by-key stands inside another quantifier's predicate",
    "inputs: principal": 'the test data declares no principal "bob"',
    "inputs: two content types": "the raw body already declares its content type",
    "witness: none": 'operation "lend-book" takes inputs and declares no sensitivity witness; its relation is the author\'s choice and may assert that the answer does not depend on them',
    "leg: missing": 'leg "leg-a" does not supply the body key "copyId" that operation "lend-book" requires',
    "leg: extra": 'leg "leg-b" supplies the body key "x", which operation "lend-book" does not declare',
    "leg: spelling": 'leg "leg-b" spells command inputs, and operation "lend-book" takes transport inputs',
    "leg: raw beside a header": 'leg "leg-b" sends a raw body, which already declares its content type, beside a content-type header',
    "leg: text": 'leg "leg-a" sends text on standard input, and operation "lint" requires 2 keys there: text fills exactly one',
    "oracle: check": "the oracle declares no check",
    "align: target": 'the check never reads "/interactions/read/stdout"',
    "align: polarity": 'the direction says "expects-hold" and the oracle says "expects-violation"',
    "rubric: twice": 'rubric id "R-001" is declared twice',
    "rubric: criterion twice": 'criterion id "RC-001" is declared twice',
    "rubric: level twice": "level 3 is declared twice",
    "rubric: anchor": "the anchor is blank",
    "rubric: length": "the rubric declares no maximum length",
    "rubric: penalties": "the rubric declares no failure-mode penalty",
    "rubric: penalty": "the penalty's name is blank",
    "rubric: criterion": "the criterion's text is blank",
    "floor: resource": 'test-data resource "seed" could resolve to a forbidden input',
    "plan: anchors": "the number of shared anchors is 3; the bound is 2",
    "steps: shared interface": 'the steps of operation "get-loan" of interface "library" named by the direction bind the same values, so nothing tells them apart',
    "legs: one name": 'both legs are called "leg-a"',
    "legs: a step's name": '"read" already names a plan step',
    "legs: another leg's name": '"leg-a" already names a leg of operation "lend-book"',
    "witness: channel": 'a witness of operation "lend-book" varies body, not query',
    "witness: read channel": 'a witness of operation "get-loan" varies path or query, not body',
    "relaxed witness: no channel": 'the inputs of leg "leg-b" have no body channel',
    "witness: same": "both legs supply the same value on body",
    "relation: foreign": 'the relation addresses "read", which is neither leg of the witness',
    "relation: one leg": 'the relation does not address leg "leg-b", so it compares nothing',
    "relation: channel": '"/interactions/leg-a/exit-code": a witness leg carries only response-body, response-headers, response-status, call-inputs',
    "relation: undeclared": '"/interactions/leg-a/response-body/x": the response-body of operation "lend-book" declares no field "x"',
    "relation: volatile": '"/interactions/leg-a/response-body/status": volatile pointer "/status" covers it, so the legs may differ there anyway',
    "fixture: unknown": 'interface "library" declares no operation "nowhere"',
    "fixture: a read": 'operation "get-loan" changes no state',
    "fixture: inputs": 'the fixture reset does not supply the body key "copyId" that operation "lend-book" requires',
    "fixture: leg": '"leg-b" already names a leg of operation "lend-book"',
    "command: relation channel": '"/interactions/leg-a/stderr": a witness leg carries only stdout, exit-code, call-inputs',
    "command: binding": 'operation "lint" declares no key "x" on its option channel',
    "negation": '"@/x" stands outside every quantifier, so it is bound to no element',
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_s1_4_the_detail_says_what_is_wrong(name: str) -> None:
    error = error_of(SCENARIOS[name], strict=not name.startswith("relaxed"))
    assert error is not None
    assert error.detail == DETAILS[name]


CATALOGUE_DETAILS: dict[str, str] = {
    "missing-requirement-linkage": "the behaviour declares neither a requirement link nor a risk link",
    "no-observable-success-criterion": "the behaviour declares no observable success criterion",
    "unreachable-check-evidence": '"/interactions/register/response-body/receipt": the response-body of operation "register-parcel" declares no field "receipt"',
    "malformed-operator-expression": "existence takes no literal as operand 0; it takes pointer",
    "quantifier-over-non-collection": '"/interactions/track/response-body/sender" is declared string by operation "track-parcel", so it has no elements',
    "quantifier-nesting-exceeded": "for-any stands inside another quantifier's predicate",
    "unresolved-reference-set": 'the contract declares no reference set "scan-kinds"',
    "duplicate-operation-signature": 'operation "register-parcel" of interface "parcel-desk" already has the api signature "POST /parcels", parameter names erased',
    "undeclared-mandatory-input": 'operation "register-parcel" declares no key "colour" on its body channel',
    "oracle-missing-channel": "the oracle declares no direction",
    "direction-check-misaligned": 'the check carries no "containment"',
    "unsupported-interface-kind": 'interface kind "web" is not supported: "api", "cli" and "mcp" are supported',
    "nested-temporal-clause": 'step "track" itself comes after another step',
    "plan-exceeds-scripting-bound": "the width, the steps after one step, is 3; the bound is 2",
    "binding-cycle": 'capturing "/interactions/track/response-body/sender" makes step "register" wait for itself',
    "captured-channel-undeclared": '"/interactions/register/response-headers/location" captures from response-headers, which no response descriptor describes',
    "rubric-scores-reasoning-prose": '"reasoning" scores reasoning, not an observation',
    "rubric-unanchored": "the rubric declares no scale level",
    "rubric-evidence-unreachable": '"/interactions/track/response-body/history": the response-body of operation "track-parcel" declares no field "history"',
    "forbidden-input-floor-incomplete": 'the contract does not withhold "original-spec"',
    "scoped-reference-resolves-forbidden": 'scoped resource "desk-manual" could resolve to a forbidden input',
    "waiver-incomplete": "the waiver states no approval",
    "unresolved-artifact-reference": '"/interactions/register/artifact/receipt" addresses artifact "receipt", which operation "register-parcel" does not declare',
    "irreducible-step-reference": 'the steps of operation "register-parcel" named by the direction bind the same values, so nothing tells them apart',
    "excluded-content-in-declaration": "the text looks like email addresses; store a digest or an opaque reference instead",
    "duplicate-interface-identifier": 'interface identifier "parcel-desk" is declared at position 0 and again at position 1',
}


@pytest.mark.parametrize(
    "entry", [each for each in STRUCTURAL_FAILURES if each.subject == "contract"], ids=lambda e: e.code
)
def test_s1_4_the_catalogues_details(entry: Explanation) -> None:
    error = error_of(apply(base_contract(), entry.failing))
    assert error is not None
    assert error.detail == CATALOGUE_DETAILS[entry.code]
