"""Finding and validating skill folders (spec 11 §1.4, §1.5, §17.1).

1. Every folder with a file named exactly `SKILL.md` below a skill root is a skill; nothing below it is searched.
2. Depth, number of folders and number of files are capped; links are never followed.
3. A folder with `skill.package.json` is a package, any other one is plain and its inventory is inferred.
4. Two folders with one id are both left out.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from eval_quality.app.behavior.documents_in import parse_document
from eval_quality.app.behavior.reading import Unreadable, decoded, listing, read_below
from eval_quality.app.behavior.yaml_source import SourceRefused, read_yaml
from eval_quality.core.behavior.findings import ERROR, WARN, Finding
from eval_quality.core.behavior.package import (
    CATEGORIES,
    ENTRY_NAME,
    MANIFEST_NAME,
    MAX_MANIFEST_BYTES,
    MAX_PACKAGE_BYTES,
    MAX_RESOURCE_BYTES,
    MAX_RESOURCES,
    FrontMatter,
    Manifest,
    agent_file_problem,
    check_front_matter,
    eval_file_problem,
    path_problem,
    read_manifest,
    split_front_matter,
)

MAX_DEPTH: Final = 6
MAX_FOLDERS: Final = 20_000
"""Folders looked into below all skill roots: a checkout with a build tree inside would otherwise be walked for ever."""
MAX_FILES: Final = 2_000
"""Files looked at in one skill folder."""

SKIPPED: Final = frozenset(
    {"node_modules", "venv", "env", "__pycache__", "dist", "build", "target", "out", "coverage", "site-packages"}
)
PLAIN_FOLDERS: Final = {
    "references": ("references", "reference"),
    "templates": ("templates", "assets"),
    "examples": ("examples",),
    "evals": ("evals",),
    "scripts": ("scripts",),
    "agents": ("agents",),
}
RESOURCE_FOLDERS: Final = tuple(CATEGORIES)
SCENARIO_SUFFIXES: Final = (".json", ".yaml", ".yml")


class Resource(msgspec.Struct, frozen=True):
    """One declared resource. `data` is None when it could not be read."""

    kind: str
    path: str
    size: int
    exists: bool
    data: bytes | None = None

    def value(self, folder: str) -> dict[str, Any]:
        """The record of spec 11 §1.4."""
        return {
            "type": self.kind,
            "path": self.path,
            "relativePath": self.path,
            "absolutePath": os.path.join(folder, self.path),
            "byteSize": self.size,
            "sizeBytes": self.size,
            "exists": self.exists,
        }


class SkillFolder(msgspec.Struct, frozen=True):
    """One skill as found. `manifest` is None for a package whose manifest cannot be used."""

    skill_id: str
    folder: str
    relative: str
    profile: str
    manifest: Manifest | None
    manifest_errors: tuple[str, ...]
    front_matter: FrontMatter
    instruction: str
    resources: tuple[Resource, ...]
    errors: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with the package (spec 11 §1.4)."""
        return not self.errors

    @property
    def structured(self) -> bool:
        """The structural half of M1: a manifest, or sound front matter in the plain profile."""
        return self.front_matter.valid if self.profile == "plain" else True

    @property
    def description(self) -> str:
        """The front matter's description, or nothing."""
        return self.front_matter.description or ""

    def of_kind(self, kind: str) -> list[Resource]:
        """The readable resources of a category."""
        return [resource for resource in self.resources if resource.kind == kind and resource.data is not None]

    def scenario_files(self) -> list[Resource]:
        """The files that hold scenarios (spec 11 §17.2)."""
        files = self.of_kind("evals")
        return files if self.profile == "package" else [item for item in files if is_scenario_name(item.path)]


def is_scenario_name(path: str) -> bool:
    """Whether a plain skill's eval file holds scenarios: `scenarios.*` or `*.scenarios.*`."""
    name = path.rpartition("/")[2]
    return any(name == f"scenarios{suffix}" or name.endswith(f".scenarios{suffix}") for suffix in SCENARIO_SUFFIXES)


def _root_folders(root: str, pattern: str) -> list[str]:
    """The folders a skill root names; a `*` stands for one segment."""
    found = [""]
    for segment in pattern.split("/"):
        if segment in ("", "."):
            continue
        if "*" not in segment:
            found = [os.path.join(base, segment) for base in found]
            continue
        found = [
            os.path.join(base, entry.name)
            for base in found
            for entry in listing(os.path.join(root, base))
            if entry.is_dir(follow_symlinks=False)
            and not entry.name.startswith(".")
            and fnmatchcase(entry.name, segment)
        ]
    return found


