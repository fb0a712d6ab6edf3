"""The command-line adapter: an environment-probe port for `cli` requests only (spec 07 §7.4).

The work of one probe, in order (§7.4.1):

1. The boundary steps of §7.2.2.
2. A request of another kind is `forbidden-target`, reason `interface-not-authorized`.
3. The policy decides; a denial is `forbidden-target` with the decision's reason.
4. The environment closes: host `PATH` plus the declared and permitted keys, nothing else (§7.4.2).
5. The process runs once, as an argument vector, never through a shell (§7.4.3, §7.4.4).
6. Every artifact that the authorization maps is read back (§7.4.6).
7. Streams and artifacts are tagged and the observation is assembled (§7.4.7).

A denied request never reaches the mechanism. Stale artifact files are not deleted before a run.
"""

import errno
import os
import stat
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from eval_quality.errors import RuntimeFault
from eval_quality.model.ports import CommandRequest, ProbeObservation, ProbeRequest
from eval_quality.model.target import CommandTargetAuthorization, CommandTargetPolicy
from eval_quality.probe.jstext import compact_json, decoded, property_order, tagged, text_of
from eval_quality.probe.lanes import Lane
from eval_quality.probe.ports import PROBE
from eval_quality.probe.process import Caps, Launch, run_process, utf8
from eval_quality.probe.seam import run_port_method
from eval_quality.probe.signals import AbortSignal
from eval_quality.probe.targets import Denied, evaluate_command_target
from eval_quality.value.kind import is_array

CAP_PATH: Final = "CommandProbeRequest"
"""Artifact path of an exceeded cap (§7.4.5)."""


class CommandInvocation(NamedTuple):
    """What the mechanism is to do: everything is decided, nothing is interpreted any more."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    stdin: bytes
    artifacts: Mapping[str, str]
    max_elapsed_ms: int
    max_output_bytes: int


class CommandMechanism(Protocol):
    """Runs one invocation.

    The answer is untyped: a mapping with `exitCode`, `stdout` and `stderr` (bytes) and `artifacts` (bytes by artifact
    id, None for a missing file).
    """

    def __call__(self, invocation: CommandInvocation, signal: AbortSignal, /) -> Mapping[str, Any]: ...


class CommandLineAdapter:
    """The port. `lane` runs every target below a lane of the caller's instead of a borrowed one."""

    def __init__(
        self, policy: CommandTargetPolicy, mechanism: CommandMechanism | None = None, *, lane: Lane | None = None
    ) -> None:
        self._policy = policy
        self._mechanism = mechanism
        self._lane = lane

    def probe(self, request: ProbeRequest | Mapping[str, Any], signal: AbortSignal) -> ProbeObservation:
        """Run the command that the request names; raises `RuntimeFault` only."""
        decided: list[CommandInvocation] = []

        def before(parsed: ProbeRequest) -> None:
            decided.append(_decide(self._policy, parsed))

        def effect(_: ProbeRequest) -> Mapping[str, Any]:
            if self._mechanism is not None:
                return self._mechanism(decided[0], signal)
            return run_command(decided[0], signal, self._lane)

        return run_port_method(
            PROBE, request, signal, effect, _assemble, honours_abort=self._mechanism is None, before=before
        )


def create_command_line_adapter(
    policy: CommandTargetPolicy, mechanism: CommandMechanism | None = None
) -> CommandLineAdapter:
    """An environment-probe port for command lines under `policy`, which is taken as typed and not validated."""
    return CommandLineAdapter(policy, mechanism)


def wrong_kind(kind: str) -> RuntimeFault:
    """The denial of a request for another kind of interface (§7.4.1)."""
    detail = f"a {kind} request reached an adapter of another kind: no {kind} target is ever authorized here"
    return RuntimeFault("forbidden-target", "ProbeRequest", detail, "interface-not-authorized")


def _decide(policy: CommandTargetPolicy, request: ProbeRequest) -> CommandInvocation:
    # 2. Kind.
    if not isinstance(request, CommandRequest):
        raise wrong_kind(request.kind)
    # 3. Policy.
    decision = evaluate_command_target(policy, request.interface_id, request.executable, request.subcommand_path)
    if isinstance(decision, Denied):
        raise RuntimeFault("forbidden-target", "ProbeRequest", decision.detail, decision.reason)
    authorization = decision.authorization
    # 4. Environment.
    environment = closed_environment(authorization, request.channels.environment)
    return CommandInvocation(
        (authorization.target, *argument_vector(request)),
        authorization.cwd,
        environment,
        _stdin(request),
        authorization.artifacts,
        authorization.max_elapsed_ms,
        authorization.max_output_bytes,
    )


def closed_environment(authorization: CommandTargetAuthorization, declared: Mapping[str, str]) -> dict[str, str]:
    """Host `PATH`, when the host has one, plus the declared keys; raises `forbidden-target` (§7.4.2)."""
    environment = host_path()
    for key, value in declared.items():
        if key.upper() == "PATH":
            raise _key_denied(f"{key} can never be set by a request")
        if key not in authorization.permitted_environment_keys:
            raise _key_denied(f"environment key {key} is not permitted")
        environment[key] = value
    return environment


