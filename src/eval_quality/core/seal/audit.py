"""Whether a brief scripts the evaluator (spec 04 §9).

Markers are words of sequence and list numbering. They are counted in each direction's text on its own, never summed,
and compared with the contract's own bound; a brief without a bound passes. Sealing never calls this: neither a
brief's bytes nor the seal command's exit depend on it.
"""

import re
from typing import Final

from eval_quality.core.compile.codes import BRIEF_EXCEEDS_SCRIPTING_BOUND
from eval_quality.core.contract.text import JS_SPACE_CLASS, JS_WHITESPACE
from eval_quality.errors import StructuralFailure
from eval_quality.model.brief import SealedEvaluatorBrief

_MARKER: Final = re.compile(
    r"\b(?:then|before|after|subsequent(?:ly)?|next|finally|afterward(?:s)?)\b"
    rf"|(?<![^{JS_SPACE_CLASS}.!?])(?P<item>[0-9]++|[a-z])[.)](?![0-9])",
    re.IGNORECASE | re.ASCII,
)
_TERMINATORS: Final = ".!?"


def audit_brief_scripting(brief: SealedEvaluatorBrief) -> None:
    """Raise `StructuralFailure("brief-exceeds-scripting-bound")` for the first direction with more markers than
    `probe_step_bound`; return quietly otherwise."""
    bound = brief.probe_step_bound
    if bound is None:
        return
    for direction in brief.directions:
        count = count_markers(direction.text)
        if count > bound:
            raise StructuralFailure(
                BRIEF_EXCEEDS_SCRIPTING_BOUND,
                f"SealedEvaluatorBrief.directions[oracleId={direction.oracle_id}].text",
                f"the text carries {count} sequence markers; the bound is {bound}",
            )


def count_markers(text: str) -> int:
    """The number of sequence markers in a text, found left to right without overlap."""
    count = position = 0
    while (marker := _MARKER.search(text, position)) is not None:
        if marker["item"] is None or _opens_item(text, marker.start()):
            count += 1
            position = marker.end()
        else:
            position = marker.start() + 1
    return count


def _opens_item(text: str, position: int) -> bool:
    """Whether a list mark may stand here: at the start, after a newline or after a sentence, white space aside."""
    while position > 0 and text[position - 1] in JS_WHITESPACE:
        position -= 1
        if text[position] == "\n":
            return True
    return position == 0 or text[position - 1] in _TERMINATORS
