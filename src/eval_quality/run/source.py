"""Authored documents: YAML, TOML or JSON text becomes one JSON value that remembers where each member stood.

Spec 16 §8, narrowed to single files (no includes) and to what the experiment folder holds (spec 12 §12.4):

1. Text is UTF-8 without byte order mark or NUL, at most `MAX_SOURCE_BYTES` long.
2. Only `true`, `false`, `null`, `~` and nothing at all are YAML's special words, and only JSON's number grammar makes
   a number, so `no`, `012`, `1:30` and dates stay strings. Keys are strings and unique.
3. Tags, merge keys, several documents and recursive aliases are refused; alias expansion is bounded.
4. TOML dates have no JSON form and are refused. JSON goes through the strict scanner of spec 01 §3.
5. A problem carries file, line and column (both from 1); a member without a position of its own has its nearest
   ancestor's.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from eval_quality.errors import RuntimeFault
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.value.scan import scan

MAX_SOURCE_BYTES: Final = 4 * 1024 * 1024
"""Stops a source that would be read forever."""
MAX_SOURCE_DEPTH: Final = 200
"""Stops nesting made to exhaust the stack."""
MAX_SOURCE_NODES: Final = 200_000
"""Stops aliases that double at every level (spec 16 §8.1)."""
MAX_SAFE_INTEGER: Final = 2**53 - 1

Path = tuple[str | int, ...]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CORE_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_JSON_TOKEN = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^ \t\r\n{}\[\],:"]+)')


class Position(NamedTuple):
    """A place in a source text; both numbers count from 1."""

    line: int
    column: int


class Source(NamedTuple):
    """One authored document: its value, and the position of every member that has one."""

    name: str
    value: Any
    positions: dict[Path, Position]
    text: str = ""

    def position(self, path: Path) -> Position:
        """The position of a member, or of its nearest ancestor that has one."""
        while path not in self.positions and path:
            path = path[:-1]
        return self.positions.get(path, Position(1, 1))

    def problem(self, code: str, artifact_path: str, path: Path, detail: str) -> AuthoringProblem:
        """A located problem of this document."""
        line, column = self.position(path)
        return AuthoringProblem(code, artifact_path, detail, self.name, line, column)


def read_source(name: str, data: bytes) -> Source:
    """Read one authored document; the notation follows the ending of `name`.

    `name` is what problems call the file. Raises `ExperimentFailure` with an `author-*` code (spec 16 §13.1).
    """
    text = _text(name, data)
    if name.endswith((".yaml", ".yml")):
        return _yaml(name, text)
    if name.endswith(".toml"):
        return _toml(name, text)
    return _json(name, text)


def _refused(name: str, code: str, detail: str, line: int = 1, column: int = 1) -> ExperimentFailure:
    return ExperimentFailure([AuthoringProblem(code, f"Source[{name}]", detail, name, line, column)])


def _text(name: str, data: bytes) -> str:
    if len(data) > MAX_SOURCE_BYTES:
        raise _refused(name, "author-limit-exceeded", f"the file is larger than {MAX_SOURCE_BYTES} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not valid UTF-8; save the file as UTF-8"
        raise _refused(name, "author-unreadable-source", detail) from error
    for mark, what in (("\ufeff", "a byte order mark"), ("\0", "a NUL character")):
        at = text.find(mark)
        if at >= 0:
            raise _refused(name, "author-unreadable-source", f"{what} at character {at}; remove it")
    return text


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(name: str, text: str) -> Source:
    try:
        value = scan(text, f"Source[{name}]")
    except RuntimeFault as fault:
        offset = int(fault.detail.rpartition(" at offset ")[2]) if " at offset " in fault.detail else 0
        at = _position_at(text, offset)
        what = fault.detail.rpartition(" at offset ")[0] or fault.detail
        code = {"duplicate": "author-duplicate-key", "nesting": "author-limit-exceeded"}.get(
            what.split(" ")[0],
            "author-syntax" if fault.code == "schema-parse-failure" else "author-number-out-of-domain",
        )
        raise _refused(name, code, what, at.line, at.column) from fault
    return Source(name, value, _json_positions(text), text)


def _position_at(text: str, offset: int) -> Position:
    """Line and column of an offset in UTF-16 code units."""
    index, units = 0, 0
    while index < len(text) and units < offset:
        units += 2 if ord(text[index]) > 0xFFFF else 1
        index += 1
    return Position(text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index))


def _json_positions(text: str) -> dict[Path, Position]:
    """Positions of all members of a text the scanner has accepted."""
    positions: dict[Path, Position] = {}
    path: list[str | int] = []
    objects: list[bool] = []
    line, line_start, key_next = 1, 0, False
    last_end = 0
    for match in _JSON_TOKEN.finditer(text):
        start = match.start(1)
        gap = text.count("\n", last_end, start)
        if gap:
            line += gap
            line_start = text.rfind("\n", 0, start) + 1
        last_end = start
        token = match[1]
        if token in "}]":
            objects.pop()
            if path and len(path) > len(objects):
                path.pop()
            key_next = False
        elif token == ",":
            if objects[-1]:
                key_next = True
            else:
                path[-1] = int(path[-1]) + 1
        elif token == ":":
            key_next = False
        elif key_next and token[0] == '"':
            del path[len(objects) - 1 :]
            path.append(json.loads(token))
            positions[tuple(path)] = Position(line, start - line_start + 1)
        else:
            positions.setdefault(tuple(path), Position(line, start - line_start + 1))
            if token in "{[":
                objects.append(token == "{")
                key_next = token == "{"
                path.append("" if key_next else 0)
    return positions


# --- TOML ---------------------------------------------------------------------------------------------------------

_TOML_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_TOML_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'))*)\s*="""
)
_TOML_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")


