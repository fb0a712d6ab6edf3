"""Spec 02 §6 to §24 and the micro-examples §30.8 to §30.13: what parses, what does not, and where it is reported."""

import copy
from importlib import resources
from typing import Any

import pytest
from msgspec import UNSET

from eval_quality.errors import RuntimeFault
from eval_quality.model import binding, interface, ports, probe
from eval_quality.model.aggregate import FloorDecision, StrengthAggregate, StrengthFloors
from eval_quality.model.artifact import EvidenceArtifact
from eval_quality.model.binding import InputBinding, ProbeInputBinding, WitnessInputs
from eval_quality.model.configuration import EvaluatorConfiguration
from eval_quality.model.contract import EvalContract, SiblingGroups
from eval_quality.model.decode import decode, issues, to_value
from eval_quality.model.evidence import ArtifactReference, PrivateArtifactManifest, QuotedEvidence
from eval_quality.model.expression import Expression, Operand, SetMembership, SetOperand
from eval_quality.model.interface import PermittedInterface, ResponseDescriptor
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.policy import DEFAULT_SCORING_POLICY, ScoringPolicy
from eval_quality.model.probe import DefectSignature, Probe
from eval_quality.model.registry import read
from eval_quality.model.rubric import RubricBody
from eval_quality.model.run_record import Finding, SealedRunRecord
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_value
from support.documents import DIGEST, minimal, sample

TINY: dict[str, Any] = {
    "schemaVersion": 7,
    "parentDigest": None,
    "revisionCount": 0,
    "contractId": "tiny",
    "sourceSpecDigest": None,
    "behaviors": [
        {
            "id": "B-001",
            "description": "",
            "severity": "low",
            "observableSuccessCriterion": None,
            "requirementLinks": [],
            "riskLinks": [],
            "oracles": [],
        }
    ],
    "oracles": [],
    "rubrics": [],
    "waivers": [],
    "permittedInterfaces": [],
    "referenceSets": None,
    "siblingGroups": None,
    "interactionPlan": [],
    "scopedResources": None,
    "forbiddenInputs": [],
    "testData": {"setup": None, "cleanup": None, "principals": None, "resources": None},
    "budgets": {"maxToolCalls": 0, "maxWallClockMinutes": 0, "maxCostUsd": "0"},
    "safetyLimits": [],
    "requiredEvidence": [],
    "probeStepBound": None,
    "fixtureReset": None,
}
EXISTS = {"op": "existence", "operands": [{"pointer": "@/"}]}


def where(kind: Any, value: Any) -> list[tuple[str, str]]:
    """`(path, issue kind)` of every problem; paths joined by dots."""
    return [(".".join(str(token) for token in problem.path), problem.kind) for problem in issues(kind, value)]


