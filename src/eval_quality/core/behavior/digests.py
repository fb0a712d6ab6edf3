"""Identifiers of behavioural evidence (spec 11 §4.2, §17.7).

1. Canonical text is RFC 8785 (spec 01 §5); digests here are plain lower-case hex without a domain tag.
2. With a salt, the case id and the oracle digest are HMAC-SHA-256, so that nobody without it can go from a guessed
   answer or scenario id to a digest. The corpus digest stays a plain one: it covers only what the provider sees.
3. Ordering is by UTF-16 code units everywhere.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from typing import Any

from eval_quality.value.canonical import canonicalize
from eval_quality.value.text import utf16_key

ARTIFACT = "BehaviorCorpus"
CASE_ID_DIGITS = 24


def canonical(value: Any) -> bytes:
    """Canonical bytes of one JSON value."""
    if isinstance(value, str) and value.isascii():
        return encode_basestring(value).encode()  # the standard encoder's escapes are RFC 8785's
    return canonicalize(value, ARTIFACT)


def canonical_members(members: Mapping[str, bytes]) -> bytes:
    """The canonical object of members whose values are canonical already."""
    ordered = sorted(members, key=utf16_key)
    return b"{" + b",".join(canonical(key) + b":" + members[key] for key in ordered) + b"}"


def sha256_hex(data: bytes) -> str:
    """Plain SHA-256, lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def keyed_hex(data: bytes, salt: bytes | None) -> str:
    """HMAC-SHA-256 under the salt, plain SHA-256 without one."""
    return sha256_hex(data) if salt is None else hmac.new(salt, data, hashlib.sha256).hexdigest()


def case_id(digest_hex: str) -> str:
    """The opaque id a provider sees."""
    return f"case-{digest_hex[:CASE_ID_DIGITS]}"


def array_of(parts: Iterable[bytes]) -> bytes:
    """The canonical array of values that are canonical already."""
    return b"[" + b",".join(parts) + b"]"


def sorted_texts(values: Iterable[str]) -> list[str]:
    """Distinct strings in UTF-16 order."""
    return sorted(set(values), key=utf16_key)
