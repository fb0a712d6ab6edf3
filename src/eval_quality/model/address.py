"""IP address literals: reading, spelling, classifying (spec 02 §25.5).

`parse_address` answers with the family, one canonical spelling and a class, or None for text that is no address. Two
spellings are the same address exactly when their canonical forms are equal. A zone is allowed on link-local IPv6
alone and does not enter the canonical form.
"""

import re
from typing import Final, Literal, NamedTuple, TypeAlias

AddressClass: TypeAlias = Literal["loopback", "private", "link-local", "metadata", "public", "unparseable"]

ADDRESS_CLASSES: Final[tuple[AddressClass, ...]] = (
    "loopback",
    "private",
    "link-local",
    "metadata",
    "public",
    "unparseable",
)

_PART: Final = re.compile(r"(?:0|[1-9][0-9]{0,2})")
_GROUP: Final = re.compile(r"[0-9a-fA-F]{1,4}")

# First match wins: class, network, prefix length.
_IPV4_CLASSES: Final[tuple[tuple[AddressClass, int, int], ...]] = (
    ("metadata", 0xA9FEA9FE, 32),
    ("loopback", 0x7F000000, 8),
    ("loopback", 0x00000000, 32),
    ("link-local", 0xA9FE0000, 16),
    ("private", 0x0A000000, 8),
    ("private", 0xAC100000, 12),
    ("private", 0xC0A80000, 16),
    ("private", 0x64400000, 10),
)
_METADATA_IPV6: Final = 0xFD00_0EC2_0000_0000_0000_0000_0000_0254
_MAPPED: Final = 0xFFFF
_NAT64: Final = 0x0064_FF9B_0000_0000_0000_0000


class Address(NamedTuple):
    """A readable address."""

    family: Literal[4, 6]
    canonical: str
    address_class: AddressClass


def parse_address(text: str) -> Address | None:
    """Read an address literal, optionally in brackets and with a zone; None when it is unreadable."""
    # 1. One pair of brackets.
    if len(text) >= 2 and text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    # 2-3. The zone.
    body, percent, zone = text.partition("%")
    if (percent and (not zone or "%" in zone)) or not body:
        return None
    # 4. IPv4.
    if ":" not in body:
        value = None if percent else _ipv4(body)
        return None if value is None else _as_ipv4(value)
    # 5-7. IPv6.
    value = _ipv6(body)
    if value is None:
        return None
    if value >> 32 == _MAPPED:
        return None if percent else _as_ipv4(value & 0xFFFFFFFF)
    address_class = _ipv6_class(value)
    # 8. A zone belongs to a link-local address.
    if percent and address_class != "link-local":
        return None
    digits = f"{value:032x}"
    return Address(6, ":".join(digits[start : start + 4] for start in range(0, 32, 4)), address_class)


def classify_address(text: str) -> AddressClass:
    """The class of an address literal; `unparseable`, which always denies, when it cannot be read."""
    address = parse_address(text)
    return "unparseable" if address is None else address.address_class


def _ipv4(text: str) -> int | None:
    parts = text.split(".")
    if len(parts) != 4 or not all(_PART.fullmatch(part) and int(part) <= 255 for part in parts):
        return None
    return int.from_bytes(bytes(int(part) for part in parts), "big")


def _as_ipv4(value: int) -> Address:
    return Address(4, ".".join(str(byte) for byte in value.to_bytes(4, "big")), _ipv4_class(value))


def _ipv4_class(value: int) -> AddressClass:
    for address_class, network, length in _IPV4_CLASSES:
        if (value ^ network) >> (32 - length) == 0:
            return address_class
    return "public"


def _ipv6(text: str) -> int | None:
    sides = text.split("::")
    if len(sides) > 2:
        return None
    groups = [_groups(side, last=index == len(sides) - 1) for index, side in enumerate(sides)]
    head, tail = groups[0], groups[-1]
    if head is None or tail is None:
        return None
    if len(sides) == 1:
        return _joined(head) if len(head) == 8 else None
    missing = 8 - len(head) - len(tail)
    return _joined([*head, *([0] * missing), *tail]) if missing >= 1 else None


def _groups(text: str, last: bool) -> list[int] | None:
    """The 16-bit groups of one side of `::`; a dotted quad may end the last side and stands for two."""
    if not text:
        return []
    pieces = text.split(":")
    groups: list[int] = []
    for index, piece in enumerate(pieces):
        if _GROUP.fullmatch(piece):
            groups.append(int(piece, 16))
            continue
        quad = _ipv4(piece) if last and index == len(pieces) - 1 else None
        if quad is None:
            return None
        groups += [quad >> 16, quad & 0xFFFF]
    return groups


def _joined(groups: list[int]) -> int:
    value = 0
    for group in groups:
        value = value << 16 | group
    return value


def _ipv6_class(value: int) -> AddressClass:
    if value == _METADATA_IPV6:
        return "metadata"
    prefix = value >> 32
    if prefix == _NAT64 or (prefix == 0 and value > 1):
        return _ipv4_class(value & 0xFFFFFFFF)
    if value <= 1:
        return "loopback"
    if value >> 118 == 0xFE80 >> 6:
        return "link-local"
    if value >> 121 == 0xFC00 >> 9:
        return "private"
    return "public"
