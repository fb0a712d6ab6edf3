"""`eval-quality probe`: ask a live target under a target policy (spec 07)."""

from typing import Any, Final

from eval_quality.cli.command import Command, Flag, Invocation, UsageError
from eval_quality.cli.output import emit, note, refuse_collision

KIND: Final = "probe-observations"
NOTHING_ADDRESSED_EXIT: Final = 1

EXITS: Final = (
    (0, "the target answered, whatever it answered"),
    (1, "a pointer addressed nothing in the answer"),
    (4, "the contract cannot be planned"),
    (5, "forbidden target, exceeded cap, unreachable target, or another runtime fault"),
    (64, "usage error"),
)


def run(invocation: Invocation) -> int:
    """Call one operation, or every planned leg."""
    from eval_quality.app.probe import Access, Wrong

    refuse_collision(invocation, KIND)
    access = Access(invocation.texts("--policy"), invocation.text("--targets"), invocation.text("--revision"), _say)
    try:
        return _plan(invocation, access) if invocation.has("--plan") else _operation(invocation, access)
    except Wrong as error:
        raise UsageError(str(error)) from error


def _say(line: str) -> None:
    note(f"probe: {line}")


def _plan(invocation: Invocation, access: Any) -> int:
    from eval_quality.app.artifact import serialize_artifact
    from eval_quality.app.probe import probe_plan

    surplus = [
        flag for flag in ("--operation", "--interface", "--inputs", "--set", "--pointer") if invocation.has(flag)
    ]
    if surplus:
        raise UsageError(f"{', '.join(surplus)} belong to a single operation, not to --plan")
    probes = invocation.text("--probes")
    if probes is None:
        raise UsageError("probe --plan requires --probes")
    observations = probe_plan(invocation.require("--contract"), probes, access, _say)
    emit(serialize_artifact(observations, "ProbeObservation"), invocation.text("--out"), KIND)
    return 0


def _operation(invocation: Invocation, access: Any) -> int:
    from eval_quality.app.probe import Call, addressed, probe_operation
    from eval_quality.core.evaluation.absent import ABSENT
    from eval_quality.model.decode import to_value

    operation = invocation.text("--operation")
    if operation is None:
        raise UsageError("probe requires --operation, or --plan with --probes")
    if invocation.has("--probes"):
        raise UsageError("--probes belongs to --plan")
    call = Call(
        operation, invocation.text("--interface"), invocation.text("--inputs"), tuple(invocation.texts("--set"))
    )
    pointers = invocation.texts("--pointer")
    observation = probe_operation(invocation.require("--contract"), call, access)
    if not pointers:
        emit(_text(to_value(observation)), invocation.text("--out"), KIND)
        return 0
    found = addressed(observation, pointers)
    missing = [pointer for pointer, value in found if value is ABSENT]
    emit("".join(_text(value) for _, value in found if value is not ABSENT), invocation.text("--out"), KIND)
    for pointer in missing:
        _say(f"{pointer} addresses nothing in this answer")
    return NOTHING_ADDRESSED_EXIT if missing else 0


def _text(value: Any) -> str:
    """JSON for reading: indented, in the order of the record."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


COMMAND: Final = Command(
    "probe",
    "ask a live target under a target policy, and show what was observed",
    (
        Flag("--contract", "the contract whose interfaces are asked", value="path", required=True, reads=True),
        Flag(
            "--policy",
            "a target policy, YAML or JSON; one file for each kind of interface",
            value="path",
            required=True,
            repeatable=True,
            reads=True,
        ),
        Flag("--targets", "URL and headers of HTTP interfaces, YAML or JSON", value="path", reads=True),
        Flag("--operation", "the operation to call", value="id"),
        Flag("--interface", "its interface, where several have such an operation", value="id"),
        Flag("--inputs", "the inputs, as a witness leg has them", value="path", reads=True),
        Flag("--set", "one input on top: channel.key=value", value="setting", repeatable=True),
        Flag("--pointer", "show only what this evidence pointer addresses", value="pointer", repeatable=True),
        Flag("--plan", "call every leg that preflight plans instead"),
        Flag("--probes", "a JSON array of the probes, for --plan", value="path", reads=True),
        Flag("--revision", "the MCP revision to ask for, or auto", value="date"),
        Flag("--out", "where the observation goes: a file ending in .json, else a directory", value="target"),
    ),
    run,
    notes="Nothing is reached that the policy does not authorize. Without --inputs, the inputs are those of the "
    "operation's first sensitivity leg, or empty. With --plan, the output is the observation list that "
    "`preflight --observations` reads; with one operation, indented JSON.",
    exits=EXITS,
)
