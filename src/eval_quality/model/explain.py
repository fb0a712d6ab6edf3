"""Every structural problem of a value, with its path in wire names (spec 02 §1.5, §1.7).

Loaded only after decoding refused. It reads the same record classes that decoding uses, through `msgspec.inspect`:

- a missing member is `invalid_type` at the member's path; unknown keys are one issue at the object's path;
- a tagged union reports an unknown or missing tag at the tag's path, otherwise its branch's problems;
- a plain union reports once at its own path;
- a map key that breaks the key rule is `invalid_key`, and its value is not looked at;
- a fixed-length array of another length is one issue, and its elements are not looked at;
- a refinement runs only where what it reads is structurally sound.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec.inspect as shape

from eval_quality.errors import Problem
from eval_quality.model.decode import branch_of, record_class
from eval_quality.model.record import Choice, Record
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.text import quoted

Path = tuple[str | int, ...]

UNSOUND: Final = frozenset({"invalid_type", "unrecognized_keys", "invalid_value", "invalid_union", "invalid_key"})
"""Issue kinds that leave a value without its declared shape; a refinement cannot read it then."""


def explain(kind: Any, value: Any) -> tuple[Problem, ...]:
    """The problems of `value` as a document of `kind`, in table order."""
    return tuple(_root(kind, value))


def _root(kind: Any, value: Any) -> list[Problem]:
    record_kind = record_class(kind)
    if record_kind is None:
        return _walk(_described(kind), value, ())
    narrowed = branch_of(record_kind, value)
    if narrowed is None:
        return [Problem((str(record_kind.BRANCH_KEY),), "invalid_union", _one_of(tuple(record_kind.branches())))]
    return _walk(_described(narrowed), value, ())


@cache
def _described(kind: Any) -> shape.Type:
    return shape.type_info(kind)


def _walk(node: shape.Type, value: Any, path: Path) -> list[Problem]:
    extra: Mapping[str, Any] = {}
    if isinstance(node, shape.Metadata):
        extra = node.extra or {}  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        node = node.type
    return _WALKERS[type(node)](node, value, path, extra)  # pyright: ignore[reportUnknownArgumentType]


def _any(node: shape.AnyType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    alternatives = extra.get("any_of")
    if alternatives is None or any(not _walk(_described(kind), value, path) for kind in alternatives):
        return []
    return [Problem(path, "invalid_union", "fits none of the accepted forms")]


def _custom(node: shape.CustomType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    return [] if is_object(value) else [Problem(path, "invalid_type", "must be an object")]


def _none(node: shape.NoneType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    return [] if value is None else [Problem(path, "invalid_type", "must be null")]


def _bool(node: shape.BoolType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    return [] if isinstance(value, bool) else [Problem(path, "invalid_type", "must be true or false")]


def _bytes(node: shape.BytesType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    return [] if isinstance(value, bytes) else [Problem(path, "invalid_type", "must be a byte buffer")]


def _literal(node: shape.LiteralType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    return (
        []
        if value in node.values and isinstance(value, str)
        else [Problem(path, "invalid_value", _one_of(node.values))]
    )


def _string(node: shape.StrType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    if not isinstance(value, str):
        return [Problem(path, "invalid_type", "must be a string")]
    if node.min_length is not None and len(value) < node.min_length:
        return [Problem(path, "too_small", "must not be empty")]
    if node.pattern is not None and _pattern(node.pattern)(value) is None:
        return [Problem(path, extra["kind"], f"must match {extra['ecma']}")]
    return []


@cache
def _pattern(pattern: str) -> Callable[[str], object]:
    import re

    return re.compile(pattern).search


def _integer(node: shape.IntType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return [Problem(path, "invalid_type", "must be an integer")]
    if isinstance(value, float) and not value.is_integer():
        return [Problem(path, "invalid_type", "must be an integer")]
    return _bounds(node, value, path)


def _float(node: shape.FloatType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    return _bounds(node, value, path)


def _bounds(node: shape.IntType | shape.FloatType, value: float, path: Path) -> list[Problem]:
    if node.gt is not None and value <= node.gt:
        return [Problem(path, "too_small", f"must be greater than {node.gt:g}")]
    if node.ge is not None and value < node.ge:
        return [Problem(path, "too_small", f"must be at least {node.ge}")]
    if node.le is not None and value > node.le:
        return [Problem(path, "too_big", f"must be at most {node.le}")]
    return []


def _array(
    node: shape.VarTupleType | shape.ListType, value: Any, path: Path, extra: Mapping[str, Any]
) -> list[Problem]:
    if not is_array(value):
        return [Problem(path, "invalid_type", "must be an array")]
    found = [
        problem for index, element in enumerate(value) for problem in _walk(node.item_type, element, (*path, index))
    ]
    if node.min_length is not None and len(value) < node.min_length:
        found.append(Problem(path, "too_small", f"must have at least {node.min_length} element(s)"))
    if node.max_length is not None and len(value) > node.max_length:
        found.append(Problem(path, "too_big", f"must have at most {node.max_length} element(s)"))
    return found


def _tuple(node: shape.TupleType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    if not is_array(value):
        return [Problem(path, "invalid_type", "must be an array")]
    if len(value) != len(node.item_types):
        kind = "too_small" if len(value) < len(node.item_types) else "too_big"
        return [Problem(path, kind, f"must have exactly {len(node.item_types)} element(s)")]
    pairs = enumerate(zip(node.item_types, value, strict=True))
    return [problem for index, (item, element) in pairs for problem in _walk(item, element, (*path, index))]


def _map(node: shape.DictType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    if not is_object(value):
        return [Problem(path, "invalid_type", "must be an object")]
    found: list[Problem] = []
    for key, member in value.items():
        wrong = _walk(node.key_type, key, (*path, key))
        if wrong:
            found.append(Problem((*path, key), "invalid_key", f"the key {wrong[0].message}"))
        else:
            found += _walk(node.value_type, member, (*path, key))
    if node.min_length is not None and len(value) < node.min_length:
        found.append(Problem(path, "custom", extra["message"]))
    return found


def _union(node: shape.UnionType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    members = [member for member in node.types if not isinstance(member, shape.NoneType)]
    if value is None and len(members) < len(node.types):
        return []
    if len(members) == 1:
        return _walk(members[0], value, path)
    if isinstance(members[0], shape.StructType):
        return _tagged([member for member in members if isinstance(member, shape.StructType)], value, path)
    # The only other union is a number: an integer and a float node with the same bounds.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return [Problem(path, "invalid_type", "must be a number")]
    wanted = shape.IntType if isinstance(value, int) else shape.FloatType
    return [problem for member in members if isinstance(member, wanted) for problem in _walk(member, value, path)]


def _tagged(branches: list[shape.StructType], value: Any, path: Path) -> list[Problem]:
    plain = _kind(branches[0]).PLAIN
    if not is_object(value):
        return [Problem(path, "invalid_union" if plain else "invalid_type", "must be an object")]
    tag_field = str(branches[0].tag_field)
    tag: Any = value.get(tag_field)
    for branch in branches:
        if isinstance(tag, str) and tag == branch.tag:
            return _members(branch, value, path)
    where = path if plain else (*path, tag_field)
    return [Problem(where, "invalid_union", f"{tag_field} {_one_of([branch.tag for branch in branches])}")]


def _struct(node: shape.StructType, value: Any, path: Path, extra: Mapping[str, Any]) -> list[Problem]:
    if node.tag_field is not None:
        return _tagged([node], value, path)
    if not is_object(value):
        return [Problem(path, "invalid_union" if _kind(node).PLAIN else "invalid_type", "must be an object")]
    return _members(node, value, path)


def _kind(node: shape.StructType) -> type[Record]:
    kind: Any = node.cls
    return kind


def _members(node: shape.StructType, value: Mapping[str, Any], path: Path) -> list[Problem]:
    kind = _kind(node)
    found = _fields(node, value, path)
    if issubclass(kind, Choice) and not found:
        found = _forms(node, kind, value, path)
    found += [_under(path, problem) for problem in kind.structure(value)]
    reads = tuple((*path, name) for name in kind.REFINED)
    unsound = any(problem.kind in UNSOUND and problem.path[: len(path) + 1] in reads for problem in found)
    if not unsound:
        found += [_under(path, problem) for problem in kind.refine(value)]
    if found and kind.PLAIN:
        inner = found[0]
        where = "".join(f"/{token}" for token in inner.path[len(path) :])
        return [
            Problem(path, "invalid_union", f"fits none of the accepted forms; {where or 'the keys'} {inner.message}")
        ]
    return found


def _fields(node: shape.StructType, value: Mapping[str, Any], path: Path) -> list[Problem]:
    found: list[Problem] = []
    for field in node.fields:
        if field.encode_name in value:
            found += _walk(field.type, value[field.encode_name], (*path, field.encode_name))
        elif field.required:
            found.append(Problem((*path, field.encode_name), "invalid_type", "is required"))
    known = {field.encode_name for field in node.fields} | {node.tag_field}
    unknown = [key for key in value if key not in known]
    if unknown:
        names = ", ".join(quoted(key) for key in unknown)
        found.append(Problem(path, "unrecognized_keys", f"Unrecognized key{'s' if len(unknown) > 1 else ''}: {names}"))
    return found


def _forms(node: shape.StructType, kind: type[Choice], value: Mapping[str, Any], path: Path) -> list[Problem]:
    wire = {field.name: field.encode_name for field in node.fields}
    if any({wire[name] for name in form} == set(value) for form in kind.FORMS):
        return []
    listed = " or ".join("{" + ", ".join(wire[name] for name in form) + "}" for form in kind.FORMS)
    return [Problem(path, "invalid_union", f"must be {listed}")]


def _under(path: Path, problem: Problem) -> Problem:
    return Problem((*path, *problem.path), problem.kind, problem.message)


def _one_of(values: Sequence[object]) -> str:
    shown = ["true" if value is True else "false" if value is False else f'"{value}"' for value in values]
    return f"must be {shown[0]}" if len(shown) == 1 else f"must be one of {', '.join(shown)}"


_WALKERS: Final[dict[type, Callable[[Any, Any, Path, Mapping[str, Any]], list[Problem]]]] = {
    shape.AnyType: _any,
    shape.CustomType: _custom,
    shape.NoneType: _none,
    shape.BoolType: _bool,
    shape.BytesType: _bytes,
    shape.LiteralType: _literal,
    shape.StrType: _string,
    shape.IntType: _integer,
    shape.FloatType: _float,
    shape.VarTupleType: _array,
    shape.ListType: _array,
    shape.TupleType: _tuple,
    shape.DictType: _map,
    shape.UnionType: _union,
    shape.StructType: _struct,
}
