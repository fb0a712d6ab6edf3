"""Spec 02 §29.3: older stamps to current ones, alone and as a chain."""

import copy
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.migrate import MigratedChain, migrate_artifact, migrate_chain
from eval_quality.value.digest import digest_value
from support import reference
from support.documents import minimal

SHAPE: dict[str, Any] = {"requiredKeys": [], "permittedKeys": [], "types": {}}
OTHER = "sha256:" + "9" * 64


def interface(logical_id: str, *operations: str, kind: str = "api") -> Any:
    return {
        "logicalId": logical_id,
        "kind": kind,
        "operations": [
            {
                "operationId": operation,
                "method": "GET",
                "pathTemplate": f"/{operation}",
                "stateChangeMarker": False,
                "requestShape": {"path": SHAPE, "query": SHAPE, "header": SHAPE, "body": SHAPE},
                "responseDescriptor": SHAPE
                | {"successIndicator": None, "channelRoles": None, "collectionLocations": None},
                "volatilePointers": [],
                "sensitivityWitness": None,
            }
            for operation in operations
        ],
    }


def old_contract(stamp: int, **change: Any) -> Any:
    step = {
        "stepId": "read",
        "operationId": "get",
        "inputBinding": {"path": None, "query": None, "header": None, "body": None},
        "after": None,
        "cardinality": "any",
    }
    inputs = {"path": {}, "query": {}, "header": {}, "body": {"kind": "absent"}}
    return minimal("eval-contract") | {
        "schemaVersion": stamp,
        "permittedInterfaces": [interface("notes", "get", "put"), interface("admin", "reset")],
        "interactionPlan": [step],
        "siblingGroups": {"operations": [["get", "put"]], "parameters": []},
        "fixtureReset": {"legId": "clear", "operationId": "reset", "inputs": inputs},
        **change,
    }


def new_contract() -> Any:
    contract = old_contract(7)
    contract["interactionPlan"][0]["interfaceId"] = "notes"
    contract["siblingGroups"]["operations"] = [
        [{"interfaceId": "notes", "operationId": "get"}, {"interfaceId": "notes", "operationId": "put"}]
    ]
    contract["fixtureReset"]["interfaceId"] = "admin"
    return contract


def record(stamp: int, **change: Any) -> Any:
    inputs = dict.fromkeys(
        ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
    )
    observation = {
        "observationId": "one",
        "sequence": 1,
        "interfaceId": "notes",
        "operationId": "get",
        "provenance": "baseline",
        "principal": None,
        "callInputs": inputs | {"bodyEncoding": None},
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": 200,
        "stdout": {"kind": "absent"},
        "stderr": {"kind": "absent"},
        "exitCode": None,
        "artifacts": {},
    }
    held = minimal("sealed-run-record") | {"schemaVersion": stamp, "observations": [observation]}
    if stamp < 8:
        del observation["callInputs"]["bodyEncoding"]
    if stamp < 7:
        del observation["interfaceId"]
    if stamp < 6:
        held["invalidReason"] = None
    return held | change


def probe(stamp: int, **change: Any) -> Any:
    selector = dict.fromkeys(("path", "query", "header", "body", "argument", "option", "environment", "stdin"))
    held = minimal("probe") | {"schemaVersion": stamp, "expectedClean": False, "defects": []}
    held["defectSignature"] = {
        "interfaceKind": "api",
        "method": "GET",
        "pathTemplate": "/get",
        "observableChannel": "response-body",
        "condition": {
            "selector": {"inputBinding": selector if stamp < 5 else selector | {"arguments": None}},
            "predicate": {"op": "existence", "operands": [{"pointer": "/interactions/observed/response-body"}]},
        },
    }
    return held | change


def mismatch(kind: str, value: Any, path: str, *fragments: str, **options: Any) -> None:
    with pytest.raises(RuntimeFault) as caught:
        migrate_artifact(kind, value, **options)
    assert (caught.value.code, caught.value.artifact_path) == ("schema-version-mismatch", path)
    assert all(fragment in caught.value.detail for fragment in fragments), caught.value.detail


# --- one document -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stamp", [4, 5, 6, 7])
def test_s29_3_contracts(stamp: int) -> None:
    value = old_contract(stamp) if stamp < 6 else new_contract() | {"schemaVersion": stamp}
    before = copy.deepcopy(value)
    assert to_value(migrate_artifact("eval-contract", value)) == new_contract()
    assert value == before


