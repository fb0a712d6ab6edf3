"""The sealed brief: what a blinded evaluator is told (spec 02 §14)."""

from typing import Annotated

from msgspec import Meta

from eval_quality.model.contract import Behavior
from eval_quality.model.evidence import Budgets, ScopedResource
from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import Count, Digest, Identifier, InterfaceKind, OracleId, Text
from eval_quality.model.record import Record


class BriefDirection(Record):
    """One oracle's direction as prose."""

    oracle_id: OracleId
    text: Text


class BriefInterface(Record):
    """An interface by identity only, without its operations."""

    logical_id: Identifier
    kind: InterfaceKind


class SealedEvaluatorBrief(Artifact):
    """A contract without its plan, its checks and its commentary."""

    contract_digest: Digest
    behaviors: Annotated[tuple[Behavior, ...], Meta(min_length=1)]
    directions: Annotated[tuple[BriefDirection, ...], Meta(min_length=1)]
    permitted_interfaces: tuple[BriefInterface, ...]
    scoped_resources: tuple[ScopedResource, ...]
    principals: tuple[Identifier, ...]
    budgets: Budgets
    safety_limits: tuple[str, ...]
    probe_step_bound: Count | None
