"""From the first word to the command (spec 10 §1.1, §6.1, §9)."""

import subprocess
import sys

import pytest

from eval_quality._version import VERSION
from eval_quality.cli.command import Command
from eval_quality.cli.dispatch import is_family, load
from eval_quality.cli.help import synopsis
from eval_quality.cli.registry import PIPELINE, REGISTRY, find
from support.program import call, spawn

NAMES = [entry.name for entry in REGISTRY]


def test_s1_pipeline_commands_come_first_and_in_order() -> None:
    assert NAMES[:6] == [*PIPELINE, "migrate"]
    assert NAMES[6:11] == ["behavior-eval", "doctor", "skills", "capture-holdout", "run"]
    assert NAMES.index("rescore") < NAMES.index("schema")
    assert len(set(NAMES)) == len(NAMES)


def test_s1_1_1_no_command_lists_the_commands() -> None:
    outcome = call()
    assert (outcome.code, outcome.out) == (64, "")
    assert outcome.err.startswith("eval-quality: usage: no command given")
    assert ", ".join(NAMES) in outcome.err


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_s1_1_2_general_help(words: list[str]) -> None:
    outcome = call(*words)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("\n")
    assert all(f"\n  eval-quality {name} " in outcome.out for name in PIPELINE)
    assert all(f"\n  {name} " in outcome.out for name in NAMES if name not in PIPELINE)


@pytest.mark.parametrize("name", NAMES)
def test_s1_1_2_help_of_every_command(name: str) -> None:
    outcome = call("help", name, "ignored")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"eval-quality {name}" in outcome.out


@pytest.mark.parametrize("name", PIPELINE)
def test_s6_1_command_help_has_every_flag_and_exit_code(name: str) -> None:
    entry = find(name)
    assert entry is not None
    (command,) = load(entry)
    outcome = call(name, "--help")
    assert outcome == call("help", name)
    assert [flag.name for flag in command.flags if f"\n  {flag.name}" not in outcome.out] == []
    assert all(f"\n  {code:<4} " in outcome.out for code in (0, 1, 2, 3, 4, 5, 64))
    assert "never promoted" in outcome.out


@pytest.mark.parametrize(
    "words", [["help", "nope"], ["--help", "nope"], ["nope"], ["--strict", "compile"], ["-x"], [""]]
)
def test_s1_1_4_an_unknown_command_is_named_and_all_are_listed(words: list[str]) -> None:
    outcome = call(*words)
    assert (outcome.code, outcome.out) == (64, "")
    wrong = words[1] if words[0] in ("help", "--help") else words[0]
    assert outcome.err.startswith(f'eval-quality: usage: unknown command "{wrong}"')
    assert ", ".join(NAMES) in outcome.err


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["-V", "extra"], ["--version", "--help"]])
def test_s1_1_3_version(words: list[str]) -> None:
    assert call(*words) == (0, f"{VERSION}\n", "")
    assert spawn(*words) == (0, f"{VERSION}\n", "")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "compile",
            "[--in <path>] [--out <target>] [--strict-inputs | --no-strict-inputs] [--strict]",
        ),
        ("seal", "[--in <path>] [--out <target>] [--strict-inputs | --no-strict-inputs] [--strict]"),
        (
            "preflight",
            "--contract <path> --probes <path> --observations <path> --run-id <id> [--out <target>] [--strict]",
        ),
        (
            "score",
            "--record <path> [--record <path> ...] --contract <path> --probe <path> --preflight-verdict <path> "
            "--policy <path> --corpus-digest <digest> [--isolation-manifest <path>] "
            "[--evaluator-configuration <path>] [--private-manifest <path>] [--corpus-root <dir>] "
            "[--designated-oracle <O-id>] [--out <target>] [--strict]",
        ),
        (
            "aggregate-strength",
            "--evidence <path> [--evidence <path> ...] --floors <path> --policy <path> [--out <target>] [--strict]",
        ),
    ],
)
def test_s6_1_synopses(name: str, expected: str) -> None:
    entry = find(name)
    assert entry is not None
    assert synopsis(load(entry)[0]) == f"eval-quality {name} {expected}"


@pytest.mark.parametrize("entry", REGISTRY, ids=NAMES)
def test_every_command_is_described_the_same_in_registry_and_table(entry) -> None:
    commands = load(entry)
    assert all(command.name == entry.name or command.name.startswith(f"{entry.name} ") for command in commands)
    if not is_family(entry, commands):
        assert commands[0].purpose == entry.purpose
    for command in commands:
        names = [flag.name for flag in command.flags]
        assert len(set(names)) == len(names)
        assert all(name.startswith("--") for name in names)
        assert not command.purpose.endswith(".")
        assert [flag.name for flag in command.flags if not flag.help] == []
        assert_positionals_are_unambiguous(command)


def assert_positionals_are_unambiguous(command: Command) -> None:
    assert all(not word.repeatable for word in command.positionals[:-1])
    required = [word.required for word in command.positionals]
    assert required == sorted(required, reverse=True)


def test_families_answer_for_their_words() -> None:
    for entry in REGISTRY:
        commands = load(entry)
        if not is_family(entry, commands):
            continue
        assert all(command.name in call(entry.name, "--help").out for command in commands)
        assert call("help", *commands[-1].name.split()).out == call(*commands[-1].name.split(), "--help").out
        outcome = call(entry.name, "no-such-word")
        assert (outcome.code, outcome.out) == (commands[0].usage_exit, "")
        assert '"no-such-word"' in outcome.err


def test_a_closed_standard_output_is_reported_not_traced() -> None:
    script = "import sys; from eval_quality.cli.main import entry; sys.argv = ['eval-quality', *sys.argv[1:]]; entry()"
    for words in (["--version"], ["--help"]):
        finished = subprocess.run(
            ["bash", "-c", '"$0" -c "$@" >&-', sys.executable, script, *words], capture_output=True, check=False
        )
        assert (finished.returncode, finished.stdout) == (5, b"")
        assert finished.stderr == b"eval-quality: write (unknown path): EBADF\n"


def test_a_reader_that_went_away_is_reported_not_traced() -> None:
    for words in ("--version", "--help"):
        finished = subprocess.run(
            ["bash", "-c", f'"$0" -m eval_quality {words} 2>&2 | : ; echo "${{PIPESTATUS[0]}}"', sys.executable],
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in finished.stderr
        assert b"Exception" not in finished.stderr
        assert finished.stdout.strip() in (b"0", b"5")
