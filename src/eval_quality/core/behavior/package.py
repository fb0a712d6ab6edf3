"""Skill packages: manifest, path policy, front matter (spec 11 §1.2, §1.3, §17.1). Text and values only, no files."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec

from eval_quality.core.behavior.documents import RESOURCE_PATTERNS, SKILL_PACKAGE
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.findings import ERROR, WARN, Finding
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, as_text
from eval_quality.value.text import utf16_length

MANIFEST_NAME: Final = "skill.package.json"
ENTRY_NAME: Final = "SKILL.md"

MAX_MANIFEST_BYTES: Final = 262_144
MAX_RESOURCE_BYTES: Final = 1_048_576
MAX_PACKAGE_BYTES: Final = 8_388_608
MAX_RESOURCES: Final = 128
MAX_PATH_SEGMENTS: Final = 8

CATEGORIES: Final = tuple(RESOURCE_PATTERNS)
"""Resource categories in the order in which they are read, after the entry."""

MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
MAX_COMPATIBILITY: Final = 500
MAX_BODY_LINES: Final = 500
FRONT_MATTER_KEYS: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_BAD_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def _plain_path_problem(path: str) -> str | None:
    slashed = path.replace("\\", "/")
    if not path:
        return "expected a path"
    if "\0" in path:
        return "expected no NUL byte"
    if slashed.startswith("/") or _DRIVE.match(slashed):
        return "expected a relative path"
    segments = slashed.split("/")
    if any(segment in ("", ".", "..") for segment in segments):
        return "expected no empty, . or .. segment"
    if len(segments) > MAX_PATH_SEGMENTS:
        return f"expected at most {MAX_PATH_SEGMENTS} segments"
    return None


def path_problem(path: str) -> str | None:
    """Why a resource path is refused before any file is touched, or None (spec 11 §1.3).

    The raw path and its percent-decoded form must both pass; a literal backslash never does.
    """
    if _BAD_PERCENT.search(path):
        return "expected no malformed percent encoding"
    decoded = unquote_to_bytes(path).decode("utf-8", "replace")
    for form in (path, decoded):
        if (problem := _plain_path_problem(form)) is not None:
            return problem
    return "expected no backslash" if "\\" in path else None


class Manifest(msgspec.Struct, frozen=True):
    """A skill's inventory: paths by category. `inferred` for a plain SKILL.md folder."""

    skill_id: str
    resources: dict[str, tuple[str, ...]]
    inferred: bool = False

    def paths(self) -> list[tuple[str, str]]:
        """(category, path) of everything declared, the entry first."""
        listed = [(name, path) for name in CATEGORIES for path in self.resources.get(name, ())]
        return [("entry", ENTRY_NAME), *listed]


def migrate_manifest(value: Any) -> JsonObject:
    """A version 1 manifest as version 2; anything else unchanged (spec 11 §1.2). Never applied on load."""
    members = dict(as_object(value) or {})
    if members.get("schemaVersion") == 1 and not isinstance(members["schemaVersion"], bool):
        members |= {"schemaVersion": 2, "scriptPolicy": "data-only"}
    return members


def read_manifest(value: Any, folder: str) -> tuple[Manifest | None, list[str]]:
    """The manifest of a skill folder, or None, and everything wrong with it.

    A path occurs once in its list by the schema, and the lists admit no path of one another.
    """
    found = problems(SKILL_PACKAGE, value)
    if found:
        return None, [summary((problem,)) for problem in found]
    wrong: list[str] = []
    if value["id"] != folder:
        wrong.append(f"/id: expected the folder's name {folder}")
    resources: dict[str, tuple[str, ...]] = {name: tuple(value[name]) for name in CATEGORIES}
    every = [path for paths in resources.values() for path in paths]
    wrong += [f"{path}: {problem}" for path in every if (problem := path_problem(path)) is not None]
    if len(every) + 1 > MAX_RESOURCES:
        wrong.append(f"expected at most {MAX_RESOURCES} resources")
    return (None if wrong else Manifest(value["id"], resources)), wrong


