"""The public surface: its names, its laziness, its promises (spec 10 §8)."""

import ast
import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import eval_quality
from eval_quality.app import vocabulary
from eval_quality.core.coverage import rules

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "notes-api"

FUNCTIONS = [
    "audit_brief_scripting",
    "aggregate_strength",
    "classify_address",
    "compare_dominance",
    "compile_contract",
    "digest_artifact",
    "digest_bytes",
    "digest_composite",
    "digest_directory",
    "evaluate_target",
    "is_safe_method",
    "make_pointer_denotes_collection",
    "make_resolve_operand",
    "migrate_artifact",
    "migrate_chain",
    "parse_address",
    "preflight_from_observations",
    "qualify_probe",
    "reference_set_keys_of",
    "resolve_check",
    "resolve_home_operation",
    "run_preflight",
    "run_score",
    "scan_json",
    "seal_contract",
    "serialize_artifact",
    "stays_on_host",
    "to_value",
    "validate_lineage_chain",
]
CONSTANTS = [
    "ABSENT",
    "ADDRESS_CLASSES",
    "AGGREGATION_REFUSAL_CODES",
    "API_RESPONSE_CHANNELS",
    "COMMAND_RESPONSE_CHANNELS",
    "DEFAULT_SCORING_POLICY",
    "DENIAL_REASONS",
    "DISCIPLINE_RULES",
    "DOMINANCE_RELATIONS",
    "EVALUATOR_CONFIGURATION_SCHEMA_VERSION",
    "EVALUATOR_RECOMMENDATIONS",
    "EVAL_CONTRACT_SCHEMA_VERSION",
    "EVIDENCE_ARTIFACT_SCHEMA_VERSION",
    "EVIDENCE_CHANNELS",
    "FAILURE_CODES",
    "FORBIDDEN_TARGET_REASONS",
    "INPUT_CHANNELS",
    "INTERCHANGE_ARTIFACT_KEYS",
    "ISOLATION_MANIFEST_SCHEMA_VERSION",
    "NATIVE_SCHEMA_VERSIONS",
    "OUTCOME_STATES",
    "PORT_FAILURE_REASONS",
    "PREFLIGHT_VERDICT_SCHEMA_VERSION",
    "PRIVATE_ARTIFACT_MANIFEST_SCHEMA_VERSION",
    "PROBE_SCHEMA_VERSION",
    "QUALIFICATION_FAILURES",
    "RUNTIME_FAULT_CODES",
    "SCORING_POLICY_SCHEMA_VERSION",
    "SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION",
    "SEALED_RUN_RECORD_SCHEMA_VERSION",
    "SEVERITY_LEVELS",
    "STRENGTH_AGGREGATE_SCHEMA_VERSION",
    "VERDICTS",
    "VERSION",
]
TYPES = [
    "AbortController",
    "AbortSignal",
    "AggregationRefusal",
    "AggregationRefusalCode",
    "Allowed",
    "AnyOperation",
    "ArtifactReference",
    "CheckResolution",
    "CheckResolutionValue",
    "ClockPort",
    "CommandTargetAuthorization",
    "CommandTargetPolicy",
    "ComparableResult",
    "CorpusPort",
    "CoverageGap",
    "DefectSignature",
    "Denied",
    "DesignatedOracleRefusal",
    "Diagnostic",
    "DiagnosticSink",
    "DisciplineRule",
    "DominanceRelationValue",
    "EnvironmentProbePort",
    "EvalContract",
    "EvalQualityError",
    "EvaluatorConfiguration",
    "EvaluatorRecommendation",
    "EvidenceArtifact",
    "Expression",
    "FailureCode",
    "FileSystemPort",
    "ForbiddenTargetReason",
    "HomeOperation",
    "HttpTarget",
    "IsolationManifest",
    "JsonValue",
    "LadderResolution",
    "LineageChainReport",
    "LineageFinding",
    "McpTargetAuthorization",
    "McpTargetPolicy",
    "Observation",
    "Operand",
    "PermittedInterface",
    "PlanIndex",
    "PointerDenotesCollection",
    "PortFailureReason",
    "PreflightVerdict",
    "PrivateArtifactManifest",
    "Probe",
    "ProbeObservation",
    "ProbeRequest",
    "ProbeTargetAuthorization",
    "ProbeTargetPolicy",
    "Problem",
    "QualificationFailure",
    "QualificationFailureCode",
    "QualificationResult",
    "ReferenceSetKeys",
    "ResolveOperand",
    "Rubric",
    "RunScoreResult",
    "RuntimeFault",
    "RuntimeFaultCode",
    "SchemaIssues",
    "ScoringPolicy",
    "SealedEvaluatorBrief",
    "SealedRunRecord",
    "Severity",
    "StrengthAggregate",
    "StrengthFloors",
    "StructuralFailure",
    "Verdict",
]
BEYOND = ["coverage_gaps", "create_command_line_adapter", "create_local_corpus_adapter", "create_mcp_adapter"]
"""Names of chapters 04 and 07 that belong on the face as well."""


