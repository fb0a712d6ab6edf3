"""What an artifact looks like as bytes, and its digest (spec 10 §4 rule 3, §8.4).

Both functions take a plain JSON value or a record, and give the same bytes for both.
"""

from typing import Any

from eval_quality.model.decode import to_value
from eval_quality.model.record import Record
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_value
from eval_quality.value.scan import scan


def _plain(value: Any) -> Any:
    return to_value(value) if isinstance(value, Record) else value


def serialize_artifact(value: Any, artifact_path: str) -> str:
    """The RFC 8785 text of an artifact and one newline. Raises `non-canonicalizable-value` at `artifact_path`."""
    return canonicalize(_plain(value), artifact_path).decode() + "\n"


def digest_artifact(value: Any, artifact_path: str) -> str:
    """`sha256:` and the hex digest of the canonical bytes, without the newline (spec 01 §6.2)."""
    return digest_value(_plain(value), artifact_path)


def scan_json(source: str | bytes, artifact_path: str) -> Any:
    """The value of a JSON text, read strictly (spec 01 §3): no repeated key, lone surrogate or unsafe number.

    Raises `schema-parse-failure` or `non-canonicalizable-value` at `artifact_path`.
    """
    return scan(source, artifact_path)
