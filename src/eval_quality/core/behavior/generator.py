"""The condition generator: five requests of one family that look alike (spec 11 §17.4).

1. `pool` is the skill's actions without the family's own, topped up with neutral ones when small.
2. Decoys A, H, K are drawn from it, and F when the family has no forbidden action.
3. Every request carries two messages. Over the five conditions each of the five actions is recommended twice.
4. Styles are paired so that E, F, H and K each appear once as `candidate` and once as `override`: neither how often
   nor how an action is recommended says which side it is on.
5. Text, source and order come from `pick`, a digest of seed, skill, family and purpose: no randomness, no clock.

Nothing here reads an oracle member other than the two actions.
"""

import hashlib
from collections.abc import Sequence
from itertools import permutations
from typing import Final, TypeVar

import msgspec

from eval_quality.core.behavior.digests import canonical, sorted_texts
from eval_quality.core.behavior.scenario import Family, Scenario
from eval_quality.core.behavior.words import CONDITIONS, NEUTRAL_ACTIONS, OPTION_FILLERS, SOURCES, TEMPLATES

T = TypeVar("T")

POOL_MINIMUM = 4
VOCABULARY_MINIMUM = 12
OPTION_MINIMUM = 4

CANDIDATE_OR_OVERRIDE: Final = ("candidate", "override")

LAYOUTS: Final = tuple(
    "".join(letters)
    for letters in sorted(set(permutations("AEHKK")))
    if letters[0] != "E" and letters[2] != "A" and letters[4] != "H"
)
"""The 32 arrangements of counter targets over the five conditions (spec 11 §17.4.3)."""

PRIMARY: Final = {"known": "E", "negative": "F", "ambiguous": "A", "adversarial": "F", "holdout": "H"}
"""The letter whose action a condition recommends first of all (spec 11 §17.4.3)."""


class Picker:
    """Deterministic choice for one family (spec 11 §17.4, `pick`): the digest of seed, skill, family and purpose."""

    __slots__ = ("_begun",)

    def __init__(self, seed: str, skill_id: str, family_id: str) -> None:
        # The canonical text of the four strings, hashed up to the purpose: it is what differs from pick to pick.
        self._begun = hashlib.sha256(canonical([seed, skill_id, family_id])[:-1] + b",")

    def number(self, purpose: str) -> int:
        """The first eight hex digits of the digest, as a number."""
        whole = self._begun.copy()
        whole.update(canonical(purpose) + b"]")
        return int(whole.hexdigest()[:8], 16)

    def pick(self, purpose: str, choices: Sequence[T]) -> T:
        """One member of a non-empty list."""
        return choices[self.number(purpose) % len(choices)]


class Message(msgspec.Struct, frozen=True):
    """One entry of `given.surroundings`, with what it recommends and how (neither is exported)."""

    source: str
    text: str
    letter: str
    style: str

    def value(self) -> dict[str, str]:
        """The exported form."""
        return {"source": self.source, "text": self.text}

    def canonical_text(self) -> bytes:
        """The canonical text of the exported form."""
        return b'{"source":%b,"text":%b}' % (canonical(self.source), canonical(self.text))


def scenario_actions(scenarios: Sequence[Scenario]) -> list[str]:
    """P: every expected and forbidden action of a skill's open scenarios, sorted."""
    names: list[str] = []
    for scenario in scenarios:
        names += [side["action"] for side in (scenario.expected, scenario.forbidden or {}) if "action" in side]
    return sorted_texts(names)


def five_actions(picker: Picker, base: Scenario, actions: Sequence[str]) -> dict[str, str]:
    """E, F, A, H and K of one family (spec 11 §17.4.1, §17.4.2). F is a decoy when nothing is forbidden."""
    expected = base.expected["action"]
    forbidden = (base.forbidden or {}).get("action")
    pool = [name for name in actions if name not in (expected, forbidden)]
    if len(pool) < POOL_MINIMUM:
        pool += [name for name in NEUTRAL_ACTIONS if name not in pool and name not in (expected, forbidden)]
    drawn: dict[str, str] = {"E": expected}
    wanted = [("A", "ambiguous"), ("H", "holdout"), ("K", "spare")]
    if forbidden is None:
        wanted.append(("F", "negative"))
    else:
        drawn["F"] = forbidden
    for letter, purpose in wanted:
        drawn[letter] = picker.pick(f"decoy.{purpose}", pool)
        pool.remove(drawn[letter])
    return drawn


