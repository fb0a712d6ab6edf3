"""The text of one direction (spec 04 §7.1).

The check is never read: no literal, no operator argument and no reference set of it can reach the brief this way.
"""

from typing import Final

from eval_quality.core.contract.text import js_trim
from eval_quality.core.direction.evidence import EvidenceRenderer
from eval_quality.core.direction.precondition import PreconditionError
from eval_quality.core.direction.words import sentence
from eval_quality.model.contract import Direction

_CLAIMS: Final = {
    "equality": "{evidence} is asserted to be equal.",
    "deep-equality": "{evidence} is asserted to be deeply, structurally equal.",
    "containment": "{evidence} is asserted to contain the declared member.",
    "existence": "{evidence} is asserted to be present.",
    "absence": "{evidence} is asserted to be absent.",
    "regex": '{evidence} is asserted to satisfy the declared "regex" condition.',
    "set-membership": '{evidence} is asserted to satisfy the declared "set-membership" condition.',
    "ordering": '{evidence} is asserted to satisfy the declared "ordering" condition.',
    "count-tolerance": '{evidence} is asserted to satisfy the declared "count-tolerance" condition.',
    "shape": '{evidence} is asserted to satisfy the declared "shape" condition.',
    "covers-by-key": '{evidence} is asserted to satisfy the declared "covers-by-key" condition.',
    "all": "{evidence} is asserted to satisfy every declared condition together.",
    "any": "{evidence} is asserted to satisfy at least one declared condition.",
    "not": "{evidence} is asserted to fail the declared condition, not to satisfy it.",
    "for-all": "Every element reachable through {evidence} is asserted to meet the declared condition.",
    "for-any": "At least one element reachable through {evidence} is asserted to meet the declared condition.",
}
_POLARITIES: Final = {
    "expects-hold": "The declared polarity expects this relation to hold.",
    "expects-violation": "The declared polarity expects this relation to be a violation.",
}


def direction_text(direction: Direction, renderer: EvidenceRenderer) -> str:
    """The sentences of a direction, joined by one space.

    Raises what the renderer raises, and `PreconditionError` for a direction without targets.
    """
    if not direction.evidence_targets:
        raise PreconditionError("a direction names no evidence target")
    evidence = renderer.clause(direction.evidence_targets)
    sentences = [_CLAIMS[direction.relation].format(evidence=evidence), _POLARITIES[direction.polarity]]
    if direction.scope is not None and js_trim(direction.scope):
        sentences.append(direction.scope)
    if direction.negative_domain is not None and js_trim(direction.negative_domain):
        sentences.append(f"{js_trim(direction.negative_domain).rstrip('.!?')} is treated as a defect.")
    return " ".join(sentence(each) for each in sentences)
