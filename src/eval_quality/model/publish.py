"""The JSON Schema document of each published artifact, draft 2020-12, made from the records (spec 02 §28).

Every record and named union is a definition of its own; the document is self-contained. What a schema cannot say and
decoding does: `__proto__` keys are dropped rather than refused, and observation sequences are unique. What neither
says: the lineage biconditional, operand legality, the presence of a defect signature (§27.2).

`python -m eval_quality.schemas` writes the documents under `schemas/`; a test compares them byte for byte.
"""

import inspect
import json
import re
import typing
from typing import Any, Final

import msgspec.inspect as shape

from eval_quality.model import aggregate, binding, evidence, expression, interface, primitives, probe, registry
from eval_quality.model.record import Choice, Record, wire_names
from eval_quality.model.run_record import STAMP_WITHOUT_BODY_ENCODING, Finding, SealedRunRecord

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_NAMED_UNIONS: Final[dict[frozenset[Any], str]] = {
    frozenset(typing.get_args(union)): name
    for name, union in {
        "Expression": expression.Expression,
        "PermittedInterface": interface.PermittedInterface,
        "ExpectedCardinality": interface.ExpectedCardinality,
        "CommandDescriptorChannel": interface.CommandDescriptorChannel,
        "ProbeRequestBody": binding.ProbeRequestBody,
        "ProbeObservedBody": binding.ProbeObservedBody,
        "ArtifactReference": evidence.ArtifactReference,
        "ProbeQualification": probe.ProbeQualification,
        "DefectSignature": probe.DefectSignature,
        "Finding": Finding,
        "FloorDecision": aggregate.FloorDecision,
    }.items()
}
_NAMED_STRINGS: Final = ("EvidenceChannel", "Verdict", "EvaluatorRecommendation")
_NAMED_CHANNELS: Final[dict[Any, str]] = {
    binding.BindingValue: "InputBindingChannel",
    binding.ProbeBindingValue: "ProbeInputBindingChannel",
}
_VOCABULARIES: Final[dict[frozenset[str], tuple[str, tuple[str, ...]]]] = {
    frozenset(typing.get_args(vocabulary)): (name, typing.get_args(vocabulary))
    for name, vocabulary in vars(primitives).items()
    if typing.get_origin(vocabulary) is typing.Literal
}


def document(registry_key: str) -> str:
    """The text of one schema document: two-space indent, ASCII only, one trailing newline."""
    return json.dumps(schema(registry_key), indent=2, ensure_ascii=True) + "\n"


def schema(registry_key: str) -> Schema:
    """One schema document as a value."""
    kind = registry.kind_of(registry_key)
    publisher = Publisher()
    if isinstance(kind, type) and issubclass(kind, Record):
        branches = [publisher.branch(branch, kind.BRANCH_KEY, literal) for literal, branch in kind.branches().items()]
        body = {"oneOf": branches} if branches else publisher.record(kind)
    else:
        body = publisher.of(shape.type_info(kind))
    if kind is SealedRunRecord:
        body |= _BODY_ENCODING_BY_STAMP
    head = {
        "$schema": DIALECT,
        "$id": f"urn:eval-quality:schema:{registry_key}",
        "title": registry.schema_name(registry_key),
    }
    defs = {"$defs": dict(sorted(publisher.definitions.items()))} if publisher.definitions else {}
    return head | body | defs


def _in_call_inputs(rule: Schema) -> Schema:
    return {"properties": {"observations": {"items": {"properties": {"callInputs": rule}}}}}


_BODY_ENCODING_BY_STAMP: Final[Schema] = {
    "if": {"required": ["schemaVersion"], "properties": {"schemaVersion": {"const": STAMP_WITHOUT_BODY_ENCODING}}},
    "then": _in_call_inputs({"properties": {"bodyEncoding": False}}),
    "else": _in_call_inputs({"required": ["bodyEncoding"]}),
}