# --- §30.8 expressions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"op": "equality", "operands": [{"pointer": "/interactions/read/response-status"}, {"literal": 200}]}, []),
        ({"op": "equality", "operands": [{"literal": 200}]}, [("operands", "too_small")]),
        ({"op": "equality", "operands": [{"literal": 1}] * 3}, [("operands", "too_big")]),
        (
            {"op": "equality", "operands": [{"pointer": "@/id", "literal": 1}, {"literal": 1}]},
            [("operands.0", "invalid_union")],
        ),
        ({"op": "equality", "operands": [{"referenceSet": "known"}, {"literal": 1}]}, []),
        ({"op": "equality", "operands": [{}, {"literal": None}]}, [("operands.0", "invalid_union")]),
        ({"op": "equality", "operands": [{"pointer": "id"}, {"literal": 1}]}, [("operands.0", "invalid_union")]),
        ({"op": "equality", "operands": "x"}, [("operands", "invalid_type")]),
        (
            {"op": "set-membership", "operands": [{"pointer": "@/s"}, {"literal": []}]},
            [("operands.1", "invalid_union")],
        ),
        ({"op": "set-membership", "operands": [{"pointer": "@/s"}, {"literal": 1}]}, [("operands.1", "invalid_union")]),
        (
            {"op": "set-membership", "operands": [{"pointer": "@/s"}, {"pointer": "@/t"}]},
            [("operands.1", "invalid_union")],
        ),
        ({"op": "set-membership", "operands": [{"pointer": "@/s"}, {"literal": [None]}]}, []),
        ({"op": "set-membership", "operands": [{"pointer": "@/s"}, {"referenceSet": "known"}]}, []),
        ({"op": "all", "operands": [EXISTS]}, [("operands", "too_small")]),
        ({"op": "any", "operands": [EXISTS, EXISTS]}, []),
        ({"op": "not", "operands": [EXISTS]}, []),
        (
            {"op": "count-tolerance", "operands": [{"pointer": "@/"}], "expected": 3, "tolerance": 0},
            [("relative", "invalid_type")],
        ),
        (
            {
                "op": "count-tolerance",
                "operands": [{"pointer": "@/"}],
                "expected": 2.5,
                "tolerance": 0,
                "relative": False,
            },
            [("expected", "invalid_type")],
        ),
        ({"op": "xor", "operands": []}, [("op", "invalid_union")]),
        ({"operands": []}, [("op", "invalid_union")]),
        ({"op": 3}, [("op", "invalid_union")]),
        (
            {"op": "for-all", "collection": {"pointer": "@/"}, "predicate": {"op": "no"}},
            [("predicate.op", "invalid_union")],
        ),
        (
            {"op": "ordering", "operands": [{"literal": 1}], "key": "", "order": "up"},
            [("key", "too_small"), ("order", "invalid_value")],
        ),
        ({"op": "regex", "operands": [{"pointer": "@/"}], "pattern": "(^a$)"}, [("pattern", "invalid_format")]),
        ({"op": "existence", "operands": [{"pointer": "@/"}], "pattern": "^$"}, [("", "unrecognized_keys")]),
        (
            {
                "op": "shape",
                "operands": [{"pointer": "@/"}],
                "descriptor": {
                    "requiredKeys": ["a"],
                    "permittedKeys": [],
                    "types": {"b": None, "c": "text", "": "array"},
                },
            },
            [("descriptor.types.c", "invalid_value"), ("descriptor.types.", "invalid_key")],
        ),
    ],
)
def test_s30_8_expressions(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(Expression, value) == expected


def test_s8_1_operand_forms() -> None:
    assert decode(Operand, {"pointer": "@/"}, "x").form == "pointer"
    assert decode(Operand, {"literal": None}, "x").form == "literal"
    assert decode(Operand, {"referenceSet": "known"}, "x").form == "reference-set"
    member = decode(SetMembership, {"op": "set-membership", "operands": [{"pointer": "@/"}, {"literal": [1]}]}, "x")
    assert (member.operands[1].form, member.operands[1].pointer) == ("literal", UNSET)
    assert decode(SetOperand, {"referenceSet": "known"}, "x").form == "reference-set"


# --- §30.9 bindings ---------------------------------------------------------------------------------------------------

NOTHING = {"path": None, "query": None, "header": None, "body": None}
RAW = {"kind": "raw", "base64": "e30=", "contentType": "application/json"}
UNION = [("", "invalid_union")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NOTHING | {"path": {"id": {"literal": "a"}}}, []),
        (NOTHING | {"body": {}}, UNION),
        (NOTHING | {"path": {}}, UNION),
        ({"path": None, "query": None, "header": None}, UNION),
        (NOTHING | {"body": RAW}, []),
        (NOTHING | {"path": RAW}, UNION),
        (NOTHING | {"body": RAW | {"base64": "e30"}}, UNION),
        (NOTHING | {"body": RAW | {"kind": "json"}}, UNION),
        (NOTHING | {"body": {"kind": {"literal": "raw"}}}, []),
        (NOTHING | {"body": 3}, UNION),
        (NOTHING | {"path": {"": {"literal": 1}}}, UNION),
        (NOTHING | {"path": {"id": {"captured": "@/id"}}}, UNION),
        (NOTHING | {"path": {"id": {"captured": "/interactions/read/stdout"}}}, []),
        (NOTHING | {"header": {"as": {"principal": "owner"}}}, []),
        ({"arguments": {"q": {"matcher": "type-violating"}}}, []),
        ({"arguments": {"q": {"matcher": "all"}}}, UNION),
        ({"arguments": {"q": "x"}}, UNION),
        ({"argument": None, "option": None, "environment": None, "stdin": None}, []),
        ({"argument": None, "option": None, "environment": None, "stdin": None, "arguments": None}, UNION),
        ({}, UNION),
        ([], UNION),
    ],
)
def test_s30_9_bindings(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(InputBinding, value) == expected


def test_s12_2_what_a_binding_holds() -> None:
    bound = decode(InputBinding, NOTHING | {"body": RAW, "query": {"q": {"matcher": "any"}}}, "x")
    assert bound.family == "api"
    assert [name for name, _ in bound.channels()] == ["path", "query", "header", "body"]
    assert isinstance(bound.body, binding.RawRequestBody)
    assert isinstance(bound.query, dict)
    assert bound.query["q"].form == "matcher"
    assert decode(InputBinding, {"arguments": None}, "x").family == "mcp"
    forms = {"literal": 1, "matcher": "any", "captured": "/interactions/a/stdout", "principal": "me"}
    for form, held in forms.items():
        assert decode(binding.BindingValue, {form: held}, "x").form == form
    for form in ("literal", "matcher"):
        assert decode(binding.ProbeBindingValue, {form: "any"}, "x").form == form


def test_s12_2_a_binding_can_be_built_from_records() -> None:
    raw = binding.RawRequestBody(base64="", content_type="a/b")
    value = binding.BindingValue(literal=1)
    assert InputBinding(path=None, query=None, header=None, body=raw).body is raw
    built = InputBinding(path=None, query=None, header=None, body={"a": value})
    assert to_value(built) == NOTHING | {"body": {"a": {"literal": 1}}}
    with pytest.raises(ValueError):
        InputBinding(path=None, arguments=None)


@pytest.mark.parametrize(
    ("channel", "value", "expected"),
    [
        ("path", {}, [("path", "custom")]),
        ("path", {"id": {"captured": "/interactions/a/stdout"}}, [("path.id", "invalid_union")]),
        ("path", {"id": {"literal": None}}, []),
        ("body", RAW, []),
        ("body", {}, [("body", "invalid_union")]),
        ("body", {"a": {"principal": "x"}}, [("body", "invalid_union")]),
        ("body", {"a": {"literal": 1}}, []),
        ("stdin", 5, [("stdin", "invalid_type")]),
    ],
)
def test_s15_3_signature_selectors(channel: str, value: Any, expected: list[tuple[str, str]]) -> None:
    selector = dict.fromkeys(binding.INPUT_CHANNELS) | {channel: value}
    assert where(ProbeInputBinding, selector) == expected
    if not expected:
        assert dict(decode(ProbeInputBinding, selector, "x").channels()).keys() == selector.keys()


def test_s27_1_an_empty_channel_has_its_own_message() -> None:
    selector = dict.fromkeys(binding.INPUT_CHANNELS) | {"path": {}}
    assert issues(ProbeInputBinding, selector)[0].message == (
        "a signature selector channel names at least one parameter; an unbound channel is null"
    )
    assert "an input-binding channel names at least one parameter; an unbound channel is null" in (
        issues(InputBinding, NOTHING | {"path": {}})[0].message
    )


@pytest.mark.parametrize(
    ("value", "family", "channels"),
    [
        ({"path": {}, "query": {"a": [1]}, "header": {"x": "y"}, "body": {"kind": "absent"}}, "api", 4),
        ({"path": {}, "query": {}, "header": {}, "body": RAW}, "api", 4),
        ({"argument": {}, "option": {}, "environment": {"K": "v"}, "stdin": {"kind": "text", "value": ""}}, "cli", 4),
        ({"arguments": {}}, "mcp", 1),
    ],
)
def test_s11_1_witness_inputs(value: Any, family: str, channels: int) -> None:
    inputs = decode(WitnessInputs, value, "x")
    assert (inputs.family, len(inputs.channels())) == (family, channels)
    assert to_value(inputs) == value


@pytest.mark.parametrize(
    "value",
    [
        {"path": {}, "query": {}, "header": {"x": 1}, "body": {"kind": "absent"}},
        {"path": {}, "query": {}, "header": {}, "body": {"kind": "text", "value": ""}},
        {"path": None, "query": {}, "header": {}, "body": {"kind": "absent"}},
        {"argument": {}, "option": {}, "environment": {}, "stdin": RAW},
        {"arguments": []},
        {"arguments": None},
    ],
)
def test_s11_1_witness_inputs_that_fit_no_family(value: Any) -> None:
    assert where(WitnessInputs, value) == UNION


# --- §10 interfaces ---------------------------------------------------------------------------------------------------


def test_s10_1_the_kind_chooses_the_operation_shape() -> None:
    shape = {"requiredKeys": [], "permittedKeys": [], "types": {}}
    descriptor = shape | {"successIndicator": "", "channelRoles": None, "collectionLocations": None}
    common = {"operationId": "go", "stateChangeMarker": False, "responseDescriptor": descriptor, "volatilePointers": []}
    tool = common | {
        "toolName": "go",
        "requestShape": {"arguments": shape},
        "descriptorChannel": {"kind": "structured-result"},
        "sensitivityWitness": None,
    }
    held = {"logicalId": "svc", "kind": "mcp", "operations": [tool]}
    record: Any = decode(PermittedInterface, held, "x")  # type: ignore[arg-type]
    assert (record.kind, record.operations[0].state_reset_pointers) == ("mcp", UNSET)
    assert where(PermittedInterface, held | {"operations": [tool | {"stateResetPointers": ["/a/*"]}]}) == []
    found = where(PermittedInterface, held | {"kind": "api"})
    assert ("operations.0", "unrecognized_keys") in found
    assert ("operations.0.method", "invalid_type") in found
    assert where(PermittedInterface, held | {"kind": "web", "operations": []}) == []
    assert where(PermittedInterface, held | {"kind": "grpc"}) == [("kind", "invalid_union")]
    wrong = tool | {"descriptorChannel": {"kind": "stream"}}
    assert where(PermittedInterface, held | {"operations": [wrong]}) == [
        ("operations.0.descriptorChannel.kind", "invalid_value")
    ]


@pytest.mark.parametrize(
    ("cardinality", "expected"),
    [
        ({"mode": "exact", "count": 0}, []),
        ({"mode": "at-most", "max": 2}, []),
        ({"mode": "page-bounded", "max": -1}, [("collectionLocations.0.expectedCardinality.max", "too_small")]),
        ({"mode": "some"}, [("collectionLocations.0.expectedCardinality.mode", "invalid_union")]),
    ],
)
def test_s10_3_response_descriptors(cardinality: Any, expected: list[tuple[str, str]]) -> None:
    descriptor = {
        "requiredKeys": [],
        "permittedKeys": [],
        "types": {},
        "successIndicator": "/",
        "channelRoles": {"/a": "payload"},
        "collectionLocations": [{"pointer": "/items", "expectedCardinality": cardinality, "referenceSet": None}],
    }
    assert where(ResponseDescriptor, descriptor) == expected


def test_s10_4_descriptor_channels() -> None:
    assert where(interface.CommandDescriptorChannel, {"kind": "stream", "channel": "exit-code"}) == [
        ("channel", "invalid_value")
    ]
    assert where(interface.CommandDescriptorChannel, {"kind": "artifact", "artifactId": "a"}) == []


# --- §30.10 the smallest contract -------------------------------------------------------------------------------------


def test_s30_10_the_smallest_contract() -> None:
    contract = decode(EvalContract, TINY, "EvalContract")
    assert len(canonicalize(to_value(contract), "EvalContract")) == 647
    assert digest_value(to_value(contract), "EvalContract") == (
        "sha256:1c52b152b4ca4aecf9a0a3d4677724318237f490287a21db25733e788accc112"
    )


@pytest.mark.parametrize("key", [key for key in TINY if key != "schemaVersion"])
def test_s30_10_every_key_is_needed(key: str) -> None:
    with pytest.raises(RuntimeFault, match=r"^schema-parse-failure in EvalContract: "):
        read("eval-contract", {name: member for name, member in TINY.items() if name != key})


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        ({"notes": ""}, "schema-parse-failure", "EvalContract"),
        ({"schemaVersion": 6}, "schema-version-mismatch", "EvalContract.schemaVersion"),
        ({"schemaVersion": "7"}, "schema-parse-failure", "EvalContract"),
        ({"behaviors": []}, "schema-parse-failure", "EvalContract"),
    ],
)
def test_s30_10_variations(change: dict[str, Any], code: str, path: str) -> None:
    with pytest.raises(RuntimeFault) as caught:
        read("eval-contract", TINY | change)
    assert (caught.value.code, caught.value.artifact_path) == (code, path)


