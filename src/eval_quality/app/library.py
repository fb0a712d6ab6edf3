"""The library's entry points that own boundary parsing (spec 10 §8).

Every function takes plain parsed JSON values or this package's own records, validates them, changes neither, and
answers with immutable records. Bad data raises a `RuntimeFault` (`schema-parse-failure` at the schema's name) or the
error that the function documents; nothing else escapes.

`eval_quality` itself exports them lazily; the command line calls the same core underneath.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from eval_quality.core import dominance, lineage, qualify
from eval_quality.core.compile.entry import compile_value
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.coverage.evaluate import coverage_gaps as gaps_of
from eval_quality.core.evaluation import collection, evaluate, operand, reference_sets
from eval_quality.core.evaluation.collection import PointerDenotesCollection
from eval_quality.core.evaluation.operand import ResolveOperand
from eval_quality.core.evaluation.reference_sets import ReferenceSetKeys
from eval_quality.core.lineage import LineageChainReport
from eval_quality.core.qualify import HomeOperation, QualificationResult
from eval_quality.core.seal import audit
from eval_quality.core.seal.entry import seal_value
from eval_quality.model.artifact import CoverageGap, EvidenceArtifact
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.expression import CheckResolution, Expression
from eval_quality.model.interface import (
    AnyOperation,
    CommandOperation,
    McpOperation,
    Operation,
    PermittedInterface,
)
from eval_quality.model.probe import DefectSignature, Probe
from eval_quality.model.record import Record
from eval_quality.model.run_record import Observation
from eval_quality.value.digest import digest_composite as composite_of
from eval_quality.value.kind import is_object

# Compile and seal.


def compile_contract(value: Any, *, strict: bool = True) -> EvalContract:
    """The contract, once every structural check passed (spec 10 §7.1). Raises `StructuralFailure`, `RuntimeFault`."""
    return compile_value(value, strict)


def seal_contract(value: Any, *, strict: bool = True) -> SealedEvaluatorBrief:
    """The blinded brief of a contract, which is compiled first (spec 10 §7.2)."""
    return seal_value(value, strict)


def audit_brief_scripting(brief: Any) -> None:
    """Refuse a brief that scripts its evaluator: `StructuralFailure("brief-exceeds-scripting-bound")` (spec 04 §9)."""
    audit.audit_brief_scripting(decode(SealedEvaluatorBrief, brief, "SealedEvaluatorBrief"))


def coverage_gaps(contract: Any) -> tuple[CoverageGap, ...]:
    """Every discipline rule a contract owes and does not keep, in rule order (spec 04)."""
    return gaps_of(decode(EvalContract, contract, "EvalContract"))


# Qualification, comparison, lineage.


def qualify_probe(probe: Any, operation: Any) -> QualificationResult:
    """Every reason a probe may not count; `operation` is its home operation, or None (spec 08 §1)."""
    return qualify.qualify_probe(decode(Probe, probe, "Probe"), None if operation is None else _operation(operation))


def resolve_home_operation(signature: Any, interfaces: Iterable[Any]) -> HomeOperation | None:
    """The declared operation that a defect signature names, or None (spec 08 §1.3)."""
    declared = [decode(_kind(PermittedInterface), interface, "PermittedInterface") for interface in interfaces]
    return qualify.resolve_home_operation(decode(_kind(DefectSignature), signature, "DefectSignature"), declared)


def compare_dominance(a: Any, b: Any, severity_floor: str) -> str:
    """One of `DOMINANCE_RELATIONS` for two evidence artifacts, or two results with their members (spec 08 §13)."""
    return dominance.compare_dominance(_result(a), _result(b), severity_floor)


def validate_lineage_chain(
    artifacts: Iterable[Any],
    *,
    artifact_path: str,
    accepted_schema_version: int,
    declared_revision_count: int,
    remediation_cap: int | None,
) -> LineageChainReport:
    """What is wrong with a chain of revisions of one artifact (spec 09 §5.2)."""
    return lineage.validate_lineage_chain(
        [_plain(artifact) for artifact in artifacts],
        artifact_path=artifact_path,
        accepted_schema_version=accepted_schema_version,
        declared_revision_count=declared_revision_count,
        remediation_cap=remediation_cap,
    )


# Evaluation.


def resolve_check(
    expression: Any,
    resolve_operand: ResolveOperand,
    pointer_denotes_collection: PointerDenotesCollection,
    reference_set_keys: ReferenceSetKeys,
    regex_step_budget: int,
    artifact_path: str,
) -> CheckResolution:
    """The resolution tree of one check over selected evidence (spec 05). Faults are raised at `artifact_path`."""
    return evaluate.resolve_check(
        decode(_kind(Expression), expression, "Expression"),
        resolve_operand,
        pointer_denotes_collection,
        reference_set_keys,
        regex_step_budget,
        artifact_path,
    )


def make_resolve_operand(
    step_observations: Mapping[str, Any], reference_sets: Mapping[str, Sequence[Any]]
) -> ResolveOperand:
    """What an operand denotes, given one observation for each step id and the members of each reference set."""
    selected = {step: decode(Observation, value, "Observation") for step, value in step_observations.items()}
    return operand.make_resolve_operand(selected, reference_sets)


def make_pointer_denotes_collection(contract: Any, plan_index: PlanIndex | None = None) -> PointerDenotesCollection:
    """Whether a pointer names a declared collection of the contract."""
    return collection.make_pointer_denotes_collection(decode(EvalContract, contract, "EvalContract"), plan_index)


def reference_set_keys_of(contract: Any) -> dict[str, Sequence[str]]:
    """The declared keys of every reference set, by set id."""
    return reference_sets.reference_set_keys_of(decode(EvalContract, contract, "EvalContract"))


# Digests.


def digest_composite(fields: Mapping[str, Any], artifact_path: str) -> str:
    """The digest of several values together (spec 01 §6.3); members may be records or tuples of records."""
    return composite_of({name: _plain(value) for name, value in fields.items()}, artifact_path)


# Helpers.


def _kind(union: Any) -> Any:
    """A union of records as `decode` takes one: the type checker sees no class in it."""
    return union


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return to_value(value)
    if isinstance(value, tuple):
        return [_plain(element) for element in cast("tuple[Any, ...]", value)]
    return value


def _operation(value: Any) -> AnyOperation:
    """An operation of whichever shape its members say."""
    if is_object(value):
        if "invocation" in value:
            return decode(CommandOperation, value, "Operation")
        if "toolName" in value:
            return decode(McpOperation, value, "Operation")
    elif isinstance(value, CommandOperation | McpOperation):
        return value
    return decode(Operation, value, "Operation")


def _result(value: Any) -> dominance.Result:
    if is_object(value) and "schemaVersion" in value:
        return decode(EvidenceArtifact, value, "EvidenceArtifact")
    if isinstance(value, EvidenceArtifact):
        return value
    return decode(dominance.ComparableResult, value, "ComparableResult")