def _toml(name: str, text: str) -> Source:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        detail = message[: place.start()] if place else message.removesuffix(" (at end of document)")
        code = "author-duplicate-key" if "overwrite a value" in message or "twice" in message else "author-syntax"
        raise _refused(name, code, detail, line, column) from error
    except RecursionError as error:
        raise _refused(name, "author-limit-exceeded", f"nested deeper than {MAX_SOURCE_DEPTH}") from error
    source = Source(name, value, dict(_toml_positions(text)), text)
    problems = list(_toml_domain(source))
    if problems:
        raise ExperimentFailure(problems)
    return source


def _toml_parts(dotted: str) -> list[str]:
    return [json.loads(p) if p[0] == '"' else p.strip("'") for p in _TOML_PART.findall(dotted)]


def _toml_positions(text: str) -> Iterator[tuple[Path, Position]]:
    """Positions of table headers and of keys that begin a line; what stands inside a value has its key's position."""
    table: Path = ()
    counts: dict[Path, int] = {}
    implied: set[Path] = set()
    open_quote = ""
    for number, line in enumerate(text.split("\n"), 1):
        if open_quote:
            if open_quote in line:
                open_quote = ""
            continue
        for quote in ('"""', "'''"):
            if line.count(quote) % 2:
                open_quote = quote
        header = _TOML_HEADER.match(line)
        if header:
            parts: list[str | int] = []
            for part in _toml_parts(header[2]):
                parts.append(part)
                if tuple(parts) in counts and (len(parts) < len(_toml_parts(header[2])) or header[1] == "["):
                    parts.append(counts[tuple(parts)])
            if header[1] == "[[":
                key = tuple(parts)
                counts[key] = counts.get(key, -1) + 1
                parts.append(counts[key])
            table = tuple(parts)
            place = Position(number, len(line) - len(line.lstrip()) + 1)
            # a table that has no header of its own stands where the first of its members does
            for length in range(1, len(table)):
                if table[:length] not in implied:
                    implied.add(table[:length])
                    yield table[:length], place
            implied.add(table)
            yield table, place
            continue
        member = _TOML_KEY.match(line)
        if member:
            column = len(line) - len(line.lstrip()) + 1
            yield (*table, *_toml_parts(member[1])), Position(number, column)


def _toml_domain(source: Source) -> Iterator[AuthoringProblem]:
    """What TOML can say and JSON cannot."""
    stack: list[tuple[Path, Any]] = [((), source.value)]
    while stack:
        path, value = stack.pop()
        where = f"Source[{source.name}]{pointer(path)}"
        if len(path) > MAX_SOURCE_DEPTH:
            yield source.problem("author-limit-exceeded", where, path, f"nested deeper than {MAX_SOURCE_DEPTH}")
        elif isinstance(value, dict):
            stack.extend(((*path, key), child) for key, child in reversed(value.items()))  # pyright: ignore
        elif isinstance(value, list):
            stack.extend(((*path, i), child) for i, child in reversed(list(enumerate(value))))  # pyright: ignore
        elif isinstance(value, bool | str):
            continue
        elif isinstance(value, int | float):
            if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
                detail = "a number must be finite and, as an integer, at most 2^53-1"
                yield source.problem("author-number-out-of-domain", where, path, detail)
        else:
            detail = "a date or time has no JSON form; write it as a string"
            yield source.problem("author-type-mismatch", where, path, detail)


