"""Contracts for the tests of compile, coverage and seal, and short ways to ask what becomes of them.

`library()` and `desk()` are the two small contracts that chapters 03 §18 and 04 §11 describe in words.
`command_contract()` and `tool_contract()` are their counterparts for the other two kinds.
"""

from typing import Any

from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.coverage.rules import DISCIPLINE_RULE_IDS
from eval_quality.core.explain.patch import Edit, apply
from eval_quality.core.seal.entry import seal_value
from eval_quality.errors import CodedError
from eval_quality.model.primitives import FORBIDDEN_INPUTS

Json = Any
EMPTY: Json = {"requiredKeys": [], "permittedKeys": [], "types": {}}


def keys(required: Json = None, permitted: Json = None, types: Json = None) -> Json:
    """A shape over `{key: type}` maps; a type of "" leaves the key untyped."""
    required, permitted = required or {}, permitted or {}
    declared = {key: kind for key, kind in {**required, **permitted}.items() if kind != ""}
    return {"requiredKeys": [*required], "permittedKeys": [*permitted], "types": {**declared, **(types or {})}}


def p(text: str) -> Json:
    """A pointer operand; `read/response-body/x` is rooted at /interactions."""
    return {"pointer": text if text.startswith(("@", "/")) else f"/interactions/{text}"}


def lit(value: Json) -> Json:
    return {"literal": value}


def refset(name: str) -> Json:
    return {"referenceSet": name}


def eq(one: Json, other: Json) -> Json:
    return {"op": "equality", "operands": [one, other]}


def exists(pointer: str) -> Json:
    return {"op": "existence", "operands": [p(pointer)]}


def every(collection: str, predicate: Json, op: str = "for-all") -> Json:
    return {"op": op, "collection": p(collection), "predicate": predicate}


def both(*checks: Json) -> Json:
    return {"op": "all", "operands": [*checks]}


def negated(check: Json) -> Json:
    return {"op": "not", "operands": [check]}


def pointers_in(check: Json) -> list[str]:
    """The interaction pointers of a check, in order, quantifier substitution applied where it is plain."""
    found: list[str] = []
    pending = [check]
    while pending:
        current = pending.pop(0)
        if isinstance(current, dict):
            pointer = current.get("pointer")
            if isinstance(pointer, str) and pointer.startswith("/"):
                found.append(pointer)
            pending = [*current.values(), *pending]
        elif isinstance(current, list):
            pending = [*current, *pending]
    return found


def oracle(number: int, check: Json, targets: list[str] | None = None, **over: Any) -> Json:
    """An oracle whose direction announces every pointer its check reads, unless told otherwise."""
    named = pointers_in(check) if targets is None else [p(target)["pointer"] for target in targets]
    relation = check["op"]
    return {
        "id": f"O-{number:03}",
        "direction": {
            "evidenceTargets": named,
            "relation": relation,
            "polarity": "expects-hold",
            "scope": None,
            "negativeDomain": None,
        },
        "check": check,
        "polarity": "expects-hold",
        "commentary": None,
        **over,
    }


def behavior(*oracles: str, **over: Any) -> Json:
    return {
        "id": "B-001",
        "description": "what is lent can be read",
        "severity": "material",
        "observableSuccessCriterion": "the loan is there",
        "requirementLinks": [{"scheme": "ticket", "id": "1"}],
        "riskLinks": [],
        "oracles": [*oracles],
        **over,
    }


def api_binding(**channels: Json) -> Json:
    return {"path": None, "query": None, "header": None, "body": None, **channels}


def step(step_id: str, operation_id: str, after: str | None = None, interface_id: str = "library", **over: Any) -> Json:
    return {
        "stepId": step_id,
        "interfaceId": interface_id,
        "operationId": operation_id,
        "inputBinding": api_binding(),
        "after": after,
        "cardinality": "exactly-one",
        **over,
    }


def api_inputs(path: Json = None, query: Json = None, header: Json = None, body: Json = None) -> Json:
    return {"path": path or {}, "query": query or {}, "header": header or {}, "body": body or {"kind": "absent"}}


def json_body(value: Json) -> Json:
    return {"kind": "json", "value": value}


def raw_body(data: str = "AA==", content_type: str = "application/octet-stream") -> Json:
    return {"kind": "raw", "base64": data, "contentType": content_type}


