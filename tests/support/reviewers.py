"""External evaluators for tests of `run`: one honest reviewer in three transports, and reviewers that behave badly."""

import json
from pathlib import Path
from typing import Any

from support.experiments import write_experiment

PUT_AND_GET = {
    "cli": ({"option": {"key": "a", "value": "mine"}}, {"option": {"key": "a"}}, "stdout"),
    "python": ({"option": {"key": "a", "value": "mine"}}, {"option": {"key": "a"}}, "stdout"),
    "mcp": ({"arguments": {"key": "a", "value": "mine"}}, {"arguments": {"key": "a"}}, "response-body"),
    "api": ({"path": {"key": "a"}, "body": {"value": "mine"}}, {"path": {"key": "a"}}, "response-body"),
}
"""What the honest reviewer sends to `put` and `get`, and where it reads the answer."""

HEAD = """\
import json, os, subprocess, sys
sys.path.insert(0, os.path.dirname(os.environ["EVAL_QUALITY_BRIDGE"]))
from bridge import ask

brief = json.load(sys.stdin)
"""

JUDGE = """
def submission(answer, channel):
    text = answer["evidence"][channel]
    lost = json.loads(text)["value"] != "mine"
    ids = [answer["observationId"]]
    finding = {
        "findingType": "defect", "oracleId": "O-001", "severity": "material", "summary": "the put was lost",
        "confidence": 0.9, "observationIds": ids,
        "quotedEvidence": [{"quote": text, "channel": channel, "artifactId": None}],
    }
    return {
        "schemaVersion": 1, "recommendation": "FAIL" if lost else "PASS",
        "dispositions": [{"oracleId": "O-001", "disposition": "violated" if lost else "held", "observationIds": ids}],
        "findings": [finding] if lost else [],
    }
"""


def honest(kind: str, transport: str = "bridge") -> str:
    """Puts a value, reads it back, and says what it saw: by the socket, on standard output, or by the command form."""
    put, get, channel = PUT_AND_GET[kind]
    act = "ask('call', interfaceId='store', operationId={0!r}, inputs={1!r})"
    command = "command('call', 'store', {0!r}, json.dumps({1!r}))"
    form = command if transport == "command" else act
    ending = {
        "bridge": "answer = ask('submit', submission=said)\nassert answer['accepted'], answer\n",
        "stdout": "print(json.dumps(said, indent=1))\n",
        "command": "answer = command('submit', stdin=json.dumps(said))\nassert answer['accepted'], answer\n",
    }[transport]
    spawn = (
        "def command(*words, stdin=''):\n"
        "    program = os.environ['EVAL_QUALITY_BRIDGE_COMMAND'].split()\n"
        "    done = subprocess.run([*program, *words], input=stdin, capture_output=True, text=True)\n"
        "    return json.loads(done.stdout)\n\n"
    )
    return (
        HEAD
        + spawn
        + JUDGE
        + f"{form.format('put', put)}\nseen = {form.format('get', get)}\nsaid = submission(seen, {channel!r})\n"
        + ending
    )


BAD: dict[str, tuple[str, str]] = {
    "says nothing": ("", "exited-without-submission"),
    "garbage": ("print('no json at all')\n", "malformed-submission"),
    "another document": ("print('{\"schemaVersion\": 1}')\n", "malformed-submission"),
    "crashes": ("sys.exit(3)\n", "crashed"),
    "killed": ("os.kill(os.getpid(), 9)\n", "crashed"),
    "prints without end": ("while True:\n    print('x' * 65536)\n", "malformed-submission"),
    "never ends": ("import time\ntime.sleep(600)\n", "time-cap"),
    "submits garbage thrice": (
        "for _ in range(4):\n    ask('submit', submission={'schemaVersion': 9})\n",
        "malformed-submission",
    ),
    "daemonizes": (
        "if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 3)\n"
        "    if os.fork() == 0:\n        import time\n        time.sleep(600)\n"
        "    os._exit(0)\n",
        "exited-without-submission",
    ),
    "breaks the bridge": (
        "import socket\nfor line in (b'nonsense\\n', b'[' * 100000 + b'\\n', b'{\"op\": 1}\\n', b'x' * (3 << 20)):\n"
        "    with socket.socket(socket.AF_UNIX) as s:\n        s.connect(os.environ['EVAL_QUALITY_BRIDGE'])\n"
        "        try:\n            s.sendall(line)\n            s.shutdown(1)\n            s.recv(65536)\n"
        "        except OSError:\n            pass\n",
        "exited-without-submission",
    ),
}
"""What a badly behaved reviewer does, and how its trial ends (spec 12 §12.14.5)."""


def evaluator(name: str, **fields: Any) -> str:
    """The table of a command evaluator whose program lies in its own workspace `<name>/`."""
    table: dict[str, Any] = {
        "id": name,
        "kind": "command",
        "command": ["python3", "-B", "reviewer.py"],
        "workspace": name,
        **fields,
    }
    return "\n[[evaluator]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


def write_reviewed(root: Path, kind: str, reviewers: dict[str, str], *, only: bool = True, **tables: str) -> Path:
    """An experiment with external reviewers (name -> program); `only` leaves the built-in evaluator out."""
    fields = tables.pop("fields", "")
    names = [*reviewers] if only else ["deterministic", *reviewers]
    run = tables.pop("run", "trials = 1\n")
    folder = write_experiment(
        root,
        kind,
        run=f"evaluators = {json.dumps(names)}\n{run}",
        **tables,
        evaluators="".join(evaluator(name) + fields for name in reviewers),
    )
    for name, program in reviewers.items():
        (folder / name).mkdir()
        (folder / name / "reviewer.py").write_text(program)
    return folder


ATTESTED = [
    word
    for name in (
        "original-spec",
        "source-code",
        "repository",
        "builder-transcript",
        "implementation-logs",
        "comparator-results",
        "human-labels",
    )
    for word in ("--attest", f"{name}=kept apart by hand")
]
"""The statements that make an unconfined evaluator's cells count."""
