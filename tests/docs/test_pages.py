"""Every command that a page shows is run, and prints what the page shows."""

import shutil
from pathlib import Path

import pytest

from support.docs import ROOT, check_page, matches, pages, run, shown

PAGES = ["README.md", *pages(), *pages("examples/*/README.md")]


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_what_its_commands_print(page: str, tmp_path: Path) -> None:
    if "$ eval-quality run " in (ROOT / page).read_text(encoding="utf-8") and shutil.which("bwrap") is None:
        pytest.skip("this page isolates processes, and bubblewrap is not installed")
    assert check_page(ROOT / page, tmp_path) > 0


def test_console_blocks_are_taken_apart() -> None:
    text = "x\n```console\n$ one\n a\n$ two \\\n  more\n```\n```sh\n$ not this\n```\n  ```console\n$ three\n```\n"
    assert [(step.line, step.command, step.output) for step in shown(text)] == [
        (3, "one", (" a",)),
        (5, "two \\\n  more", ()),
        (12, "three", ()),
    ]
    here = "```console\n$ cat > x <<'END'\n$ literal\nEND\n$ next\nout\n```\n"
    assert [(step.command, step.output) for step in shown(here)] == [
        ("cat > x <<'END'\n$ literal\nEND", ()),
        ("next", ("out",)),
    ]
    with pytest.raises(AssertionError, match="line 2"):
        list(shown("```console\nno command\n```"))


def test_commands_share_one_session(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    commands = ["cd below; value=7", "pwd; echo $value", "false", "echo $?", "printf x; ls nothing 2>&1 | wc -l"]
    assert run(commands, tmp_path) == [
        ([], 0),
        ([str(tmp_path / "below"), "7"], 0),
        ([], 1),
        (["1"], 0),
        (["x1"], 0),
    ]


def test_a_session_that_ends_early_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ended early"):
        run(["exit 3", "true"], tmp_path)


@pytest.mark.parametrize(
    ("printed", "expected", "fits"),
    [
        ([], (), True),
        (["a"], (), False),
        ([], ("a",), False),
        (["a", "b", "c"], ("a", "...", "c"), True),
        (["a", "c"], ("a", "...", "c"), True),
        (["a", "b"], ("a", "...", "c"), False),
        (["a", "b"], ("...",), True),
        (["b"], ("...", "b", "..."), True),
    ],
)
def test_shown_output_matches(printed: list[str], expected: tuple[str, ...], fits: bool) -> None:
    assert matches(printed, expected) is fits