def test_s30_10_a_proto_key_is_accepted_and_dropped() -> None:
    assert to_value(read("eval-contract", TINY | {"__proto__": 1})) == TINY


@pytest.mark.parametrize("member", ["referenceSets", "siblingGroups", "scopedResources"])
def test_s27_3_null_empty_and_populated_are_three_answers(member: str) -> None:
    empty: Any = {"referenceSets": {}, "siblingGroups": {"operations": [], "parameters": []}, "scopedResources": []}[
        member
    ]
    full: Any = {
        "referenceSets": {"known": {"keys": ["id"], "members": [], "commentary": None}},
        "siblingGroups": {"operations": [], "parameters": [["a", "a"]]},
        "scopedResources": [{"reference": "r", "kind": "k"}],
    }[member]
    for answer in (None, empty, full):
        assert to_value(decode(EvalContract, TINY | {member: answer}, "x"))[member] == answer


def test_s13_5_groups_have_at_least_two_members() -> None:
    pair = {"interfaceId": "a", "operationId": "b"}
    assert where(SiblingGroups, {"operations": [[pair, pair]], "parameters": []}) == []
    assert where(SiblingGroups, {"operations": [[pair]], "parameters": [["a"]]}) == [
        ("operations.0", "too_small"),
        ("parameters.0", "too_small"),
    ]
    assert where(SiblingGroups, {"operations": [["a", "b"]], "parameters": []}) == [
        ("operations.0.0", "invalid_type"),
        ("operations.0.1", "invalid_type"),
    ]


