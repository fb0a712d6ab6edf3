"""The verdict of pre-flight (spec 02 §23)."""

from typing import Literal

from eval_quality.model.lineage import Artifact
from eval_quality.model.primitives import Digest, Identifier, Text
from eval_quality.model.record import Record


class PreflightCheck(Record):
    """One check; the operation is named by both identifiers or by neither."""

    kind: Literal[
        "interface-present",
        "input-sensitivity",
        "state-reset",
        "clean-control",
        "seeded-faults-scoped",
        "seeded-fault-fired",
    ]
    interface_id: Identifier | None
    operation_id: Identifier | None
    outcome: Literal["satisfied", "failed", "exempt"]
    note: str | None


class PreflightVerdict(Artifact):
    """Whether the fixture is fit to be scored on."""

    run_id: Text
    fixture_digest: Digest
    passed: bool
    checks: tuple[PreflightCheck, ...]
