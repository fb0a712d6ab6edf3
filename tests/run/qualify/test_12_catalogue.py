"""Each way in which a probe fails to qualify ends in exactly its code: spec 12 §12.11, §12.12 (T12-09 to T12-15)."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.run.errors import RunFault, RunInvalid
from eval_quality.run.tree import TreeRules
from eval_quality.run.workshop import Workshop
from support.catalogue import CHANGES, drafts, mutation, put_signature, replacing, write_catalogue
from support.experiments import defect_draft, write_experiment
from support.runs import drive_here, edit, planned, rows, run


def codes(folder: Path, directory: Path, **options: Any) -> dict[str, str]:
    """Probe id -> the code it was refused with, after phase `qualify`."""
    try:
        drive_here(folder, directory, **{"until": "qualify", **options})
    except RunInvalid as invalid:
        return {problem.artifact_path: problem.code for problem in invalid.problems}
    return {}


def only(folder: Path, *drafts: dict[str, Any]) -> None:
    """Replace the drafts of an experiment."""
    for path in folder.glob("probes/*"):
        path.unlink()
    for draft in drafts:
        (folder / "probes" / f"{draft['probe_id']}.json").write_text(json.dumps(draft))


def change(folder: Path, name: str) -> None:
    (folder / "mutations" / f"{name}.json").write_text(mutation(name))


@pytest.mark.parametrize(
    "kind", ["python", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("cli", "mcp", "api"))]
)
def test_s12_11_one_run_reports_every_broken_probe(kind: str, tmp_path: Path) -> None:
    folder = write_catalogue(tmp_path, kind)
    found = codes(folder, tmp_path / "run")
    assert found == {f"Probe[probeId={name}]": code for name, (_, code) in drafts(kind).items() if code is not None}
    # nothing was measured, and everything that was seen is published
    assert rows(tmp_path / "run", "SELECT count(*) FROM attempt WHERE item_id LIKE 'trial/%'") == [(0,)]
    assert rows(tmp_path / "run", "SELECT state FROM run_state ORDER BY seq DESC LIMIT 1") == [("invalid",)]
    reading = json.loads((tmp_path / "run" / "qualification" / "P-103" / "mutated.json").read_text())
    assert (reading["phase"], reading["passed"]) == ("mutated", False)


def test_s12_11_6_set_aside_goes_on_with_the_rest(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run='on_unqualified = "set-aside"\ntrials = 3\n')
    change(folder, "inert")
    broken = {**defect_draft("python", mutation="inert"), "probe_id": "P-003"}
    (folder / "probes" / "p-003.json").write_text(json.dumps(broken))
    result = drive_here(folder, tmp_path / "run")
    assert result.summary is not None
    assert (result.exit_code, result.summary["setAside"]) == (3, ["P-003"])
    assert {cell["probeId"]: cell["state"] for cell in result.summary["cells"]} == {
        "P-001": "caught",
        "P-002": "passed",
    }
    assert not (tmp_path / "run" / "probes" / "P-003.json").exists()
    assert [reason["code"] for reason in result.summary["reasons"]] == ["mutation-inert"]

    # it is in no digest: the corpus is the one of the experiment without it
    (folder / "probes" / "p-003.json").unlink()
    without = drive_here(folder, tmp_path / "without")
    assert without.summary is not None
    assert without.summary["digests"]["corpus"] == result.summary["digests"]["corpus"]


def test_s12_11_6_set_aside_of_every_probe_is_an_invalid_run(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run='on_unqualified = "set-aside"\n')
    change(folder, "inert")
    only(folder, defect_draft("python", mutation="inert"))
    assert codes(folder, tmp_path / "run", until="score") == {"Probe[probeId=P-001]": "mutation-inert"}


def test_s12_11_6_an_unfit_clean_arm_always_stops(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", run='on_unqualified = "set-aside"\n')
    edit(folder.parent / "subject" / "store.py", ("    kept[key] = value\n", "    kept[key] = value.upper()\n"))
    edit(folder / "mutations" / "forgets.toml", ("kept[key] = value\n", "kept[key] = value.upper()\n"))
    found = codes(folder, tmp_path / "run", until="score")
    assert found == {f"Probe[probeId=P-00{number}]": "clean-arm-failed" for number in (1, 2)}


def test_s12_11_1_the_caps_of_a_cycle(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", qualify="[qualify]\nmax_calls = 3\n")
    found = codes(folder, tmp_path / "run")
    assert set(found.values()) == {"qualification-cap-reached"}
    # the calls that were made are booked, and not one more than the cap
    calls = rows(tmp_path / "run", "SELECT calls FROM attempt WHERE item_id LIKE 'qualify/%'")
    assert calls == [(3,), (3,)]


def test_s12_11_3_the_contract_alone_decides_when_it_is_asked_to(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", qualify="[qualify]\nrequire_contract_oracle = true\n")
    only(
        folder,
        defect_draft("python"),
        {**defect_draft("python", designated_oracle="O-002"), "probe_id": "P-002"},
        {**defect_draft("python", covers=["O-002"]), "probe_id": "P-003"},
    )
    assert codes(folder, tmp_path / "run") == {
        "Probe[probeId=P-002]": "mutation-undesignated",
        "Probe[probeId=P-003]": "mutation-inert",
    }


@pytest.mark.slow
def test_s12_11_3_blindness_is_a_finding_and_no_failure(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    only(
        folder,
        {**defect_draft("python", covers=["O-002"]), "probe_id": "P-001"},
        {**defect_draft("python", designated_oracle="O-002"), "probe_id": "P-002", "behavior_id": "B-002"},
    )
    result = drive_here(folder, tmp_path / "run", trials=1)
    assert result.summary is not None
    seen = {
        entry["probeId"]: (entry["contractBlind"], entry["designatedBlind"])
        for entry in result.summary["qualification"]
    }
    assert seen == {"P-001": (True, False), "P-002": (False, True)}
    assert all(entry["rollbackVerified"] for entry in result.summary["qualification"])


def test_s12_11_1_preparing_undoes_the_change(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    subject = folder.parent / "subject"
    (subject / "store.py.in").write_bytes((subject / "store.py").read_bytes())
    edit(
        folder / "experiment.toml",
        ('system_id = "store"\n', 'system_id = "store"\nprepare = [["cp", "store.py.in", "store.py"]]\n'),
    )
    assert codes(folder, tmp_path / "run") == {"Probe[probeId=P-001]": "mutation-without-effect"}


def test_s12_11_2_build_output_that_differs_every_time(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    prepare = 'prepare = [["sh", "-c", "cat /proc/sys/kernel/random/uuid > build.txt"]]\n'
    edit(folder / "experiment.toml", ('system_id = "store"\n', f'system_id = "store"\n{prepare}'))
    with pytest.raises(RunInvalid) as caught:
        drive_here(folder, tmp_path / "run", until="qualify")
    (problem,) = caught.value.problems
    assert (problem.code, problem.artifact_path) == ("restore-digest-mismatch", "Probe[probeId=P-001]")
    assert "different: build.txt;" in problem.detail

    # declared volatile, it is no part of the subject
    edit(folder / "experiment.toml", (prepare, prepare + 'volatile = ["build.txt"]\n'))
    assert codes(folder, tmp_path / "again") == {}


@pytest.mark.slow
def test_s12_27_a_subject_that_cannot_be_prepared(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    prepare = 'prepare = [["python3", "-B", "-c", "import ast; ast.parse(open(\'store.py\').read())"]]\n'
    edit(folder / "experiment.toml", ('system_id = "store"\n', f'system_id = "store"\n{prepare}'))
    # the change breaks the build: nothing can be observed on the damaged arm
    edit(folder / "mutations" / "forgets.toml", ('    if key == "zz":', '    if key = "zz":'))
    assert codes(folder, tmp_path / "run") == {"Probe[probeId=P-001]": "mutation-unobservable"}

    # the same failure on the clean arm is a fault of the subject
    edit(folder.parent / "subject" / "store.py", ("import json, os, sys\n", "import json, os, sys\nprint(\n"))
    with pytest.raises(RunFault) as caught:
        drive_here(folder, tmp_path / "again", until="qualify")
    assert caught.value.problems[0].code == "prepare-failed"
    assert "SyntaxError" in caught.value.problems[0].detail
    assert rows(tmp_path / "again", "SELECT state FROM run_state ORDER BY seq DESC LIMIT 1") == [("failed",)]


@pytest.mark.slow
def test_s12_11_1_state_outside_the_tree_is_not_rolled_back(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    flag = tmp_path / "flag"
    edit(
        folder / "mutations" / "forgets.toml",
        ('    if key == "zz":\n', f'    open("{flag}", "w").close()\n    if key == "zz":\n'),
    )
    edit(
        folder.parent / "subject" / "store.py",
        ("    kept = items()\n    return", f'    kept = {{}} if os.path.exists("{flag}") else items()\n    return'),
    )
    only(folder, defect_draft("python"))
    edit(folder / "probes" / "P-001.json", ('"literal": "one"', '"literal": null'))
    assert codes(folder, tmp_path / "run") == {"Probe[probeId=P-001]": "clean-after-restore-failed"}


def test_s12_12_3_a_clean_subject_that_ignores_its_inputs(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    edit(folder.parent / "subject" / "store.py", ("kept.get(key)", 'kept.get("a")'))
    with pytest.raises(RunInvalid) as caught:
        drive_here(folder, tmp_path / "run")
    assert [problem.code for problem in caught.value.problems] == ["clean-preflight-failed"]
    assert "get" in caught.value.problems[0].detail
    assert (tmp_path / "run" / "preflight" / "fixture.json").exists()


@pytest.mark.slow
def test_s12_12_3_a_defect_that_shows_on_every_call_needs_the_twin(tmp_path: Path) -> None:
    draft = defect_draft("python", mutation="always-false", signature=put_signature("python"))
    for scoping, expected in (("arm", {"Probe[probeId=P-001]": "arm-preflight-failed"}), ("twin", {})):
        folder = write_experiment(tmp_path / scoping, "python", preflight=f'[preflight]\nscoping = "{scoping}"\n')
        change(folder, "always-false")
        only(folder, draft)
        assert codes(folder, tmp_path / scoping / "run") == expected


@pytest.mark.slow
def test_s12_12_3_all_checks_gate_only_when_asked_to(tmp_path: Path) -> None:
    # the damage makes every put answer alike, so the sensitivity of `put` fails on the damaged arm alone
    CHANGE = '    return {"ok": False, "value": "constant"}\n'
    for checks, refused in (("fault", False), ("all", True)):
        folder = write_experiment(tmp_path / checks, "python", preflight=f'[preflight]\narm_checks = "{checks}"\n')
        (folder / "mutations" / "dull.json").write_text(
            json.dumps(
                {
                    "id": "dull",
                    "kind": "replace",
                    "file": "store.py",
                    "find": '    return {"ok": True, "value": value}\n',
                    "replace": CHANGE,
                }
            )
        )
        edit(folder / "experiment.toml", ("[preflight]\n", '[preflight]\nscoping = "twin"\n'))
        only(folder, defect_draft("python", mutation="dull", signature=put_signature("python")))
        found = codes(folder, tmp_path / checks / "run")
        assert found == ({"Probe[probeId=P-001]": "arm-preflight-failed"} if refused else {})


LAUNCHES: dict[str, dict[str, Any]] = {
    "environment": {"kind": "environment", "interface": "store", "set": {"FORGET": "1"}},
    "unset": {"kind": "environment", "interface": "store", "unset": ["KEEP"]},
    "append": {"kind": "argument", "interface": "store", "append": ["--forget"]},
    "swap": {"kind": "argument", "interface": "store", "swap": {"index": 2, "value": "--forget"}},
    "remove": {"kind": "argument", "interface": "store", "remove": [2]},
}


@pytest.mark.parametrize(
    "name", ["environment", *(pytest.param(name, marks=pytest.mark.slow) for name in list(LAUNCHES)[1:])]
)
def test_s12_11_1_a_launch_change_runs_the_same_cycle(name: str, tmp_path: Path) -> None:
    """A server that forgets when its environment or its arguments say so."""
    folder = write_experiment(tmp_path, "mcp")
    forget = '"FORGET" in os.environ or "KEEP" not in os.environ or "--forget" in sys.argv or "--keep" not in sys.argv'
    edit(
        folder.parent / "subject" / "store.py",
        (
            "    kept[key] = value\n",
            f"    if {forget}:\n        return {{'ok': key != 'zz', 'value': value}}\n    kept[key] = value\n",
        ),
    )
    edit(
        folder / "experiment.toml",
        ('"store.py"]\n', '"store.py", "--keep"]\nenvironment = { KEEP = "1" }\n'),
    )
    (folder / "mutations" / "forgets.toml").unlink()
    (folder / "mutations" / "launch.json").write_text(json.dumps({"id": "forgets", **LAUNCHES[name]}))
    only(folder, defect_draft("mcp"))
    result = drive_here(folder, tmp_path / "run", trials=1)
    assert result.summary is not None
    assert [cell["state"] for cell in result.summary["cells"]] == ["caught"]
    probe = json.loads((tmp_path / "run" / "probes" / "P-001.json").read_text())
    target = probe["qualification"]["targetArtifact"]
    assert target["path"] == "qualification/P-001/launch.json"
    launch = json.loads((tmp_path / "run" / target["path"]).read_text())
    assert launch["clean"] != launch["mutated"]
    assert probe["qualification"]["rollbackVerified"] is True


ODD = {
    "crlf": b"a\r\nmark\r\nb",
    "bom": b"\xef\xbb\xbfmark\n",
    "invalid": b"\xff\xfe\x00mark\x80",
    "final": b"mark\n",
    "no-final": b"mark",
}


@pytest.mark.slow
def test_s12_11_1_bytes_and_modes_survive_a_cycle(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    subject = folder.parent / "subject"
    (folder / "mutations" / "forgets.toml").unlink()
    probes: list[dict[str, Any]] = []
    # the subject forgets whenever any of the odd files is not what it was
    lines = "".join(f"    {content!r},\n" for content in ODD.values())
    edit(
        subject / "store.py",
        (
            "    kept[key] = value\n",
            "    if not whole():\n        return {'ok': key != 'zz', 'value': value}\n    kept[key] = value\n",
        ),
        (
            "def items():\n",
            f"CONTENTS = [\n{lines}]\n\n\ndef whole():\n    import glob\n"
            "    found = [open(name, 'rb').read() for name in glob.glob('odd/*')]\n"
            "    return sorted(found) == sorted(CONTENTS)\n\n\ndef items():\n",
        ),
    )
    (subject / "odd").mkdir()
    for number, ((name, content), mode) in enumerate(
        zip(ODD.items(), (0o644, 0o755, 0o600, 0o640, 0o444), strict=True), 1
    ):
        (subject / "odd" / name).write_bytes(content)
        (subject / "odd" / name).chmod(mode)
        (folder / "mutations" / f"{name}.json").write_text(
            json.dumps(
                {
                    "id": name,
                    "kind": "replace",
                    "file": f"odd/{name}",
                    "encoding": "base64",
                    "find": "bWFyaw==",
                    "replace": "bWFyaywh",
                }
            )
        )
        probes.append({**defect_draft("python", mutation=name), "probe_id": f"P-00{number}"})
    only(folder, *probes)
    assert codes(folder, tmp_path / "run") == {}
    for body in rows(tmp_path / "run", "SELECT body FROM capture WHERE item_id LIKE 'qualify/%'"):
        assert json.loads(body[0])["rollbackVerified"] is True


@pytest.mark.slow
def test_s12_11_1_stale_bytecode_is_no_trap(tmp_path: Path) -> None:
    """An edit of equal length within one second, with caches that only the time stamp keeps honest (T12-11)."""
    folder = write_experiment(tmp_path, "python")
    edit(
        folder / "experiment.toml",
        (
            'system_id = "store"\n',
            'system_id = "store"\nvolatile = ["none"]\n'
            'prepare = [["/usr/bin/python3", "-m", "compileall", "-q", "store.py"]]\n',
        ),
    )
    # one character for another: `kept[key]` becomes `kepu[key]` of a second dictionary
    edit(
        folder.parent / "subject" / "store.py",
        (
            "    kept = items()\n    kept[key] = value\n",
            "    kept = items()\n    kepu = {}\n    if key == 'zz' and 1 == 0:\n"
            "        return {'ok': False, 'value': value}\n    kept[key] = value\n",
        ),
    )
    (folder / "mutations" / "forgets.toml").write_text(
        'id = "forgets"\nkind = "replace"\nfile = "store.py"\n'
        'find = "kept[key] = value"\nreplace = "kepu[key] = value"\n'
    )
    only(
        folder,
        {**defect_draft("python"), "defects": [{"defect_id": "D-001", "summary": "lost", "severity": "material"}]},
    )
    (subject,) = [json.loads(body) for (body,) in [*_cycle(folder, tmp_path / "run")]]
    assert subject["rollbackVerified"] is True
    assert subject["failure"] is None


def _cycle(folder: Path, directory: Path) -> list[tuple[Any, ...]]:
    """The captured cycle of a run that need not pass the gate behind it."""
    codes(folder, directory)
    return rows(directory, "SELECT body FROM capture WHERE item_id = 'qualify/P-001'")


def test_s12_11_1_a_copy_that_is_not_the_snapshot_is_drift(tmp_path: Path) -> None:
    prepared = planned(write_experiment(tmp_path, "python"))
    workshop = Workshop(str(tmp_path), TreeRules(), (), lambda _: b"something else", lambda _: None)
    with pytest.raises(RunInvalid) as caught:
        workshop.build("clean", prepared.clean)
    assert caught.value.problems[0].code == "workspace-drift"


@pytest.mark.slow
def test_s12_11_1_a_clean_control_is_the_same_every_time(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    edit(
        folder.parent / "subject" / "store.py",
        (
            'return {"ok": True, "value": value}',
            'return {"ok": True, "value": value, "at": os.getpid()}',
        ),
    )
    contract = json.loads((folder / "contract.json").read_text())
    descriptor = contract["permittedInterfaces"][0]["operations"][0]["responseDescriptor"]
    descriptor["permittedKeys"].append("at")
    descriptor["types"]["at"] = "number"
    (folder / "contract.json").write_text(json.dumps(contract))
    (folder / "probes" / "p-001.json").unlink()
    found = codes(folder, tmp_path / "run")
    assert found == {"Probe[probeId=P-002]": "clean-arm-failed"}
    # what is declared volatile may differ
    contract["permittedInterfaces"][0]["operations"][0]["volatilePointers"] = ["/at"]
    (folder / "contract.json").write_text(json.dumps(contract))
    assert codes(folder, tmp_path / "again") == {}


def test_s12_12_1_another_probe_moves_no_other_artifact(tmp_path: Path) -> None:
    """T12-13, T12-14: two probes with one symptom are measured side by side, and neither moves the other's files."""
    folder = write_experiment(tmp_path, "python")
    drive_here(folder, tmp_path / "one", trials=1)
    (folder / "probes" / "p-003.json").write_text(json.dumps({**defect_draft("python"), "probe_id": "P-003"}))
    result = drive_here(folder, tmp_path / "two", trials=1)
    assert result.summary is not None
    assert {cell["state"] for cell in result.summary["cells"]} == {"caught", "passed"}
    assert result.summary["aggregates"][0]["complete"] is True
    one = json.loads((tmp_path / "one" / "summary.json").read_text())
    assert one["digests"]["fixture"] == result.summary["digests"]["fixture"]
    assert one["digests"]["corpus"] != result.summary["digests"]["corpus"]
    same = [
        path
        for path in (tmp_path / "one").rglob("*.json")
        if path.relative_to(tmp_path / "one").parts[0] in ("preflight", "qualification", "probes", "evaluators")
        or path.name.startswith(("record-", "actions-", "isolation"))
    ]
    assert len(same) >= 12
    for path in same:
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_s12_27_a_refused_probe_is_named_on_standard_error(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python")
    change(folder, "inert")
    only(folder, defect_draft("python", mutation="inert"))
    ended = run(folder, tmp_path / "run")
    assert (ended.code, ended.out) == (3, "")
    assert "eval-quality: mutation-inert: Probe[probeId=P-001]: no check was violated:" in ended.err
    refused = run(folder, tmp_path / "run")
    assert refused.code == 5
    assert "the run directory is not empty" in refused.err


def test_the_catalogue_names_every_change_once() -> None:
    source = (Path(__file__).parents[2] / "support" / "experiments.py").read_text()
    assert all(source.count(find.strip()) >= 1 for find, _ in CHANGES.values())
    assert replacing({"a": {"literal": 1}}, 1, 2) == {"a": {"literal": 2}}
