"""The JSON Schema of each authored document of an experiment folder, for editors and validators (spec 12 §12.5).

A schema says which keys exist and what their values may be. What it cannot say is checked when the folder is read:
references between documents, which fields a binding kind has, and that a mutation fits its target.
"""

import json
from typing import Any, Final

import msgspec.inspect as shape

from eval_quality.model.publish import DIALECT, Publisher, Schema
from eval_quality.run.experiment.document import Experiment, Mutation, ProbeDraft, Reply, Table

DOCUMENTS: Final[dict[str, type[Table]]] = {
    "run/experiment": Experiment,
    "run/mutation": Mutation,
    "run/probe-draft": ProbeDraft,
    "run/reply": Reply,
}
"""Schema name -> document."""

_UNIX_END: Final = r"(?!\n)$"


def document(name: str) -> str:
    """The text of one schema document: two-space indent, ASCII only, one trailing newline."""
    publisher = _Authored()
    body = publisher.table(DOCUMENTS[name])
    head = {
        "$schema": DIALECT,
        "$id": f"urn:eval-quality:schema:{name}",
        "title": DOCUMENTS[name].__name__,
    }
    text = head | body | {"$defs": dict(sorted(publisher.definitions.items()))}
    return json.dumps(text, indent=2, ensure_ascii=True) + "\n"


class _Authored(Publisher):
    """Publishes authored tables beside the records they embed."""

    def of(self, node: Any) -> Schema:
        inner = node.type if isinstance(node, shape.Metadata) else node
        if isinstance(inner, shape.StructType) and issubclass(inner.cls, Table):
            table: type[Table] = inner.cls
            return self._named(table.__name__, lambda: self.table(table))
        if isinstance(inner, shape.StrType) and inner.pattern is not None and not _says_ecma(node):
            return _bounded_text(inner) | {"pattern": inner.pattern.replace(_UNIX_END, "$")}
        if isinstance(inner, shape.StrType) and inner.max_length is not None:
            return _bounded_text(inner)
        if isinstance(inner, shape.UnionType) and _is_of_scalars(inner):
            return {"anyOf": [self.of(member) for member in inner.types]}
        return super().of(node)

    def table(self, kind: type[Table]) -> Schema:
        """The schema of one table; null is the same as absence, so no member is nullable."""
        node: Any = shape.type_info(kind)
        described = {"description": " ".join((kind.__doc__ or "").split())}
        return described | {
            "type": "object",
            "properties": {field.encode_name: self._member(field.type) for field in node.fields},
            "required": [field.encode_name for field in node.fields if field.required],
            "additionalProperties": False,
        }

    def _member(self, node: Any) -> Schema:
        if not isinstance(node, shape.UnionType):
            return self.of(node)
        present = tuple(member for member in node.types if not isinstance(member, shape.NoneType))
        return self.of(present[0] if len(present) == 1 else shape.UnionType(present))


def _says_ecma(node: Any) -> bool:
    extra: Any = getattr(node, "extra", None)
    return bool(extra) and "ecma" in extra


def _bounded_text(node: shape.StrType) -> Schema:
    bounds = {"minLength": node.min_length, "maxLength": node.max_length}
    return {"type": "string"} | {keyword: bound for keyword, bound in bounds.items() if bound is not None}


def _is_of_scalars(node: shape.UnionType) -> bool:
    """Whether a union is one of several plain kinds, such as a size: a number or a text."""
    kinds = [member for member in node.types if not isinstance(member, shape.NoneType)]
    return len(kinds) > 1 and all(isinstance(member, _SCALARS) for member in kinds)


_SCALARS: Final = (shape.IntType, shape.FloatType, shape.StrType, shape.LiteralType, shape.BoolType)