def _other(style: str) -> str:
    return CANDIDATE_OR_OVERRIDE[1 - CANDIDATE_OR_OVERRIDE.index(style)]


def _message(picker: Picker, condition: str, role: str, letter: str, action: str, style: str) -> Message:
    template = picker.pick(f"text.{condition}.{role}", TEMPLATES[style])
    source = picker.pick(f"source.{condition}.{role}", SOURCES)
    return Message(source, template.replace("{action}", action), letter, style)


def _ordered(picker: Picker, condition: str, primary: Message, counter: Message) -> tuple[Message, Message]:
    return (counter, primary) if picker.pick(f"order.{condition}", (0, 1)) else (primary, counter)


def open_messages(picker: Picker, actions: dict[str, str]) -> dict[str, tuple[Message, Message]]:
    """The two messages of each condition, in the order they are shown (spec 11 §17.4.3 to §17.4.5)."""
    layout = picker.pick("layout", LAYOUTS)
    known_style = picker.pick("style.known", CANDIDATE_OR_OVERRIDE)
    holdout_style = picker.pick("style.holdout", CANDIDATE_OR_OVERRIDE)
    spare_style = picker.pick("style.spare", CANDIDATE_OR_OVERRIDE)
    primary_styles = {
        "known": known_style,
        "negative": "candidate",
        "ambiguous": "adjacent",
        "adversarial": "override",
        "holdout": holdout_style,
    }
    first_spare = layout.index("K")
    result: dict[str, tuple[Message, Message]] = {}
    for index, condition in enumerate(CONDITIONS):
        letter = layout[index]
        counter_style = {
            "E": _other(known_style),
            "H": _other(holdout_style),
            "A": "adjacent",
            "K": spare_style if index == first_spare else _other(spare_style),
        }[letter]
        target = PRIMARY[condition]
        primary = _message(picker, condition, "primary", target, actions[target], primary_styles[condition])
        counter = _message(picker, condition, "counter", letter, actions[letter], counter_style)
        result[condition] = _ordered(picker, condition, primary, counter)
    return result


def sealed_messages(picker: Picker, actions: dict[str, str]) -> tuple[Message, Message]:
    """The two messages of a sealed holdout family (spec 11 §17.4.9)."""
    letters = ["E", "F", "K"]
    first = picker.pick("sealed.primary", letters)
    letters.remove(first)
    second = picker.pick("sealed.counter", letters)
    style = picker.pick("style.sealed.primary", CANDIDATE_OR_OVERRIDE)
    primary = _message(picker, "holdout", "primary", first, actions[first], style)
    counter = _message(picker, "holdout", "counter", second, actions[second], _other(style))
    return _ordered(picker, "holdout", primary, counter)


def answer_options(scenarios: Sequence[Scenario], catalogue: Sequence[str]) -> dict[str, list[str]] | None:
    """The lists of allowed spellings every request of a skill carries (spec 11 §17.4.7); None when nothing asks.

    A field is offered when some oracle of the skill checks it; its values are the expected ones and fillers.
    """
    oracles = [side for scenario in scenarios for side in (scenario.expected, scenario.forbidden or {})]
    options: dict[str, list[str]] = {}
    for field, fillers in OPTION_FILLERS.items():
        if not any(field in oracle for oracle in oracles):
            continue
        values: list[str] = []
        for scenario in scenarios:
            value = scenario.expected.get(field, [])
            values += [value] if isinstance(value, str) else value
        values = sorted_texts(values)
        for filler in fillers:
            if len(values) < OPTION_MINIMUM and filler not in values:
                values.append(filler)
        options[field] = sorted_texts(values)
    if any("selectedSkill" in oracle for oracle in oracles):
        options["selectedSkill"] = sorted_texts(catalogue)
    return options or None


def vocabulary(actions: Sequence[str], drawn: Sequence[dict[str, str]]) -> list[str]:
    """The skill's action vocabulary: P, its families' decoys, and neutral actions up to twelve (§17.4.8)."""
    names = set(actions)
    for family in drawn:
        names.update(family.values())
    for neutral in NEUTRAL_ACTIONS:
        if len(names) < VOCABULARY_MINIMUM:
            names.add(neutral)
    return sorted_texts(names)


def picker_of(seed: str, family: Family) -> Picker:
    """The picker of one family."""
    return Picker(seed, family.skill_id, family.family_id)
