"""The base of every record, and what a record may say about itself beyond its fields (spec 02 §1).

A record is immutable: sequences are tuples, caller-keyed maps and JSON values are `FrozenDict` and `FrozenList`.
Attributes are the snake_case of the wire names. A tag (`kind`, `op`, ...) is a class constant, declared between the
fields where its table lists it, so that `wire_names` gives the table's order (spec 02 §1.6).

Class members carry what the field types cannot:

- `PLAIN`: the record stands for a plain union; whatever is wrong inside is reported once, at its own path (§1.5).
- `BRANCH_KEY`: the record is the common part of a tagged union at the root of a document, told apart by this key.
- `structure`: members whose presence or spelling depends on more than their type.
- `refine`: the refinements of §27.1, run when the members that `REFINED` names are structurally sound.
- `CARRIES_BYTES`: a port message with a raw byte buffer among its members (§25.1).
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, ClassVar, dataclass_transform

import msgspec
from msgspec import UNSET

from eval_quality.errors import Problem
from eval_quality.value.frozen import FrozenDict
from eval_quality.value.kind import is_object


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class RecordType(msgspec.StructMeta):
    """The class of record classes. `kw_only` is not inherited by itself, so it is given to each class here."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        config.setdefault("kw_only", True)
        return super().__new__(mcls, name, bases, namespace, **config)


class Record(msgspec.Struct, metaclass=RecordType, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An immutable, strict record. Equal records have equal members; a tag is part of the class."""

    PLAIN: ClassVar[bool] = False
    BRANCH_KEY: ClassVar[str | None] = None
    REFINED: ClassVar[tuple[str, ...]] = ()
    CARRIES_BYTES: ClassVar[bool] = False

    @classmethod
    def branches(cls) -> "Mapping[Any, type[Record]]":
        """The branches of a root union, by the value of `BRANCH_KEY`."""
        return {}

    @classmethod
    def structure(cls, value: Mapping[str, Any]) -> Iterable[Problem]:
        """Problems that depend on more than one field's type, in a plain value that may be wrong in any way."""
        del value
        return ()

    @classmethod
    def refine(cls, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Problems between the members `REFINED` names (wire names) of a plain value; paths start at the value."""
        del value
        return ()


class Choice(Record):
    """A plain union of shapes told apart by their keys, held as one record with UNSET members.

    `FORMS` lists, in the order they are tried, the attribute names of each shape. Exactly one shape is present.
    """

    PLAIN: ClassVar[bool] = True
    FORMS: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def __post_init__(self) -> None:
        if present(self) not in self.FORMS:
            raise ValueError("the members present fit none of the accepted forms")


def present(record: Record) -> tuple[str, ...]:
    """The attribute names that carry a value, in field order."""
    return tuple(name for name in record.__struct_fields__ if getattr(record, name) is not UNSET)


def freeze_maps(record: Record, *names: str) -> None:
    """Replace the caller-keyed maps that decoding left in `names` by immutable ones."""
    for name in names:
        held: Any = getattr(record, name)
        if is_object(held) and not isinstance(held, FrozenDict):
            msgspec.structs.force_setattr(record, name, FrozenDict(held))


@cache
def wire_names(kind: type[Record]) -> tuple[tuple[str, str], ...]:
    """`(attribute, wire name)` of every member of `kind`, the tag included, in the order of its table."""
    encoded = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    config = kind.__struct_config__
    if config.tag_field is not None:
        encoded[_snake(config.tag_field)] = config.tag_field
    # The order of the annotations, read without importing `inspect`.
    annotated = (base.__dict__.get("__annotations__", ()) for base in reversed(kind.__mro__))  # noqa: RUF063
    declared = dict.fromkeys(name for names in annotated for name in names if name in encoded)
    return tuple((name, encoded[name]) for name in declared)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
