"""A command subject: one process a call (spec 12 §12.8.2).

Before each call the declared artifact files are removed from the workspace, so that a file an earlier step left can
never be read as this call's output; `keep_artifacts = true` leaves them. Artifacts are read without following a link
out of the workspace: whatever lies there was written by the subject.
"""

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from eval_quality.core.contract.operation import AnyInterface, AnyOperation
from eval_quality.model.interface import CommandOperation
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.model.target import CommandTargetPolicy, parse_command_target_policy
from eval_quality.probe.command import CommandInvocation, CommandLineAdapter, run_command
from eval_quality.probe.signals import AbortSignal
from eval_quality.run.confine.beneath import read_beneath
from eval_quality.run.driver.setting import Setting
from eval_quality.run.experiment.document import Interface, size_in_bytes
from eval_quality.run.mutation import Launch

DEFAULT_ELAPSED_MS = 60_000


def command_policy(
    interface: AnyInterface, binding: Interface, launches: tuple[Launch, ...], setting: Setting
) -> CommandTargetPolicy:
    """The derived policy: the contract's subcommands and environment keys, the binding's targets and caps."""
    entries: list[dict[str, Any]] = []
    for launch in launches:
        operations = [op for op in interface.operations if _executable(op) == launch.executable]
        assert binding.executable is not None
        entries.append(
            {
                "interfaceId": launch.interface_id,
                "executable": launch.executable,
                "target": setting.expand(launch.argv[0]),
                "permittedSubcommandPaths": _distinct([list(op.invocation.subcommand_path) for op in operations])  # pyright: ignore
                or [[]],
                "permittedEnvironmentKeys": sorted(_environment_keys(operations)),
                "cwd": setting.folder(binding.cwd, seen=False),
                "artifacts": dict(binding.executable[launch.executable].artifacts),
                "maxElapsedMs": binding.max_elapsed_ms or DEFAULT_ELAPSED_MS,
                "maxOutputBytes": size_in_bytes(binding.max_output_bytes),
            }
        )
    return parse_command_target_policy({"authorizations": entries})


def _executable(operation: AnyOperation) -> str:
    return operation.invocation.executable if isinstance(operation, CommandOperation) else ""


def _distinct(paths: list[list[str]]) -> list[list[str]]:
    return [path for index, path in enumerate(paths) if path not in paths[:index]]


def _environment_keys(operations: list[AnyOperation]) -> set[str]:
    keys: set[str] = set()
    for operation in operations:
        if isinstance(operation, CommandOperation):
            shape = operation.request_shape.environment
            keys |= {*shape.required_keys, *shape.permitted_keys}
    return {key for key in keys if key.upper() != "PATH"}


class CommandUnit:
    """One command interface in one workspace."""

    def __init__(
        self, interface: AnyInterface, binding: Interface, launches: tuple[Launch, ...], setting: Setting
    ) -> None:
        self._binding = binding
        self._setting = setting
        self._launches = {launch.executable: launch for launch in launches}
        self._lane = setting.sandbox.lane(setting.workspace)
        policy = command_policy(interface, binding, launches, setting)
        self._current: Launch | None = None
        self._adapter = CommandLineAdapter(policy, self._run)

    def send(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Run the command once."""
        self._current = self._launches.get(getattr(request, "executable", ""))
        return self._adapter.probe(request, signal)

    def _run(self, invocation: CommandInvocation, signal: AbortSignal) -> Mapping[str, Any]:
        launch = self._current
        assert launch is not None
        assert self._binding.executable is not None
        setting, binding = self._setting, self._binding
        root = setting.folder(binding.cwd, seen=False)
        if not self._binding.executable[launch.executable].keep_artifacts:
            for path in invocation.artifacts.values():
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(root, path))
        arguments = tuple(setting.expand(text) for text in launch.argv[1:])
        ready = invocation._replace(
            argv=(invocation.argv[0], *arguments, *invocation.argv[1:]),
            cwd=setting.folder(binding.cwd, seen=True),
            environment={**setting.variables(dict(launch.environment)), **invocation.environment},
        )

        def read(_: str, path: str, cap: int) -> bytes | None:
            relative = os.path.relpath(path, setting.folder(binding.cwd, seen=True))
            return read_beneath(setting.workspace, os.path.normpath(os.path.join(binding.cwd, relative)), cap)

        result = run_command(ready, signal, self._lane, read)
        self._setting.sandbox.check(self._lane)
        return result

    def overgrown(self) -> bool:
        """Whether the workspace grew beyond its ceiling."""
        return self._setting.sandbox.overgrown(self._lane)

    def close(self) -> None:
        """End whatever the commands left running."""
        self._lane.close()
