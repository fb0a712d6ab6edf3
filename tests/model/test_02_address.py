"""Spec 02 §25.5, §30.14: address literals."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.model.address import ADDRESS_CLASSES, Address, classify_address, parse_address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1", (4, "127.0.0.1", "loopback")),
        ("127.255.0.9", (4, "127.255.0.9", "loopback")),
        ("0.0.0.0", (4, "0.0.0.0", "loopback")),
        ("0.0.0.1", (4, "0.0.0.1", "public")),
        ("169.254.169.254", (4, "169.254.169.254", "metadata")),
        ("169.254.1.1", (4, "169.254.1.1", "link-local")),
        ("100.64.0.1", (4, "100.64.0.1", "private")),
        ("100.128.0.1", (4, "100.128.0.1", "public")),
        ("10.1.2.3", (4, "10.1.2.3", "private")),
        ("172.31.255.255", (4, "172.31.255.255", "private")),
        ("172.32.0.0", (4, "172.32.0.0", "public")),
        ("192.168.0.1", (4, "192.168.0.1", "private")),
        ("8.8.8.8", (4, "8.8.8.8", "public")),
        ("[10.0.0.1]", (4, "10.0.0.1", "private")),
        ("[::1]", (6, "0000:0000:0000:0000:0000:0000:0000:0001", "loopback")),
        ("::", (6, "0000:0000:0000:0000:0000:0000:0000:0000", "loopback")),
        ("::ffff:10.0.0.1", (4, "10.0.0.1", "private")),
        ("::ffff:0a00:0001", (4, "10.0.0.1", "private")),
        ("::FFFF:127.0.0.1", (4, "127.0.0.1", "loopback")),
        ("64:ff9b::169.254.169.254", (6, "0064:ff9b:0000:0000:0000:0000:a9fe:a9fe", "metadata")),
        ("64:ff9b::8.8.8.8", (6, "0064:ff9b:0000:0000:0000:0000:0808:0808", "public")),
        ("::127.0.0.1", (6, "0000:0000:0000:0000:0000:0000:7f00:0001", "loopback")),
        ("::2", (6, "0000:0000:0000:0000:0000:0000:0000:0002", "public")),
        ("fd00:ec2::254", (6, "fd00:0ec2:0000:0000:0000:0000:0000:0254", "metadata")),
        ("fd00:ec2::255", (6, "fd00:0ec2:0000:0000:0000:0000:0000:0255", "private")),
        ("fc00::1", (6, "fc00:0000:0000:0000:0000:0000:0000:0001", "private")),
        ("fe80::1%eth0", (6, "fe80:0000:0000:0000:0000:0000:0000:0001", "link-local")),
        ("[fe80::1%eth0]", (6, "fe80:0000:0000:0000:0000:0000:0000:0001", "link-local")),
        ("febf::", (6, "febf:0000:0000:0000:0000:0000:0000:0000", "link-local")),
        ("fec0::", (6, "fec0:0000:0000:0000:0000:0000:0000:0000", "public")),
        ("1:2:3:4:5:6:1.2.3.4", (6, "0001:0002:0003:0004:0005:0006:0102:0304", "public")),
        ("1:2:3:4:5:6:7::", (6, "0001:0002:0003:0004:0005:0006:0007:0000", "public")),
        ("2001:DB8::1", (6, "2001:0db8:0000:0000:0000:0000:0000:0001", "public")),
    ],
)
def test_s30_14_readable(text: str, expected: Address) -> None:
    assert parse_address(text) == expected
    assert classify_address(text) == expected[2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[",
        "%",
        "010.0.0.1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "1.2.3.4\n",
        "\u0661.2.3.4",
        "127.0.0.1%eth0",
        "fe80::1%",
        "fe80::1%a%b",
        "::1%lo",
        "::ffff:10.0.0.1%eth0",
        "1:2:3:4:5:6:7:8::",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        ":::",
        "1::2::3",
        "1.2.3.4::",
        "1:1.2.3.4:2::",
        "::1.2.3.4:5",
        "::1.2.3",
        "12345::",
        "g::",
        ":1",
        "1:",
        "example.test",
        "127.0.0.1:80",
        "[[::1]]",
    ],
)
def test_s30_14_unreadable(text: str) -> None:
    assert parse_address(text) is None
    assert classify_address(text) == "unparseable"


def test_s25_5_the_classes_in_order() -> None:
    assert ADDRESS_CLASSES == ("loopback", "private", "link-local", "metadata", "public", "unparseable")


@given(st.ip_addresses(v=4))
def test_s25_5_ipv4_agrees_with_an_independent_reader(address: ipaddress.IPv4Address) -> None:
    assert parse_address(str(address)) == (4, str(address), classify_address(str(address)))


@given(st.ip_addresses(v=6))
def test_s25_5_every_spelling_of_an_ipv6_address_is_the_same(address: ipaddress.IPv6Address) -> None:
    parsed = parse_address(str(address))
    assert parsed == parse_address(address.exploded) == parse_address(f"[{address.compressed.upper()}]")
    assert parsed is not None
    assert parsed.canonical == (address.exploded if address.ipv4_mapped is None else str(address.ipv4_mapped))


@given(st.text(alphabet="0123456789abf:.%[]", max_size=24))
def test_s25_5_agrees_with_an_independent_reader_on_what_is_an_address(text: str) -> None:
    inner = text[1:-1] if len(text) >= 2 and text[0] == "[" and text[-1] == "]" else text
    try:
        ipaddress.ip_address(inner)
        readable = True
    except ValueError:
        readable = False
    if "%" not in text:
        assert (parse_address(text) is not None) is readable