def split_front_matter(text: str) -> tuple[str | None, str]:
    """(front matter, body) of a SKILL.md; no front matter when the file does not open with a `---` line."""
    lines = text.split("\n")
    if lines[0].rstrip("\r") != "---":
        return None, text
    for index in range(1, len(lines)):
        if lines[index].rstrip("\r") == "---":
            return "\n".join(lines[1:index]) + "\n", "\n".join(lines[index + 1 :])
    return None, text


class FrontMatter(msgspec.Struct, frozen=True):
    """The open format's metadata. `name` and `description` are None when absent or unusable."""

    name: str | None
    description: str | None
    valid: bool


def _front_matter_problems(members: Mapping[str, Any]) -> list[str]:
    wrong: list[str] = []
    name, description = members.get("name"), members.get("description")
    if not isinstance(name, str) or len(name) > MAX_NAME or _NAME.fullmatch(name) is None:
        wrong.append(f"name must be 1 to {MAX_NAME} lower-case letters, digits and single hyphens")
    if as_text(description) is None or utf16_length(str(description)) > MAX_DESCRIPTION:
        wrong.append(f"description must have 1 to {MAX_DESCRIPTION} characters")
    compatibility = members.get("compatibility", "any")
    if as_text(compatibility) is None or utf16_length(compatibility) > MAX_COMPATIBILITY:
        wrong.append(f"compatibility must have 1 to {MAX_COMPATIBILITY} characters")
    wrong += [
        f"{key} must be a string" for key in ("license", "allowed-tools") if not isinstance(members.get(key, ""), str)
    ]
    metadata = as_object(members.get("metadata", {}))
    if metadata is None or not all(isinstance(value, str) for value in metadata.values()):
        wrong.append("metadata must map strings to strings")
    return wrong


def check_front_matter(value: Any, folder: str, body: str, *, plain: bool) -> tuple[FrontMatter, list[Finding]]:
    """The front matter of a skill, and findings against the open format (spec 11 §17.1).

    What is wrong with it is an error for a plain skill, whose only structure it is, and a warning for a package.
    """
    members = as_object(value) or {}
    wrong = _front_matter_problems(members)
    level = ERROR if plain else WARN
    name = members.get("name")
    skill_id = name if isinstance(name, str) and name else folder
    findings = [Finding(level, "front-matter", skill_id, ENTRY_NAME, problem) for problem in wrong]

    def warn(code: str, message: str) -> None:
        findings.append(Finding(WARN, code, skill_id, ENTRY_NAME, message))

    for key in members:
        if key not in FRONT_MATTER_KEYS:
            warn("front-matter-key", f"{key} is not a key of the open format")
    if isinstance(name, str) and name != folder:
        warn("front-matter-name", f"the name differs from the folder {folder}")
    if body.count("\n") > MAX_BODY_LINES:
        warn("body-length", f"the body has more than {MAX_BODY_LINES} lines; move detail into references")
    matter = FrontMatter(
        name if isinstance(name, str) and _NAME.fullmatch(name) else None,
        as_text(members.get("description")),
        not wrong,
    )
    return matter, findings


def agent_file_problem(text: str) -> str | None:
    """Why an agent profile's `default_prompt` is no scalar string, or None (spec 11 §1.4)."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        found = re.match(r"\s*default_prompt\s*:(.*)", line)
        if found is None:
            continue
        value = found[1].strip()
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if value.startswith(("[", "{")) or (not value and following[:1] in (" ", "\t") and following.strip()):
            return "default_prompt must be a scalar string"
    return None


def eval_file_problem(document: Any) -> str | None:
    """Why a JSON eval file is no scenario file, or None (spec 11 §1.4)."""
    members = as_object(document)
    items = as_list(document if members is None else members.get("scenarios"))
    if not items:
        return "expected a non-empty list of scenarios"
    if not all(isinstance((as_object(item) or {}).get("id"), str) for item in items):
        return "expected every scenario to be an object with a string id"
    return None
