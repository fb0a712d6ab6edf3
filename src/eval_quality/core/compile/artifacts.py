"""References to written artifacts (spec 03 §7.5).

Runs before reachability, so that an undeclared artifact is always reported as one.
"""

from collections.abc import Iterator
from typing import NamedTuple

from eval_quality.core.compile.codes import UNRESOLVED_ARTIFACT_REFERENCE
from eval_quality.core.compile.survey import OracleSite, Survey, WitnessSite, operation_path, oracle_path
from eval_quality.core.contract.operation import AnyOperation, declared_artifacts, described_artifact
from eval_quality.core.contract.pointer import is_bound, parse_pointer
from eval_quality.errors import StructuralFailure


class _Mention(NamedTuple):
    """A pointer where it stands; `witness` is the site that owns it, if a witness does."""

    pointer: str
    path: str
    witness: WitnessSite | None


def artifact_references(survey: Survey) -> StructuralFailure | None:
    """Step 5: every artifact that is nominated or addressed is declared by its operation."""
    # Pass A: the artifact a descriptor nominates.
    for declared in survey.operations:
        nominated = described_artifact(declared.operation)
        if nominated is not None and nominated not in declared_artifacts(declared.operation):
            return StructuralFailure(
                UNRESOLVED_ARTIFACT_REFERENCE,
                f"{operation_path(declared)}.descriptorChannel.artifactId",
                f'operation "{declared.operation.operation_id}" describes artifact "{nominated}", '
                "which it does not declare",
            )
    # Pass B: the artifacts pointers address.
    for mention in _mentions(survey):
        if is_bound(mention.pointer):
            continue
        parsed = parse_pointer(mention.pointer)
        if parsed.artifact_id is None:
            continue
        operation = _operation(mention, parsed.step_id, survey)
        if operation is not None and parsed.artifact_id not in declared_artifacts(operation):
            return StructuralFailure(
                UNRESOLVED_ARTIFACT_REFERENCE,
                mention.path,
                f'"{mention.pointer}" addresses artifact "{parsed.artifact_id}", '
                f'which operation "{operation.operation_id}" does not declare',
            )
    return None


def _operation(mention: _Mention, step_id: str, survey: Survey) -> AnyOperation | None:
    if mention.witness is not None:
        return survey.operation_at(mention.witness, step_id)
    step = survey.index.step(step_id)
    return None if step is None else survey.index.operation_of(step)


def _mentions(survey: Survey) -> Iterator[_Mention]:
    """Every evidence pointer in the order of §7.5: per oracle check then direction, rubrics, witnesses."""
    checks = {id(site.oracle): site for site in survey.oracle_sites}
    for oracle in survey.contract.oracles:
        site = checks.get(id(oracle))
        if site is not None:
            yield from _pointers(site, None)
        if oracle.direction is not None:
            for position, pointer in enumerate(oracle.direction.evidence_targets):
                yield _Mention(pointer, f"{oracle_path(oracle)}.direction.evidenceTargets[{position}]", None)
    for rubric in survey.contract.rubrics:
        for criterion in rubric.criteria:
            path = f"EvalContract.rubrics[id={rubric.id}].criteria[id={criterion.id}].evidence"
            yield _Mention(criterion.evidence, path, None)
    for site in survey.witness_sites:
        yield from _pointers(site, site)


def _pointers(site: OracleSite | WitnessSite, witness: WitnessSite | None) -> Iterator[_Mention]:
    for node in site.nodes:
        for place in node.operands:
            if place.pointer is not None:
                yield _Mention(place.pointer, place.path, witness)
