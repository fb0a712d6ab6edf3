"""The closed registry of structural failure codes, in its normative order (spec 03 §3)."""

from typing import Final

MISSING_REQUIREMENT_LINKAGE: Final = "missing-requirement-linkage"
NO_OBSERVABLE_SUCCESS_CRITERION: Final = "no-observable-success-criterion"
UNREACHABLE_CHECK_EVIDENCE: Final = "unreachable-check-evidence"
MALFORMED_OPERATOR_EXPRESSION: Final = "malformed-operator-expression"
QUANTIFIER_OVER_NON_COLLECTION: Final = "quantifier-over-non-collection"
QUANTIFIER_NESTING_EXCEEDED: Final = "quantifier-nesting-exceeded"
UNRESOLVED_REFERENCE_SET: Final = "unresolved-reference-set"
DUPLICATE_OPERATION_SIGNATURE: Final = "duplicate-operation-signature"
UNDECLARED_MANDATORY_INPUT: Final = "undeclared-mandatory-input"
ORACLE_MISSING_CHANNEL: Final = "oracle-missing-channel"
DIRECTION_CHECK_MISALIGNED: Final = "direction-check-misaligned"
UNSUPPORTED_INTERFACE_KIND: Final = "unsupported-interface-kind"
NESTED_TEMPORAL_CLAUSE: Final = "nested-temporal-clause"
PLAN_EXCEEDS_SCRIPTING_BOUND: Final = "plan-exceeds-scripting-bound"
BINDING_CYCLE: Final = "binding-cycle"
CAPTURED_CHANNEL_UNDECLARED: Final = "captured-channel-undeclared"
RUBRIC_SCORES_REASONING_PROSE: Final = "rubric-scores-reasoning-prose"
RUBRIC_UNANCHORED: Final = "rubric-unanchored"
RUBRIC_EVIDENCE_UNREACHABLE: Final = "rubric-evidence-unreachable"
FORBIDDEN_INPUT_FLOOR_INCOMPLETE: Final = "forbidden-input-floor-incomplete"
SCOPED_REFERENCE_RESOLVES_FORBIDDEN: Final = "scoped-reference-resolves-forbidden"
WAIVER_INCOMPLETE: Final = "waiver-incomplete"
BRIEF_EXCEEDS_SCRIPTING_BOUND: Final = "brief-exceeds-scripting-bound"
UNRESOLVED_ARTIFACT_REFERENCE: Final = "unresolved-artifact-reference"
IRREDUCIBLE_STEP_REFERENCE: Final = "irreducible-step-reference"
EXCLUDED_CONTENT_IN_DECLARATION: Final = "excluded-content-in-declaration"
DUPLICATE_INTERFACE_IDENTIFIER: Final = "duplicate-interface-identifier"

FAILURE_CODES: Final = (
    MISSING_REQUIREMENT_LINKAGE,
    NO_OBSERVABLE_SUCCESS_CRITERION,
    UNREACHABLE_CHECK_EVIDENCE,
    MALFORMED_OPERATOR_EXPRESSION,
    QUANTIFIER_OVER_NON_COLLECTION,
    QUANTIFIER_NESTING_EXCEEDED,
    UNRESOLVED_REFERENCE_SET,
    DUPLICATE_OPERATION_SIGNATURE,
    UNDECLARED_MANDATORY_INPUT,
    ORACLE_MISSING_CHANNEL,
    DIRECTION_CHECK_MISALIGNED,
    UNSUPPORTED_INTERFACE_KIND,
    NESTED_TEMPORAL_CLAUSE,
    PLAN_EXCEEDS_SCRIPTING_BOUND,
    BINDING_CYCLE,
    CAPTURED_CHANNEL_UNDECLARED,
    RUBRIC_SCORES_REASONING_PROSE,
    RUBRIC_UNANCHORED,
    RUBRIC_EVIDENCE_UNREACHABLE,
    FORBIDDEN_INPUT_FLOOR_INCOMPLETE,
    SCOPED_REFERENCE_RESOLVES_FORBIDDEN,
    WAIVER_INCOMPLETE,
    BRIEF_EXCEEDS_SCRIPTING_BOUND,
    UNRESOLVED_ARTIFACT_REFERENCE,
    IRREDUCIBLE_STEP_REFERENCE,
    EXCLUDED_CONTENT_IN_DECLARATION,
    DUPLICATE_INTERFACE_IDENTIFIER,
)
"""All 27, in registry order. `brief-exceeds-scripting-bound` belongs to the brief's audit, never to compile."""
