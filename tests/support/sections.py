"""Which tests stand behind which section of the specification.

    python tests/support/sections.py

prints, per section of chapters 03 and 04 that states a rule, the number of tests named after it, and exits with 1 when
one has none. A test carries its section in its name (`test_s8_3_...`), and its chapter in its file's (`test_03_...`).
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

SECTIONS: dict[str, tuple[str, ...]] = {
    "03": (
        *("1.1", "1.2", "1.3", "1.4", "2", "3", "4", "4.1", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "6.1", "6.2"),
        *("7.1", "7.2", "7.3", "7.4", "7.5", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "9.1", "9.2", "9.3", "9.4"),
        *("9.5", "9.6", "9.7", "9.8", "10.1", "10.2", "11.1", "11.2", "12.1", "12.2", "12.3", "13.1", "13.2", "13.3"),
        *("13.4", "14.1", "14.2", "14.3", "14.4", "15", "16.1", "16.2", "16.3", "16.4", "18"),
    ),
    "04": (
        *("1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8"),
        *("4", "6", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "8.1", "8.2", "8.3", "8.4", "9", "10", "11.1", "11.2"),
        *("11.3", "11.4"),
    ),
}
"""The sections that state rules. Version notes (03 §17, 04 §5), porting notes (03 §19) and lists of decisions state
none of their own."""

_NAME = re.compile(r"test_((?:s\d+(?:_\d+)*_(?:and_|to_)?)+)")
_SECTION = re.compile(r"s(\d+)(?:_(\d+))?")


@cache
def named_tests(chapter: str) -> dict[str, list[str]]:
    """Section -> names of its tests; a test named after two sections counts for both."""
    found: dict[str, list[str]] = {section: [] for section in SECTIONS[chapter]}
    for path in sorted(TESTS.rglob(f"test_{chapter}_*.py")):
        if "core" not in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for section in sections_of(node.name):
                    found.setdefault(section, []).append(f"{path.stem}::{node.name}")
    return found


def sections_of(name: str) -> list[str]:
    """The sections in a test's name."""
    match = _NAME.match(name)
    if match is None:
        return []
    return [major if minor is None else f"{major}.{minor}" for major, minor in _pairs(match[1])]


def _pairs(text: str) -> list[tuple[str, str | None]]:
    return [(found[1], found[2]) for found in _SECTION.finditer(text)]


def headings(text: str) -> list[str]:
    """The numbered headings of a chapter."""
    return re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", text, re.MULTILINE)


def main() -> int:
    """Print the table; 1 when a section has no test."""
    empty = 0
    for chapter in SECTIONS:
        for section, tests in named_tests(chapter).items():
            sys.stdout.write(f"spec {chapter} §{section:<6} {len(tests):>3} tests\n")
            empty += not tests
    return min(empty, 1)


if __name__ == "__main__":
    sys.exit(main())
