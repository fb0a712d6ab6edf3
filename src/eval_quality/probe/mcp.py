"""The MCP adapter over stdio: an environment-probe port for `mcp` requests only (spec 07 §7.5).

One session a probe: launch, handshake, one tool call, teardown. A server that keeps state only in memory loses it
between probes.

1. Boundary steps. 2. Kind. 3. Policy. 4. One session:
   - framing is one message a `\\n`-terminated line, blank lines ignored; a remainder at the end of stream is a line;
   - a line that is no JSON-RPC message fails the session, whatever happens afterwards;
   - the end is judged when the process has ended *and* its streams are closed: before the handshake was answered it is
     a failure, after it an observation (`isError`, result absent, exit code);
   - stderr is drained and ignored; both streams count against `maxOutputBytes`; one deadline covers everything.
5. The observation is assembled.

The first failure wins, and teardown (close stdin, kill the group, close our ends) can fail nothing.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from eval_quality.errors import RuntimeFault
from eval_quality.model.ports import ProbeObservation, ProbeRequest, ToolRequest
from eval_quality.model.target import McpTargetPolicy
from eval_quality.probe.command import host_path, launch_fault, wrong_kind
from eval_quality.probe.jstext import NotJson, TooDeep, compact_json, decoded, parse_json
from eval_quality.probe.lanes import Lane, LaneLost, borrowed
from eval_quality.probe.mcp_protocol import (
    DEFAULT_REVISION,
    Session,
    SessionFacts,
    SessionFailure,
    ToolCall,
    checked_message,
    not_a_message,
)
from eval_quality.probe.ports import PROBE
from eval_quality.probe.process import MAX_DELAY_MS, Child, Launch, utf8
from eval_quality.probe.seam import run_port_method
from eval_quality.probe.signals import AbortError, AbortSignal
from eval_quality.probe.targets import Denied, evaluate_mcp_target

CAP_PATH: Final = "McpProbeRequest"
"""Artifact path of an exceeded cap (§7.5.4)."""

Observer = Callable[[SessionFacts], object]


class ToolInvocation(NamedTuple):
    """What the mechanism is to do."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    call: ToolCall
    revision: str
    max_elapsed_ms: int
    max_output_bytes: int


class McpMechanism(Protocol):
    """Runs one session. The answer is an untyped mapping with `isError`, `result` and, for an ended one, `exitCode`."""

    def __call__(self, invocation: ToolInvocation, signal: AbortSignal, /) -> Mapping[str, Any]: ...


class McpAdapter:
    """The port. `revision` is a protocol revision or `auto`; `observer` hears what each answered session settled on."""

    def __init__(
        self,
        policy: McpTargetPolicy,
        mechanism: McpMechanism | None = None,
        *,
        revision: str = DEFAULT_REVISION,
        observer: Observer | None = None,
        lane: Lane | None = None,
    ) -> None:
        self._policy = policy
        self._mechanism = mechanism
        self._revision = revision
        self._observer = observer
        self._lane = lane

    def probe(self, request: ProbeRequest | Mapping[str, Any], signal: AbortSignal) -> ProbeObservation:
        """Make the tool call that the request names; raises `RuntimeFault` only."""
        decided: list[ToolInvocation] = []

        def before(parsed: ProbeRequest) -> None:
            decided.append(self._decide(parsed))

        def effect(_: ProbeRequest) -> Mapping[str, Any]:
            if self._mechanism is not None:
                return self._mechanism(decided[0], signal)
            return run_session(decided[0], signal, self._observer, self._lane)

        return run_port_method(
            PROBE, request, signal, effect, assemble_tool, honours_abort=self._mechanism is None, before=before
        )

    def _decide(self, request: ProbeRequest) -> ToolInvocation:
        # 2. Kind.
        if not isinstance(request, ToolRequest):
            raise wrong_kind(request.kind)
        # 3. Policy.
        decision = evaluate_mcp_target(self._policy, request.interface_id, request.tool_name)
        if isinstance(decision, Denied):
            raise RuntimeFault("forbidden-target", "ProbeRequest", decision.detail, decision.reason)
        entry = decision.authorization
        return ToolInvocation(
            (entry.target, *entry.target_args),
            entry.cwd,
            {**host_path(), **entry.server_environment},
            ToolCall(request.tool_name, request.channels.arguments),
            self._revision,
            entry.max_elapsed_ms,
            entry.max_output_bytes,
        )


def create_mcp_adapter(policy: McpTargetPolicy, mechanism: McpMechanism | None = None) -> McpAdapter:
    """An environment-probe port for tool calls over stdio under `policy`, which is taken as typed."""
    return McpAdapter(policy, mechanism)


def assemble_tool(request: ProbeRequest, result: Mapping[str, Any]) -> dict[str, Any]:
    """The observation of a tool call."""
    observation: dict[str, Any] = {
        "probeId": request.probe_id,
        "interfaceId": request.interface_id,
        "operationId": request.operation_id,
        "kind": "mcp",
        "isError": result["isError"],
        "result": result["result"],
    }
    if "exitCode" in result:
        observation["exitCode"] = result["exitCode"]
    return observation


# --- the mechanism ---------------------------------------------------------------------------------------------------