class Publisher:
    """Turns record types into schemas, collecting the definitions they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, node: Any) -> Schema:
        """The schema of one type; a named one becomes a reference."""
        extra: Schema = {}
        if isinstance(node, shape.Metadata):
            extra = node.extra or {}  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            node = node.type
        match node:
            case shape.AnyType():
                if "any_of" in extra:
                    return {"anyOf": [self.of(shape.type_info(kind)) for kind in extra["any_of"]]}
                return self._named("JsonValue", self._json_value)
            case shape.CustomType():
                return {"type": "object", "additionalProperties": self.of(shape.AnyType())}
            case shape.NoneType():
                return {"type": "null"}
            case shape.BoolType():
                return {"type": "boolean"}
            case shape.StrType():
                return _string(node, extra)
            case shape.IntType() | shape.FloatType():
                return _number(node)
            case shape.LiteralType():
                return self._literal(node)
            case shape.VarTupleType() | shape.ListType():
                return {"type": "array", "items": self.of(node.item_type)} | _bounds(node, "Items")
            case shape.TupleType():
                length = len(node.item_types)
                items = [self.of(item) for item in node.item_types]
                return {"type": "array", "prefixItems": items, "minItems": length, "items": False}
            case shape.DictType():
                name = _NAMED_CHANNELS.get(getattr(node.value_type, "cls", None))
                return self._map(node) if name is None else self._named(name, lambda: self._map(node))
            case shape.UnionType():
                return self._union(node)
            case _:
                return self._named(node.cls.__name__, lambda: self.record(node.cls))

    def branch(self, kind: type[Record], key: str | None, literal: Any) -> Schema:
        """A reference to one branch of a root union, with its key narrowed to its own literal."""
        reference = self.of(shape.type_info(kind))
        self.definitions[kind.__name__]["properties"][key] = {"const": literal}
        return reference

    def record(self, kind: type[Record]) -> Schema:
        """The schema of a record, not as a reference."""
        described = {"description": _first_sentence(kind)}
        if kind is evidence.QuotedEvidence:
            return described | {"anyOf": self._quotations(kind)}
        if issubclass(kind, Choice):
            return described | {"anyOf": [self._object(kind, form, form) for form in kind.FORMS]}
        names = tuple(name for name, _ in wire_names(kind))
        return described | self._object(kind, names, _required(kind))

    def _object(self, kind: type[Record], names: tuple[str, ...], required: tuple[str, ...]) -> Schema:
        node: Any = shape.type_info(kind)
        fields = {field.name: field for field in node.fields}
        wire = dict(wire_names(kind))
        properties = {
            wire[name]: self.of(fields[name].type) if name in fields else {"const": node.tag} for name in names
        }
        return {
            "type": "object",
            "properties": properties,
            "required": [wire[name] for name in required],
            "additionalProperties": False,
        }

    def _quotations(self, kind: type[Record]) -> list[Schema]:
        """A quote names a file exactly when its channel is `artifact` (§16.3)."""
        names = ("quote", "channel", "artifact_id")
        of_file, of_channel = self._object(kind, names, names), self._object(kind, names, names)
        others = [channel for channel in primitives.EVIDENCE_CHANNELS if channel != "artifact"]
        of_file["properties"] |= {
            "channel": {"const": "artifact"},
            "artifactId": self.of(shape.type_info(primitives.Identifier)),
        }
        of_channel["properties"] |= {"channel": {"enum": others}, "artifactId": {"type": "null"}}
        return [of_file, of_channel]

    def _map(self, node: shape.DictType) -> Schema:
        keys, values = self.of(node.key_type), self.of(node.value_type)
        return {"type": "object", "propertyNames": keys, "additionalProperties": values} | _bounds(node, "Properties")

    def _union(self, node: shape.UnionType) -> Schema:
        members = [member for member in node.types if not isinstance(member, shape.NoneType)]
        if isinstance(members[0], shape.StructType) and len(members) > 1:
            kinds: list[Any] = [member.cls for member in members if isinstance(member, shape.StructType)]
            keyword = "anyOf" if kinds[0].PLAIN else "oneOf"
            joined = self._named(
                _NAMED_UNIONS[frozenset(kinds)], lambda: {keyword: [self.of(member) for member in members]}
            )
        else:
            # What remains is one type, or the integer and the float form of one number.
            joined = self.of(members[-1])
        return joined if len(members) == len(node.types) else {"anyOf": [joined, {"type": "null"}]}

    def _literal(self, node: shape.LiteralType) -> Schema:
        if len(node.values) == 1:
            return {"const": node.values[0]}
        name, ordered = _VOCABULARIES.get(frozenset(map(str, node.values)), ("", node.values))
        listed: Schema = {"type": "string", "enum": list(ordered)}
        return self._named(name, lambda: listed) if name in _NAMED_STRINGS else listed

    def _json_value(self) -> Schema:
        value = {"$ref": "#/$defs/JsonValue"}
        scalars: list[Schema] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]
        return {
            "anyOf": [*scalars, {"type": "array", "items": value}, {"type": "object", "additionalProperties": value}]
        }

    def _named(self, name: str, make: "typing.Callable[[], Schema]") -> Schema:
        if name not in self.definitions:
            self.definitions[name] = {}  # a recursive type finds its own name taken
            self.definitions[name] = make()
        return {"$ref": f"#/$defs/{name}"}


def _required(kind: type[Record]) -> tuple[str, ...]:
    node: Any = shape.type_info(kind)
    optional = {field.name for field in node.fields if not field.required}
    return tuple(name for name, _ in wire_names(kind) if name not in optional)


def _string(node: shape.StrType, extra: Schema) -> Schema:
    if "ecma" in extra:
        return {"type": "string", "pattern": extra["ecma"]}
    return {"type": "string"} | ({} if node.min_length is None else {"minLength": node.min_length})


def _number(node: shape.IntType | shape.FloatType) -> Schema:
    bounds = {"exclusiveMinimum": node.gt, "minimum": node.ge, "maximum": node.le}
    described = {"type": "integer" if isinstance(node, shape.IntType) else "number"}
    return described | {keyword: int(bound) for keyword, bound in bounds.items() if bound is not None}


def _bounds(node: Any, noun: str) -> Schema:
    bounds = {f"min{noun}": node.min_length, f"max{noun}": node.max_length}
    return {keyword: bound for keyword, bound in bounds.items() if bound is not None}


def _first_sentence(kind: type[Record]) -> str:
    text = " ".join(inspect.cleandoc(kind.__doc__ or "").split())
    return re.sub(r" \(§[^)]*\)", "", text)
