"""Operands, expressions and the recorded result of a check (spec 02 §5.1, §5.2, §8).

`Expression` is a tagged union on `op`: eleven operators, three connectives, two quantifiers. Which operand form is
legal in which position is the compiler's business (§27.2).
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from eval_quality.model.primitives import (
    Count,
    EvidencePointer,
    Identifier,
    JsonTypeName,
    JsonValue,
    KeyName,
    RegexPattern,
)
from eval_quality.model.record import Choice, Record, freeze_maps, present
from eval_quality.value.frozen import FrozenList

KeyTypeMap: TypeAlias = Mapping[KeyName, JsonTypeName | None]
"""Declared JSON types by key: a missing key is undeclared, `None` is "declared, type not stated" (§5.1)."""


class KeyedShapeDescriptor(Record):
    """Which keys an object must and may have, and their types (§5.2)."""

    required_keys: tuple[KeyName, ...]
    permitted_keys: tuple[KeyName, ...]
    types: KeyTypeMap

    def __post_init__(self) -> None:
        freeze_maps(self, "types")


class Operand(Choice):
    """One operand: exactly one of a pointer, a literal and a reference set (§8.1)."""

    FORMS: ClassVar[tuple[tuple[str, ...], ...]] = (("pointer",), ("literal",), ("reference_set",))

    pointer: EvidencePointer | UnsetType = UNSET
    literal: JsonValue | UnsetType = UNSET
    reference_set: Identifier | UnsetType = UNSET

    @property
    def form(self) -> Literal["pointer", "literal", "reference-set"]:
        """Which of the three forms this operand has."""
        if self.pointer is not UNSET:
            return "pointer"
        return "literal" if self.literal is not UNSET else "reference-set"


class SetOperand(Choice):
    """The set of `set-membership`: a reference set, or a literal array with at least one element (§8.1)."""

    FORMS: ClassVar[tuple[tuple[str, ...], ...]] = (("reference_set",), ("literal",))

    reference_set: Identifier | UnsetType = UNSET
    literal: Annotated[list[Any], Meta(min_length=1)] | UnsetType = UNSET
    pointer: ClassVar[UnsetType] = UNSET

    def __post_init__(self) -> None:
        if present(self) not in self.FORMS:
            raise ValueError("a set is a reference set or a literal array")
        if self.literal is not UNSET:
            force_setattr(self, "literal", FrozenList(self.literal))

    @property
    def form(self) -> Literal["literal", "reference-set"]:
        """Which of the two forms this operand has."""
        return "literal" if self.literal is not UNSET else "reference-set"


class Equality(Record, tag_field="op", tag="equality"):
    """Both operands are the same scalar."""

    op: ClassVar[Literal["equality"]] = "equality"
    operands: tuple[Operand, Operand]


class DeepEquality(Record, tag_field="op", tag="deep-equality"):
    """Both operands are the same JSON value."""

    op: ClassVar[Literal["deep-equality"]] = "deep-equality"
    operands: tuple[Operand, Operand]


class Containment(Record, tag_field="op", tag="containment"):
    """The first operand holds every member of the second."""

    op: ClassVar[Literal["containment"]] = "containment"
    operands: tuple[Operand, Operand]


class Existence(Record, tag_field="op", tag="existence"):
    """The operand resolves to something."""

    op: ClassVar[Literal["existence"]] = "existence"
    operands: tuple[Operand]


class Absence(Record, tag_field="op", tag="absence"):
    """The operand resolves to nothing."""

    op: ClassVar[Literal["absence"]] = "absence"
    operands: tuple[Operand]


class Regex(Record, tag_field="op", tag="regex"):
    """The operand matches an anchored ECMAScript pattern."""

    op: ClassVar[Literal["regex"]] = "regex"
    operands: tuple[Operand]
    pattern: RegexPattern


class SetMembership(Record, tag_field="op", tag="set-membership"):
    """The first operand is a member of the second."""

    op: ClassVar[Literal["set-membership"]] = "set-membership"
    operands: tuple[Operand, SetOperand]


class Ordering(Record, tag_field="op", tag="ordering"):
    """A collection is sorted by a key."""

    op: ClassVar[Literal["ordering"]] = "ordering"
    operands: tuple[Operand]
    key: KeyName
    order: Literal["ascending", "descending"]


class CountTolerance(Record, tag_field="op", tag="count-tolerance"):
    """A collection's size is within `tolerance` of `expected`: elements, or percentage points when `relative`."""

    op: ClassVar[Literal["count-tolerance"]] = "count-tolerance"
    operands: tuple[Operand]
    expected: Count
    tolerance: Count
    relative: bool


class Shape(Record, tag_field="op", tag="shape"):
    """The operand is an object of the described shape."""

    op: ClassVar[Literal["shape"]] = "shape"
    operands: tuple[Operand]
    descriptor: KeyedShapeDescriptor


class CoversByKey(Record, tag_field="op", tag="covers-by-key"):
    """Every expected member has an actual one with the same key value."""

    op: ClassVar[Literal["covers-by-key"]] = "covers-by-key"
    operands: tuple[Operand, Operand]
    expected_key: KeyName
    actual_key: KeyName


class Not(Record, tag_field="op", tag="not"):
    """Negation."""

    op: ClassVar[Literal["not"]] = "not"
    operands: tuple["Expression"]


class All(Record, tag_field="op", tag="all"):
    """Conjunction of at least two."""

    op: ClassVar[Literal["all"]] = "all"
    operands: Annotated[tuple["Expression", ...], Meta(min_length=2)]


class Any_(Record, tag_field="op", tag="any"):
    """Disjunction of at least two."""

    op: ClassVar[Literal["any"]] = "any"
    operands: Annotated[tuple["Expression", ...], Meta(min_length=2)]


class ForAll(Record, tag_field="op", tag="for-all"):
    """The predicate holds for every element of the collection."""

    op: ClassVar[Literal["for-all"]] = "for-all"
    collection: Operand
    predicate: "Expression"


class ForAny(Record, tag_field="op", tag="for-any"):
    """The predicate holds for some element of the collection."""

    op: ClassVar[Literal["for-any"]] = "for-any"
    collection: Operand
    predicate: "Expression"


Operator: TypeAlias = (
    Equality
    | DeepEquality
    | Containment
    | Existence
    | Absence
    | Regex
    | SetMembership
    | Ordering
    | CountTolerance
    | Shape
    | CoversByKey
)
Connective: TypeAlias = All | Any_ | Not
Quantifier: TypeAlias = ForAll | ForAny
Expression: TypeAlias = Operator | Connective | Quantifier


class CheckResolution(Record):
    """What a check resolved to, node by node; `children` mirrors the check tree (§8.4)."""

    resolution: Literal["true", "false", "insufficient-evidence"]
    introduction_condition: Literal["empty-collection"] | None
    children: tuple["CheckResolution", ...]
