"""Does the catalogue's own text select the right skill? BM25 over name and description (spec 11 §17.9).

Ties go to catalogue order; a text that shares no word with any skill selects none.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Final

K1: Final = 1.2
B: Final = 0.75
STOP_WORDS: Final = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "how", "i", "in", "into"),
        *("is", "it", "its", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where", "which"),
        *("who", "will", "with", "you", "your", "use", "used", "using"),
    )
)


def tokens(text: str) -> list[str]:
    """Lower-case words without the commonest ones, a plural `s` cut off."""
    words = re.findall(r"[^\W_]+", text.lower())
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words if word not in STOP_WORDS]


class Selector:
    """A catalogue of `skill id -> text`, in catalogue order."""

    def __init__(self, catalogue: Mapping[str, str]) -> None:
        documents = {skill_id: Counter(tokens(text)) for skill_id, text in catalogue.items()}
        lengths = {skill_id: sum(counts.values()) for skill_id, counts in documents.items()}
        average = sum(lengths.values()) / len(lengths) if any(lengths.values()) else 1.0
        self._order = {skill_id: place for place, skill_id in enumerate(documents)}
        frequency = Counter(word for counts in documents.values() for word in counts)
        self._weights: dict[str, dict[str, float]] = {}
        for skill_id, counts in documents.items():
            scale = K1 * (1 - B + B * lengths[skill_id] / average)
            for word, count in counts.items():
                seen = frequency[word]
                rarity = log(1 + (len(documents) - seen + 0.5) / (seen + 0.5))
                self._weights.setdefault(word, {})[skill_id] = rarity * count * (K1 + 1) / (count + scale)

    def scores(self, text: str) -> dict[str, float]:
        """The BM25 score of every skill that shares a word with a task text."""
        result: dict[str, float] = {}
        for word in sorted(set(tokens(text))):
            for skill_id, weight in self._weights.get(word, {}).items():
                result[skill_id] = result.get(skill_id, 0.0) + weight
        return result

    def select(self, text: str) -> str | None:
        """The best skill, or None when nothing matches."""
        scores = self.scores(text)
        return min(scores, key=lambda skill_id: (-scores[skill_id], self._order[skill_id]), default=None)


def sentences(text: str) -> Sequence[str]:
    """The sentences of a description, for use as probes (spec 11 §17.9b)."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