def test_s29_3_the_smallest_contract_reaches_its_printed_digest() -> None:
    tiny = minimal("eval-contract")
    tiny["budgets"]["maxCostUsd"] = "0"
    tiny["behaviors"] = [
        {
            "id": "B-001",
            "description": "",
            "severity": "low",
            "observableSuccessCriterion": None,
            "requirementLinks": [],
            "riskLinks": [],
            "oracles": [],
        }
    ]
    migrated = migrate_artifact("eval-contract", tiny | {"schemaVersion": 6, "contractId": "tiny"})
    assert digest_value(to_value(migrated), "EvalContract") == (
        "sha256:1c52b152b4ca4aecf9a0a3d4677724318237f490287a21db25733e788accc112"
    )


def test_s29_3_a_member_that_is_there_already_is_kept() -> None:
    contract = old_contract(5)
    contract["fixtureReset"]["interfaceId"] = "notes"
    assert migrate_artifact("eval-contract", contract).fixture_reset.interface_id == "notes"
    assert (
        migrate_artifact("eval-contract", old_contract(5, fixtureReset=None, siblingGroups=None)).sibling_groups is None
    )


def test_s29_3_a_contract_with_a_tool_interface_does_not_leave_stamp_4() -> None:
    mixed = old_contract(4, permittedInterfaces=[interface("notes", "get", kind="mcp")])
    mismatch("eval-contract", mixed, "EvalContract.schemaVersion", "from 4 to 5", "kind mcp")


@pytest.mark.parametrize(
    ("interfaces", "reason"),
    [
        ([interface("notes", "get", "put")], '"reset" is declared by no interface'),
        (
            [interface("notes", "get", "put"), interface("admin", "reset", "get")],
            '"get" is declared by several interfaces',
        ),
        ([], '"get" is declared by no interface'),
    ],
)
def test_s29_3_an_operation_needs_exactly_one_interface(interfaces: Any, reason: str) -> None:
    value = old_contract(5, permittedInterfaces=interfaces)
    mismatch("eval-contract", value, "EvalContract.schemaVersion", "from 5 to 6", reason)


def test_s29_3_an_operation_repeated_inside_one_interface_is_no_ambiguity() -> None:
    value = old_contract(5, permittedInterfaces=[interface("notes", "get", "get", "put"), interface("admin", "reset")])
    assert migrate_artifact("eval-contract", value).interaction_plan[0].interface_id == "notes"


@pytest.mark.parametrize("stamp", [4, 5, 6])
def test_s29_3_probes(stamp: int) -> None:
    assert to_value(migrate_artifact("probe", probe(stamp))) == probe(6)


def test_s29_3_probes_without_a_signature() -> None:
    clean = minimal("probe") | {"schemaVersion": 4, "expectedClean": True, "defects": []}
    clean.pop("defectSignature", None)
    assert migrate_artifact("probe", clean).schema_version == 6
    assert migrate_artifact("probe", probe(4, defectSignature=None)).defect_signature is None


def test_s29_3_a_tool_signature_does_not_leave_stamp_4() -> None:
    value = probe(4)
    value["defectSignature"]["interfaceKind"] = "mcp"
    mismatch("probe", value, "Probe[probeId=P-001].schemaVersion", "from 4 to 5", "kind mcp")


@pytest.mark.parametrize("stamp", [5, 6, 7, 8])
@pytest.mark.parametrize("to", [7, 8])
def test_s29_3_records(stamp: int, to: int) -> None:
    if stamp > to:
        mismatch(
            "sealed-run-record", record(stamp), "SealedRunRecord[trialIndex=1].schemaVersion", "from 8 to 7", to=to
        )
        return
    migrated = migrate_artifact("sealed-run-record", record(stamp), contract=new_contract(), to=to)
    assert to_value(migrated) == record(to)


def test_s29_3_records_are_written_at_the_newest_stamp() -> None:
    assert migrate_artifact("sealed-run-record", record(7)).schema_version == 8
    decoded = migrate_artifact("sealed-run-record", record(7), to=7)
    assert migrate_artifact("sealed-run-record", decoded, to=7) is decoded
    assert to_value(migrate_artifact("sealed-run-record", decoded)) == record(8)


def test_s29_3_the_contract_may_be_a_record() -> None:
    contract = migrate_artifact("eval-contract", old_contract(5))
    assert migrate_artifact("sealed-run-record", record(6), contract).observations[0].interface_id == "notes"


@pytest.mark.parametrize(
    ("value", "contract", "fragments"),
    [
        (record(5, invalidReason="crashed"), new_contract(), ("from 5 to 6", "invalidReason")),
        (record(6), None, ("from 6 to 7", "no contract")),
        (record(6), {}, ("from 6 to 7", "no interface")),
        (record(6), [], ("from 6 to 7", "no interface")),
        (record(6), old_contract(5, permittedInterfaces=[interface("a", "get"), interface("b", "get")]), ("several",)),
    ],
)
def test_s29_3_record_steps_that_cannot_be_taken(value: Any, contract: Any, fragments: tuple[str, ...]) -> None:
    mismatch("sealed-run-record", value, "SealedRunRecord[trialIndex=1].schemaVersion", *fragments, contract=contract)


