"""What qualifying one probe yields (spec 08 §1.1, §1.2)."""

from typing import Final

from eval_quality.model.record import Record

QUALIFICATION_FAILURES: Final = (
    "qualification-route-incompatible",
    "qualification-defect-sources-mixed",
    "qualification-evidence-unverified",
    "signature-absent",
    "signature-present-on-canary",
    "signature-interface-kind-unsupported",
    "signature-observable-channel-not-response-side",
    "condition-channels-underspecified",
    "condition-disjunct-without-response-channel",
    "condition-selector-key-undeclared",
    "condition-pointer-not-observation-rooted",
    "condition-pointer-unwritable",
    "condition-artifact-channel-contract-local",
    "condition-text-channel-on-api",
    "condition-reference-set-operand",
    "condition-operand-illegal",
    "condition-regex-illegal",
    "condition-quantifier-nesting",
    "condition-quantifier-over-non-collection",
    "condition-bound-element-outside-quantifier",
)
"""The closed set of reasons, in registry order (spec 08 §1.2)."""


class QualificationFailure(Record):
    """One reason a probe was rejected: a member of `QUALIFICATION_FAILURES`, where, and what is wrong."""

    code: str
    artifact_path: str
    detail: str


class QualificationResult(Record):
    """`qualified` is true exactly when `failures` is empty; failures are in check order, never sorted.

    `declaration_checks_ran` says whether the checks that read a home operation's declarations had one to read (a
    probe without a signature owes none).
    """

    qualified: bool
    failures: tuple[QualificationFailure, ...]
    declaration_checks_ran: bool
