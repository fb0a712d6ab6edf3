"""The sequence of checks (spec 03 §4).

Every check looks at one survey of the contract and answers its first violation or None; the first answer ends
compilation. `strict=False` leaves out the two checks marked so and nothing else. No waiver reaches a structural
code. The contract itself is the compiled artifact: nothing is added, removed or filled in (§1.2).
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from eval_quality.core.compile import (
    artifacts,
    behaviors,
    capture,
    excluded,
    expression,
    floor,
    inputs,
    interfaces,
    oracles,
    plan,
    reachability,
    regex,
    rubrics,
    steps,
    witness,
)
from eval_quality.core.compile.survey import Survey
from eval_quality.errors import StructuralFailure
from eval_quality.model.contract import EvalContract
from eval_quality.model.stamp import check_stamp
from eval_quality.value.depth import room


class Check(NamedTuple):
    """One step of the sequence: its number in §4, the check, and whether only strict mode runs it."""

    step: str
    run: Callable[[Survey], StructuralFailure | None]
    strict_only: bool = False


CHECKS: Final = (
    Check("2", interfaces.interface_identifiers),
    Check("3", behaviors.requirement_linkage),
    Check("4", behaviors.observable_success_criterion),
    Check("5", artifacts.artifact_references),
    Check("6", reachability.check_evidence),
    Check("7", capture.captured_evidence),
    Check("7b", reachability.state_reset_pointers),
    Check("8", expression.bound_element_scope),
    Check("9", expression.operand_legality),
    Check("10", regex.regex_constructs),
    Check("11", expression.quantifier_collections),
    Check("12", expression.quantifier_nesting),
    Check("13", expression.reference_set_resolution),
    Check("14", interfaces.operation_signatures),
    Check("15", inputs.step_inputs, strict_only=True),
    Check("16", inputs.witness_declarations, strict_only=True),
    Check("17", oracles.oracle_channels),
    Check("18", oracles.oracle_alignment),
    Check("19", interfaces.interface_kinds),
    Check("20", plan.temporal_clauses),
    Check("21", plan.scripting_bound),
    Check("22", capture.binding_cycle),
    Check("23", capture.captured_channel),
    Check("24", rubrics.rubric_identifiers),
    Check("25", rubrics.reasoning_prose),
    Check("26", rubrics.rubric_anchoring),
    Check("27", rubrics.rubric_evidence),
    Check("28", floor.forbidden_input_floor),
    Check("29", excluded.excluded_content),
    Check("30", floor.scoped_references),
    Check("31", floor.waiver_completeness),
    Check("32", steps.step_references),
    Check("33", witness.leg_identifiers),
    Check("34", witness.witness_legality),
)
"""Steps 2 to 34; step 1, the stamp, is a fault and not a structural failure."""


def compile_contract(contract: EvalContract, strict: bool = True) -> EvalContract:
    """Check a parsed contract and return it unchanged (spec 03 §1.1 step 3).

    Raises the first `StructuralFailure`, `RuntimeFault("schema-version-mismatch")` for a stale stamp, or the
    canonicalization fault of a reference-set member that has no digest (§9.3).
    """
    with room():
        check_stamp("eval-contract", {"schemaVersion": contract.schema_version}, "EvalContract")
        survey = Survey(contract)
        for check in CHECKS:
            if check.strict_only and not strict:
                continue
            failure = check.run(survey)
            if failure is not None:
                raise failure
    return contract
