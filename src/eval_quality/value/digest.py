"""Digests (spec 01 §6): `sha256:` and 64 lower-case hexadecimal digits.

| function | hashes |
|---|---|
| `digest_value` | the canonical bytes of a value |
| `digest_bytes` | bytes as they are |
| `digest_json_text` | the canonical bytes of the value that the text spells |
| `digest_composite` | named fields, tagged with `COMPOSITE_PROTOCOL` |
| `digest_directory` | member paths and their digests, tagged with `DIRECTORY_PROTOCOL` |

No artifact carries its own digest, so nothing is left out while hashing. A reference to another artifact is a value
digest, so re-indenting a file changes nothing; a reference to an opaque payload is a byte digest.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Protocol

from eval_quality.value.canonical import canonicalize
from eval_quality.value.scan import scan

COMPOSITE_PROTOCOL: Final = "eval-quality/composite/v1"
DIRECTORY_PROTOCOL: Final = "eval-quality/directory/v1"

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_RESERVED_SEGMENTS: Final = frozenset({"", ".", ".."})


class _Hash(Protocol):
    def hexdigest(self) -> str: ...


def is_digest(text: object) -> bool:
    """Whether a value is a digest string, whole and exact (spec 01 §6.1)."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def digest_bytes(data: bytes) -> str:
    """The digest of these bytes exactly."""
    return "sha256:" + _sha256()(data).hexdigest()


@cache
def _sha256() -> Callable[[bytes], _Hash]:
    # Loaded with the first digest: a short command without one would pay more for the library than for itself.
    from hashlib import sha256

    return sha256


def digest_value(value: Any, artifact_path: str) -> str:
    """The artifact digest of a JSON value. Raises `non-canonicalizable-value` (spec 01 §4)."""
    return digest_bytes(canonicalize(value, artifact_path))


def digest_json_text(source: str | bytes, artifact_path: str) -> str:
    """The artifact digest of the value that a JSON text spells. Raises every fault of the scanner (spec 01 §3.7)."""
    return digest_value(scan(source, artifact_path), artifact_path)


def digest_composite(fields: Mapping[str, Any], artifact_path: str) -> str:
    """The digest of named fields and the composite tag, at one level (spec 01 §6.3).

    Raises `ValueError` for no fields or a field named `protocol`, `non-canonicalizable-value` for a value outside
    the domain.
    """
    tagged: dict[str, Any] = dict(fields)
    if not tagged:
        raise ValueError("a composite digest needs at least one field")
    if "protocol" in tagged:
        raise ValueError("a composite field may not be named 'protocol'")
    tagged["protocol"] = COMPOSITE_PROTOCOL
    return digest_value(tagged, artifact_path)


def digest_directory(members: Mapping[str, str], artifact_path: str) -> str:
    """The digest of a directory given as member path -> digest (spec 01 §6.4).

    Paths are relative, `/`-separated and normal. Raises `ValueError` for no members, for a path that is not so, and
    for a member that is no digest; the first in iteration order is named.
    """
    listed = dict(members)
    if not listed:
        raise ValueError("a directory digest needs at least one member")
    for path, digest in listed.items():
        _check_member(path, digest)
    return digest_value({"protocol": DIRECTORY_PROTOCOL, "members": listed}, artifact_path)


def _check_member(path: str, digest: str) -> None:
    if path == "":
        raise ValueError("a directory member has an empty path")
    if "\\" in path:
        raise ValueError(f"directory member {path!r} holds a backslash")
    if path.startswith("/"):
        raise ValueError(f"directory member {path!r} is not relative")
    if not _RESERVED_SEGMENTS.isdisjoint(path.split("/")):
        raise ValueError(f"directory member {path!r} has an empty, '.' or '..' segment")
    if not is_digest(digest):
        raise ValueError(f"directory member {path!r} has no digest")
