"""Completion scripts, tried in the shells that are here (generated from the command tables)."""

import shutil
import subprocess

import pytest

from eval_quality.cli.command import Command, Flag, Invocation, Positional
from eval_quality.cli.completion import SHELLS, Family, bash, fish, script, zsh
from eval_quality.cli.registry import REGISTRY
from support.program import call


def nothing(_: Invocation) -> int:
    return 0


FAMILIES = [
    Family(
        "make",
        "make a thing",
        (
            Command(
                "make",
                "make a thing",
                (
                    Flag("--in", "it's [the] input: x", value="path", repeatable=True),
                    Flag("--kind", "which", value="kind", choices=("small", "large")),
                    Flag("--name", "free text", value="text"),
                    Flag("--root", "folder", value="dir", short="-r"),
                    Flag("--fast", "a switch"),
                ),
                nothing,
            ),
        ),
    ),
    Family(
        "pet",
        "look after a pet",
        (
            Command("pet feed", "feed it", (Flag("--amount", "how much", value="n"),), nothing),
            Command(
                "pet walk", "walk it", (), nothing, positionals=(Positional("where", "", choices=("park", "wood")),)
            ),
        ),
    ),
]


def complete(*words: str, families: list[Family] = FAMILIES) -> list[str]:
    """What bash offers for the last of `words`."""
    source = bash(families)
    run = (
        f'{source}\nCOMP_WORDS=(eval-quality "$@"); COMP_CWORD=$#; _eval_quality; printf \'%s\\n\' "${{COMPREPLY[@]}}"'
    )
    finished = subprocess.run(["bash", "-c", run, "bash", *words], capture_output=True, text=True, check=True, cwd="/")
    assert finished.stderr == ""
    return finished.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ma"], ["make"]),
        (["pe"], ["pet"]),
        (["--v"], ["--version"]),
        (["help", "p"], ["pet"]),
        (["make", "--k"], ["--kind"]),
        (["make", "-r"], ["-r"]),
        (["make", "--kind", ""], ["small", "large"]),
        (["make", "--kind", "s"], ["small"]),
        (["make", "--name", "x"], []),
        (["make", "--in", "et"], ["etc"]),
        (["make", "--root", "et"], ["etc"]),
        (["pet", ""], ["feed", "walk"]),
        (["pet", "w"], ["walk"]),
        (["pet", "feed", "--"], ["--amount", "--help"]),
        (["pet", "walk", ""], ["park", "wood"]),
        (["nope", "-"], []),
    ],
)
def test_bash_offers_what_fits(words: list[str], offered: list[str]) -> None:
    assert complete(*words) == offered


def test_bash_offers_every_command_and_its_flags() -> None:
    shown = script("bash")
    finished = subprocess.run(
        [
            "bash",
            "-c",
            f"{shown}\nCOMP_WORDS=(eval-quality ''); COMP_CWORD=1; _eval_quality; echo \"${{COMPREPLY[*]}}\"",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    offered = set(finished.stdout.split())
    assert {entry.name for entry in REGISTRY} <= offered
    assert "--designated-oracle" in shown


def test_zsh_quotes_what_zsh_would_read() -> None:
    text = zsh(FAMILIES)
    assert text.startswith("#compdef eval-quality\n")
    assert "'*--in=[it'\\''s \\[the\\] input\\: x]:path:_files'" in text
    assert "'--kind=[which]:kind:(small large)'" in text
    assert "'--root=[folder]:dir:_files -/'" in text
    assert "'--name=[free text]:text: '" in text
    assert "'--fast[a switch]'" in text
    assert "'feed:feed it'" in text
    assert "':where:(park wood)'" in text


def test_fish_has_a_line_for_every_flag_and_choice() -> None:
    lines = fish(FAMILIES).splitlines()
    make = "complete -c eval-quality -n '__fish_seen_subcommand_from make' "
    assert make + "-l in -d 'it\\'s [the] input: x' -r -F" in lines
    assert make + "-l kind -d 'which' -x -a 'small large'" in lines
    assert make + "-l name -d 'free text' -x" in lines
    assert make + "-s r -l root -d 'folder' -x -a '(__fish_complete_directories)'" in lines
    assert make + "-l fast -d 'a switch'" in lines
    walk = "complete -c eval-quality -n '__fish_seen_subcommand_from pet; and __fish_seen_subcommand_from walk' "
    assert walk + "-a 'park wood'" in lines
    assert any(line.endswith("-a feed -d 'feed it'") for line in lines)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(shell: str) -> None:
    outcome = call("completion", shell)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == script(shell)
    assert all(entry.name in outcome.out for entry in REGISTRY)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_it(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    finished = subprocess.run([program, "-n"], input=script(shell), capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_another_shell_is_refused() -> None:
    outcome = call("completion", "tcsh")
    assert (outcome.code, outcome.out) == (64, "")
    assert '<shell> "tcsh" is none of bash, zsh, fish' in outcome.err
    assert call("completion").err == "eval-quality: usage: completion requires <shell>\n"