def _walk(root: str, relative: str, depth: int, budget: list[int]) -> Iterator[str]:
    budget[0] -= 1
    if budget[0] < 0:
        return
    entries = listing(os.path.join(root, relative))
    if any(entry.name == ENTRY_NAME and entry.is_file(follow_symlinks=False) for entry in entries):
        yield relative
        return
    if depth == 0:
        return
    for entry in entries:
        skipped = entry.name.startswith(".") or entry.name in SKIPPED
        if not skipped and entry.is_dir(follow_symlinks=False):
            yield from _walk(root, os.path.join(relative, entry.name), depth - 1, budget)


def skill_folders(root: str, patterns: tuple[str, ...]) -> list[str]:
    """The relative paths of all skill folders, each once, in the order of the roots."""
    budget = [MAX_FOLDERS]
    found: dict[str, None] = {}
    for pattern in patterns:
        for folder in _root_folders(root, pattern):
            absolute = os.path.join(root, folder)
            if os.path.islink(absolute) or not os.path.isdir(absolute):
                continue
            # The root itself is a skill when it holds a SKILL.md, and is never searched as a whole.
            depth = 0 if folder == "" else MAX_DEPTH
            found.update(dict.fromkeys(_walk(root, folder, depth, budget)))
    return list(found)


def _files_below(folder: str, relative: str, budget: list[int]) -> Iterator[tuple[str, str]]:
    """(path, problem) of everything below; dot names are skipped, links and special files carry a problem."""
    for entry in listing(os.path.join(folder, relative) if relative else folder):
        budget[0] -= 1
        if budget[0] < 0:
            return
        if entry.name.startswith("."):
            continue
        path = f"{relative}/{entry.name}" if relative else entry.name
        if entry.is_symlink():
            yield path, "links are not allowed"
        elif entry.is_dir(follow_symlinks=False):
            yield from _files_below(folder, path, budget)
        elif entry.is_file(follow_symlinks=False):
            yield path, ""
        else:
            yield path, "special files are not allowed"


def _infer(skill_id: str, files: list[str]) -> tuple[Manifest, list[str]]:
    resources: dict[str, list[str]] = {name: [] for name in CATEGORIES}
    other: list[str] = []
    for path in files:
        top = path.partition("/")[0]
        category = next((name for name, tops in PLAIN_FOLDERS.items() if top in tops and "/" in path), None)
        if category is not None and (category != "evals" or path.endswith(SCENARIO_SUFFIXES)):
            resources[category].append(path)
        elif path != ENTRY_NAME:
            other.append(path)
    return Manifest(skill_id, {name: tuple(paths) for name, paths in resources.items()}, inferred=True), other


