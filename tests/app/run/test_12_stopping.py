"""Runs that end before their end, and go on: spec 12 §12.18, §12.22-12.24, §12.28; spec 13 §13.6, §13.7.1."""

import errno
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from eval_quality.run import execution
from eval_quality.run.errors import RunFault, RunStopped
from eval_quality.run.work import perform
from support.experiments import write_experiment
from support.reviewers import ATTESTED, HEAD, write_reviewed
from support.runs import artifacts, command, drive_here, edit, eval_quality, resume_here, rows, run

SLOW = ("def items():\n", 'def items():\n    __import__("time").sleep(0.15)\n')
"""A subject that takes its time, so that a signal finds it at work."""


def slow_experiment(root: Path, **tables: str) -> Path:
    folder = write_experiment(root, "python", **{"run": "trials = 6\n", "limits": "[limits]\ntrials = 2\n", **tables})
    edit(folder.parent / "subject" / "store.py", SLOW)
    return folder


def started(folder: Path, directory: Path, *flags: str) -> "subprocess.Popen[str]":
    words = ("run", folder, "--run-dir", directory, "--confine", "none", "--reproducible", "--json", *flags)
    return subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: "subprocess.Popen[str]", event: str, count: int = 1) -> list[dict[str, Any]]:
    """Read events until one has been seen `count` times."""
    assert process.stdout is not None
    seen: list[dict[str, Any]] = []
    for line in process.stdout:
        seen.append(json.loads(line))
        count -= seen[-1]["event"] == event and str(seen[-1].get("item", "trial")).startswith("trial")
        if count == 0:
            return seen
    raise AssertionError(f"the run ended before {event}")