@pytest.mark.parametrize(
    ("kind", "stamp"),
    [
        ("eval-contract", 3),
        ("eval-contract", 8),
        ("probe", 3),
        ("sealed-run-record", 4),
        ("scoring-policy", 1),
        ("rubric", 2),
    ],
)
def test_s29_3_other_numbers_are_not_read(kind: str, stamp: int) -> None:
    with pytest.raises(RuntimeFault, match=r"^schema-version-mismatch in \S+\.schemaVersion: carries "):
        migrate_artifact(kind, minimal(kind) | {"schemaVersion": stamp})


@pytest.mark.parametrize("kind", ["sealed-evaluator-brief", "scoring-policy", "rubric", "evidence-artifact"])
def test_s29_3_a_native_document_is_returned_unchanged(kind: str) -> None:
    assert to_value(migrate_artifact(kind, minimal(kind))) == minimal(kind)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("eval-contract", old_contract(6, notes="")),
        ("eval-contract", {"schemaVersion": 5}),
        ("eval-contract", {"schemaVersion": 5, "permittedInterfaces": [3, {"operations": [{"operationId": []}]}]}),
        ("eval-contract", {"schemaVersion": 5, "siblingGroups": {"operations": [3, [{"interfaceId": 1}]]}}),
        ("eval-contract", {"schemaVersion": 6, "extra": (1,)}),
        ("eval-contract", {"schemaVersion": "6"}),
        ("eval-contract", None),
        ("probe", {"schemaVersion": 4, "defectSignature": {"condition": []}}),
        ("sealed-run-record", {"schemaVersion": 7, "observations": [{"callInputs": 3}, 4]}),
        ("sealed-run-record", {"schemaVersion": 7, "observations": None}),
    ],
)
def test_s29_3_a_result_that_does_not_parse_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(RuntimeFault, match=r"^schema-parse-failure in (EvalContract|Probe|SealedRunRecord): "):
        migrate_artifact(kind, value)


@pytest.mark.parametrize(
    ("kind", "to"), [("artifact-reference", None), ("nothing", None), ("eval-contract", 6), ("probe", 7)]
)
def test_s29_3_what_the_caller_may_not_ask_for(kind: str, to: int | None) -> None:
    with pytest.raises(ValueError):
        migrate_artifact(kind, new_contract(), to=to)


@reference.present
@pytest.mark.parametrize(
    ("chain", "digest"),
    [
        ("skill-defect", "6b91876b6218039f0d93f305d47322feee0f5e959f5583773c8ef9489d075d85"),
        ("spike-worked-example", "261a7e73ccafa5db1c16d7069c466b9d7cb35194b2badf9f40deb2b92667207f"),
    ],
)
def test_s29_3_the_shared_records_reach_their_printed_digests(chain: str, digest: str) -> None:
    migrated = migrate_artifact("sealed-run-record", reference.load(f"worked/{chain}/sealed-run-record.json"))
    assert digest_value(to_value(migrated), "SealedRunRecord") == f"sha256:{digest}"


# --- a chain ----------------------------------------------------------------------------------------------------------


def seal(contract: EvalContract) -> SealedEvaluatorBrief:
    """A stand-in for sealing: deterministic, and bound to the contract by its digest."""
    value = minimal("sealed-evaluator-brief")
    value["contractDigest"] = digest_value(to_value(contract), "EvalContract")
    value["principals"] = [contract.contract_id]
    return decode(SealedEvaluatorBrief, value, "SealedEvaluatorBrief")


def digest(value: Any) -> str:
    return digest_value(to_value(value), "any")


def old_chain(contract: Any) -> dict[str, Any]:
    brief = minimal("sealed-evaluator-brief") | {
        "contractDigest": digest(contract),
        "principals": [contract["contractId"]],
    }
    configuration = minimal("evaluator-configuration") | {"sealedBriefDigest": digest(brief)}
    manifest = minimal("isolation-manifest") | {
        "contractDigest": digest(contract),
        "evaluatorConfigurationDigest": digest(configuration),
    }
    links = {
        "contractDigest": digest(contract),
        "sealedBriefDigest": digest(brief),
        "evaluatorConfigurationDigest": digest(configuration),
    }
    return {
        "brief": brief,
        "configuration": configuration,
        "manifest": manifest,
        "records": [record(stamp, **links) for stamp in (6, 7, 8)],
        "probes": [probe(4)],
    }