def pointer(path: Path) -> str:
    """A path as an RFC 6901 pointer, empty for the root."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


# --- YAML ---------------------------------------------------------------------------------------------------------


def _yaml(name: str, text: str) -> Source:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        events = list(YAML(typ="safe", pure=True).parse(text))  # pyright: ignore
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or "the text is not YAML").split())
        if "'@'" in what or "'`'" in what:
            what += "; quote a value that starts with this character"
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _refused(name, "author-syntax", what, line, column) from error
    except RecursionError as error:
        raise _refused(name, "author-limit-exceeded", f"nested deeper than {MAX_SOURCE_DEPTH}") from error
    return _YamlReader(name, text, events).read()


class _YamlReader:
    """Builds one value from parse events, so that no construct is resolved by anybody's defaults."""

    def __init__(self, name: str, text: str, events: list[Any]) -> None:
        self.name = name
        self.text = text
        self.events = iter(events)
        self.positions: dict[Path, Position] = {}
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_anchors: set[str] = set()
        self.nodes = 0

    def read(self) -> Source:
        value: Any = None
        documents = 0
        for event in self.events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise self.refuse(event, "author-yaml-feature-refused", "one document a file; split the file")
                if event.tags or (event.version and tuple(event.version) != (1, 2)):
                    raise self.refuse(event, "author-yaml-feature-refused", "only the directive %YAML 1.2 is read")
            elif kind in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent", "AliasEvent"):
                value = self.node(event, ())
        return Source(self.name, value, self.positions, self.text)

    def refuse(self, event: Any, code: str, detail: str) -> ExperimentFailure:
        return _refused(self.name, code, detail, event.start_mark.line + 1, event.start_mark.column + 1)

    def count(self, event: Any, nodes: int, path: Path) -> None:
        self.nodes += nodes
        if self.nodes > MAX_SOURCE_NODES:
            raise self.refuse(event, "author-limit-exceeded", f"more than {MAX_SOURCE_NODES} values after aliases")
        if len(path) > MAX_SOURCE_DEPTH:
            raise self.refuse(event, "author-limit-exceeded", f"nested deeper than {MAX_SOURCE_DEPTH}")

    def node(self, event: Any, path: Path) -> Any:
        self.positions.setdefault(path, Position(event.start_mark.line + 1, event.start_mark.column + 1))
        kind = type(event).__name__
        if kind == "AliasEvent":
            if event.anchor in self.open_anchors:
                raise self.refuse(event, "author-yaml-feature-refused", "an alias inside its own anchor never ends")
            value, nodes = self.anchors[event.anchor]
            self.count(event, nodes, path)
            return value
        # the parser hands out the explicit tag; a plain `!` or a core tag says nothing new
        if event.tag is not None and str(event.tag) not in _CORE_TAGS:
            raise self.refuse(event, "author-yaml-feature-refused", "tags are not read; write the value itself")
        before = self.nodes
        self.count(event, 1, path)
        if event.anchor:
            self.open_anchors.add(event.anchor)
        if kind == "ScalarEvent":
            value = event.value if event.style or event.tag else self.plain(event)
        elif kind == "SequenceStartEvent":
            value = self.sequence(path)
        else:
            value = self.mapping(path)
        if event.anchor:
            self.open_anchors.discard(event.anchor)
            self.anchors[event.anchor] = (value, self.nodes - before)
        return value

    def plain(self, event: Any) -> Any:
        text: str = event.value
        if text in ("", "~", "null"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if not _NUMBER.fullmatch(text):
            return text
        value = float(text)
        if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            detail = "a number must be finite and, as an integer, at most 2^53-1; quote it to keep it as text"
            raise self.refuse(event, "author-number-out-of-domain", detail)
        return int(text) if re.fullmatch(r"-?[0-9]+", text) else value

    def sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        for event in self.events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            items.append(self.node(event, (*path, len(items))))
        return items

    def mapping(self, path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for event in self.events:
            kind = type(event).__name__
            if kind == "MappingEndEvent":
                break
            if kind != "ScalarEvent" or (not event.style and not isinstance(self.plain(event), str)):
                raise self.refuse(event, "author-yaml-feature-refused", "a key is a string; quote it")
            key: str = event.value
            if key == "<<" and not event.style:
                raise self.refuse(event, "author-yaml-feature-refused", "merge keys are not read; repeat the members")
            if key in members:
                raise self.refuse(
                    event, "author-duplicate-key", f"{json.dumps(key)} stands already in line {lines[key]}"
                )
            lines[key] = event.start_mark.line + 1
            self.positions[(*path, key)] = Position(event.start_mark.line + 1, event.start_mark.column + 1)
            members[key] = self.node(next(self.events), (*path, key))
        return members