def test_s27_2_rules_of_later_stages_are_not_enforced() -> None:
    lax = copy.deepcopy(TINY)
    lax |= {"parentDigest": DIGEST, "revisionCount": 0, "forbiddenInputs": ["repository", "repository"]}
    lax["behaviors"] = [lax["behaviors"][0] | {"oracles": ["O-404"]}] * 2
    lax["oracles"] = [
        {"id": "O-001", "direction": None, "check": None, "polarity": "expects-hold", "commentary": None}
    ] * 2
    lax["permittedInterfaces"] = [{"logicalId": "svc", "kind": "web", "operations": []}] * 2
    lax["waivers"] = [
        {"id": "W-001", "rule": None, "rationale": None, "condition": None, "approval": None, "expiresAt": None}
    ]
    lax["interactionPlan"] = [
        {
            "stepId": "read",
            "interfaceId": "nowhere",
            "operationId": "nothing",
            "inputBinding": {"arguments": None},
            "after": "read",
            "cardinality": "any",
        }
    ] * 2
    assert where(EvalContract, lax) == []


# --- §15 probes -------------------------------------------------------------------------------------------------------


def seeded(**change: Any) -> Any:
    found = next(held for seed in range(40) if not (held := sample("probe", seed))["expectedClean"])
    return found | change