def test_s29_3_a_chain_is_relinked() -> None:
    contract = old_contract(5)
    chain = migrate_chain(contract, seal=seal, **old_chain(contract))
    assert isinstance(chain, MigratedChain)
    assert chain.brief is not None
    assert chain.configuration is not None
    assert chain.manifest is not None
    assert to_value(chain.contract) == new_contract()
    assert chain.brief == seal(chain.contract)
    assert chain.configuration.sealed_brief_digest == digest(chain.brief)
    assert chain.manifest.contract_digest == digest(chain.contract)
    assert chain.manifest.evaluator_configuration_digest == digest(chain.configuration)
    assert [one.schema_version for one in chain.records] == [8, 7, 8]
    for one in chain.records:
        assert one.contract_digest == digest(chain.contract)
        assert one.sealed_brief_digest == digest(chain.brief)
        assert one.evaluator_configuration_digest == digest(chain.configuration)
    assert [one.schema_version for one in chain.probes] == [6]
    log = to_value(chain.log)
    assert [(entry["kind"], entry["oldStamp"], entry["newStamp"]) for entry in log] == [
        ("eval-contract", 5, 7),
        ("sealed-evaluator-brief", 2, 2),
        ("evaluator-configuration", 1, 1),
        ("isolation-manifest", 1, 1),
        ("sealed-run-record", 6, 8),
        ("sealed-run-record", 7, 7),
        ("sealed-run-record", 8, 8),
        ("probe", 4, 6),
    ]
    assert [entry["replaced"] for entry in log] == [
        [],
        ["contractDigest"],
        ["sealedBriefDigest"],
        ["contractDigest", "evaluatorConfigurationDigest"],
        *[["contractDigest", "sealedBriefDigest", "evaluatorConfigurationDigest"]] * 3,
        [],
    ]
    assert (log[0]["oldDigest"], log[0]["newDigest"]) == (digest(contract), digest(chain.contract))


def test_s29_3_nothing_moves_in_a_current_chain() -> None:
    contract = new_contract()
    before = old_chain(contract) | {"records": [], "probes": []}
    chain = migrate_chain(contract, seal=seal, **before)
    assert to_value(chain.contract) == contract
    assert to_value(chain.manifest) == before["manifest"]
    assert all(entry.replaced == () and entry.old_digest == entry.new_digest for entry in chain.log)


def test_s29_3_a_digest_whose_target_is_not_in_the_set_is_left_alone() -> None:
    contract = old_contract(5)
    held = old_chain(contract)
    chain = migrate_chain(contract, seal=seal, records=held["records"])
    assert (chain.brief, chain.configuration, chain.manifest, chain.probes) == (None, None, None, ())
    assert chain.records[0].sealed_brief_digest == held["records"][0]["sealedBriefDigest"]
    assert chain.records[0].contract_digest == digest(chain.contract)


@pytest.mark.parametrize(
    ("name", "member", "path"),
    [
        ("brief", "contractDigest", "SealedEvaluatorBrief.contractDigest"),
        ("configuration", "sealedBriefDigest", "EvaluatorConfiguration.sealedBriefDigest"),
        ("manifest", "contractDigest", "IsolationManifest.contractDigest"),
        ("manifest", "evaluatorConfigurationDigest", "IsolationManifest.evaluatorConfigurationDigest"),
        ("records", "contractDigest", "SealedRunRecord.contractDigest"),
        ("records", "sealedBriefDigest", "SealedRunRecord.sealedBriefDigest"),
        ("records", "evaluatorConfigurationDigest", "SealedRunRecord.evaluatorConfigurationDigest"),
    ],
)
def test_s29_3_a_digest_that_named_something_else_is_refused(name: str, member: str, path: str) -> None:
    contract = old_contract(5)
    held = old_chain(contract)
    target = held[name][-1] if name == "records" else held[name]
    if name == "brief":
        held = {"brief": held["brief"]}
    target[member] = OTHER
    if name == "configuration":
        held = {"brief": held["brief"], "configuration": target}
    with pytest.raises(RuntimeFault) as caught:
        migrate_chain(contract, seal=seal, **held)
    assert (caught.value.code, caught.value.artifact_path) == ("digest-mismatch", path)
    assert OTHER in caught.value.detail


def test_s29_3_the_relinked_brief_is_what_sealing_gives() -> None:
    contract = old_contract(5)
    brief = old_chain(contract)["brief"] | {"principals": ["someone-else"]}
    with pytest.raises(RuntimeFault, match=r"^digest-mismatch in SealedEvaluatorBrief: "):
        migrate_chain(contract, seal=seal, brief=brief)


def test_s29_3_one_bad_document_fails_the_whole_chain() -> None:
    contract = old_contract(5)
    with pytest.raises(RuntimeFault, match=r"^schema-version-mismatch in Probe\[probeId=P-001\]\.schemaVersion"):
        migrate_chain(contract, seal=seal, probes=[probe(3)])
