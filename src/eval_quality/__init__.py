"""Would this evaluation have caught a known bug?

The public surface of the package (spec 10 §8). Names are imported when they are first used, so that a program pays for
what it uses; `eval_quality.schemas` holds the published JSON Schema documents.

    import eval_quality

    contract = eval_quality.compile_contract(eval_quality.scan_json(text, "EvalContract"))
    print(eval_quality.digest_artifact(contract, "EvalContract"))
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eval_quality._version import VERSION
    from eval_quality.app.artifact import digest_artifact, scan_json, serialize_artifact
    from eval_quality.app.library import (
        audit_brief_scripting,
        compare_dominance,
        compile_contract,
        coverage_gaps,
        digest_composite,
        make_pointer_denotes_collection,
        make_resolve_operand,
        qualify_probe,
        reference_set_keys_of,
        resolve_check,
        resolve_home_operation,
        seal_contract,
        validate_lineage_chain,
    )
    from eval_quality.app.migration import migrate_artifact, migrate_chain
    from eval_quality.app.scoring import run_score
    from eval_quality.app.targets import evaluate_target, is_safe_method, stays_on_host
    from eval_quality.app.vocabulary import (
        DISCIPLINE_RULES,
        AggregationRefusalCode,
        CheckResolutionValue,
        DisciplineRule,
        DominanceRelationValue,
        FailureCode,
        ForbiddenTargetReason,
        PortFailureReason,
        QualificationFailureCode,
        RuntimeFaultCode,
    )
    from eval_quality.core.aggregate import aggregate_strength
    from eval_quality.core.compile.codes import FAILURE_CODES
    from eval_quality.core.contract.plan import PlanIndex
    from eval_quality.core.dominance import DOMINANCE_RELATIONS, ComparableResult
    from eval_quality.core.evaluation.absent import ABSENT
    from eval_quality.core.evaluation.collection import PointerDenotesCollection
    from eval_quality.core.evaluation.operand import ResolveOperand
    from eval_quality.core.evaluation.reference_sets import ReferenceSetKeys
    from eval_quality.core.lineage import LineageChainReport, LineageFinding
    from eval_quality.core.preflight.diagnostic import Diagnostic, DiagnosticSink
    from eval_quality.core.preflight.entry import preflight_from_observations
    from eval_quality.core.qualify.home import HomeOperation
    from eval_quality.core.qualify.result import QUALIFICATION_FAILURES, QualificationFailure, QualificationResult
    from eval_quality.core.score.entry import RunScoreResult
    from eval_quality.core.score.ladder import LadderResolution
    from eval_quality.errors import (
        AGGREGATION_REFUSAL_CODES,
        FORBIDDEN_TARGET_REASONS,
        PORT_FAILURE_REASONS,
        RUNTIME_FAULT_CODES,
        AggregationRefusal,
        DesignatedOracleRefusal,
        EvalQualityError,
        Problem,
        RuntimeFault,
        SchemaIssues,
        StructuralFailure,
    )
    from eval_quality.model.address import ADDRESS_CLASSES, classify_address, parse_address
    from eval_quality.model.aggregate import StrengthAggregate, StrengthFloors
    from eval_quality.model.artifact import CoverageGap, EvidenceArtifact
    from eval_quality.model.brief import SealedEvaluatorBrief
    from eval_quality.model.configuration import EvaluatorConfiguration
    from eval_quality.model.contract import EvalContract
    from eval_quality.model.decode import to_value
    from eval_quality.model.evidence import ArtifactReference, PrivateArtifactManifest
    from eval_quality.model.expression import CheckResolution, Expression, Operand
    from eval_quality.model.interface import AnyOperation, PermittedInterface
    from eval_quality.model.isolation import IsolationManifest
    from eval_quality.model.policy import DEFAULT_SCORING_POLICY, ScoringPolicy
    from eval_quality.model.ports import ProbeObservation, ProbeRequest
    from eval_quality.model.preflight import PreflightVerdict
    from eval_quality.model.primitives import (
        API_RESPONSE_CHANNELS,
        COMMAND_RESPONSE_CHANNELS,
        EVALUATOR_RECOMMENDATIONS,
        EVIDENCE_CHANNELS,
        INPUT_CHANNELS,
        OUTCOME_STATES,
        SEVERITY_LEVELS,
        VERDICTS,
        EvaluatorRecommendation,
        JsonValue,
        Severity,
        Verdict,
    )
    from eval_quality.model.probe import DefectSignature, Probe
    from eval_quality.model.registry import INTERCHANGE_ARTIFACT_KEYS
    from eval_quality.model.rubric import Rubric
    from eval_quality.model.run_record import Observation, SealedRunRecord
    from eval_quality.model.stamp import (
        EVAL_CONTRACT_SCHEMA_VERSION,
        EVALUATOR_CONFIGURATION_SCHEMA_VERSION,
        EVIDENCE_ARTIFACT_SCHEMA_VERSION,
        ISOLATION_MANIFEST_SCHEMA_VERSION,
        NATIVE_SCHEMA_VERSIONS,
        PREFLIGHT_VERDICT_SCHEMA_VERSION,
        PRIVATE_ARTIFACT_MANIFEST_SCHEMA_VERSION,
        PROBE_SCHEMA_VERSION,
        SCORING_POLICY_SCHEMA_VERSION,
        SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION,
        SEALED_RUN_RECORD_SCHEMA_VERSION,
        STRENGTH_AGGREGATE_SCHEMA_VERSION,
    )
    from eval_quality.model.target import (
        CommandTargetAuthorization,
        CommandTargetPolicy,
        McpTargetAuthorization,
        McpTargetPolicy,
        ProbeTargetAuthorization,
        ProbeTargetPolicy,
    )
    from eval_quality.probe.command import create_command_line_adapter
    from eval_quality.probe.local import create_local_corpus_adapter
    from eval_quality.probe.mcp import create_mcp_adapter
    from eval_quality.probe.ports import ClockPort, CorpusPort, EnvironmentProbePort, FileSystemPort
    from eval_quality.probe.preflight import run_preflight
    from eval_quality.probe.signals import AbortController, AbortSignal
    from eval_quality.probe.targets import DENIAL_REASONS, Allowed, Denied, HttpTarget
    from eval_quality.value.digest import digest_bytes, digest_directory

__all__ = [
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
    "aggregate_strength",
    "audit_brief_scripting",
    "classify_address",
    "compare_dominance",
    "compile_contract",
    "coverage_gaps",
    "create_command_line_adapter",
    "create_local_corpus_adapter",
    "create_mcp_adapter",
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

_HOME = {
    "ABSENT": "core.evaluation.absent",
    "ADDRESS_CLASSES": "model.address",
    "AGGREGATION_REFUSAL_CODES": "errors",
    "API_RESPONSE_CHANNELS": "model.primitives",
    "COMMAND_RESPONSE_CHANNELS": "model.primitives",
    "DEFAULT_SCORING_POLICY": "model.policy",
    "DENIAL_REASONS": "probe.targets",
    "DISCIPLINE_RULES": "app.vocabulary",
    "DOMINANCE_RELATIONS": "core.dominance",
    "EVALUATOR_CONFIGURATION_SCHEMA_VERSION": "model.stamp",
    "EVALUATOR_RECOMMENDATIONS": "model.primitives",
    "EVAL_CONTRACT_SCHEMA_VERSION": "model.stamp",
    "EVIDENCE_ARTIFACT_SCHEMA_VERSION": "model.stamp",
    "EVIDENCE_CHANNELS": "model.primitives",
    "FAILURE_CODES": "core.compile.codes",
    "FORBIDDEN_TARGET_REASONS": "errors",
    "INPUT_CHANNELS": "model.primitives",
    "INTERCHANGE_ARTIFACT_KEYS": "model.registry",
    "ISOLATION_MANIFEST_SCHEMA_VERSION": "model.stamp",
    "NATIVE_SCHEMA_VERSIONS": "model.stamp",
    "OUTCOME_STATES": "model.primitives",
    "PORT_FAILURE_REASONS": "errors",
    "PREFLIGHT_VERDICT_SCHEMA_VERSION": "model.stamp",
    "PRIVATE_ARTIFACT_MANIFEST_SCHEMA_VERSION": "model.stamp",
    "PROBE_SCHEMA_VERSION": "model.stamp",
    "QUALIFICATION_FAILURES": "core.qualify.result",
    "RUNTIME_FAULT_CODES": "errors",
    "SCORING_POLICY_SCHEMA_VERSION": "model.stamp",
    "SEALED_EVALUATOR_BRIEF_SCHEMA_VERSION": "model.stamp",
    "SEALED_RUN_RECORD_SCHEMA_VERSION": "model.stamp",
    "SEVERITY_LEVELS": "model.primitives",
    "STRENGTH_AGGREGATE_SCHEMA_VERSION": "model.stamp",
    "VERDICTS": "model.primitives",
    "VERSION": "_version",
    "AbortController": "probe.signals",
    "AbortSignal": "probe.signals",
    "AggregationRefusal": "errors",
    "AggregationRefusalCode": "app.vocabulary",
    "Allowed": "probe.targets",
    "AnyOperation": "model.interface",
    "ArtifactReference": "model.evidence",
    "CheckResolution": "model.expression",
    "CheckResolutionValue": "app.vocabulary",
    "ClockPort": "probe.ports",
    "CommandTargetAuthorization": "model.target",
    "CommandTargetPolicy": "model.target",
    "ComparableResult": "core.dominance",
    "CorpusPort": "probe.ports",
    "CoverageGap": "model.artifact",
    "DefectSignature": "model.probe",
    "Denied": "probe.targets",
    "DesignatedOracleRefusal": "errors",
    "Diagnostic": "core.preflight.diagnostic",
    "DiagnosticSink": "core.preflight.diagnostic",
    "DisciplineRule": "app.vocabulary",
    "DominanceRelationValue": "app.vocabulary",
    "EnvironmentProbePort": "probe.ports",
    "EvalContract": "model.contract",
    "EvalQualityError": "errors",
    "EvaluatorConfiguration": "model.configuration",
    "EvaluatorRecommendation": "model.primitives",
    "EvidenceArtifact": "model.artifact",
    "Expression": "model.expression",
    "FailureCode": "app.vocabulary",
    "FileSystemPort": "probe.ports",
    "ForbiddenTargetReason": "app.vocabulary",
    "HomeOperation": "core.qualify.home",
    "HttpTarget": "probe.targets",
    "IsolationManifest": "model.isolation",
    "JsonValue": "model.primitives",
    "LadderResolution": "core.score.ladder",
    "LineageChainReport": "core.lineage",
    "LineageFinding": "core.lineage",
    "McpTargetAuthorization": "model.target",
    "McpTargetPolicy": "model.target",
    "Observation": "model.run_record",
    "Operand": "model.expression",
    "PermittedInterface": "model.interface",
    "PlanIndex": "core.contract.plan",
    "PointerDenotesCollection": "core.evaluation.collection",
    "PortFailureReason": "app.vocabulary",
    "PreflightVerdict": "model.preflight",
    "PrivateArtifactManifest": "model.evidence",
    "Probe": "model.probe",
    "ProbeObservation": "model.ports",
    "ProbeRequest": "model.ports",
    "ProbeTargetAuthorization": "model.target",
    "ProbeTargetPolicy": "model.target",
    "Problem": "errors",
    "QualificationFailure": "core.qualify.result",
    "QualificationFailureCode": "app.vocabulary",
    "QualificationResult": "core.qualify.result",
    "ReferenceSetKeys": "core.evaluation.reference_sets",
    "ResolveOperand": "core.evaluation.operand",
    "Rubric": "model.rubric",
    "RunScoreResult": "core.score.entry",
    "RuntimeFault": "errors",
    "RuntimeFaultCode": "app.vocabulary",
    "SchemaIssues": "errors",
    "ScoringPolicy": "model.policy",
    "SealedEvaluatorBrief": "model.brief",
    "SealedRunRecord": "model.run_record",
    "Severity": "model.primitives",
    "StrengthAggregate": "model.aggregate",
    "StrengthFloors": "model.aggregate",
    "StructuralFailure": "errors",
    "Verdict": "model.primitives",
    "aggregate_strength": "core.aggregate",
    "audit_brief_scripting": "app.library",
    "classify_address": "model.address",
    "compare_dominance": "app.library",
    "compile_contract": "app.library",
    "coverage_gaps": "app.library",
    "create_command_line_adapter": "probe.command",
    "create_local_corpus_adapter": "probe.local",
    "create_mcp_adapter": "probe.mcp",
    "digest_artifact": "app.artifact",
    "digest_bytes": "value.digest",
    "digest_composite": "app.library",
    "digest_directory": "value.digest",
    "evaluate_target": "app.targets",
    "is_safe_method": "app.targets",
    "make_pointer_denotes_collection": "app.library",
    "make_resolve_operand": "app.library",
    "migrate_artifact": "app.migration",
    "migrate_chain": "app.migration",
    "parse_address": "model.address",
    "preflight_from_observations": "core.preflight.entry",
    "qualify_probe": "app.library",
    "reference_set_keys_of": "app.library",
    "resolve_check": "app.library",
    "resolve_home_operation": "app.library",
    "run_preflight": "probe.preflight",
    "run_score": "app.scoring",
    "scan_json": "app.artifact",
    "seal_contract": "app.library",
    "serialize_artifact": "app.artifact",
    "stays_on_host": "app.targets",
    "to_value": "model.decode",
    "validate_lineage_chain": "app.library",
}
"""Public name -> the module under this package that defines it."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for completion in a shell."""
    return sorted(_HOME)
