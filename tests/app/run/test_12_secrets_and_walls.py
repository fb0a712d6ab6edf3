"""What no evaluator, no file and no output may hold: spec 12 §12.16; spec 13 §13.9, §13.12."""

import base64
import json
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from eval_quality.run.confine import bubblewrap
from support.experiments import write_experiment
from support.reviewers import HEAD, write_reviewed
from support.runs import edit, eval_quality, files, rows, run, write_json

SECRET = "s3cr3t-Value+with/odd=chars"
needs_bwrap = pytest.mark.skipif(bubblewrap.find_program() is None, reason="bubblewrap is not installed")


def forms(secret: str) -> list[bytes]:
    """The value, and the base64 forms it takes at each of the three alignments."""
    data = secret.encode()
    return [data, *(base64.b64encode(b"x" * shift + data)[4 if shift else 0 : -4] for shift in range(3))]


@pytest.mark.parametrize("kind", ["python", pytest.param("api", marks=pytest.mark.slow)])
def test_s13_12_a_secret_the_subject_gives_back_is_nowhere(kind: str, tmp_path: Path) -> None:
    """A subject that shows its credential in every answer, in every crash text and on both streams."""
    folder = write_experiment(tmp_path, kind, run="trials = 1\n", secrets='[secrets]\nenv = ["TOKEN"]\n')
    where = '"--"' if kind == "python" else '"x"'
    edit(
        folder / "experiment.toml",
        (f'kind = "{kind}"\n', f'kind = "{kind}"\nenvironment = {{ KEY = "{{secret:TOKEN}}" }}\n'),
    )
    edit(
        folder.parent / "subject" / "store.py",
        ('return {"ok": True, "value": value}', 'return {"ok": True, "value": value, "note": leak()}'),
        (
            "def items():\n",
            "def leak():\n    import base64\n    key = os.environ['KEY']\n"
            "    print(key, file=sys.stderr)\n    print(key)\n"
            f"    return key + {where} + base64.b64encode(key.encode()).decode()\n\n\ndef items():\n",
        ),
    )
    contract = json.loads((folder / "contract.json").read_text())
    descriptor = contract["permittedInterfaces"][0]["operations"][0]["responseDescriptor"]
    descriptor["permittedKeys"].append("note")
    descriptor["types"]["note"] = "string"
    write_json(folder / "contract.json", contract)

    ended = run(folder, tmp_path / "run", environment={"TOKEN": SECRET})
    assert ended.code == 0, ended.err
    record = (tmp_path / "run/cells/deterministic/P-002/record-1.json").read_text()
    assert '"note":"[redacted' in record
    kept = files(tmp_path / "run")
    assert len(kept) > 40
    for form in forms(SECRET):
        assert form not in (ended.out + ended.err).encode()
        assert [name for name, data in kept.items() if form in data] == []
    # the file that names it keeps the name
    assert b"{secret:TOKEN}" in b"".join(kept.values())


def test_s13_12_a_secret_that_is_not_set_stops_the_run(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "python", secrets='[secrets]\nenv = ["EVAL_QUALITY_NO_SUCH_TOKEN"]\n')
    ended = run(folder, tmp_path / "run")
    assert ended.code == 4
    assert "secret-unusable: Experiment.secrets.env: EVAL_QUALITY_NO_SUCH_TOKEN: it is not set" in ended.err
    assert not (tmp_path / "run").exists() or rows(tmp_path / "run", "SELECT count(*) FROM attempt") == [(0,)]


RECORDER = (
    HEAD
    + """
import hashlib

seen = {"brief": brief, "operations": ask("operations"), "budget": ask("budget")["callsLeft"], "argv": sys.argv}
seen["environment"] = dict(sorted(os.environ.items()))
seen["answers"] = [
    ask("call", interfaceId="store", operationId="get", inputs={"option": {"key": key}}) for key in ("a", "b", "a")
] + [ask("call", interfaceId="store", operationId="put", inputs={"option": {"key": "a", "value": "mine"}})]
seen["refused"] = ask("call", interfaceId="store", operationId="nope", inputs={})
seen["observations"] = ask("observations")
seen["where"] = [os.getcwd(), os.uname().nodename, os.getuid() == 0, sorted(os.listdir("/proc/self/fd"))[:3]]
tree = {}
for top in ("/box", "/eq", "/tmp"):
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    tree[path] = hashlib.sha256(file.read()).hexdigest()
seen["tree"] = tree
print(json.dumps(seen, sort_keys=True), file=sys.stderr)
"""
)


def transcripts(directory: Path, *probes: str) -> list[bytes]:
    """What the recording reviewer wrote to standard error, trial by trial."""
    connection = sqlite3.connect(f"file:{directory / 'journal.sqlite3'}?mode=ro", uri=True)
    try:
        found = connection.execute(
            "SELECT item_id, digest FROM attachment WHERE name = 'stderr' ORDER BY item_id"
        ).fetchall()
    finally:
        connection.close()
    shown: list[bytes] = []
    for item, digest in found:
        if not probes or item.split("/")[2] in probes:
            name = digest.removeprefix("sha256:")
            shown.append((directory / "private" / "blobs" / name[:2] / name[2:]).read_bytes())
    return shown