def test_s15_a_clean_control_seeds_nothing_and_has_no_signature() -> None:
    clean = next(held for seed in range(40) if (held := sample("probe", seed))["expectedClean"])
    assert clean["defects"] == []
    assert where(Probe, clean | {"defectSignature": None}) == [("", "unrecognized_keys")]
    assert where(Probe, clean | {"defects": [1]}) == [("defects.0", "invalid_type"), ("defects", "too_big")]


def test_s15_a_seeded_probe_has_the_signature_member() -> None:
    without = seeded()
    del without["defectSignature"]
    assert where(Probe, without) == [("defectSignature", "invalid_type")]
    assert where(Probe, seeded(defectSignature=None, defects=[])) == []


@pytest.mark.parametrize("clean", ["yes", None, 0, {}])
def test_s15_the_discriminator_is_a_boolean(clean: Any) -> None:
    assert where(Probe, seeded(expectedClean=clean)) == [("expectedClean", "invalid_union")]


@pytest.mark.parametrize("route", ["historical", "controlled-mutation", "gameability", "canary", "clean-control"])
def test_s15_2_routes(route: str) -> None:
    found = where(Probe, seeded(qualification={"route": route}))
    assert found
    assert all(path.startswith("qualification.") and kind == "invalid_type" for path, kind in found)
    assert where(Probe, seeded(qualification={"route": route + "s"})) == [("qualification.route", "invalid_union")]


def test_s15_3_signatures_are_a_plain_union() -> None:
    selector = {"inputBinding": dict.fromkeys(binding.INPUT_CHANNELS)}
    common = {"observableChannel": "stdout", "condition": {"selector": selector, "predicate": EXISTS}}
    http = common | {"interfaceKind": "api", "method": "GET", "pathTemplate": "/"}
    command = common | {"interfaceKind": "cli", "invocation": {"executable": "x", "subcommandPath": []}}
    tool = common | {"interfaceKind": "mcp", "toolName": "t"}
    for value, kind in ((http, "api"), (http | {"interfaceKind": "web"}, "web"), (command, "cli"), (tool, "mcp")):
        signature: Any = decode(DefectSignature, value, "x")  # type: ignore[arg-type]
        assert signature.interface_kind == kind
        assert to_value(signature) == value
        assert isinstance(signature, probe.ApiSignature) is (kind in ("api", "web"))
    for value in (http | {"interfaceKind": "cli"}, tool | {"toolName": "a.b"}, {}, 7, tool | {"interfaceKind": 1}):
        assert where(DefectSignature, value) == [("", "invalid_union")]


# --- §30.11, §30.12 run records ---------------------------------------------------------------------------------------


