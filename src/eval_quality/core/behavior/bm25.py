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
        self._documents = {skill_id: Counter(tokens(text)) for skill_id, text in catalogue.items()}
        lengths = [sum(counts.values()) for counts in self._documents.values()]
        self._average = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._frequency = Counter(word for counts in self._documents.values() for word in counts)

    def scores(self, text: str) -> dict[str, float]:
        """The BM25 score of every skill for a task text."""
        wanted = sorted(set(tokens(text)))
        size = len(self._documents)
        result: dict[str, float] = {}
        for skill_id, counts in self._documents.items():
            scale = K1 * (1 - B + B * sum(counts.values()) / self._average)
            total = 0.0
            for word in wanted:
                if (count := counts[word]) > 0:
                    seen = self._frequency[word]
                    total += log(1 + (size - seen + 0.5) / (seen + 0.5)) * count * (K1 + 1) / (count + scale)
            result[skill_id] = total
        return result

    def select(self, text: str) -> str | None:
        """The best skill, or None when nothing matches."""
        scores = self.scores(text)
        best = max(scores, key=scores.__getitem__, default=None)
        return best if best is not None and scores[best] > 0 else None


def sentences(text: str) -> Sequence[str]:
    """The sentences of a description, for use as probes (spec 11 §17.9b)."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
