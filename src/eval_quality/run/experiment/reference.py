"""The fields of an experiment folder as a Markdown page, made from the documents themselves.

`python -m eval_quality.run.experiment.reference` prints it; the committed page is compared with it byte for byte.
"""

import re
import sys
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import msgspec.inspect as shape

from eval_quality.run.experiment.document import Experiment, Mutation, ProbeDraft, Reply, Table

INTRODUCTION: Final = """\
# Experiment documents

This page is generated from the records that read the documents (`make generate`); a test compares it with a fresh copy.
Every document may be YAML, TOML or JSON. An unknown key is refused, and a YAML `null` is the same as absence. Times say
their unit, and a size is a number of bytes or a text such as `8MiB`. `eval-quality schema run/experiment` prints the
JSON Schema for editors.
"""

TITLES: Final = (
    (Experiment, "The experiment file"),
    (ProbeDraft, "A probe draft"),
    (Mutation, "A mutation"),
    (Reply, "A reply"),
)


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "\n" + "\n".join(_sections())


def _sections() -> Iterator[str]:
    seen: set[type[Table]] = set()
    for kind, title in TITLES:
        yield f"## {title}\n"
        pending: list[tuple[type[Table], str]] = [(kind, "")]
        while pending:
            table, name = pending.pop(0)
            if table in seen:
                continue
            seen.add(table)
            if name:
                yield f"### `{name}`\n"
            yield _sentence(table)
            yield _table(table)
            pending += [(inner, field) for field, inner in _inner(table)]


def _sentence(table: type[Table]) -> str:
    return re.sub(r" \(12[^)]*\)", "", " ".join((table.__doc__ or "").split())) + "\n"


def _fields(table: type[Table]) -> Any:
    node: Any = shape.type_info(table)
    return node.fields


def _table(table: type[Table]) -> str:
    rows = ["| Field | Value | Default |", "|---|---|---|"]
    for field in _fields(table):
        default = "required" if field.required else _default(field)
        rows.append(f"| `{field.encode_name}` | {_type(field.type)} | {default} |")
    return "\n".join(rows) + "\n"


def _default(field: Any) -> str:
    value: Any = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if isinstance(value, Table):
        return "its own defaults"
    if value is None:
        return "none"
    return f"`{msgspec.json.encode(value).decode()}`"


def _inner(table: type[Table]) -> Iterator[tuple[str, type[Table]]]:
    for field in _fields(table):
        for node in _nodes(field.type):
            if isinstance(node, shape.StructType) and issubclass(node.cls, Table):
                yield field.encode_name, node.cls


def _nodes(node: Any) -> Iterator[Any]:
    if isinstance(node, shape.Metadata):
        yield from _nodes(node.type)
    elif isinstance(node, shape.UnionType):
        for member in node.types:
            yield from _nodes(member)
    elif isinstance(node, shape.VarTupleType):
        yield from _nodes(node.item_type)
    elif isinstance(node, shape.DictType):
        yield from _nodes(node.value_type)
    else:
        yield node


def _type(node: Any) -> str:
    match node:
        case shape.Metadata():
            return _type(node.type)
        case shape.UnionType():
            return " or ".join(_type(member) for member in node.types if not isinstance(member, shape.NoneType))
        case shape.LiteralType():
            return ", ".join(f"`{str(value).lower() if value is True else value}`" for value in node.values)
        case shape.VarTupleType():
            return f"list of {_type(node.item_type)}"
        case shape.DictType():
            return f"map to {_type(node.value_type)}"
        case shape.StructType():
            return f"`{node.cls.__name__}`" if not issubclass(node.cls, Table) else "table"
        case shape.IntType() | shape.FloatType():
            return "whole number" + _range(node) if isinstance(node, shape.IntType) else "number" + _range(node)
        case shape.BoolType():
            return "true or false"
        case shape.StrType():
            return "text"
        case _:
            return "any value"


def _range(node: Any) -> str:
    low = "" if node.ge is None else f" from {node.ge:g}" if node.ge < 10**6 else f" from {node.ge}"
    high = "" if node.le is None else f" to {node.le}"
    return low + high


if __name__ == "__main__":
    sys.stdout.write(page())