def finding(kind: str, **change: Any) -> Any:
    return {
        "findingType": kind,
        "findingId": "F-001",
        "oracleId": None,
        "probeId": "P-001",
        "behaviorId": None,
        "severity": "low",
        "summary": "x",
        "confidence": 1,
        "observationIds": [],
        "evidenceArtifacts": [],
        **change,
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (finding("observation"), []),
        (finding("confirmation"), []),
        (finding("defect", quotedEvidence=[]), [("observationIds", "too_small"), ("quotedEvidence", "too_small")]),
        (finding("confirmation", quotedEvidence=[]), [("", "unrecognized_keys")]),
        (finding("defect"), [("observationIds", "too_small"), ("quotedEvidence", "invalid_type")]),
        (finding("rumor"), [("findingType", "invalid_union")]),
        (finding("observation", confidence=1.01), [("confidence", "too_big")]),
        (finding("observation", confidence=-1), [("confidence", "too_small")]),
        (finding("observation", confidence=True), [("confidence", "invalid_type")]),
        (finding("observation", confidence="1"), [("confidence", "invalid_type")]),
    ],
)
def test_s30_11_findings(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(Finding, value) == expected


@pytest.mark.parametrize(
    ("channel", "artifact", "accepted"),
    [
        ("artifact", "report", True),
        ("artifact", None, False),
        ("artifact", "Report", False),
        ("stdout", None, True),
        ("stdout", "report", False),
        ("stdin", None, False),
    ],
)
def test_s30_11_quotes(channel: str, artifact: Any, accepted: bool) -> None:
    value = {"quote": "x", "channel": channel, "artifactId": artifact}
    assert where(QuotedEvidence, value) == ([] if accepted else UNION)


@pytest.mark.parametrize(
    "value", [{"quote": "x", "channel": "stdout"}, {"quote": "", "channel": "stdout", "artifactId": None}, 1]
)
def test_s30_11_quotes_that_lack_something(value: Any) -> None:
    assert where(QuotedEvidence, value) == UNION


def record(sequences: list[Any], stamp: int = 8) -> Any:
    held = minimal("sealed-run-record") | {"schemaVersion": stamp}
    inputs = dict.fromkeys(
        ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
    )
    observation = {
        "observationId": "one",
        "interfaceId": "svc",
        "operationId": "read",
        "provenance": "evaluator-chosen",
        "principal": None,
        "callInputs": inputs | ({"bodyEncoding": None} if stamp == 8 else {}),
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": None,
        "stdout": {"kind": "absent"},
        "stderr": {"kind": "absent"},
        "exitCode": -9,
        "artifacts": {},
    }
    held["observations"] = [copy.deepcopy(observation) | {"sequence": sequence} for sequence in sequences]
    return held


@pytest.mark.parametrize("stamp", [7, 8])
@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ([5, 12, 40], []),
        ([12, 5], []),
        ([1, 1], [("observations", "custom")]),
        ([0], [("observations.0.sequence", "too_small")]),
        (
            [0, 0],
            [
                ("observations.0.sequence", "too_small"),
                ("observations.1.sequence", "too_small"),
                ("observations", "custom"),
            ],
        ),
        (["a", "a"], [("observations.0.sequence", "invalid_type"), ("observations.1.sequence", "invalid_type")]),
    ],
)
def test_s30_12_sequences(sequences: list[Any], expected: list[tuple[str, str]], stamp: int) -> None:
    assert where(SealedRunRecord, record(sequences, stamp)) == expected


def test_s27_1_the_sequence_message_is_fixed() -> None:
    assert issues(SealedRunRecord, record([1, 1]))[0].message == (
        "every observation's `sequence` is unique within the record (ADR-006, owed item 2); a duplicate leaves the "
        "total order the fix exists to supply ambiguous"
    )


def test_s16_5_body_encoding_belongs_to_the_stamp() -> None:
    assert decode(SealedRunRecord, record([1], 7), "x").observations[0].call_inputs.body_encoding is UNSET
    assert decode(SealedRunRecord, record([1], 8), "x").observations[0].call_inputs.body_encoding is None
    old = record([1, 2], 8) | {"schemaVersion": 7}
    assert where(SealedRunRecord, old) == [
        ("observations.0.callInputs", "unrecognized_keys"),
        ("observations.1.callInputs", "unrecognized_keys"),
    ]
    new = record([1], 7) | {"schemaVersion": 8}
    assert where(SealedRunRecord, new) == [("observations.0.callInputs.bodyEncoding", "invalid_type")]
    new["observations"] += [3, {"callInputs": None}]
    found = where(SealedRunRecord, new)
    assert ("observations.0.callInputs.bodyEncoding", "invalid_type") in found
    assert ("observations.1", "invalid_type") in found
    del new["observations"]
    assert where(SealedRunRecord, new) == [("observations", "invalid_type")]
    encoded = record([1])
    encoded["observations"][0]["callInputs"]["bodyEncoding"] = "base64"
    assert where(SealedRunRecord, encoded) == [("observations.0.callInputs.bodyEncoding", "invalid_value")]