@pytest.mark.slow
@needs_bwrap
def test_s12_16_3_an_evaluator_receives_the_same_on_every_arm(tmp_path: Path) -> None:
    """T12-24: the subject's replies are constant, so nothing else may tell the arms apart."""
    folder = write_reviewed(tmp_path, "python", {"recorder": RECORDER}, run="trials = 2\n")
    edit(
        folder.parent / "subject" / "store.py",
        (
            '    options = request["channels"]["option"]\n',
            '    options = request["channels"]["option"]\n    if BLIND():\n'
            '        return 0, \'{"ok": true, "value": "same"}\'\n',
        ),
    )
    # constant only while the recorder asks: qualification needs the arms to differ
    switch = tmp_path / "switch"
    edit(
        folder.parent / "subject" / "store.py",
        ("def items():\n", f"def BLIND():\n    return os.path.exists({str(switch)!r})\n\n\ndef items():\n"),
    )
    write_json(folder / "replies" / "echo.json", _echo())
    write_json(
        folder / "probes" / "p-003.json",
        {
            "probe_id": "P-003",
            "class": "gameability",
            "behavior_id": "B-001",
            "rationale": "echo",
            "arm": {"reply": "echo"},
            "degenerate_response": "echoes",
            "naive": {"oracle": "O-002"},
            "signature": json.loads((folder / "probes" / "p-001.json").read_text())["signature"],
        },
    )
    confined = ("--confine", "bwrap")
    edit(folder / "experiment.toml", ("", f'[confine.subject]\nread = ["{tmp_path / "shown"}"]\n'))
    (tmp_path / "shown").mkdir()
    switch = tmp_path / "shown" / "switch"
    edit(folder.parent / "subject" / "store.py", (str(tmp_path / "switch"), str(switch)))
    first = run(folder, tmp_path / "run", *confined, "--until", "qualify")
    assert first.code == 0, first.err
    switch.write_text("")
    ended = eval_quality("run", "--resume", tmp_path / "run", "--progress", "none")
    assert ended.code in (0, 2, 3), ended.err
    live = transcripts(tmp_path / "run", "P-001", "P-002")
    assert len(live) == 4
    assert len(set(live)) == 1
    said = json.loads(live[0])
    assert said["where"][:2] == ["/box", "eq"]
    # an interpreter that is installed where the recorder looks is granted by name
    found = {path for path in said["tree"] if not path.startswith(f"{sys.prefix}/")}
    assert found == {"/box/reviewer.py", "/eq/bridge.py"}
    # what a canned reply answers differs, everything around it does not
    canned = {
        json.dumps({**json.loads(text), "answers": [], "observations": []}) for text in transcripts(tmp_path / "run")
    }
    assert len(canned) == 1


def _echo() -> dict[str, object]:
    def observation(value: dict[str, object]) -> dict[str, object]:
        return {
            "exitCode": 0,
            "stdout": {"kind": "json", "value": value},
            "stderr": {"kind": "absent"},
            "artifacts": {},
        }

    return {
        "id": "echo",
        "answers": [
            {
                "interface_id": "store",
                "operation_id": "put",
                "observation": observation({"ok": True, "value": "changed"}),
            },
            {"interface_id": "store", "operation_id": "get", "observation": observation({"value": "one"})},
        ],
    }


CHEAT = (
    HEAD
    + """
import base64, socket, stat

found = []
needles = json.loads(TOKENS)
forms = [text.encode() for text in needles] + [base64.b64encode(text.encode()).rstrip(b"=")[:-1] for text in needles]


def look(where, data):
    for form in forms:
        if form in data:
            found.append([where, form.decode()])


def attempt(name, action):
    try:
        outcome = action()
    except BaseException as error:
        outcome = type(error).__name__
    print(json.dumps([name, repr(outcome)[:200]]), file=sys.stderr)
    return outcome


def sweep(top):
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/usr", "/proc", "/sys", "/lib")]
        for name in [*names, *folders]:
            look(os.path.join(folder, name), name.encode())
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISREG(os.stat(path).st_mode) and os.path.getsize(path) < 4 << 20:
                    with open(path, "rb") as file:
                        look(path, file.read())
            except OSError:
                pass


def processes():
    for name in os.listdir("/proc"):
        if name.isdigit():
            for file in ("environ", "cmdline", "maps", "mountinfo"):
                try:
                    with open(f"/proc/{name}/{file}", "rb") as content:
                        data = content.read()
                except OSError:
                    continue
                if file != "mountinfo":
                    look(f"/proc/{name}/{file}", data)
    return sorted(name for name in os.listdir("/proc") if name.isdigit())


look("environment", repr(sorted(os.environ.items())).encode())
look("stdin", json.dumps(brief).encode())
look("surface", json.dumps(ask("operations")).encode())
look("answers", json.dumps([ask("call", interfaceId="store", operationId="get", inputs={"option": {"key": "b"}}),
                            ask("call", interfaceId="nope", operationId="nope"), ask("observations"),
                            ask("submit", submission={"schemaVersion": 1})]).encode())
attempt("processes", processes)
sweep("/")
for target in json.loads(PLACES):
    attempt(f"read {target}", lambda: os.listdir(target) if os.path.isdir(target) else open(target, "rb").read(80))
    attempt(f"write {target}", lambda: open(os.path.join(target, "x"), "w"))
attempt("write /eq", lambda: open("/eq/x", "w"))
attempt("write /usr", lambda: open("/usr/x", "w"))
attempt("network", lambda: socket.create_connection(("1.1.1.1", 53), 2))
attempt("loopback", lambda: socket.create_connection(("127.0.0.1", PORT), 2))
attempt("names", lambda: socket.getaddrinfo("example.com", 80))
attempt("kill the runner", lambda: os.kill(os.getppid(), 0) if os.getppid() > 2 else "no runner here")
history = ["git", "-C", json.loads(PLACES)[0], "log"]
attempt("git", lambda: subprocess.run(history, capture_output=True, timeout=5).returncode)
print(json.dumps(["found", found]), file=sys.stderr)
"""
)