def run_session(
    invocation: ToolInvocation, signal: AbortSignal, observer: Observer | None = None, lane: Lane | None = None
) -> Mapping[str, Any]:
    """The real mechanism: one server process, one call."""
    if signal.aborted:
        raise AbortError(signal)
    launch = Launch(invocation.argv, invocation.cwd, invocation.environment)
    try:
        with borrowed(lane) as slot:
            deadline = time.monotonic() + min(invocation.max_elapsed_ms, MAX_DELAY_MS) / 1000
            with Child(slot, launch, signal) as child:
                try:
                    return _Conversation(child, invocation, deadline, signal).run(observer)
                finally:
                    child.end_input()
                    child.kill_and_drain()
    except LaneLost as error:
        raise SessionFailure("the server exited during launch: the watchdog was lost") from error
    except OSError as error:
        raise launch_fault(error, os.path.basename(invocation.argv[0])) from error


class ToolConnection:
    """A mechanism that keeps one server for all its calls, one at a time (spec 12 §12.8.3).

    The first call launches and shakes hands. Output is counted over the whole connection. A server that ended answers
    the call it ended in as usual, and every later one with a launch failure: it is never started again.
    """

    def __init__(self, lane: Lane, observer: Observer | None = None) -> None:
        self._lane = lane
        self._observer = observer
        self._child: Child | None = None
        self._conversation: _Conversation | None = None
        self._over = ""

    def __call__(self, invocation: ToolInvocation, signal: AbortSignal, /) -> Mapping[str, Any]:
        """Make one call; raises as `run_session` does."""
        if self._over:
            raise SessionFailure(self._over)
        deadline = time.monotonic() + min(invocation.max_elapsed_ms, MAX_DELAY_MS) / 1000
        self._over = "the session was ended by an earlier call"
        try:
            if self._conversation is None:
                self._child = Child(self._lane, Launch(invocation.argv, invocation.cwd, invocation.environment))
                self._conversation = _Conversation(self._child, invocation, deadline, signal)
                answer = self._conversation.run(self._observer)
            else:
                answer = self._conversation.ask(invocation.call, deadline, signal)
        except LaneLost as error:
            raise SessionFailure("the watchdog was lost while the server was running") from error
        except OSError as error:
            raise launch_fault(error, os.path.basename(invocation.argv[0])) from error
        if "exitCode" not in answer:
            self._over = ""
        return answer

    def close(self) -> None:
        """End the server and whatever it started."""
        self._over = "the connection is closed"
        if self._child is not None:
            child, self._child = self._child, None
            with child:
                child.end_input()
                child.kill_and_drain()


class _Conversation:
    """Turns the events of the server process into messages for the session, within the caps."""

    def __init__(self, child: Child, invocation: ToolInvocation, deadline: float, signal: AbortSignal) -> None:
        self._child = child
        self._invocation = invocation
        self._deadline = deadline
        self._signal = signal
        self._session = Session(invocation.call, invocation.revision)
        self._line = bytearray()
        self._counts = {"stdout": 0, "stderr": 0}

    def run(self, observer: Observer | None) -> Mapping[str, Any]:
        self._send(self._session.open())
        return self._follow(observer)

    def ask(self, call: ToolCall, deadline: float, signal: AbortSignal) -> Mapping[str, Any]:
        """One more call in the same session."""
        self._deadline, self._signal = deadline, signal
        self._send(self._session.again(call))
        return self._follow(None)

    def _follow(self, observer: Observer | None) -> Mapping[str, Any]:
        while self._session.answer is None:
            if self._child.exit_code is not None and not self._child.streams_open:
                return self._ended(self._child.exit_code)
            left = self._deadline - time.monotonic()
            if left <= 0:
                detail = f"maxElapsedMs: {self._invocation.max_elapsed_ms} ms passed during {self._phase}"
                raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
            for event in self._child.wait(left):
                if event.kind == "aborted":
                    raise AbortError(self._signal)
                if event.kind == "lost":
                    raise SessionFailure("the watchdog was lost while the server was running")
                if event.kind in self._counts:
                    self._hear(event.kind, event.data)
                if self._session.answer is not None:
                    break
        if observer is not None:
            observer(self._session.facts)
        answer = self._session.answer
        return {"isError": answer.is_error, "result": answer.result}

    @property
    def _phase(self) -> str:
        return self._session.phase if self._child.pid else "launch"

    def _ended(self, exit_code: int) -> Mapping[str, Any]:
        if self._session.phase != "call":
            raise SessionFailure(f"the server exited during {self._phase}")
        return {"isError": True, "result": {"kind": "absent"}, "exitCode": exit_code}

    def _hear(self, stream: str, data: bytes) -> None:
        self._counts[stream] += len(data)
        cap = self._invocation.max_output_bytes
        if self._counts[stream] > cap:
            raise RuntimeFault("budget-exhausted", CAP_PATH, f"maxOutputBytes: {stream} is longer than {cap} bytes")
        if stream == "stderr":
            return
        if not data:
            rest, self._line = self._line, bytearray()
            self._read(rest)
            return
        searched = len(self._line)
        self._line += data
        while self._session.answer is None and (end := self._line.find(b"\n", searched)) >= 0:
            line = self._line[:end]
            del self._line[: end + 1]
            searched = 0
            self._read(line)

    def _read(self, line: bytearray) -> None:
        text = decoded(bytes(line))
        if not text.strip():
            return
        try:
            value = parse_json(text)
        except (NotJson, TooDeep) as error:
            raise not_a_message(text) from error
        self._send(self._session.receive(checked_message(value, text)))

    def _send(self, messages: list[dict[str, Any]]) -> None:
        if messages:
            self._child.write(utf8("".join(compact_json(message) + "\n" for message in messages)))
