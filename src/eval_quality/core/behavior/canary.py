"""Canaries: questions that only somebody who saw the private half answers too well (spec 11 §17.6).

A canary offers three actions as equally fitting. Which one counts as expected was drawn by chance and is written down
on the sealed side alone, so a blind provider is right one time in three. Canaries count in no slice.
"""

from collections.abc import Sequence
from typing import Final

from eval_quality.core.behavior.generator import Message, Picker
from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.scenario import Scenario
from eval_quality.core.behavior.words import SOURCES, TEMPLATES

CHOICES: Final = 3
TEXT: Final = "These next steps fit equally well here: {0}, {1} and {2}. Choose one of them."


def canary_id(number: int) -> str:
    """The family id of a skill's canary; a scenario id with a dot in this place is as good as never chosen."""
    return f"canary.{number}"


def canary(
    seed: str, skill_id: str, number: int, answer: int, words: Sequence[str]
) -> tuple[Scenario, tuple[Message, Message]]:
    """One canary of a skill: its scenario and two messages about other actions. `words` has at least five members.

    `answer` is the place (0 to 2) of the action that was drawn; nothing a provider sees depends on it.
    """
    picker = Picker(seed, skill_id, canary_id(number))
    left = list(words)
    drawn: list[str] = []
    for purpose in ("first", "second", "third", "near", "far"):
        drawn.append(picker.pick(f"canary.{purpose}", left))
        left.remove(drawn[-1])
    offered = drawn[:CHOICES]
    given: JsonObject = {"intent": TEXT.format(*offered)}
    scenario = Scenario(
        skill_id, canary_id(number), canary_id(number), None, given, {"action": offered[answer]}, None, "", "canaries"
    )
    return scenario, (_message(picker, "near", drawn[3]), _message(picker, "far", drawn[4]))


def _message(picker: Picker, role: str, action: str) -> Message:
    template = picker.pick(f"text.canary.{role}", TEMPLATES["adjacent"])
    source = picker.pick(f"source.canary.{role}", SOURCES)
    return Message(source, template.replace("{action}", action), "", "adjacent")
