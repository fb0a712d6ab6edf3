"""A skill's own words as scenario drafts, for `behavior-eval init` (spec 11 §2.1).

Each list item becomes one draft: it is the author's note, `given.intent` asks for the situation that its heading calls
for, and both actions are left empty. Nothing is invented and nothing is scored before a person has filled it, so drafts
are written beside the evidence and not into `evals/`.
"""

import re
from collections.abc import Mapping
from typing import Final

from eval_quality.core.behavior.jsonish import JsonObject
from eval_quality.core.behavior.package import split_front_matter

MAX_DRAFTS: Final = 40
MIN_LENGTH: Final = 12

HINTS: Final[Mapping[str, str]] = {
    "when not to use": "a request that this skill should decline or pass on",
    "anti-patterns": "a tempting short cut that must not be taken",
    "failure": "a failure, and the next step it calls for",
    "decision": "two plausible next steps, one of which is right",
    "invariant": "pressure to break a rule that always holds",
    "when to use": "a request that this skill should take",
    "procedure": "a step that is next although another one looks attractive",
}
"""What to ask for below a heading, by a word in it."""

_ITEM: Final = re.compile(r"\s*(?:[-*+]|[0-9]+[.)])\s+(.*\S)")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")


def _slug(text: str) -> str:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words[:6])


def _hint(heading: str) -> str:
    lowered = heading.lower()
    return next(
        (hint for word, hint in HINTS.items() if word in lowered), "a situation in which this decides the next step"
    )


def draft_scenarios(skill_id: str, instruction: str) -> JsonObject:
    """Scenario drafts of one skill; an empty list when the text gives nothing to start from."""
    _header, body = split_front_matter(instruction)
    heading = ""
    fenced = False
    drafts: dict[str, JsonObject] = {}
    for line in body.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            continue
        elif line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif (item := _ITEM.match(line)) is not None and len(item[1]) >= MIN_LENGTH and len(drafts) < MAX_DRAFTS:
            scenario_id = f"{skill_id}-{_slug(item[1])}"
            drafts.setdefault(
                scenario_id,
                {
                    "id": scenario_id,
                    "description": f"{heading}: {item[1]}" if heading else item[1],
                    "given": {"intent": f"FILL IN: {_hint(heading)}"},
                    "expected": {"action": ""},
                    "forbidden": {"action": ""},
                },
            )
    return {"scenarios": list(drafts.values())}