def witness(channel: str, first: Json, second: Json, read: str, legs: tuple[str, str] = ("leg-a", "leg-b")) -> Json:
    """A witness whose relation says that `read` differs between the two legs."""
    return {
        "witnessId": "w",
        "channel": channel,
        "legs": [{"legId": legs[0], "inputs": first}, {"legId": legs[1], "inputs": second}],
        "relation": negated(eq(p(f"{legs[0]}/{read}"), p(f"{legs[1]}/{read}"))),
    }


def response(required: Json = None, permitted: Json = None, **over: Any) -> Json:
    return {
        **keys(required, permitted),
        "successIndicator": "",
        "channelRoles": {},
        "collectionLocations": [],
        **over,
    }


def api_operation(operation_id: str, method: str, path: str, **over: Any) -> Json:
    return {
        "operationId": operation_id,
        "method": method,
        "pathTemplate": path,
        "stateChangeMarker": False,
        "requestShape": {"path": EMPTY, "query": EMPTY, "header": EMPTY, "body": EMPTY},
        "responseDescriptor": response(),
        "volatilePointers": [],
        "sensitivityWitness": None,
        **over,
    }


def shape(**channels: Json) -> Json:
    return {"path": EMPTY, "query": EMPTY, "header": EMPTY, "body": EMPTY, **channels}


def contract(**over: Any) -> Json:
    """A contract that says nothing but what every contract must."""
    return {
        "schemaVersion": 7,
        "parentDigest": None,
        "revisionCount": 0,
        "contractId": "loans",
        "sourceSpecDigest": None,
        "behaviors": [behavior("O-001")],
        "oracles": [],
        "rubrics": [],
        "waivers": [],
        "permittedInterfaces": [],
        "referenceSets": None,
        "siblingGroups": {"operations": [], "parameters": []},
        "interactionPlan": [],
        "scopedResources": None,
        "forbiddenInputs": [*FORBIDDEN_INPUTS],
        "testData": {"setup": None, "cleanup": None, "principals": {"alice": {"kind": "reader"}}, "resources": None},
        "budgets": {"maxToolCalls": 5, "maxWallClockMinutes": 5, "maxCostUsd": "0"},
        "safetyLimits": [],
        "requiredEvidence": [],
        "probeStepBound": None,
        "fixtureReset": None,
        **over,
    }


def lend_book() -> Json:
    return api_operation(
        "lend-book",
        "POST",
        "/loans",
        stateChangeMarker=True,
        requestShape=shape(body=keys({"copyId": "number"}, {"note": "string"})),
        responseDescriptor=response({"loanId": "string"}, {"status": "string"}),
        sensitivityWitness=witness(
            "body",
            api_inputs(body=json_body({"copyId": 1})),
            api_inputs(body=json_body({"copyId": 2})),
            "response-body/loanId",
        ),
    )


def get_loan() -> Json:
    return api_operation(
        "get-loan",
        "GET",
        "/loans/{id}",
        requestShape=shape(path=keys({"id": "string"})),
        responseDescriptor=response(
            {"loanId": "string"},
            {"items": "array"},
            collectionLocations=[
                {"pointer": "/items", "expectedCardinality": {"mode": "at-most", "max": 20}, "referenceSet": None}
            ],
        ),
        sensitivityWitness=witness(
            "path",
            api_inputs(path={"id": "x"}),
            api_inputs(path={"id": "y"}),
            "response-body/loanId",
            ("leg-c", "leg-d"),
        ),
    )


def library(*edits: Edit) -> Json:
    """C0 of spec 03 §18: lend a book, read the loan."""
    base = contract(
        oracles=[oracle(1, eq(p("read/response-body/loanId"), p("lend/response-body/loanId")))],
        permittedInterfaces=[{"logicalId": "library", "kind": "api", "operations": [lend_book(), get_loan()]}],
        interactionPlan=[
            step("lend", "lend-book", inputBinding=api_binding(body={"copyId": lit(7)})),
            step(
                "read",
                "get-loan",
                "lend",
                inputBinding=api_binding(path={"id": {"captured": "/interactions/lend/response-body/loanId"}}),
            ),
        ],
    )
    return apply(base, edits)


