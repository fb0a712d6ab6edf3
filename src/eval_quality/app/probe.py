"""Ask a live target, under a target policy: one operation, or every leg that pre-flight plans (spec 07, spec 06 §6.3).

One operation: its inputs are, in this order, those of an inputs file; those of the first leg of its sensitivity
witness; or the empty inputs of its kind. Single values can be set on top. The answer can be shown whole, or as what
evidence pointers address in it, exactly as a check would read it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from eval_quality.app.files import read_input
from eval_quality.app.policies import Policies, read_policies, read_targets
from eval_quality.core.contract.operation import family
from eval_quality.core.contract.pointer import parse_pointer
from eval_quality.core.evaluation.absent import ABSENT
from eval_quality.core.evaluation.operand import make_resolve_operand
from eval_quality.core.preflight.entry import read_inputs
from eval_quality.core.preflight.plan import plan_preflight
from eval_quality.core.preflight.request import build_request
from eval_quality.model.binding import WitnessInputs
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.expression import Operand
from eval_quality.model.interface import AnyOperation
from eval_quality.model.ports import ApiObservation, CommandObservation, ProbeObservation, ToolObservation
from eval_quality.model.run_record import Observation
from eval_quality.probe.mcp_protocol import AUTO, DEFAULT_REVISION, SessionFacts
from eval_quality.probe.ports import PROBE, EnvironmentProbePort
from eval_quality.probe.preflight import issue_legs
from eval_quality.probe.seam import call_port
from eval_quality.probe.signals import AbortSignal
from eval_quality.probe.system import ANY_INTERFACE, Routes
from eval_quality.value.depth import room
from eval_quality.value.kind import is_object

LEG_ID: Final = "probe"
"""The correlation label of a single call."""

_CHANNELS: Final[Mapping[str, Mapping[str, Any]]] = {
    "api": {"path": {}, "query": {}, "header": {}, "body": {"kind": "absent"}},
    "cli": {"argument": {}, "option": {}, "environment": {}, "stdin": {"kind": "absent"}},
    "mcp": {"arguments": {}},
}
"""The empty inputs of each kind."""


class Wrong(ValueError):
    """The caller asked for something the contract does not have."""


class Access(NamedTuple):
    """How targets are reached: policy files, a targets file, the MCP revision, and who hears what was negotiated."""

    policies: list[str]
    targets: str | None = None
    revision: str | None = None
    say: Callable[[str], None] = lambda line: None


class Call(NamedTuple):
    """One operation to call: `interface` may be left out where only one has the operation."""

    operation: str
    interface: str | None = None
    inputs: str | None = None
    settings: tuple[str, ...] = ()


def probe_operation(contract: str, call: Call, access: Access) -> ProbeObservation:
    """Call one operation of a contract's interfaces.

    Raises `Wrong`, `RuntimeFault`, `StructuralFailure` or `PathError`.
    """
    inputs = read_inputs(read_input(contract, "--contract", "EvalContract"), [])
    interface, operation = _find(inputs.contract, call)
    request = build_request(LEG_ID, interface, operation, _inputs(operation, call))
    return call_port(PROBE, connect(access).probe, to_value(request), AbortSignal())


def probe_plan(contract: str, probes: str, access: Access, say: Callable[[str], None]) -> list[Any]:
    """The observation of every planned leg, in plan order, as plain values; `say` hears each leg."""
    inputs = read_inputs(read_input(contract, "--contract", "EvalContract"), read_input(probes, "--probes", "Probe"))
    with room():
        plan = plan_preflight(inputs.contract, inputs.probes)
        observations = issue_legs(
            plan, LEG_ID, connect(access), AbortSignal(), lambda diagnostic: say(diagnostic.message)
        )
    return [to_value(observation) for observation in observations]


def connect(access: Access) -> EnvironmentProbePort:
    """A port over everything the policies authorize. What no policy names is denied by the adapter of its kind."""
    policies = read_policies(access.policies)
    table: dict[tuple[str, str | None], EnvironmentProbePort] = {}
    if policies.command is not None:
        from eval_quality.probe.command import CommandLineAdapter

        table["cli", ANY_INTERFACE] = CommandLineAdapter(policies.command)
    if policies.http is not None:
        table["api", ANY_INTERFACE] = _http(policies, access.targets)
    if policies.mcp is not None:
        from eval_quality.probe.mcp import McpAdapter

        table["mcp", ANY_INTERFACE] = McpAdapter(
            policies.mcp, revision=access.revision or DEFAULT_REVISION, observer=_heard(access.say)
        )
    if policies.mcp_http is not None:
        from eval_quality.probe.mcp_http import McpHttpAdapter

        adapter = McpHttpAdapter(policies.mcp_http, revision=access.revision or AUTO, observer=_heard(access.say))
        table.setdefault(("mcp", ANY_INTERFACE), adapter)
        for entry in policies.mcp_http.authorizations:
            table["mcp", entry.interface_id] = adapter
    return Routes(table)


def _http(policies: Policies, targets: str | None) -> EnvironmentProbePort:
    from eval_quality.probe.api import ApiAdapter, ApiTarget

    assert policies.http is not None
    if targets is None:
        return ApiAdapter(policies.http)
    return ApiAdapter(
        policies.http, targets={name: ApiTarget(url, headers) for name, (url, headers) in read_targets(targets).items()}
    )


def _heard(say: Callable[[str], None]) -> Callable[[SessionFacts], None]:
    said: set[str] = set()

    def observer(facts: SessionFacts) -> None:
        server: Mapping[str, Any] = facts.server or {}
        name = " ".join(str(server[key]) for key in ("name", "version") if key in server)
        line = f"MCP revision {facts.negotiated or 'not stated'}{f', server {name}' if name else ''}"
        if line not in said:  # every leg is a session of its own, and says the same
            said.add(line)
            say(line)

    return observer


# --- one operation ---------------------------------------------------------------------------------------------------


def _find(contract: EvalContract, call: Call) -> tuple[str, AnyOperation]:
    found = [
        (interface.logical_id, operation)
        for interface in contract.permitted_interfaces
        for operation in interface.operations
        if operation.operation_id == call.operation and call.interface in (None, interface.logical_id)
    ]
    if not found:
        place = f" of interface {call.interface}" if call.interface else ""
        raise Wrong(f"the contract has no operation {call.operation}{place}")
    if len(found) > 1:
        raise Wrong(f"several interfaces have an operation {call.operation}: name one with --interface")
    return found[0]


def _inputs(operation: AnyOperation, call: Call) -> WitnessInputs:
    empty = _CHANNELS[family(operation)]
    values: dict[str, Any] = {name: _copied(value) for name, value in empty.items()}
    if call.inputs is not None:
        given = read_input(call.inputs, "--inputs", "WitnessInputs")
        if not is_object(given):
            raise Wrong("--inputs is not an object of channels")
        values |= given
    elif operation.sensitivity_witness is not None:
        values |= to_value(operation.sensitivity_witness.legs[0].inputs)
    for setting in call.settings:
        _set(values, setting)
    return decode(WitnessInputs, values, "WitnessInputs")


def _copied(value: Any) -> Any:
    return dict(value) if is_object(value) else value


def _set(values: dict[str, Any], setting: str) -> None:
    """`channel.key=value`, or `body=value` and `stdin=value` for a whole one; a value is JSON where it reads so."""
    place, equals, text = setting.partition("=")
    channel, dot, key = place.partition(".")
    if not equals or channel not in values or (not dot and channel not in ("body", "stdin")):
        raise Wrong(f"--set {setting!r}: expected channel.key=value with a channel of {', '.join(values)}")
    value = _value(text)
    if channel in ("header", "environment"):
        values[channel] = {**values[channel], key: text}
    elif channel not in ("body", "stdin"):
        values[channel] = {**values[channel], key: value}
    elif dot:
        held = values[channel].get("value")
        values[channel] = {"kind": "json", "value": {**(held if is_object(held) else {}), key: value}}
    elif channel == "stdin" and isinstance(value, str):
        values[channel] = {"kind": "text", "value": value}
    else:
        values[channel] = {"kind": "json", "value": value}


def _value(text: str) -> Any:
    from eval_quality.probe.jstext import NotJson, parse_json

    try:
        return parse_json(text)
    except NotJson:
        return text


# --- pointers --------------------------------------------------------------------------------------------------------


def addressed(observation: ProbeObservation, request_pointers: Iterable[str]) -> list[tuple[str, Any]]:
    """What each evidence pointer addresses, or `ABSENT`.

    A pointer may be rooted at any step (`/interactions/<step>/response-body/id`), or start at the channel
    (`response-body/id`). Call inputs are not part of an observation. Raises `Wrong`.
    """
    found: list[tuple[str, Any]] = []
    for text in request_pointers:
        pointer = text if text.startswith("/interactions/") else f"/interactions/{LEG_ID}/{text.lstrip('/')}"
        try:
            parsed = parse_pointer(pointer)
        except ValueError as error:
            raise Wrong(f"--pointer {text!r} is no evidence pointer") from error
        if parsed.channel == "call-inputs":
            raise Wrong(f"--pointer {text!r}: call inputs are what you sent, not what was observed")
        resolve = make_resolve_operand({parsed.step_id: _evidence(observation)}, {})
        found.append((text, resolve(decode(Operand, {"pointer": pointer}, "Pointer"), ABSENT)))
    return found


def _evidence(observation: ProbeObservation) -> Observation:
    """The observation as sealed evidence shows it, with every channel, described or not."""
    absent = {"kind": "absent"}
    members: dict[str, Any] = {
        "observationId": LEG_ID,
        "sequence": 1,
        "interfaceId": observation.interface_id,
        "operationId": observation.operation_id,
        "provenance": "baseline",
        "principal": None,
        "callInputs": dict.fromkeys(
            ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
        ),
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": None,
        "stdout": absent,
        "stderr": absent,
        "exitCode": None,
        "artifacts": {},
    }
    plain = to_value(observation)
    if isinstance(observation, ApiObservation):
        members |= {"responseHeaders": plain["headers"], "responseStatus": plain["status"]}
        members["responseBody"] = plain["body"].get("value")
    elif isinstance(observation, CommandObservation):
        members |= {name: plain[name] for name in ("stdout", "stderr", "exitCode", "artifacts")}
    elif isinstance(observation, ToolObservation):
        members |= {"responseBody": plain["result"].get("value"), "responseStatus": int(observation.is_error)}
        members["exitCode"] = plain.get("exitCode")
    return decode(Observation, members, "Observation")
