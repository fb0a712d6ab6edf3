"""Every section of chapters 03 and 04 that states a rule has tests named after it."""

import re
from pathlib import Path

import pytest

from support.sections import SECTIONS, headings, main, named_tests, sections_of

SPEC = Path(__file__).resolve().parents[4] / "shared" / "spec"
CHAPTERS = {"03": "03-compile.md", "04": "04-coverage-and-seal.md"}
WITHOUT_RULES = {
    # headings that only gather subsections, version notes, porting notes, decisions
    "03": {"1", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "16", "17", "19", "20"},
    "04": {"1", "2", "3", "5", "7", "8", "11", "12"},
}


@pytest.mark.parametrize(("chapter", "section"), [(each, section) for each in SECTIONS for section in SECTIONS[each]])
def test_a_section_has_tests(chapter: str, section: str) -> None:
    assert named_tests(chapter)[section]


@pytest.mark.parametrize("chapter", SECTIONS)
@pytest.mark.skipif(not SPEC.is_dir(), reason="SPECIFICATION ABSENT: it is not beside this checkout")
def test_the_list_of_sections_is_the_chapters_own(chapter: str) -> None:
    text = (SPEC / CHAPTERS[chapter]).read_text(encoding="utf-8")
    stated = set(headings(text)) - WITHOUT_RULES[chapter]
    assert set(SECTIONS[chapter]) == stated


def test_a_name_may_carry_several_sections() -> None:
    assert sections_of("test_s3_4_and_s3_6_collections") == ["3.4", "3.6"]
    assert sections_of("test_s15_two_steps") == ["15"]
    assert sections_of("test_s14_3_6_to_8_each_rule") == ["14.3"]
    assert sections_of("test_nothing") == []


def test_the_script_prints_every_section_and_finds_none_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= sum(map(len, SECTIONS.values()))
    assert all(re.fullmatch(r"spec 0[34] §\S+ +[1-9]\d* tests", line) for line in lines)