class _Loader:
    """Reads one folder; collects errors, findings and resources as it goes."""

    def __init__(self, root: str, relative: str) -> None:
        self.folder = os.path.join(root, relative) if relative else root
        self.relative = relative or "."
        self.name = os.path.basename(os.path.abspath(self.folder))
        self.errors: list[str] = []
        self.findings: list[Finding] = []
        self.total = 0

    def _read(self, kind: str, path: str) -> Resource:
        problem = path_problem(path)
        data: bytes | None = None
        absent = False
        if problem is None:
            try:
                data = read_below(self.folder, path)
            except Unreadable as error:
                problem, absent = str(error), error.absent
        if problem is not None:
            self.errors.append(f"{path}: {problem}")
        elif not data:
            self.errors.append(f"{path}: expected a file that is not empty")
        self.total += len(data or b"")
        return Resource(kind, path, len(data or b""), not absent, data or None)

    def _content(self, resource: Resource, *, plain: bool) -> None:
        problem: str | None = None
        if resource.data is None:
            return
        if resource.kind == "agents" and resource.path.endswith((".yaml", ".yml")):
            problem = agent_file_problem(decoded(resource.data))
        elif resource.kind == "evals" and (not plain or is_scenario_name(resource.path)):
            try:
                problem = eval_file_problem(parse_document(resource.data, resource.path))
            except SourceRefused as error:
                problem = str(error)
        if problem is not None:
            self.errors.append(f"{resource.path}: {problem}")

    def _front_matter(self, text: str, *, plain: bool) -> FrontMatter:
        header, body = split_front_matter(text)
        value: Any = None
        if header is not None:
            try:
                value = read_yaml(header)
            except SourceRefused as error:
                self.findings.append(
                    Finding(ERROR if plain else WARN, "front-matter", self.name, ENTRY_NAME, f"not readable: {error}")
                )
        matter, findings = check_front_matter(value, self.name, body, plain=plain)
        self.findings += findings
        return matter

    def _manifest(self) -> tuple[str, Manifest | None, list[str]]:
        try:
            data = read_below(self.folder, MANIFEST_NAME, MAX_MANIFEST_BYTES)
            manifest, wrong = read_manifest(parse_document(data, MANIFEST_NAME), self.name)
        except Unreadable as error:
            if error.absent:
                return "plain", None, []
            return "package", None, [str(error)]
        except SourceRefused as error:
            return "package", None, [str(error)]
        return "package", manifest, wrong

    def load(self) -> SkillFolder:
        """The skill, with everything wrong with it."""
        profile, manifest, wrong = self._manifest()
        plain = profile == "plain"
        self.errors += [f"{MANIFEST_NAME}: {problem}" for problem in wrong]
        entry = self._read("entry", ENTRY_NAME)
        instruction = decoded(entry.data or b"")
        matter = self._front_matter(instruction, plain=plain)
        found = list(_files_below(self.folder, "", budget := [MAX_FILES]))
        if budget[0] < 0:
            self.errors.append(f"more than {MAX_FILES} files")
        skill_id = (matter.name or self.name) if plain else manifest.skill_id if manifest else self.name
        if plain:
            manifest, other = _infer(skill_id, [path for path, problem in found if not problem])
            if len(manifest.paths()) > MAX_RESOURCES:
                self.errors.append(f"expected at most {MAX_RESOURCES} resources")
            self._check_other(other)
            self.errors += [f"{ENTRY_NAME}: {item.message}" for item in self.findings if item.level == ERROR]
        resources = [entry]
        for kind, path in (manifest.paths() if manifest else [])[1 : MAX_RESOURCES + 1]:
            resource = self._read(kind, path)
            self._content(resource, plain=plain)
            resources.append(resource)
        if self.total > MAX_PACKAGE_BYTES:
            self.errors.append(f"the resources are longer than {MAX_PACKAGE_BYTES} bytes together")
        self._orphans(found, {resource.path for resource in resources}, skill_id, plain=plain)
        return SkillFolder(
            skill_id,
            self.folder,
            self.relative,
            profile,
            manifest,
            tuple(wrong),
            matter,
            instruction,
            tuple(resources),
            tuple(self.errors),
            tuple(self.findings),
        )

    def _check_other(self, paths: list[str]) -> None:
        for path in paths:
            try:
                size = os.lstat(os.path.join(self.folder, path)).st_size
            except OSError:
                continue
            if size > MAX_RESOURCE_BYTES:
                self.errors.append(f"{path}: longer than {MAX_RESOURCE_BYTES} bytes")

    def _orphans(self, found: list[tuple[str, str]], declared: set[str], skill_id: str, *, plain: bool) -> None:
        for path, problem in found:
            inside = path.partition("/")[0] in RESOURCE_FOLDERS
            if problem:
                self.findings.append(Finding(ERROR, "special-file", skill_id, path, problem))
                if plain:
                    self.errors.append(f"{path}: {problem}")
            elif inside and not plain and path not in declared:
                self.findings.append(Finding(ERROR, "orphan-file", skill_id, path, "the manifest does not declare it"))


def load_skill(root: str, relative: str) -> SkillFolder:
    """One skill folder, read and validated."""
    return _Loader(root, relative).load()


def load_skills(root: str, patterns: tuple[str, ...]) -> tuple[list[SkillFolder], list[Finding]]:
    """All skills of a repository and findings about their ids; folders that share an id are left out."""
    folders = [load_skill(root, relative) for relative in skill_folders(root, patterns)]
    by_id: dict[str, list[SkillFolder]] = {}
    for folder in folders:
        by_id.setdefault(folder.skill_id, []).append(folder)
    findings: list[Finding] = []
    for skill_id, members in by_id.items():
        if len(members) > 1:
            places = ", ".join(member.relative for member in members)
            findings.append(Finding(ERROR, "skill-id", skill_id, places, "two folders have one id; both are left out"))
    return [members[0] for members in by_id.values() if len(members) == 1], findings