# --- other artifacts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, []),
        ({"defect": 0.75, "zero-action": 1}, []),
        ({"defects": 0.5}, [("", "unrecognized_keys")]),
        ({"defect": 1.01}, [("defect", "too_big")]),
        ({"defect": None}, [("defect", "invalid_type")]),
        ({"zeroAction": 1}, [("", "unrecognized_keys")]),
    ],
)
def test_s30_13_floors(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(StrengthFloors, value) == expected
    if not expected:
        assert to_value(decode(StrengthFloors, value, "x")) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"storage": "public", "path": "a", "privateRef": None, "digest": DIGEST}, []),
        ({"storage": "private", "path": None, "privateRef": "r", "digest": DIGEST}, []),
        ({"storage": "public", "path": "a", "privateRef": "r", "digest": DIGEST}, [("privateRef", "invalid_type")]),
        (
            {"storage": "private", "path": "a", "privateRef": "", "digest": "x"},
            [("path", "invalid_type"), ("privateRef", "too_small"), ("digest", "invalid_format")],
        ),
        ({"path": "a"}, [("storage", "invalid_union")]),
    ],
)
def test_s18_1_references(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(ArtifactReference, value) == expected


def test_s18_2_private_manifests() -> None:
    entry = {
        "privateRef": "r",
        "digest": DIGEST,
        "artifactKind": "other",
        "publicSafeRunId": "",
        "sanitizationPolicy": "",
    }
    assert where(PrivateArtifactManifest, minimal("private-artifact-manifest") | {"entries": [entry]}) == [
        ("entries.0.sanitizationPolicy", "too_small")
    ]


def test_s17_the_seven_forbidden_inputs_are_accounted_for() -> None:
    manifest = minimal("isolation-manifest")
    assert list(manifest["forbiddenInputAccounting"]) == [
        "original-spec",
        "source-code",
        "repository",
        "builder-transcript",
        "implementation-logs",
        "comparator-results",
        "human-labels",
    ]
    manifest["resourceCeilings"] |= {"maxCostUsd": "0", "maxWallClockMinutes": 0, "maxToolCalls": 0}
    manifest["violation"] = ""
    assert where(IsolationManifest, manifest) == [
        ("resourceCeilings.maxToolCalls", "too_small"),
        ("resourceCeilings.maxWallClockMinutes", "too_small"),
        ("resourceCeilings.maxCostUsd", "invalid_format"),
        ("violation", "too_small"),
    ]
    manifest["resourceCeilings"] |= {"maxCostUsd": "0.01", "maxWallClockMinutes": 0.5, "maxToolCalls": 1}
    assert where(IsolationManifest, manifest | {"violation": "left the workspace"}) == []


def test_s19_a_trial_index_is_no_part_of_the_configuration() -> None:
    assert where(EvaluatorConfiguration, minimal("evaluator-configuration") | {"trialIndex": 1}) == [
        ("", "unrecognized_keys")
    ]


def test_s20_the_default_policy() -> None:
    value = to_value(DEFAULT_SCORING_POLICY)
    assert decode(ScoringPolicy, value, "ScoringPolicy") == DEFAULT_SCORING_POLICY
    assert digest_value(value, "ScoringPolicy") == (
        "sha256:cc9e09a64f2ed19a6a204f72244e43e51b742f078fab859329601146fdf47bb7"
    )


def test_s20_the_default_policy_is_shipped_as_data() -> None:
    text = resources.files("eval_quality").joinpath("data/default-scoring-policy.json").read_bytes()
    assert text == canonicalize(to_value(DEFAULT_SCORING_POLICY), "ScoringPolicy") + b"\n"


def test_s21_the_recorded_mode_is_the_branch_s() -> None:
    evidence = sample("evidence-artifact", 0)
    other = {"production": "contract-scoring", "contract-scoring": "production"}[evidence["mode"]]
    evidence["scoringVersionInputs"]["mode"] = other
    assert where(EvidenceArtifact, evidence) == [("scoringVersionInputs.mode", "invalid_value")]
    assert where(EvidenceArtifact, evidence | {"mode": "staging"}) == [("mode", "invalid_union")]
    del evidence["mode"]
    assert where(EvidenceArtifact, evidence) == [("mode", "invalid_union")]


def test_s21_2_a_key_of_the_other_branch_is_unrecognized() -> None:
    evidence = next(held for seed in range(20) if (held := sample("evidence-artifact", seed))["mode"] == "production")
    assert where(EvidenceArtifact, evidence | {"contractVerdict": "PASS"}) == [("", "unrecognized_keys")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"floor": 0.5, "decision": "meets", "basis": "rate-meets-floor"}, []),
        ({"floor": None, "decision": "meets", "basis": "rate-meets-floor"}, [("floor", "invalid_type")]),
        ({"floor": 1, "decision": "does-not-meet", "basis": "unexercised-probe"}, []),
        ({"floor": 1, "decision": "does-not-meet", "basis": "rate-meets-floor"}, [("basis", "invalid_value")]),
        ({"floor": 0, "decision": "undeclared", "basis": "no-floor-declared"}, [("floor", "invalid_type")]),
    ],
)
def test_s22_1_floor_decisions(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(FloorDecision, value) == expected


def test_s22_1_an_aggregate_has_inputs_and_three_classes() -> None:
    assert where(StrengthAggregate, minimal("strength-aggregate") | {"inputs": []}) == [("inputs", "too_small")]
    assert list(minimal("strength-aggregate")["classes"]) == ["defect", "gameability", "zero-action"]


@pytest.mark.parametrize("member", ["scaleLevels", "failureModePenalties"])
def test_s24_rubric_lists_have_three_answers(member: str) -> None:
    rubric = {"id": "R-001", "scaleLevels": None, "failureModePenalties": None, "maxLength": None, "criteria": []}
    full = {"scaleLevels": [{"level": -1, "anchor": ""}], "failureModePenalties": [{"name": "x", "description": ""}]}[
        member
    ]
    for answer in (None, [], full):
        assert to_value(decode(RubricBody, rubric | {member: answer}, "x"))[member] == answer
    assert where(RubricBody, rubric | {"maxLength": 0}) == [("maxLength", "too_small")]


# --- §25 port messages ------------------------------------------------------------------------------------------------

COMMON = {"probeId": "leg-1", "interfaceId": "svc", "operationId": "go"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (COMMON | {"kind": "mcp", "isError": True, "result": {"kind": "absent"}, "exitCode": -1}, []),
        (COMMON | {"kind": "mcp", "isError": True, "result": {"kind": "absent"}}, []),
        (
            COMMON | {"kind": "mcp", "isError": False, "result": {"kind": "absent"}, "exitCode": 1},
            [("exitCode", "custom")],
        ),
        (
            COMMON | {"kind": "mcp", "isError": True, "result": {"kind": "text", "value": ""}, "exitCode": 1},
            [("exitCode", "custom")],
        ),
        (
            COMMON | {"kind": "mcp", "isError": True, "result": {"kind": "absent"}, "exitCode": 1, "more": 1},
            [("", "unrecognized_keys")],
        ),
        (
            COMMON | {"kind": "mcp", "isError": 1, "result": {"kind": "absent"}, "exitCode": 1},
            [("isError", "invalid_type")],
        ),
        (
            COMMON | {"kind": "mcp", "isError": True, "result": {"kind": "absent"}, "exitCode": None},
            [("exitCode", "invalid_type")],
        ),
        (COMMON | {"kind": "api", "status": 99, "headers": {}, "body": {"kind": "absent"}}, [("status", "too_small")]),
        (COMMON | {"kind": "api", "status": 599, "headers": {"a": "b"}, "body": {"kind": "json", "value": None}}, []),
        (
            COMMON
            | {
                "kind": "cli",
                "exitCode": -9,
                "stdout": {"kind": "absent"},
                "stderr": {"kind": "text", "value": "x"},
                "artifacts": {"a": {"kind": "absent"}},
            },
            [],
        ),
        (COMMON | {"kind": "web"}, [("kind", "invalid_union")]),
    ],
)
def test_s25_3_observations(value: Any, expected: list[tuple[str, str]]) -> None:
    assert where(ports.ProbeObservation, value) == expected
    if not expected:
        observation = decode(ports.ProbeObservation, value, "ProbeObservation")
        assert (observation.kind, to_value(observation)) == (value["kind"], value)


