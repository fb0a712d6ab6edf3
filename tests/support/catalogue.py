"""Toy subjects for qualification: one planted change per way in which a probe can fail to qualify (spec 12 §12.11).

Everything is a change of the store of `support.experiments`, so each case exists for every subject kind.
"""

import json
from pathlib import Path
from typing import Any

from support.experiments import defect_draft, signature, write_experiment

KEEP = "    kept[key] = value\n"
LOST = '    if key == "zz":\n        return {"ok": False, "value": value}\n'

CHANGES = {
    "forgets": (KEEP, LOST),
    "inert": ('FILE = "items.json"\n', 'FILE = "things.json"\n'),
    "floods": ("def items():\n", 'def items():\n    print("x" * (1 << 20), flush=True)\n    os._exit(3)\n'),
    "always-false": ('{"ok": True, "value": value}', '{"ok": False, "value": value}'),
}
"""Mutation id -> the text it replaces in `store.py`, and by what."""


def mutation(name: str) -> str:
    """The document of one mutation."""
    find, replace = CHANGES[name]
    return json.dumps({"id": name, "kind": "replace", "file": "store.py", "find": find, "replace": replace})


def channel(kind: str) -> str:
    """Where an answer of the store stands."""
    return "response-body" if kind in ("mcp", "api") else "stdout"


def replacing(value: Any, old: Any, new: Any) -> Any:
    """A JSON value with one literal in another's place."""
    if isinstance(value, dict):
        if value == {"literal": old}:
            return {"literal": new}
        return {key: replacing(child, old, new) for key, child in value.items()}
    return [replacing(child, old, new) for child in value] if isinstance(value, list) else value


def put_signature(kind: str) -> dict[str, Any]:
    """Any put that is refused."""
    made = replacing(signature(kind), "one", False)
    text = json.dumps(made).replace(f"{channel(kind)}/value", f"{channel(kind)}/ok")
    text = text.replace('"get"', '"put"').replace('"GET"', '"PUT"')
    made = json.loads(text)
    made["condition"]["selector"]["inputBinding"] = {
        name: None if keys is None else {"key": {"matcher": "any"}}
        for name, keys in made["condition"]["selector"]["inputBinding"].items()
    }
    return made


def accepted(kind: str) -> dict[str, Any]:
    """A check that the probe owns: the put of the plan was accepted."""
    operands = [{"pointer": f"/interactions/write/{channel(kind)}/ok"}, {"literal": True}]
    return {"id": "accepted", "expression": {"op": "equality", "operands": operands}}


def reply_draft(kind: str, reply: str) -> dict[str, Any]:
    """A probe of a committed reply: naive is believing the answer, disciplined is reading back."""
    return {
        "class": "gameability",
        "behavior_id": "B-001",
        "rationale": "A store that only echoes satisfies whoever believes the answer.",
        "arm": {"reply": reply},
        "degenerate_response": "echoes what was put and answers reads with the start value",
        "naive": {"oracle": "O-002"},
        "signature": signature(kind),
    }


def reply(kind: str, name: str, put_value: str, get_value: str) -> dict[str, Any]:
    """A reply that answers every put and every get with one value each."""

    def observation(value: dict[str, Any]) -> dict[str, Any]:
        body = {"kind": "json", "value": value}
        if kind == "mcp":
            return {"isError": False, "result": body}
        if kind == "api":
            return {"status": 200, "headers": {}, "body": body}
        return {"exitCode": 0, "stdout": body, "stderr": {"kind": "absent"}, "artifacts": {}}

    answers = {"put": {"ok": True, "value": put_value}, "get": {"value": get_value}}
    return {
        "id": name,
        "answers": [
            {"interface_id": "store", "operation_id": operation, "observation": observation(value)}
            for operation, value in answers.items()
        ],
    }


def drafts(kind: str) -> dict[str, tuple[dict[str, Any], str | None]]:
    """Probe id -> its draft, and the code it is refused with (None: it qualifies)."""
    plain = defect_draft(kind)
    fires = replacing(plain, False, True)
    listed: list[tuple[dict[str, Any], str | None]] = [
        (defect_draft(kind), None),
        (defect_draft(kind, covers=["O-002"]), None),
        (defect_draft(kind, mutation="inert"), "mutation-inert"),
        (defect_draft(kind, mutation="floods"), "mutation-unobservable"),
        ({**plain, "signature": replacing(signature(kind), "one", "two")}, "mutation-spills-over"),
        (
            defect_draft(
                kind,
                mutation="always-false",
                signature=replacing(put_signature(kind), False, []),
                checks=[accepted(kind)],
            ),
            "signature-vacuous",
        ),
        (fires, "fault-fires-on-clean"),
        ({**plain, "signature": replacing(signature(kind), "one", "changed")}, "signature-fires-on-clean"),
        ({**plain, "signature": None}, "probe-unqualified"),
        (defect_draft(kind, mutation="always-false", signature=put_signature(kind)), "arm-preflight-failed"),
        ({**plain, "class": "canary", "indicts": "corpus", "signature": None}, None),
        ({**plain, "class": "zero-action"}, None),
        (reply_draft(kind, "echo"), None),
        (reply_draft(kind, "wrong"), "gameability-not-naive"),
        (reply_draft(kind, "right"), "gameability-not-rejected"),
    ]
    made: dict[str, tuple[dict[str, Any], str | None]] = {}
    for number, (draft, code) in enumerate(listed, 101):
        made[f"P-{number}"] = ({**draft, "probe_id": f"P-{number}"}, code)
    return made


def write_catalogue(root: Path, kind: str, **tables: str) -> Path:
    """Write an experiment with every draft of the catalogue; its folder."""
    folder = write_experiment(root, kind, **tables)
    file = folder / "experiment.toml"
    # a subject that prints without end meets its cap soon
    file.write_text(file.read_text().replace(f'kind = "{kind}"\n', f'kind = "{kind}"\nmax_output_bytes = "64KiB"\n'))
    for path in (*folder.glob("probes/*"), *folder.glob("mutations/*")):
        path.unlink()
    for name in CHANGES:
        (folder / "mutations" / f"{name}.json").write_text(mutation(name))
    for name, values in {
        "echo": ("changed", "one"),
        "wrong": ("other", "one"),
        "right": ("changed", "changed"),
    }.items():
        (folder / "replies" / f"{name}.json").write_text(json.dumps(reply(kind, name, *values)))
    for probe_id, (draft, _) in drafts(kind).items():
        (folder / "probes" / f"{probe_id}.json").write_text(json.dumps(draft))
    return folder
