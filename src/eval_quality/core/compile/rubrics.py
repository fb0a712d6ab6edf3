"""Rubrics: scales that mean something and evidence that exists (spec 03 §13)."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from eval_quality.core.compile.codes import (
    RUBRIC_EVIDENCE_UNREACHABLE,
    RUBRIC_SCORES_REASONING_PROSE,
    RUBRIC_UNANCHORED,
)
from eval_quality.core.compile.reachability import unreachable_through_plan
from eval_quality.core.compile.survey import Survey
from eval_quality.core.contract.text import JS_SPACE_CLASS, is_blank
from eval_quality.errors import StructuralFailure
from eval_quality.model.rubric import RubricBody

_SEP: Final = rf"[-\u2010\u2011{JS_SPACE_CLASS}]+"


@cache
def _reasoning_prose() -> re.Pattern[str]:
    """Words by which a rubric would score how an evaluator thinks rather than what it observed (spec 03 §13.2).

    Compiled on first use: most contracts have no rubric, and this is the dearest pattern of the stage.
    """
    return re.compile(
        r"\b(?:"
        rf"chains?{_SEP}of{_SEP}thoughts?|trains?{_SEP}of{_SEP}thoughts?"
        rf"|thought{_SEP}process(?:es|ing)?|thinking{_SEP}process(?:es)?"
        rf"|(?:internal|inner){_SEP}monologues?|self{_SEP}explanations?"
        r"|reasonings?|rationales?"
        r")\b",
        re.IGNORECASE | re.ASCII,
    )


def _base(rubric: RubricBody) -> str:
    return f"EvalContract.rubrics[id={rubric.id}]"


def rubric_identifiers(survey: Survey) -> StructuralFailure | None:
    """Step 24, §13.1: rubric ids first, over all rubrics; then criterion ids, rubric by rubric."""
    seen: set[str] = set()
    for position, rubric in enumerate(survey.contract.rubrics):
        if rubric.id in seen:
            return _unanchored(f"EvalContract.rubrics[{position}].id", f'rubric id "{rubric.id}" is declared twice')
        seen.add(rubric.id)
    for rubric in survey.contract.rubrics:
        criteria: set[str] = set()
        for position, criterion in enumerate(rubric.criteria):
            if criterion.id in criteria:
                path = f"{_base(rubric)}.criteria[{position}].id"
                return _unanchored(path, f'criterion id "{criterion.id}" is declared twice')
            criteria.add(criterion.id)
    return None


def _unanchored(path: str, detail: str) -> StructuralFailure:
    return StructuralFailure(RUBRIC_UNANCHORED, path, detail)


def reasoning_prose(survey: Survey) -> StructuralFailure | None:
    """Step 25, §13.2: no part of a rubric scores reasoning."""
    for rubric in survey.contract.rubrics:
        for path, text in _scored_texts(rubric):
            match = _reasoning_prose().search(text)
            if match is not None:
                return StructuralFailure(
                    RUBRIC_SCORES_REASONING_PROSE, path, f'"{match[0]}" scores reasoning, not an observation'
                )
    return None


def _scored_texts(rubric: RubricBody) -> Iterator[tuple[str, str]]:
    base = _base(rubric)
    for criterion in rubric.criteria:
        yield f"{base}.criteria[id={criterion.id}].text", criterion.text
    for position, level in enumerate(rubric.scale_levels or ()):
        yield f"{base}.scaleLevels[{position}].anchor", level.anchor
    for position, penalty in enumerate(rubric.failure_mode_penalties or ()):
        yield f"{base}.failureModePenalties[{position}].name", penalty.name
        yield f"{base}.failureModePenalties[{position}].description", penalty.description


def rubric_anchoring(survey: Survey) -> StructuralFailure | None:
    """Step 26, §13.3: levels, anchors, length, penalties and criteria all say something."""
    for rubric in survey.contract.rubrics:
        failure = _without_anchor(rubric)
        if failure is not None:
            return failure
    return None


def _without_anchor(rubric: RubricBody) -> StructuralFailure | None:
    base = _base(rubric)
    # 1. a scale
    if not rubric.scale_levels:
        return _unanchored(f"{base}.scaleLevels", "the rubric declares no scale level")
    # 2. every ordinal once
    ordinals: set[int] = set()
    for position, level in enumerate(rubric.scale_levels):
        if level.level in ordinals:
            return _unanchored(f"{base}.scaleLevels[{position}].level", f"level {level.level} is declared twice")
        ordinals.add(level.level)
    # 3. every level anchored
    for position, level in enumerate(rubric.scale_levels):
        if is_blank(level.anchor):
            return _unanchored(f"{base}.scaleLevels[{position}].anchor", "the anchor is blank")
    # 4. a length
    if rubric.max_length is None:
        return _unanchored(f"{base}.maxLength", "the rubric declares no maximum length")
    # 5. penalties
    if not rubric.failure_mode_penalties:
        return _unanchored(f"{base}.failureModePenalties", "the rubric declares no failure-mode penalty")
    # 6. every penalty named
    for position, penalty in enumerate(rubric.failure_mode_penalties):
        if is_blank(penalty.name):
            return _unanchored(f"{base}.failureModePenalties[{position}].name", "the penalty's name is blank")
    # 7. every criterion worded
    for criterion in rubric.criteria:
        if is_blank(criterion.text):
            return _unanchored(f"{base}.criteria[id={criterion.id}].text", "the criterion's text is blank")
    return None


def rubric_evidence(survey: Survey) -> StructuralFailure | None:
    """Step 27, §13.4: every criterion is judged on evidence that can exist."""
    for rubric in survey.contract.rubrics:
        for criterion in rubric.criteria:
            reason = unreachable_through_plan(criterion.evidence, survey.index)
            if reason is not None:
                return StructuralFailure(
                    RUBRIC_EVIDENCE_UNREACHABLE,
                    f"{_base(rubric)}.criteria[id={criterion.id}].evidence",
                    f'"{criterion.evidence}": {reason}',
                )
    return None
