"""YAML to JSON values, for scenario files and front matter (spec 11 §1.1, §17.1).

1. YAML 1.2 core types only: `no` is a string, and so is a date.
2. No anchors, aliases, merge keys, tags or second documents: an alias is how a few bytes become gigabytes.
3. Keys are strings, and a repeated key is refused, with its line.
4. Depth and node count are capped, and only `SourceRefused` leaves.
"""

import math
import re
from typing import Any, Final

from eval_quality.errors import EvalQualityError

MAX_BYTES: Final = 1_048_576
MAX_DEPTH: Final = 64
MAX_NODES: Final = 200_000
MAX_SAFE: Final = 2**53 - 1

_TAGS: Final = "tag:yaml.org,2002:"


class SourceRefused(EvalQualityError):
    """A text that is no usable document; the message has the line."""


def _refuse(node: Any, message: str) -> SourceRefused:
    mark = getattr(node, "start_mark", None)
    place = f"line {mark.line + 1}: " if mark is not None else ""
    return SourceRefused(f"{place}{message}")


def _number(node: Any, tag: str) -> int | float:
    text = node.value.replace("_", "")
    try:
        if tag == "int":
            sign = -1 if text.startswith("-") else 1
            body = text.lstrip("+-").lower()
            base = {"0x": 16, "0o": 8, "0b": 2}.get(body[:2], 10)
            number: int | float = sign * int(body if base == 10 else body[2:], base)
        else:
            number = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError as error:
        raise _refuse(node, "expected a plain number") from error
    if not math.isfinite(number) or (float(number).is_integer() and abs(number) > MAX_SAFE):
        raise _refuse(node, "the number is outside the range JSON can carry exactly")
    return number


class _Reader:
    def __init__(self) -> None:
        self.nodes = 0

    def value(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH:
            raise _refuse(node, f"nested deeper than {MAX_DEPTH}")
        if self.nodes > MAX_NODES:
            raise _refuse(node, f"more than {MAX_NODES} nodes")
        if node.anchor is not None:
            raise _refuse(node, "anchors are not allowed")
        kind = node.id
        if kind == "mapping":
            return self._mapping(node, depth)
        if kind == "sequence":
            return [self.value(child, depth + 1) for child in node.value]
        return self._scalar(node)

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, child in node.value:
            if key_node.id != "scalar" or str(key_node.tag) != _TAGS + "str":
                raise _refuse(key_node, "expected a key that is a string; quote it")
            key = key_node.value
            if key in result:
                raise _refuse(key_node, f"the key {key!r} is repeated")
            result[key] = self.value(child, depth + 1)
        return result

    def _scalar(self, node: Any) -> Any:
        tag = str(node.tag)
        if not tag.startswith(_TAGS):
            raise _refuse(node, "tags are not allowed")
        short = tag.removeprefix(_TAGS)
        if short in ("int", "float"):
            return _number(node, short)
        if short == "bool":
            return node.value.lower() == "true"
        if short == "null":
            return None
        if short in ("str", "timestamp"):
            return node.value
        raise _refuse(node, f"values of type {short} are not allowed")


_PLAIN: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]*): ([A-Za-z][A-Za-z0-9 .,;()/_'-]*[A-Za-z0-9.,;()/_'-])")
_WORDS_WITH_MEANING: Final = frozenset({"true", "false", "null"})


def plain_mapping(text: str) -> dict[str, Any] | None:
    """The value of the simplest of documents, `key: plain text` on every line; None for any other.

    Front matter is nearly always that simple, and the full parser takes a millisecond for each.
    """
    result: dict[str, Any] = {}
    for line in text.splitlines():
        found = _PLAIN.fullmatch(line)
        if found is None or found[1] in result or {found[1].lower(), found[2].lower()} & _WORDS_WITH_MEANING:
            return None
        result[found[1]] = found[2]
    return result or None


def read_yaml(text: str) -> Any:
    """The JSON value of a YAML document; None for an empty one. Raises `SourceRefused`."""
    return plain_mapping(text) or parsed(text)


def parsed(text: str) -> Any:
    """The same through the full parser."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import AliasEvent

    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise SourceRefused(f"longer than {MAX_BYTES} bytes")
    try:
        depth = 0
        parser: Any = YAML(typ="safe", pure=True)
        for nodes, event in enumerate(parser.parse(text)):
            # Events come without building anything, so a bomb is refused before it has a value.
            name = type(event).__name__
            depth += name in ("MappingStartEvent", "SequenceStartEvent")
            depth -= name in ("MappingEndEvent", "SequenceEndEvent")
            if isinstance(event, AliasEvent):
                raise _refuse(event, "aliases are not allowed")
            if depth > MAX_DEPTH:
                raise _refuse(event, f"nested deeper than {MAX_DEPTH}")
            if nodes > 2 * MAX_NODES:
                raise _refuse(event, f"more than {MAX_NODES} nodes")
        composer: Any = YAML(typ="safe", pure=True)
        node = composer.compose(text)
        return None if node is None else _Reader().value(node, 1)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        raise SourceRefused(f"{place}{getattr(error, 'problem', None) or 'not YAML'}") from error
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        # The parser's own ways of giving up on text that is not YAML.
        raise SourceRefused("not YAML") from error