@pytest.mark.parametrize(
    ("key", "accepted"), [("LANG", True), ("A=B", False), ("1BAD", False), ("HAS SPACE", False), ("", False)]
)
def test_s25_2_environment_keys_are_tighter_at_the_port(key: str, accepted: bool) -> None:
    channels = {"argument": {}, "option": {}, "environment": {key: "v"}, "stdin": {"kind": "absent"}}
    request = COMMON | {"kind": "cli", "executable": "x", "subcommandPath": [], "channels": channels}
    assert where(ports.ProbeRequest, request) == ([] if accepted else [(f"channels.environment.{key}", "invalid_key")])


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (ports.CorpusResolveRequest, {"privateRef": "r"}, {"privateRef": ""}),
        (ports.CorpusResolveResponse, {"privateRef": "r", "bytes": b""}, {"privateRef": "r", "bytes": "x"}),
        (ports.ClockReadRequest, {}, {"now": 1}),
        (ports.ClockReadResponse, {"now": "2026-01-01T00:00Z"}, {"now": "2026-01-01T00:00:00+00:00"}),
        (ports.FileReadRequest, {"path": "a"}, {"path": None}),
        (ports.FileReadResponse, {"path": "a", "bytes": b"\x00"}, {"path": "a"}),
        (ports.FileWriteRequest, {"path": "a", "bytes": b"x"}, {"path": "a", "bytes": None}),
        (ports.FileWriteResponse, {"path": "a", "byteLength": 0}, {"path": "a", "byteLength": -1}),
    ],
)
def test_s25_1_messages(kind: Any, good: Any, bad: Any) -> None:
    assert to_value(decode(kind, good, "x")) == good
    assert len(issues(kind, bad)) == 1


def test_s1_5_a_single_tagged_record_needs_its_tag() -> None:
    assert where(binding.JsonBody, {"value": 1}) == [("kind", "invalid_union")]
    assert where(binding.JsonBody, {"kind": "json", "value": 1}) == []