def host_path() -> dict[str, str]:
    """The one variable that a target inherits."""
    path = os.environ.get("PATH")
    return {} if path is None else {"PATH": path}


def _key_denied(detail: str) -> RuntimeFault:
    return RuntimeFault("forbidden-target", "ProbeRequest", detail, "environment-key-not-authorized")


def argument_vector(request: CommandRequest) -> list[str]:
    """Subcommand path, options, positionals (§7.4.3)."""
    argv = list(request.subcommand_path)
    for key, value in property_order(request.channels.option):
        if value is False:
            continue
        if value is True:
            argv.append(f"--{key}")
        elif is_array(value):
            for element in value:
                argv += (f"--{key}", text_of(element))
        else:
            argv += (f"--{key}", text_of(value))
    for _, value in property_order(request.channels.argument):
        argv += map(text_of, value) if is_array(value) else (text_of(value),)
    return argv


def _stdin(request: CommandRequest) -> bytes:
    stdin = request.channels.stdin
    if stdin.kind == "absent":
        return b""
    return utf8(stdin.value if stdin.kind == "text" else compact_json(stdin.value))


# --- the mechanism ---------------------------------------------------------------------------------------------------


ReadArtifact: TypeAlias = Callable[[str, str, int], bytes | None]
"""(artifact id, path, cap) -> the bytes, or None for a missing file."""


def run_command(
    invocation: CommandInvocation,
    signal: AbortSignal,
    lane: Lane | None = None,
    read: ReadArtifact | None = None,
) -> Mapping[str, Any]:
    """The real mechanism: one process, then its artifacts; `read` replaces how those are read back."""
    launch = Launch(invocation.argv, invocation.cwd, invocation.environment)
    caps = Caps(invocation.max_elapsed_ms, invocation.max_output_bytes)
    try:
        completed = run_process(launch, invocation.stdin, caps, signal, lane)
    except TimeoutError as error:
        raise RuntimeFault("budget-exhausted", CAP_PATH, "maxElapsedMs: the launch never happened") from error
    except OSError as error:
        raise launch_fault(error, invocation.argv[0]) from error
    if completed.ended == "elapsed":
        detail = f"maxElapsedMs: the command ran longer than {caps.max_elapsed_ms} ms"
        raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
    if completed.ended in ("stdout", "stderr"):
        detail = f"maxOutputBytes: {completed.ended} is longer than {caps.max_output_bytes} bytes"
        raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
    # 6. Artifacts.
    artifacts = {
        artifact_id: (read or _read_artifact)(artifact_id, os.path.join(invocation.cwd, path), caps.max_output_bytes)
        for artifact_id, path in invocation.artifacts.items()
    }
    return {
        "exitCode": completed.exit_code,
        "stdout": completed.stdout,
        "stderr": completed.stderr,
        "artifacts": artifacts,
    }


def launch_fault(error: OSError, target: str) -> RuntimeFault:
    """The fault of a target that could not be started; the caller raises it from `error` (§7.4.5)."""
    number = error.errno or 0
    code = errno.errorcode.get(number, str(number))
    reason = "launch-too-large" if number == errno.E2BIG else None
    return RuntimeFault("port-failure", "ProbeObservation", f"{target} could not be started: {code}", reason)


def _read_artifact(artifact_id: str, path: str, cap: int) -> bytes | None:
    """The bytes of a regular file, or None when there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(artifact_id, str(error)) from error
    try:
        # A pipe or device would make reading an answer depend on somebody else's next move.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _unreadable(artifact_id, "not a regular file")
        data = bytearray()
        while len(data) <= cap and (chunk := os.read(descriptor, min(1 << 20, cap + 1 - len(data)))):
            data += chunk
    except OSError as error:
        raise _unreadable(artifact_id, str(error)) from error
    finally:
        os.close(descriptor)
    if len(data) > cap:
        detail = f"maxOutputBytes: artifact {artifact_id} is longer than {cap} bytes"
        raise RuntimeFault("budget-exhausted", CAP_PATH, detail)
    return bytes(data)


def _unreadable(artifact_id: str, why: str) -> RuntimeFault:
    return RuntimeFault("port-failure", "ProbeObservation", f"artifact {artifact_id} cannot be read: {why}")


# --- the observation -------------------------------------------------------------------------------------------------


def _assemble(request: ProbeRequest, result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "probeId": request.probe_id,
        "interfaceId": request.interface_id,
        "operationId": request.operation_id,
        "kind": "cli",
        "exitCode": result["exitCode"],
        "stdout": tagged(decoded(result["stdout"])),
        "stderr": tagged(decoded(result["stderr"])),
        "artifacts": {
            artifact_id: {"kind": "absent"} if data is None else tagged(decoded(data))
            for artifact_id, data in result["artifacts"].items()
        },
    }
