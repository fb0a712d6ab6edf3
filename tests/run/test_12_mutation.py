"""One mutation is one change in one place, and an arm's digest is the same everywhere: spec 12 §12.7.1, §12.9."""

import base64
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.model.decode import decode
from eval_quality.run.errors import ExperimentFailure
from eval_quality.run.experiment.document import Mutation
from eval_quality.run.mutation import Launch, edit, relaunch
from support.experiments import write_experiment
from support.runs import planned


def mutation(**fields: Any) -> Mutation:
    return decode(Mutation, {"id": "m", "kind": "replace", "file": "f", **fields}, "Mutation")


@settings(max_examples=200, deadline=None)
@given(before=st.binary(max_size=20), find=st.binary(min_size=1, max_size=6), after=st.binary(max_size=20))
def test_s12_7_1_exactly_one_occurrence_is_replaced(before: bytes, find: bytes, after: bytes) -> None:
    original = before + find + after
    encoded = base64.b64encode(find).decode()
    change = mutation(encoding="base64", find=encoded, replace=base64.b64encode(b"\xff new \r\n").decode())
    if original.count(find) != 1:
        with pytest.raises(ExperimentFailure) as caught:
            edit(change, original, None)
        assert f"occurs {original.count(find)} times" in caught.value.problems[0].detail
        return
    changed = edit(change, original, None)
    at = original.index(find)
    assert changed == original[:at] + b"\xff new \r\n" + original[at + len(find) :]


@pytest.mark.parametrize(
    ("text", "find", "replace", "expected"),
    [
        ("a\r\nb\n", "\r\n", "\n", b"a\nb\n"),
        ("caf\u00e9", "\u00e9", "e", b"cafe"),
        ("a.c abc", "a.c", "x", b"x abc"),
        ("$1", "$1", "\\1", b"\\1"),
    ],
)
def test_s12_7_1_texts_are_bytes_and_no_patterns(text: str, find: str, replace: str, expected: bytes) -> None:
    assert edit(mutation(find=find, replace=replace), text.encode(), None) == expected


LAUNCH = Launch("store", ("python3", "-B", "store.py", "--keep"), (("A", "1"), ("B", "2")))


@pytest.mark.parametrize(
    ("fields", "argv", "environment"),
    [
        ({"kind": "argument", "remove": [0, 2]}, ("python3", "store.py"), LAUNCH.environment),
        ({"kind": "argument", "append": ["x", "y"]}, (*LAUNCH.argv, "x", "y"), LAUNCH.environment),
        (
            {"kind": "argument", "swap": {"index": 1, "value": "other.py"}},
            ("python3", "-B", "other.py", "--keep"),
            LAUNCH.environment,
        ),
        ({"kind": "environment", "set": {"A": "9", "C": "3"}}, LAUNCH.argv, (("A", "9"), ("B", "2"), ("C", "3"))),
        ({"kind": "environment", "unset": ["A"]}, LAUNCH.argv, (("B", "2"),)),
        ({"kind": "environment", "unset": ["A"], "set": {"A": "0"}}, LAUNCH.argv, (("A", "0"), ("B", "2"))),
    ],
)
def test_s12_7_1_launch_changes(fields: dict[str, Any], argv: tuple[str, ...], environment: Any) -> None:
    changed = relaunch(mutation(file=None, interface="store", **fields), LAUNCH)
    assert (changed.argv, changed.environment) == (argv, environment)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "argument", "remove": [3]},
        {"kind": "argument", "swap": {"index": 3, "value": "x"}},
        {"kind": "argument", "swap": {"index": 0, "value": "-B"}},
        {"kind": "environment", "unset": ["C"]},
        {"kind": "environment", "set": {"A": "1"}},
    ],
)
def test_s12_7_1_a_launch_change_that_does_not_fit(fields: dict[str, Any]) -> None:
    with pytest.raises(ExperimentFailure) as caught:
        relaunch(mutation(file=None, interface="store", **fields), LAUNCH)
    assert caught.value.problems[0].code == "mutation-target-mismatch"


@pytest.mark.parametrize("kind", ["cli", "mcp", "api", "python"])
def test_s12_9_an_arm_is_the_same_wherever_it_lies(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = planned(write_experiment(tmp_path / "here", kind))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.chdir(tmp_path)
    there = planned(write_experiment(tmp_path / "quite" / "another place", kind))
    assert [plan.arm.digest for plan in here.probes] == [plan.arm.digest for plan in there.probes]
    assert here.clean.digest == there.clean.digest
    assert len({here.clean.digest, *(plan.arm.digest for plan in here.probes)}) == 2
    (subject,) = (tmp_path / "here" / "subject").iterdir()
    subject.chmod(0o700)
    assert planned(tmp_path / "here" / "experiment").clean.digest != here.clean.digest