def desk(*edits: Edit) -> Json:
    """K0 of spec 04 §11.1: a loan with a status, read well and read badly."""
    status, loan_id = "read/response-body/status", "read/response-body/loanId"
    loan = api_operation(
        "get-loan",
        "GET",
        "/loans/{id}",
        requestShape=shape(path=keys({"id": "string"})),
        responseDescriptor=response(
            {"loanId": "string", "status": "string"},
            {"items": "array"},
            successIndicator="/status",
            channelRoles={"/status": "success-indicator", "/loanId": "payload"},
        ),
        sensitivityWitness=witness(
            "path", api_inputs(path={"id": "x"}), api_inputs(path={"id": "y"}), "response-body/loanId"
        ),
    )
    base = contract(
        oracles=[
            oracle(1, both(eq(p(status), lit("open")), eq(p(loan_id), lit("l-1")))),
            oracle(2, eq(p("bad/response-status"), lit(400))),
        ],
        permittedInterfaces=[{"logicalId": "library", "kind": "api", "operations": [loan]}],
        interactionPlan=[
            step("read", "get-loan", inputBinding=api_binding(path={"id": lit("l-1")})),
            step("bad", "get-loan", inputBinding=api_binding(path={"id": {"matcher": "type-violating"}})),
        ],
    )
    return apply(base, edits)


def cli_binding(**channels: Json) -> Json:
    return {"argument": None, "option": None, "environment": None, "stdin": None, **channels}


def cli_inputs(argument: Json = None, option: Json = None, environment: Json = None, stdin: Json = None) -> Json:
    return {
        "argument": argument or {},
        "option": option or {},
        "environment": environment or {},
        "stdin": stdin or {"kind": "absent"},
    }


def command_operation(operation_id: str = "lint", **over: Any) -> Json:
    return {
        "operationId": operation_id,
        "invocation": {"executable": operation_id, "subcommandPath": []},
        "stateChangeMarker": False,
        "requestShape": {"argument": EMPTY, "option": EMPTY, "environment": EMPTY, "stdin": EMPTY},
        "artifacts": ["report", "log"],
        "descriptorChannel": {"kind": "stream", "channel": "stdout"},
        "responseDescriptor": response({"count": "number"}, {"findings": "array"}),
        "volatilePointers": [],
        "sensitivityWitness": None,
        **over,
    }


def command_contract(*edits: Edit) -> Json:
    """One command that prints a described document and writes two files; one step, one oracle."""
    base = contract(
        oracles=[oracle(1, eq(p("run/stdout/count"), lit(0)))],
        permittedInterfaces=[{"logicalId": "linter", "kind": "cli", "operations": [command_operation()]}],
        interactionPlan=[step("run", "lint", None, "linter", inputBinding=cli_binding())],
    )
    return apply(base, edits)


def tool_operation(operation_id: str = "search", **over: Any) -> Json:
    return {
        "operationId": operation_id,
        "toolName": operation_id,
        "stateChangeMarker": False,
        "requestShape": {"arguments": EMPTY},
        "descriptorChannel": {"kind": "structured-result"},
        "responseDescriptor": response({"hits": "array"}, {"total": "number"}),
        "volatilePointers": [],
        "sensitivityWitness": None,
        **over,
    }


def tool_contract(*edits: Edit) -> Json:
    """One tool; one step, one oracle."""
    base = contract(
        oracles=[oracle(1, exists("ask/response-body/hits"))],
        permittedInterfaces=[{"logicalId": "notes", "kind": "mcp", "operations": [tool_operation()]}],
        interactionPlan=[step("ask", "search", None, "notes", inputBinding={"arguments": None})],
    )
    return apply(base, edits)


def error_of(document: Json, strict: bool = True) -> CodedError | None:
    """What compiling a document raises, or None."""
    try:
        compile_value(document, strict)
    except CodedError as error:
        return error
    return None


def verdict(document: Json, strict: bool = True) -> str:
    """`ok`, or `code @ artifact path`."""
    error = error_of(document, strict)
    return "ok" if error is None else f"{error.code} @ {error.artifact_path}"


def gaps(document: Json) -> list[int]:
    """The numbers of the open coverage rules."""
    return [DISCIPLINE_RULE_IDS.index(gap.rule) + 1 for gap in coverage_gaps(read_contract(document))]


def texts(document: Json) -> dict[str, str]:
    """The sealed direction texts by oracle id."""
    return {each.oracle_id: each.text for each in seal_value(document).directions}
