"""Random JSON: values inside the domain, texts that spell them, and texts that are nearly JSON."""

import json
import random
from typing import Any

from hypothesis import strategies as st

MAX_SAFE = 2**53 - 1

well_formed_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
interesting_text = st.sampled_from(
    [
        "",
        "a",
        "\x00\x1f",
        '"\\/',
        "\x7f\u2028\u2029",
        "é",
        "\ud7ff\ue000\uffff",
        "\U00010000",
        "\U0010ffff",
        "__proto__",
    ]
)
strings = well_formed_text | interesting_text
NUMBERS = [0, -0.0, 0.0, 1.0, 5e-324, 1e-6, 1e-7, 9.999e-5, 1e-4, MAX_SAFE, -MAX_SAFE, 1e15, 4503599627370495.5]
numbers = st.integers(-MAX_SAFE, MAX_SAFE) | st.floats(-MAX_SAFE, MAX_SAFE) | st.sampled_from(NUMBERS)
scalars = st.none() | st.booleans() | numbers | strings
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(strings, inner, max_size=5), max_leaves=25
)

PIECES = [
    *'{}[]:,"\\ \t\n',
    *("true", "false", "null", "nul", "truex", "NaN", "Infinity", "-Infinity"),
    *("0", "-0", "-", "1", "01", "1.", "1.5", "1e", "1e5", "1E+2", "1e-400", "1e400", "-1e-400", "0x10", "+1", "1_0"),
    *("9007199254740991", "9007199254740992", "-9007199254740993", "9007199254740993.0", "12345678901234567", "1e21"),
    *('"a"', '"b"', '"a":', '"\\u0061":', '""', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00"', '"\\u12g4"', '"\\n"'),
    *("\ufeff", "é", "\U0001f600", '"\U0001f600"', "\u0000", "\u2028", "\u0661", "\xa0", "\\u0041", '"]"', '"[{"'),
    *('"\\\\"', '"\\""', '"\\x"', ".5"),
]
nearly_json = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def random_value(random_: random.Random, depth: int = 4) -> Any:
    """A value inside the domain; cheaper than a strategy for the long sets."""
    kind = random_.randrange(10 if depth else 7)
    if kind == 0:
        return random_.choice([None, True, False])
    if kind == 1:
        return random_.choice([random_.randrange(-MAX_SAFE, MAX_SAFE + 1), random_.randrange(-99, 99)])
    if kind == 2:
        return random_number(random_)
    if kind < 7:
        return random_text(random_)
    size = random_.randrange(6)
    if kind < 9:
        return {random_text(random_): random_value(random_, depth - 1) for _ in range(size)}
    return [random_value(random_, depth - 1) for _ in range(size)]


def random_number(random_: random.Random) -> float:
    """A binary64 number inside the domain, of any magnitude."""
    magnitude = random_.choice([1e-320, 1e-9, 1e-6, 1e-4, 1.0, 1e6, 1e15])
    number = random_.choice([random_.random(), round(random_.random(), 3), 1.0, 0.0]) * magnitude
    return number if random_.random() < 0.5 else -number


def random_text(random_: random.Random) -> str:
    """A well-formed string, mostly ASCII."""
    alphabet = random_.choice(["abcXYZ019 _-", 'a"\\/\x00\b\t\n\f\r\x1f\x7f', "aé\ue000\uffff\U00010000\U0001f600"])
    return "".join(random_.choice(alphabet) for _ in range(random_.randrange(8)))


def spelled(value: Any, random_: random.Random) -> str:
    """One of the many texts of a value."""
    return json.dumps(value, ensure_ascii=random_.random() < 0.5, indent=random_.choice([None, None, 1]))
