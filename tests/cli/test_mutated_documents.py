"""Whatever is in a document, a command answers with a documented exit code and never with a traceback.

One member of one input of the example is changed at random; the command runs whole, inside this process.
"""

import json
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from support.program import Outcome, call

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes-api"
ROUNDS = 500
CODES = {
    "compile": {0, 4, 5},
    "seal": {0, 4, 5},
    "preflight": {0, 3, 4, 5},
    "score": {0, 2, 3, 5, 64},
    "aggregate-strength": {0, 4, 5},
}
INPUTS = {
    "compile": {"--in": "contract.json"},
    "seal": {"--in": "contract.json"},
    "preflight": {"--contract": "contract.json", "--probes": "probes.json", "--observations": "observations.json"},
    "score": {
        "--record": "runs/P-001/record-1.json",
        "--isolation-manifest": "runs/P-001/isolation-manifest.json",
        "--evaluator-configuration": "evaluator-configuration.json",
        "--contract": "contract.json",
        "--probe": "probes/P-001.json",
        "--preflight-verdict": "expected/preflight-verdict.json",
        "--policy": "policy.json",
    },
    "aggregate-strength": {
        "--evidence": "expected/P-001.json",
        "--floors": "floors.json",
        "--policy": "policy.json",
    },
}
MORE = {"preflight": ["--run-id", "r"], "score": ["--corpus-digest", "sha256:" + "0" * 64]}
JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**15,
    "",
    "x",
    "O-001",
    "B-001",
    "n-1",
    "write",
    "observed",
    "change-note",
    "/interactions/write/response-body",
    "/interactions/read-back/response-body/note/title",
    "@/",
    "^a$",
    "\u0000\u001b",
    "\ud83d\ude00",
    [],
    {},
    [None],
    {"": ""},
    {"pointer": "/interactions/write/response-status"},
    {"literal": []},
    {"op": "existence", "operands": [{"pointer": "/interactions/write/response-body/note"}]},
    {"kind": "json", "value": None},
    {"kind": "absent"},
]


def load(file: str) -> Any:
    return json.loads((EXAMPLE / file).read_text(encoding="utf-8"))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        current = pending.pop()
        members = current.items() if isinstance(current, dict) else enumerate(current)
        for key, member in list(members):
            found.append((current, key))
            if isinstance(member, dict | list):
                pending.append(member)
    return found


def mutate(document: Any, chance: random.Random) -> None:
    """Change one member of `document` in place."""
    if not document:
        document["extra"] = chance.choice(JUNK)
    holder, key = chance.choice(places(document))
    action = chance.randrange(5)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, list):
        holder.append(deepcopy(holder[key]))
    elif action == 2:
        other, name = chance.choice(places(document))
        holder[key] = deepcopy(other[name])
    elif action == 3 and isinstance(holder, dict):
        holder[chance.choice(["extra", "__proto__", "", "schemaVersion"])] = chance.choice(JUNK)
    else:
        holder[key] = deepcopy(chance.choice(JUNK))


def attempt(command: str, flag: str, document: Any, folder: Path) -> Outcome:
    path = folder / "mutated.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    words = [
        word for name, file in INPUTS[command].items() for word in (name, path if name == flag else EXAMPLE / file)
    ]
    return call(command, *words, *MORE.get(command, []))


CASES = [(command, flag) for command, inputs in INPUTS.items() for flag in inputs]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "flag"), CASES, ids=[f"{command}{flag}" for command, flag in CASES])
def test_a_mutated_document_never_ends_in_a_traceback(command: str, flag: str, tmp_path: Path) -> None:
    original = load(INPUTS[command][flag])
    chance = random.Random(f"{command}{flag}")
    seen: set[int] = set()
    for _ in range(ROUNDS):
        document = deepcopy(original)
        for _ in range(chance.randrange(1, 4)):
            mutate(document, chance)
        outcome = attempt(command, flag, document, tmp_path)
        detail = f"{outcome.code}: {outcome.err}\n{json.dumps(document)}"
        assert outcome.code in CODES[command], detail
        assert "Traceback" not in outcome.err, detail
        assert all(line.startswith(("eval-quality: ", "  ")) for line in outcome.lines), detail
        assert (outcome.out == "") is (outcome.code in (4, 5, 64) or (command == "score" and outcome.code == 3)), detail
        seen.add(outcome.code)
    assert len(seen) > 1