def load(name: str) -> Any:
    return json.loads((EXAMPLE / name).read_text(encoding="utf-8"))


def test_s8_the_public_names_are_these() -> None:
    assert sorted(eval_quality.__all__) == sorted([*FUNCTIONS, *CONSTANTS, *TYPES, *BEYOND])
    assert dir(eval_quality) == sorted(eval_quality.__all__)


@pytest.mark.parametrize("name", eval_quality.__all__)
def test_s8_every_name_resolves(name: str) -> None:
    assert getattr(eval_quality, name) is getattr(eval_quality, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_does(name: str) -> None:
    assert len(getattr(eval_quality, name).__doc__ or "") > 20


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = eval_quality.nope  # type: ignore[attr-defined]


def test_type_checkers_see_what_is_imported() -> None:
    """The imports for type checkers name each public name once, from the module it is loaded from."""
    tree = ast.parse((ROOT / "src" / "eval_quality" / "__init__.py").read_text(encoding="utf-8"))
    seen: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("eval_quality."):
            for alias in node.names:
                assert alias.name not in seen
                seen[alias.name] = node.module.removeprefix("eval_quality.")
    assert seen == eval_quality._HOME


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import sys, eval_quality; print(sorted(m for m in sys.modules if m.startswith('eval_quality')))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "['eval_quality']"


@pytest.mark.parametrize(
    ("type_name", "constant"),
    [
        ("RuntimeFaultCode", "RUNTIME_FAULT_CODES"),
        ("ForbiddenTargetReason", "FORBIDDEN_TARGET_REASONS"),
        ("PortFailureReason", "PORT_FAILURE_REASONS"),
        ("AggregationRefusalCode", "AGGREGATION_REFUSAL_CODES"),
        ("DominanceRelationValue", "DOMINANCE_RELATIONS"),
        ("FailureCode", "FAILURE_CODES"),
        ("QualificationFailureCode", "QUALIFICATION_FAILURES"),
        ("DisciplineRule", "DISCIPLINE_RULES"),
        ("Verdict", "VERDICTS"),
        ("EvaluatorRecommendation", "EVALUATOR_RECOMMENDATIONS"),
        ("Severity", "SEVERITY_LEVELS"),
    ],
)
def test_s8_9_types_and_enumerations_agree(type_name: str, constant: str) -> None:
    assert get_args(getattr(eval_quality, type_name)) == tuple(getattr(eval_quality, constant))
    assert tuple(rule.id for rule in rules.DISCIPLINE_RULES) == eval_quality.DISCIPLINE_RULES
    assert get_args(vocabulary.CheckResolutionValue) == ("true", "false", "insufficient-evidence")


def test_s8_7_registry_sizes() -> None:
    assert len(eval_quality.FAILURE_CODES) == 27
    assert len(eval_quality.RUNTIME_FAULT_CODES) == 10
    assert len(eval_quality.QUALIFICATION_FAILURES) == 20
    assert len(eval_quality.OUTCOME_STATES) == 12
    assert len(eval_quality.INTERCHANGE_ARTIFACT_KEYS) == 13
    assert eval_quality.FORBIDDEN_TARGET_REASONS[:7] == eval_quality.DENIAL_REASONS
    registries = [
        *eval_quality.FAILURE_CODES,
        *eval_quality.RUNTIME_FAULT_CODES,
        *eval_quality.QUALIFICATION_FAILURES,
        *eval_quality.AGGREGATION_REFUSAL_CODES,
    ]
    assert len(set(registries)) == len(registries)


def test_s8_7_the_default_policy_has_its_published_digest() -> None:
    policy = eval_quality.DEFAULT_SCORING_POLICY
    expected = "sha256:cc9e09a64f2ed19a6a204f72244e43e51b742f078fab859329601146fdf47bb7"
    assert eval_quality.digest_artifact(policy, "ScoringPolicy") == expected
    assert eval_quality.digest_artifact(eval_quality.to_value(policy), "ScoringPolicy") == expected


def test_s8_values_and_records_give_the_same_and_inputs_stay_as_they_are() -> None:
    contract = load("contract.json")
    before = copy.deepcopy(contract)
    record = eval_quality.compile_contract(contract)
    contract["behaviors"].clear()
    assert eval_quality.to_value(record) == before
    assert eval_quality.compile_contract(record) == record
    assert eval_quality.serialize_artifact(record, "X") == eval_quality.serialize_artifact(before, "X")
    assert eval_quality.seal_contract(before) == eval_quality.seal_contract(record)
    with pytest.raises(AttributeError):
        record.contract_id = "other"  # type: ignore[misc]


def test_s8_1_the_chain_through_the_library() -> None:
    contract = eval_quality.compile_contract(load("contract.json"))
    verdict = eval_quality.preflight_from_observations(
        contract=contract, probes=load("probes.json"), run_id="notes-api", observations=load("observations.json")
    )
    scored = eval_quality.run_score(
        record=[load(f"runs/P-001/record-{trial}.json") for trial in (3, 1, 2)],
        manifest=load("runs/P-001/isolation-manifest.json"),
        configuration=load("evaluator-configuration.json"),
        contract=contract,
        probe=load("probes/P-001.json"),
        preflight_verdict=verdict,
        policy=eval_quality.DEFAULT_SCORING_POLICY,
        corpus_digest="sha256:" + "0" * 64,
    )
    assert (scored.ladder.verdict, scored.ladder.exit_code) == ("PASS", 0)
    aggregate = eval_quality.aggregate_strength(
        evidence=[scored.artifact], floors={}, policy=eval_quality.DEFAULT_SCORING_POLICY
    )
    assert aggregate.classes.defect.caught == 1
    assert eval_quality.compare_dominance(scored.artifact, scored.artifact, "material") == "equivalent"
    assert (
        eval_quality.compare_dominance(eval_quality.to_value(scored.artifact), scored.artifact, "low") == "equivalent"
    )


def test_s8_2_qualification_over_plain_values_and_records() -> None:
    contract, probe = load("contract.json"), load("probes/P-001.json")
    home = eval_quality.resolve_home_operation(probe["defectSignature"], contract["permittedInterfaces"])
    assert home is not None
    assert (home.interface_id, home.operation.operation_id) == ("notes-api", "get-note")
    plain = contract["permittedInterfaces"][0]["operations"][0]
    assert eval_quality.qualify_probe(probe, plain) == eval_quality.qualify_probe(probe, home.operation)
    assert eval_quality.qualify_probe(probe, None).declaration_checks_ran is False


@pytest.mark.parametrize(
    "operation",
    [{"invocation": {}}, {"toolName": "x"}, {"method": "GET"}, [], "x"],
    ids=["cli", "mcp", "api", "[]", "x"],
)
def test_s8_2_an_operation_that_is_none_is_a_parse_failure(operation: object) -> None:
    with pytest.raises(eval_quality.RuntimeFault, match="schema-parse-failure in Operation"):
        eval_quality.qualify_probe(load("probes/P-001.json"), operation)


def test_s8_2_a_lineage_chain_of_values_and_records() -> None:
    root = load("contract.json")
    child = {**root, "parentDigest": eval_quality.digest_artifact(root, "EvalContract"), "revisionCount": 1}
    for chain in ([root, child], [eval_quality.compile_contract(root), child]):
        report = eval_quality.validate_lineage_chain(
            chain,
            artifact_path="EvalContract",
            accepted_schema_version=7,
            declared_revision_count=1,
            remediation_cap=None,
        )
        assert report.passed


def test_s8_3_a_check_by_hand() -> None:
    contract = load("contract.json")
    observations = load("runs/P-001/record-1.json")["observations"]
    resolve = eval_quality.make_resolve_operand({"write": observations[0], "read-back": observations[1]}, {})
    resolution = eval_quality.resolve_check(
        contract["oracles"][0]["check"],
        resolve,
        eval_quality.make_pointer_denotes_collection(contract),
        eval_quality.reference_set_keys_of(contract),
        1_000_000,
        "EvidenceArtifact",
    )
    assert resolution.resolution == "false"


def test_s8_4_composite_digests_read_records() -> None:
    contract = load("contract.json")
    record = eval_quality.compile_contract(contract)
    plain = eval_quality.digest_composite({"contracts": [contract]}, "X")
    assert eval_quality.digest_composite({"contracts": (record,)}, "X") == plain
    assert eval_quality.digest_composite({"contracts": [contract, contract]}, "X") != plain


def test_coverage_and_scripting_of_the_example() -> None:
    contract = load("contract.json")
    assert eval_quality.coverage_gaps(contract) == ()
    assert [gap.rule for gap in eval_quality.coverage_gaps(load("response-only/contract.json"))] == [
        "state-change-read-back"
    ]
    brief = eval_quality.to_value(eval_quality.seal_contract(contract))
    eval_quality.audit_brief_scripting(brief)
    brief["probeStepBound"] = 0
    brief["directions"][0]["text"] = "First do this, then that."
    with pytest.raises(eval_quality.StructuralFailure, match="brief-exceeds-scripting-bound"):
        eval_quality.audit_brief_scripting(brief)


POLICY = {
    "authorizations": [
        {
            "interfaceId": "notes-api",
            "scheme": "http",
            "host": "localhost",
            "port": 80,
            "addresses": ["127.0.0.1"],
            "methods": ["GET", "PATCH"],
            "safeMethods": ["GET"],
            "maxRedirects": 0,
            "maxElapsedMs": 1000,
            "maxRequestBytes": 1,
            "maxResponseBytes": 1,
        }
    ]
}
TARGET = {
    "interfaceId": "notes-api",
    "scheme": "http",
    "host": "LOCALHOST.",
    "port": 80,
    "address": "127.0.0.1",
    "method": "GET",
}


def test_s8_5_target_decisions_over_plain_values() -> None:
    allowed = eval_quality.evaluate_target(POLICY, TARGET)
    assert isinstance(allowed, eval_quality.Allowed)
    assert (allowed.address_class, allowed.canonical_address) == ("loopback", "127.0.0.1")
    denied = eval_quality.evaluate_target(POLICY, eval_quality.HttpTarget("other", "http", "x", 1, "::1", "GET"))
    assert isinstance(denied, eval_quality.Denied)
    assert denied.reason == "interface-not-authorized"
    assert eval_quality.is_safe_method(POLICY["authorizations"][0], "GET")
    assert not eval_quality.is_safe_method(POLICY["authorizations"][0], "PATCH")


@pytest.mark.parametrize("target", [{}, {**TARGET, "extra": 1}, "x", None])
def test_s8_5_a_target_that_is_none_is_a_type_error(target: object) -> None:
    with pytest.raises(TypeError, match="a target"):
        eval_quality.evaluate_target(POLICY, target)


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("127.0.0.1", True),
        ("127.255.0.9", True),
        ("::ffff:127.0.0.1", True),
        ("[::1]", True),
        ("0.0.0.0", True),
        ("::", True),
        ("::ffff:0.0.0.0", False),
        ("::127.0.0.1", False),
        ("64:ff9b::127.0.0.1", False),
        ("128.0.0.1", False),
        ("::2", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_s8_5_stays_on_host(text: str, stays: bool) -> None:
    assert eval_quality.stays_on_host(text) is stays


def test_s7_8_migration_binds_sealing() -> None:
    contract = {**load("contract.json"), "schemaVersion": 6}
    assert eval_quality.migrate_artifact("eval-contract", contract).schema_version == 7
    old = eval_quality.digest_artifact(contract, "EvalContract")
    brief = eval_quality.to_value(eval_quality.seal_contract(load("contract.json")))
    chain = eval_quality.migrate_chain(contract, brief={**brief, "contractDigest": old})
    assert chain.brief is not None
    assert eval_quality.to_value(chain.brief) == brief
    with pytest.raises(eval_quality.RuntimeFault, match=r"digest-mismatch in SealedEvaluatorBrief.contractDigest"):
        eval_quality.migrate_chain(contract, brief=brief)
