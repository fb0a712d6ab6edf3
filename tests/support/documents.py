"""Valid documents of every kind, generated: `minimal(kind)`, `sample(kind, seed)`, `documents(kind)` for hypothesis.

`kind` is a registry key of spec 02 §4.1, or one of the input kinds in `OTHER_KINDS`. A document is valid for the
*schema*; it need not compile, and its identifiers need not name each other. Every call gives a fresh plain value.
"""

import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec.inspect as shape
from hypothesis import strategies as st

from eval_quality.model import (
    aggregate,
    evidence,
    expression,
    ports,
    registry,
    run_record,
    stamp,
    target,
)
from eval_quality.model.record import Choice, Record

DIGEST = "sha256:" + "0123456789abcdef" * 4

OTHER_KINDS: dict[str, Any] = {
    "strength-floors": aggregate.StrengthFloors,
    "probe-request": ports.ProbeRequest,
    "probe-observation": ports.ProbeObservation,
    "probe-target-policy": target.ProbeTargetPolicy,
    "command-target-policy": target.CommandTargetPolicy,
    "mcp-target-policy": target.McpTargetPolicy,
    "expression": expression.Expression,
}
ARTIFACT_KINDS: tuple[str, ...] = registry.INTERCHANGE_ARTIFACT_KEYS
ALL_KINDS: tuple[str, ...] = (*ARTIFACT_KINDS, *OTHER_KINDS)


def record_kind(kind: str) -> Any:
    """The record class (or union) of a kind's name."""
    return OTHER_KINDS[kind] if kind in OTHER_KINDS else registry.kind_of(kind)


def minimal(kind: str) -> Any:
    """The smallest document of a kind: null where null is allowed, arrays as short as they may be."""
    return _stamped(kind, _Builder(None).root(record_kind(kind)))


def sample(kind: str, seed: int) -> Any:
    """A varied document of a kind; the same seed gives the same document."""
    return _stamped(kind, _Builder(random.Random(f"{kind}/{seed}")).root(record_kind(kind)))


def documents(kind: str) -> st.SearchStrategy[Any]:
    """Valid documents of a kind, for hypothesis."""
    return st.randoms(use_true_random=False).map(
        lambda chance: _stamped(kind, _Builder(chance).root(record_kind(kind)))
    )


def _stamped(kind: str, document: Any) -> Any:
    native = stamp.NATIVE_SCHEMA_VERSIONS.get(kind)
    if native is not None and document["schemaVersion"] not in native:
        document["schemaVersion"] = native[-1]
    return document


STRINGS = (
    *("a", "notes", "read-back", "x1-2", "observed", "1"),
    *(
        "B-001",
        "B-0042",
        "O-001",
        "O-917",
        "P-001",
        "P-002",
        "W-001",
        "D-001",
        "F-001",
        "F-002",
        "R-001",
        "RC-001",
        "RC-02",
    ),
    *(DIGEST, "sha256:" + "f" * 64),
    *("0", "0.50", "12", "3.25", "-1.5"),
    *("2026-01-01T00:00:00Z", "2024-02-29T23:59:59.25Z", "2030-12-31T00:00Z"),
    *("", "/", "/a", "/items/0/id", "/items/*/id", "/~1b/~0"),
    *("/notes", "/notes/{id}", "/notes/{noteId}.json"),
    *("/interactions/read/response-body/title", "/interactions/read/response-status", "/interactions/a/stdout"),
    *(
        "/interactions/observed/call-inputs/body/id",
        "/interactions/a/artifact/report/items/0",
        "/interactions/b/exit-code",
    ),
    *("@/", "@/id", "@/a/~1b"),
    *("^$", "^a|b$", "^[a-z]+$"),
    *("Zg==", "eyI=", "AAAA"),
    *("application/json", "text/plain; charset=utf-8"),
    *("read_file", "search", "TOKEN", "LANG", "127.0.0.1", "::1"),
    *("Some text.", "caf\u00e9 \U0001f600", "line one\nline two"),
)
ADDRESSES = ("127.0.0.1", "::1", "10.0.0.7", "fe80::1%eth0", "[2001:db8::1]")


@cache
def _matching(pattern: str) -> tuple[str, ...]:
    found = tuple(text for text in STRINGS if re.search(pattern, text))
    assert found, f"no sample string matches {pattern}"
    return found