@pytest.mark.slow
@needs_bwrap
def test_s12_16_3_a_cheating_evaluator_finds_none_of_the_planted_tokens(tmp_path: Path) -> None:
    """T12-25: a token in every private string of the experiment, the runner's environment, the store and the home."""
    tokens: list[str] = []

    def token(where: str) -> str:
        tokens.append(f"TOKEN-{where}-{len(tokens):04d}-7f3a9c")
        return tokens[-1]

    listener = socket.create_server(("127.0.0.1", 0))
    root, home, store = tmp_path / token("folder"), tmp_path / "home", tmp_path / "store"
    places = [root, home, store]
    home.mkdir()
    folder = write_reviewed(root, "python", {"cheat": ""}, run="trials = 1\n")
    listed, port = json.dumps([str(place) for place in places]), listener.getsockname()[1]

    contract = json.loads((folder / "contract.json").read_text())
    contract["interactionPlan"][0]["inputBinding"]["option"]["value"] = {"literal": token("plan-value")}
    contract["oracles"][0]["commentary"] = token("commentary")
    contract["permittedInterfaces"][0]["operations"][0]["sensitivityWitness"]["witnessId"] = token("witness").lower()
    tokens[-1] = tokens[-1].lower()
    write_json(folder / "contract.json", contract)
    for file in ("probes/p-001.json", "probes/p-002.json"):
        draft = json.loads((folder / file).read_text())
        draft["rationale"] = token("rationale")
        draft["expected_failure" if "1" in file else "no_known_defect"] = token("expectation")
        for defect in draft.get("defects", []):
            defect["summary"] = token("defect")
        write_json(folder / file, draft)
    edit(
        folder / "experiment.toml",
        (
            'evalQuality = "experiment/1"\n',
            f'# {token("comment")}\nevalQuality = "experiment/1"\ntitle = "{token("title")}"\n',
        ),
        ('system_id = "store"\n', f'system_id = "{token("system")}"\nrevision = "{token("revision")}"\n'),
    )
    edit(folder / "mutations" / "forgets.toml", ('operator = "drop-the-write"', f'operator = "{token("operator")}"'))
    edit(folder.parent / "subject" / "store.py", ("import json", f"# {token('source')}\nimport json"))
    (folder / f"{token('file-name')}.txt").write_text(token("stray"))
    (folder.parent / "subject" / "secret.txt").write_text(token("subject-file"))
    (home / "notes").write_text(token("home"))
    store.mkdir()
    (store / "other").write_text(token("store"))
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", token("git")],
    ):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    environment = {"PRIVATE_TOKEN": token("environment"), "HOME": str(home)}
    program = f"TOKENS = {json.dumps(tokens)!r}\nPLACES = {listed!r}\nPORT = {port}\n"
    (folder / "cheat" / "reviewer.py").write_text(program + CHEAT)

    with listener:
        ended = eval_quality(
            *("run", folder, "--store", store, "--confine", "bwrap", "--progress", "none"),
            environment=environment,
            cwd=root,
        )
    assert ended.code in (0, 2), ended.err
    (directory,) = (store / "runs" / "store-python").iterdir()
    said = transcripts(directory)
    assert len(said) == 2
    for text in said:
        lines = [json.loads(line) for line in text.decode().splitlines() if line.startswith("[")]
        outcomes = dict(lines)
        # its own program names the tokens it looks for; nothing else does
        hits = [hit for hit in outcomes.pop("found") if not hit[0].startswith(("/box/reviewer.py", "/proc/self"))]
        assert hits == []
        assert outcomes.pop("processes").count("'") <= 2 * 4
        refused = ("FileNotFoundError", "PermissionError", "OSError", "gaierror", "ConnectionRefusedError", "[]", "128")
        allowed = {name: outcome for name, outcome in outcomes.items() if not outcome.strip("'").startswith(refused)}
        assert {name: outcome for name, outcome in allowed.items() if "no runner here" not in outcome} == {}
        assert len(outcomes) >= 12
