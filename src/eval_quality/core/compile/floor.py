"""What a contract must withhold and must not carry (spec 03 §16.1, §16.2, §16.4)."""

from typing import Final

from eval_quality.core.compile.codes import (
    FORBIDDEN_INPUT_FLOOR_INCOMPLETE,
    SCOPED_REFERENCE_RESOLVES_FORBIDDEN,
    WAIVER_INCOMPLETE,
)
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.keys import utf16_order
from eval_quality.errors import StructuralFailure
from eval_quality.value.text import quoted

FORBIDDEN_INPUT_FLOOR: Final = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)
"""The inputs every contract withholds from the evaluator, in the order they are looked for."""


def forbidden_input_floor(survey: Survey) -> StructuralFailure | None:
    """Step 28, §16.1: all seven are withheld; order and repeats do not matter."""
    for member in FORBIDDEN_INPUT_FLOOR:
        if member not in survey.contract.forbidden_inputs:
            return StructuralFailure(
                FORBIDDEN_INPUT_FLOOR_INCOMPLETE,
                "EvalContract.forbiddenInputs",
                f'the contract does not withhold "{member}"',
            )
    return None


def scoped_references(survey: Survey) -> StructuralFailure | None:
    """Step 30, §16.2: any scoped reference could resolve to a forbidden input, so none is admitted."""
    scoped = survey.contract.scoped_resources
    if scoped:
        return StructuralFailure(
            SCOPED_REFERENCE_RESOLVES_FORBIDDEN,
            "EvalContract.scopedResources[0].reference",
            f'scoped resource "{scoped[0].reference}" could resolve to a forbidden input',
        )
    resources = survey.contract.test_data.resources
    if resources:
        first = quoted(utf16_order(resources)[0])
        return StructuralFailure(
            SCOPED_REFERENCE_RESOLVES_FORBIDDEN,
            f"EvalContract.testData.resources[{first}]",
            f"test-data resource {first} could resolve to a forbidden input",
        )
    return None


def waiver_completeness(survey: Survey) -> StructuralFailure | None:
    """Step 31, §16.4: rule, rationale, approval and expiry; a condition is optional and no date is compared."""
    for waiver in survey.contract.waivers:
        parts = {
            "rule": waiver.rule,
            "rationale": waiver.rationale,
            "approval": waiver.approval,
            "expiresAt": waiver.expires_at,
        }
        for name, part in parts.items():
            if part is None:
                return StructuralFailure(
                    WAIVER_INCOMPLETE, f"EvalContract.waivers[id={waiver.id}].{name}", f"the waiver states no {name}"
                )
    return None