class _Builder:
    """Walks the types of a record; without a source of chance every choice is the smallest."""

    def __init__(self, chance: random.Random | None) -> None:
        self.chance = chance
        self.depth = 0

    def pick(self, options: Any) -> Any:
        options = tuple(options)
        return options[0] if self.chance is None else self.chance.choice(options)

    def up_to(self, least: int, most: int) -> int:
        return least if self.chance is None else self.chance.randint(least, max(least, most))

    def root(self, kind: Any) -> Any:
        if isinstance(kind, type) and issubclass(kind, Record) and kind.BRANCH_KEY is not None:
            key = kind.BRANCH_KEY
            literal, branch = self.pick(kind.branches().items())
            return {**self.value(shape.type_info(branch)), key: literal}
        return self.value(shape.type_info(kind))

    def value(self, node: Any, extra: Any = None) -> Any:
        if isinstance(node, shape.Metadata):
            return self.value(node.type, node.extra)
        self.depth += 1
        try:
            return getattr(self, type(node).__name__)(node, extra or {})
        finally:
            self.depth -= 1

    # --- one method a node type, named as the node type is ----------------------------------------------------------

    def AnyType(self, node: Any, extra: Any) -> Any:
        if "any_of" in extra:
            return self.value(shape.type_info(self.pick(extra["any_of"])))
        return self.json()

    def CustomType(self, node: Any, extra: Any) -> Any:
        return {key: self.json() for key in self.keys(0, 2)}

    def NoneType(self, node: Any, extra: Any) -> Any:
        return None

    def BoolType(self, node: Any, extra: Any) -> Any:
        return self.pick((False, True))

    def LiteralType(self, node: Any, extra: Any) -> Any:
        return self.pick(node.values)

    def StrType(self, node: Any, extra: Any) -> Any:
        if node.pattern is not None:
            return self.pick(_matching(node.pattern))
        return self.pick(text for text in STRINGS if len(text) >= (node.min_length or 0))

    def IntType(self, node: Any, extra: Any) -> Any:
        least = node.gt + 1 if node.gt is not None else node.ge
        most = min(node.le if node.le is not None else 9, least + 9)
        return 0 if least < 0 and self.chance is None else self.up_to(max(least, -9), max(most, 0))

    def FloatType(self, node: Any, extra: Any) -> Any:
        return 0.5

    def VarTupleType(self, node: Any, extra: Any) -> Any:
        least, most = node.min_length or 0, 2 if node.max_length is None else node.max_length
        return [self.value(node.item_type) for _ in range(self.up_to(least, most if self.depth < 14 else least))]

    ListType = VarTupleType

    def TupleType(self, node: Any, extra: Any) -> Any:
        return [self.value(item) for item in node.item_types]

    def DictType(self, node: Any, extra: Any) -> Any:
        wanted = self.up_to(node.min_length or 0, 2)
        keys = dict.fromkeys(self.value(node.key_type) for _ in range(wanted))
        return {key: self.value(node.value_type) for key in keys}

    def UnionType(self, node: Any, extra: Any) -> Any:
        nullable = any(isinstance(member, shape.NoneType) for member in node.types)
        members = [member for member in node.types if not isinstance(member, shape.NoneType)]
        if nullable and (self.chance is None or self.depth > 12 or self.chance.random() < 0.25):
            return None
        if self.depth > 8:
            members = [member for member in members if not _recursive(member)]
        return self.value(self.pick(members))

    def StructType(self, node: Any, extra: Any) -> Any:
        kind = node.cls
        names = {field.name for field in node.fields if field.required}
        optional = {field.name for field in node.fields if not field.required}
        if issubclass(kind, Choice):
            names = set(self.pick(kind.FORMS))
        elif self.chance is not None:
            names |= {name for name in sorted(optional) if self.chance.random() < 0.5}
        built = {field.encode_name: self.value(field.type) for field in node.fields if field.name in names}
        if node.tag_field is not None:
            built[node.tag_field] = node.tag
        repair = _REPAIRS.get(kind)
        if repair is not None:
            repair(built, self)
        return built

    # --- JSON -------------------------------------------------------------------------------------------------------

    def keys(self, least: int, most: int) -> list[str]:
        texts = ("id", "title", "", "a/b", "caf\u00e9", "\U0001f600")
        return list(dict.fromkeys(self.pick(texts) for _ in range(self.up_to(least, most))))

    def json(self, room: int = 3) -> Any:
        if self.chance is None:
            return None
        form = self.chance.randint(0, 7 if room else 5)
        if form == 6:
            return [self.json(room - 1) for _ in range(self.up_to(0, 3))]
        if form == 7:
            return {key: self.json(room - 1) for key in self.keys(0, 3)}
        return self.pick((None, True, False, 0, -7, 2.5, 1e-7, 9007199254740991, "", "text", "caf\u00e9"))


def _recursive(node: Any) -> bool:
    cls = getattr(node, "cls", None)
    return cls in (expression.Not, expression.All, expression.Any_, expression.ForAll, expression.ForAny)


def _renumber(built: dict[str, Any], builder: _Builder) -> None:
    """Distinct sequence numbers, and `bodyEncoding` exactly where the stamp has it (spec 02 §16.5)."""
    built["schemaVersion"] = builder.pick((8, 7))
    for index, observation in enumerate(built["observations"]):
        observation["sequence"] = 7 * index + 3
        observation["callInputs"].pop("bodyEncoding", None)
        if built["schemaVersion"] == 8:
            observation["callInputs"]["bodyEncoding"] = None


def _name_the_file(built: dict[str, Any], builder: _Builder) -> None:
    built["artifactId"] = "report" if built["channel"] == "artifact" else None


def _place_exit_code(built: dict[str, Any], builder: _Builder) -> None:
    if "exitCode" in built:
        built.update(isError=True, result={"kind": "absent"})


def _number_interfaces(built: dict[str, Any], builder: _Builder) -> None:
    for index, authorization in enumerate(built["authorizations"]):
        authorization["interfaceId"] = f"server-{index}"


def _readable_addresses(built: dict[str, Any], builder: _Builder) -> None:
    built["addresses"] = [builder.pick(ADDRESSES) for _ in built["addresses"]]


_REPAIRS: dict[Any, Callable[[dict[str, Any], _Builder], None]] = {
    run_record.SealedRunRecord: _renumber,
    run_record.ObservedCallInputs: lambda built, builder: built.setdefault("bodyEncoding", None),
    evidence.QuotedEvidence: _name_the_file,
    ports.ToolObservation: _place_exit_code,
    target.McpTargetPolicy: _number_interfaces,
    target.ProbeTargetAuthorization: _readable_addresses,
}
