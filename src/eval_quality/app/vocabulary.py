"""The closed vocabularies as types, for callers that check their own code (spec 10 §8.9).

Each equals, member for member and in order, the tuple of the same vocabulary; a test holds the pairs together.
"""

from typing import Final, Literal, TypeAlias, get_args

RuntimeFaultCode: TypeAlias = Literal[
    "schema-parse-failure",
    "schema-version-mismatch",
    "non-canonicalizable-value",
    "digest-mismatch",
    "budget-exhausted",
    "port-failure",
    "port-contract-violation",
    "forbidden-target",
    "aborted",
    "operator-cannot-accept-operand",
]
ForbiddenTargetReason: TypeAlias = Literal[
    "interface-not-authorized",
    "scheme-not-authorized",
    "host-not-authorized",
    "port-not-authorized",
    "address-not-authorized",
    "address-unparseable",
    "method-not-authorized",
    "executable-not-authorized",
    "subcommand-not-authorized",
    "environment-key-not-authorized",
    "tool-not-authorized",
]
PortFailureReason: TypeAlias = Literal["launch-too-large"]
AggregationRefusalCode: TypeAlias = Literal["strength-inputs-disagree", "strength-input-inconsistent"]
DominanceRelationValue: TypeAlias = Literal["a-dominates-b", "b-dominates-a", "equivalent", "incomparable"]
CheckResolutionValue: TypeAlias = Literal["true", "false", "insufficient-evidence"]
FailureCode: TypeAlias = Literal[
    "missing-requirement-linkage",
    "no-observable-success-criterion",
    "unreachable-check-evidence",
    "malformed-operator-expression",
    "quantifier-over-non-collection",
    "quantifier-nesting-exceeded",
    "unresolved-reference-set",
    "duplicate-operation-signature",
    "undeclared-mandatory-input",
    "oracle-missing-channel",
    "direction-check-misaligned",
    "unsupported-interface-kind",
    "nested-temporal-clause",
    "plan-exceeds-scripting-bound",
    "binding-cycle",
    "captured-channel-undeclared",
    "rubric-scores-reasoning-prose",
    "rubric-unanchored",
    "rubric-evidence-unreachable",
    "forbidden-input-floor-incomplete",
    "scoped-reference-resolves-forbidden",
    "waiver-incomplete",
    "brief-exceeds-scripting-bound",
    "unresolved-artifact-reference",
    "irreducible-step-reference",
    "excluded-content-in-declaration",
    "duplicate-interface-identifier",
]
QualificationFailureCode: TypeAlias = Literal[
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
]
DisciplineRule: TypeAlias = Literal[
    "success-indicator-separation",
    "whole-body",
    "malformed-input",
    "per-record",
    "sibling-cross-check",
    "omission-and-completeness",
    "state-change-read-back",
]

DISCIPLINE_RULES: Final[tuple[DisciplineRule, ...]] = get_args(DisciplineRule)
"""The ids of the seven coverage rules, in order (spec 08 §11)."""