def the_rest(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """What is still to come on both streams, up to the end; `communicate` would lose lines that were read ahead."""
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        return process.stdout.read(), process.stderr.read()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_s12_28_a_signal_leaves_a_run_that_goes_on(number: signal.Signals, code: int, tmp_path: Path) -> None:
    folder = slow_experiment(tmp_path)
    process = started(folder, tmp_path / "run")
    seen = wait_for(process, "item.captured")
    process.send_signal(number)
    out, err = the_rest(process)
    assert process.returncode == code
    assert f"eval-quality run --resume {tmp_path / 'run'}" in err
    assert rows(tmp_path / "run", "SELECT state, reason FROM run_state ORDER BY seq DESC LIMIT 1") == [
        ("stopped", "signal")
    ]
    # what ran was let finish: no attempt is lost, and some trials are still to be done
    assert rows(tmp_path / "run", "SELECT count(*) FROM attempt WHERE state != 'captured'") == [(0,)]
    assert rows(tmp_path / "run", "SELECT count(*) > 0 FROM item WHERE state = 'planned'") == [(1,)]
    seen += [json.loads(line) for line in out.splitlines()]

    resumed = eval_quality("run", "--resume", tmp_path / "run", "--json")
    assert resumed.code == 0, resumed.err
    # one stream without a gap, read back over both invocations
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert [event["seq"] for event in resumed.events][-1] == len(rows(tmp_path / "run", "SELECT seq FROM event"))
    assert resumed.events[-1]["event"] == "run.finished"
    assert resumed.events[-1]["exitCode"] == 0
    drive_here(folder, tmp_path / "whole")
    kinds = ("reproducible", "measured")
    assert artifacts(tmp_path / "run", *kinds) == artifacts(tmp_path / "whole", *kinds)


@pytest.mark.slow
def test_s12_28_a_second_interrupt_leaves_at_once(tmp_path: Path) -> None:
    folder = slow_experiment(tmp_path)
    edit(folder.parent / "subject" / "store.py", ("sleep(0.15)", "sleep(0.15 if key_free() else 4)"))
    edit(
        folder.parent / "subject" / "store.py",
        ("def items():\n", "def key_free():\n    return not os.path.exists(FILE)\n\n\ndef items():\n"),
    )
    # reads behind a put take long: the fixture's single calls do not, a trial does
    edit(folder / "experiment.toml", ('kind = "python"\n', 'kind = "python"\nmax_elapsed_ms = 60000\n'))
    process = started(folder, tmp_path / "run")
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "item.started" and event["item"].startswith("qualify"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    the_rest(process)
    assert process.returncode == 130
    # had it waited, the attempts would be captured; those it left are lost on the next opening, and nothing else is
    with pytest.raises(RunStopped):
        resume_here(tmp_path / "run", max_wall_s=1, max_calls=1)
    assert rows(tmp_path / "run", "SELECT DISTINCT state FROM attempt WHERE item_id LIKE 'qualify/%'") == [("lost",)]


@pytest.mark.parametrize(
    ("options", "path"),
    [({"max_calls": 20}, "Experiment.budget.max_calls"), ({"max_wall_s": 1}, "Experiment.budget.max_wall_s")],
)
def test_s12_22_2_a_cap_stops_and_a_higher_one_goes_on(options: dict[str, int], path: str, tmp_path: Path) -> None:
    folder = slow_experiment(tmp_path)
    with pytest.raises(RunStopped) as caught:
        drive_here(folder, tmp_path / "run", **options)
    assert [(problem.code, problem.artifact_path) for problem in caught.value.problems] == [
        ("run-budget-reached", path)
    ]
    assert caught.value.exit_code == 75
    ((booked,),) = rows(tmp_path / "run", "SELECT sum(calls) FROM attempt")
    if "max_calls" in options:
        assert 0 < booked <= options["max_calls"]
    assert rows(tmp_path / "run", "SELECT state, reason FROM run_state ORDER BY seq DESC LIMIT 1") == [
        ("stopped", "run-budget-reached")
    ]
    assert resume_here(tmp_path / "run").exit_code == 0


def test_s12_22_2_a_flag_only_lowers_the_cap_of_the_file(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", budget="[budget]\nmax_calls = 10\n")
    ended = run(folder, tmp_path / "run", "--max-calls", "100000")
    assert ended.code == 75
    assert "run-budget-reached: Experiment.budget.max_calls: " in ended.err
    assert " of 10 subject calls are booked" in ended.err


def test_s12_24_the_event_stream(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    ended = run(folder, tmp_path / "run", "--json")
    assert ended.code == 0, ended.err
    events = ended.events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    phases = [event["phase"] for event in events if event["event"] == "phase.started"]
    assert phases == ["clean", "qualify", "arms", "measure"]
    items = {name: [e["item"] for e in events if e["event"] == f"item.{name}"] for name in ("started", "captured")}
    assert (
        sorted(items["started"])
        == sorted(items["captured"])
        == sorted(item for (item,) in rows(tmp_path / "run", "SELECT item_id FROM item"))
    )
    assert [event["probe"] for event in events if event["event"] == "probe.minted"] == ["P-001", "P-002"]
    cells = [(e["probe"], e["state"], e["verdict"]) for e in events if e["event"] == "cell.scored"]
    assert [cell[:2] for cell in cells] == [("P-001", "caught"), ("P-002", "passed")]
    assert events[-1] == {**events[-1], "event": "run.finished", "exitCode": 0}
    assert "\x1b" not in ended.err


def test_s12_24_what_is_shown_on_a_pipe(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    words = ("run", folder, "--run-dir", tmp_path / "run", "--confine", "none", "--out", tmp_path / "s.json")
    ended = eval_quality(*words)
    assert (ended.code, ended.out) == (0, "")
    assert "\x1b" not in ended.err
    assert "eval-quality: run: run: measure: 2 item(s)" in ended.err
    assert json.loads((tmp_path / "s.json").read_text()) == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_s13_6_a_run_killed_while_it_is_sealed_is_sealed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_quality.app.run import driving

    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    real = driving.finish

    def dies(*arguments: Any) -> Any:
        del arguments
        raise KeyboardInterrupt

    monkeypatch.setattr(driving, "finish", dies)
    with pytest.raises(KeyboardInterrupt):
        drive_here(folder, tmp_path / "run")
    assert rows(tmp_path / "run", "SELECT state FROM run_state ORDER BY seq DESC LIMIT 1") == [("sealing",)]
    monkeypatch.setattr(driving, "finish", real)
    assert resume_here(tmp_path / "run").exit_code == 0
    drive_here(folder, tmp_path / "whole")
    assert artifacts(tmp_path / "run", "reproducible") == artifacts(tmp_path / "whole", "reproducible")


@pytest.mark.slow
def test_s12_18_1_infrastructure_is_repeated_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    failures = {"trial/deterministic/P-001/1": 2}

    def flaky(stage: Any, host: Any, item: Any, meter: Any) -> Any:
        if failures.get(item.item_id, 0):
            failures[item.item_id] -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return perform(stage, host, item, meter)

    monkeypatch.setattr(execution, "perform", flaky)
    result = drive_here(folder, tmp_path / "run")
    assert result.summary is not None
    trials = {cell["probeId"]: cell["trials"][0] for cell in result.summary["cells"]}
    assert (trials["P-001"]["voidAttempts"], trials["P-002"]["voidAttempts"]) == (2, 0)
    drive_here(folder, tmp_path / "whole")
    # nothing an interchange artifact says depends on luck
    kinds = ("reproducible", "measured")
    assert artifacts(tmp_path / "run", *kinds) == artifacts(tmp_path / "whole", *kinds)

    failures["trial/deterministic/P-001/1"] = 3
    with pytest.raises(RunStopped) as caught:
        drive_here(folder, tmp_path / "exhausted")
    assert caught.value.problems[0].code == "infrastructure-exhausted"
    assert "trial/deterministic/P-001/1; last: host-failure" in caught.value.problems[0].detail
    assert resume_here(tmp_path / "exhausted").exit_code == 0


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "store-full"), (errno.EROFS, "store-unsupported")])
def test_s12_18_2_a_full_disk_stops_the_run(
    number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_experiment(tmp_path, "python", run="trials = 1\n")
    with monkeypatch.context() as patch:
        patch.setattr(execution, "perform", lambda *_: (_ for _ in ()).throw(OSError(number, os.strerror(number))))
        with pytest.raises(RunFault) as caught:
            drive_here(folder, tmp_path / "run")
    assert [problem.code for problem in caught.value.problems] == [code]
    assert rows(tmp_path / "run", "SELECT state FROM run_state ORDER BY seq DESC LIMIT 1") == [("failed",)]
    assert resume_here(tmp_path / "run").exit_code == 0


@pytest.mark.slow
def test_s12_18_2_behaviour_is_never_repeated(tmp_path: Path) -> None:
    """T12-31: a subject that breaks on every second call of a trial is called exactly as often as the plan says."""
    folder = write_reviewed(
        tmp_path,
        "python",
        {
            "reviewer": HEAD + "for key in ('boom', 'a'):\n"
            "    answer = ask('call', interfaceId='store', operationId='get', inputs={'option': {'key': key}})\n"
            "    print(answer.get('code'), file=sys.stderr)\n"
        },
    )
    log = tmp_path / "log"
    edit(
        folder.parent / "subject" / "store.py",
        (
            "def get(key):\n",
            f"def get(key):\n    if key == 'boom':\n        open({str(log)!r}, 'a').write('x')\n        os._exit(9)\n",
        ),
    )
    ended = run(folder, tmp_path / "run", "--probe", "P-002", *ATTESTED)
    assert ended.code == 0, ended.err
    assert log.read_text() == "x"
    record = json.loads((tmp_path / "run/cells/reviewer/P-002/record-1.json").read_text())
    actions = json.loads((tmp_path / "run" / record["actionsArtifact"]["path"]).read_text())
    assert [action["outcome"] for action in actions] == ["failed:subject-unavailable"] * 2
    assert record["observations"] == []


def test_s12_18_2_a_program_that_is_not_there_stops_the_run(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    edit(folder / "experiment.toml", ("/usr/bin/python3", "/nowhere/python3"))
    with pytest.raises(RunFault) as caught:
        drive_here(folder, tmp_path / "run")
    assert [problem.code for problem in caught.value.problems] == ["launch-target-missing"]
    assert rows(tmp_path / "run", "SELECT count(*) FROM attempt") == [(1,)]
    assert rows(tmp_path / "run", "SELECT state FROM run_state ORDER BY seq DESC LIMIT 1") == [("failed",)]


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "a", "--resume", "b"),
        *(("run", "--resume", "b", flag, "1") for flag in ("--run-dir", "--label", "--trials", "--store")),
        ("run", "--resume", "b", "--probe", "P-001"),
        ("run", "--resume", "b", "--evaluator", "x"),
        ("run", "--resume", "b", "--reproducible"),
        ("run", "--resume", "b", "--confine", "none"),
        ("run", "a", "--json", "--out", "x"),
        ("run", "a", "--trials", "0"),
        ("run", "a", "--trials", "eight"),
        ("run", "a", "--concurrency", "1025"),
        ("run", "a", "--confine", "docker"),
        ("run", "a", "--attest", "source-code"),
        ("run", "a", "--attest", "nothing=x"),
        ("run", "a", "--until", "mint"),
        ("run", "a", "--label", "x" * 65),
        ("run", "a", "--held-out", "x"),
        ("run", "a", "b"),
    ],
    ids=" ".join,
)
def test_s12_2_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    from eval_quality.cli.dispatch import main

    assert main(list(words)) == 64
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith("eval-quality: usage: ")


def test_s12_2_until_plan_starts_nothing(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    ended = eval_quality("run", folder, "--until", "plan", cwd=tmp_path)
    assert (ended.code, ended.out) == (0, "")
    assert "store-python: sound; 10 items planned, nothing was started" in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["experiment", "subject"]


def test_s13_7_1_what_cannot_be_resumed(tmp_path: Path) -> None:
    ended = eval_quality("run", "--resume", tmp_path / "nothing")
    assert ended.code == 5
    assert "resume-refused" in ended.err
    folder = write_experiment(tmp_path, "python")
    edit(folder.parent / "subject" / "store.py", ("kept.get(key)", 'kept.get("a")'))
    assert run(folder, tmp_path / "invalid").code == 3
    again = eval_quality("run", "--resume", tmp_path / "invalid")
    assert again.code == 5
    assert "resume-refused: Run[invalid]: the run is invalid; a changed experiment is a new run" in again.err
