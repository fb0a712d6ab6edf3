"""Where artifacts and messages go (spec 10 §4, §9)."""

import os
from pathlib import Path

import pytest

from eval_quality.cli.output import target_path, visible
from eval_quality.report.visible import visible as shown
from support.program import call, spawn

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes-api"
CONTRACT = EXAMPLE / "contract.json"


@pytest.mark.parametrize(
    ("out", "target"),
    [
        (None, None),
        ("run/X.JSON", "run/X.JSON"),
        ("a.json", "a.json"),
        (".json", ".json"),
        ("run", "run/kind.json"),
        ("run/", "run/kind.json"),
        ("a.json/", "a.json/kind.json"),
        ("a.json5", "a.json5/kind.json"),
        (".", "./kind.json"),
    ],
)
def test_s4_2_the_name_alone_decides_between_file_and_directory(out: str | None, target: str | None) -> None:
    assert target_path(out, "kind") == target


def test_s4_1_without_out_the_artifact_goes_to_standard_output() -> None:
    outcome = call("compile", "--in", CONTRACT)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("}\n")
    assert outcome.out.count("\n") == 1


@pytest.mark.parametrize(("out", "written"), [("run/X.JSON", "run/X.JSON"), ("run", "run/eval-contract.json")])
def test_s9_out_is_written_and_nothing_else_is(out: str, written: str, tmp_path: Path) -> None:
    outcome = call("compile", "--in", CONTRACT, "--out", tmp_path / out)
    assert outcome == (0, "", "")
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [written]
    assert (tmp_path / written).read_text() == call("compile", "--in", CONTRACT).out


def test_s3_1_standard_input_by_default_and_by_name() -> None:
    text = CONTRACT.read_bytes()
    expected = call("compile", "--in", CONTRACT)
    assert call("compile", stdin=text) == expected
    assert call("compile", "--in", "-", stdin=text) == expected
    assert spawn("compile", stdin=text) == expected


def test_s7_2_sealing_a_compiled_contract_gives_the_same_bytes(tmp_path: Path) -> None:
    call("compile", "--in", CONTRACT, "--out", tmp_path)
    assert call("seal", "--in", tmp_path / "eval-contract.json") == call("seal", "--in", CONTRACT)


def test_s4_2_an_existing_directory_named_like_a_file_is_a_path_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    outcome = call("compile", "--in", CONTRACT, "--out", tmp_path / "x.json")
    assert outcome == (64, "", f'eval-quality: usage: open "{tmp_path}/x.json": EISDIR\n')


@pytest.mark.parametrize("spelling", ["c.json", "x/../c.json", "./c.json", ".//c.json"])
def test_s4_5_out_may_not_name_an_input(spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = call("compile", "--in", spelling, "--out", "c.json")
    assert outcome.code == 64
    assert outcome.err == (
        f'eval-quality: usage: --out would overwrite "{tmp_path}/c.json", the input --in "{spelling}"\n'
    )


def test_s4_5_links_to_an_input_collide_too(tmp_path: Path) -> None:
    source = tmp_path / "c.json"
    source.write_bytes(CONTRACT.read_bytes())
    for make, name in ((os.symlink, "soft.json"), (os.link, "hard.json")):
        make(source, tmp_path / name)
        outcome = call("compile", "--in", source, "--out", tmp_path / name)
        assert (outcome.code, outcome.out) == (64, "")
        assert "would overwrite" in outcome.err
    assert source.read_bytes() == CONTRACT.read_bytes()


def test_s4_5_the_first_colliding_input_is_named_and_checked_before_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = ["--policy", "missing", "--contract=missing", "--probe=missing", "--corpus-digest=d"]
    outcome = call("score", "--record", "e.json", *base, "--preflight-verdict=e.json", "--out", "e.json")
    assert 'the input --preflight-verdict "e.json"' in outcome.err
    outcome = call("score", "--record", "a", "--record", "e.json", *base, "--preflight-verdict=v", "--out", "e.json")
    assert 'the input --record "e.json"' in outcome.err


def test_s4_5_standard_input_never_collides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("compile", "--in", "-", "--out", "./-", stdin=CONTRACT.read_bytes()).code == 0
    assert (tmp_path / "-" / "eval-contract.json").exists()


def test_s4_nothing_is_written_when_the_command_fails(tmp_path: Path) -> None:
    assert call("compile", "--out", tmp_path / "o", stdin=b"{}").code == 5
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", "plain text"),
        ("née 日本 😀", "née 日本 😀"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\tb\r", "a\\x09b\\x0d"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("\u202eabc\u2069\u200f\ufeff", "\\u{202e}abc\\u{2069}\\u{200f}\\u{feff}"),
        ("\ue000\U0010ffff\ud83d", "\\u{e000}\\u{10ffff}\\u{d83d}"),
    ],
)
def test_s35_what_a_terminal_would_obey_is_shown(text: str, expected: str) -> None:
    assert shown(text) == visible(text) == expected


def test_s35_line_feeds_are_marked_inside_a_line_and_kept_in_a_text() -> None:
    assert shown("a\nb") == "a\u23ceb"
    assert shown("a\n\x1bb", one_line=False) == "a\n\\x1bb"
