"""The optional registry file `skills/registry.json`: catalogue order and routing words (spec 11 §10.5, §17.1).

    {"schemaVersion": 1, "entrySkill": "...", "skills": [{"id", "order", "intents", "keywords", "next", ...}]}

Every member of a skill's entry but `id` is optional; those of the feed (§10.5) are passed through to it.
"""

from typing import Any, Final

import msgspec

from eval_quality.app.behavior.documents_in import optional_document
from eval_quality.core.behavior.jsonish import JsonObject, as_integer, as_list, as_object, as_text, texts
from eval_quality.value.text import utf16_key

REGISTRY_NAME: Final = "skills/registry.json"
FEED_LISTS: Final = ("intents", "requires", "produces", "gates", "keywords")
FEED_FLAGS: Final = ("mutatesWorkspace", "parallelSafe")


class Registry(msgspec.Struct, frozen=True):
    """A loaded registry, or the empty one. `problems` are errors of the file itself."""

    present: bool = False
    entry_skill: str | None = None
    entries: dict[str, JsonObject] = {}
    problems: tuple[str, ...] = ()

    def order(self, skill_ids: list[str]) -> list[str]:
        """Catalogue order: `order` ascending, then UTF-16; skills without an entry come last."""

        def key(skill_id: str) -> tuple[bool, int, bytes]:
            number = as_integer(self.entries.get(skill_id, {}).get("order"))
            return number is None, number or 0, utf16_key(skill_id)

        return sorted(skill_ids, key=key)

    def probes(self, skill_id: str) -> list[str]:
        """The routing words of a skill, dashes read as blanks (spec 11 §10.3)."""
        entry = self.entries.get(skill_id, {})
        words = [*texts(entry.get("intents")), *texts(entry.get("keywords"))]
        spoken = [" ".join(word.replace("-", " ").replace("_", " ").split()) for word in words]
        return [word for word in spoken if word]

    def dangling(self, skill_ids: list[str]) -> list[str]:
        """`next` and `fallback` targets that are no skill of the repository."""
        found: list[str] = []
        for skill_id, entry in self.entries.items():
            targets = [*texts(entry.get("next")), *texts(entry.get("fallback"))]
            targets += [text for name in ("next", "fallback") if (text := as_text(entry.get(name))) is not None]
            found += [f"{skill_id} -> {target}" for target in targets if target not in skill_ids]
        return found


def load_registry(root: str) -> Registry:
    """The registry of a repository; the empty one when there is no file."""
    value, problem = optional_document(root, REGISTRY_NAME)
    if problem is not None:
        return Registry(present=True, problems=(problem,))
    if value is None:
        return Registry()
    members = as_object(value) or {}
    items = as_list(members.get("skills"))
    if as_integer(members.get("schemaVersion")) != 1 or items is None:
        return Registry(present=True, problems=("expected {schemaVersion: 1, skills}",))
    entries: dict[str, JsonObject] = {}
    problems: list[str] = []
    for index, item in enumerate(items):
        entry: JsonObject = as_object(item) or {}
        skill_id = as_text(entry.get("id"))
        if skill_id is None or skill_id in entries:
            problems.append(f"skills[{index}]: expected a new id")
        else:
            entries[skill_id] = entry
    return Registry(True, as_text(members.get("entrySkill")), entries, tuple(problems))


def feed_members(entry: JsonObject) -> dict[str, Any]:
    """The feed's registry members, with their empty values (spec 11 §10.5)."""
    feed: dict[str, Any] = {"pack": as_text(entry.get("pack"))}
    feed |= {name: texts(entry.get(name)) for name in FEED_LISTS}
    return feed | {name: entry.get(name) is True for name in FEED_FLAGS}
