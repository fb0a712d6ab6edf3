"""An MCP subject over stdio (spec 12 §12.8.3).

`lifetime = "trial"` (the default) keeps one connection for the trial, so that a server may keep state in memory;
`"call"` is the adapter's own rule: one launch, one call, teardown.
"""

from typing import Any

from eval_quality.core.contract.operation import AnyInterface
from eval_quality.model.interface import McpOperation
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.model.target import McpTargetPolicy, parse_mcp_target_policy
from eval_quality.probe.mcp import McpAdapter, ToolConnection
from eval_quality.probe.signals import AbortSignal
from eval_quality.run.driver.setting import Setting
from eval_quality.run.experiment.document import Interface, size_in_bytes
from eval_quality.run.mutation import Launch

DEFAULT_ELAPSED_MS = 60_000


def mcp_policy(interface: AnyInterface, binding: Interface, launch: Launch, setting: Setting) -> McpTargetPolicy:
    """The derived policy: the contract's tools, the binding's server and caps."""
    tools = [operation.tool_name for operation in interface.operations if isinstance(operation, McpOperation)]
    entry: dict[str, Any] = {
        "interfaceId": launch.interface_id,
        "target": setting.expand(launch.argv[0]),
        "targetArgs": [setting.expand(text) for text in launch.argv[1:]],
        "tools": list(dict.fromkeys(tools)),
        "cwd": setting.folder(binding.cwd, seen=True),
        "serverEnvironment": {name: setting.expand(value) for name, value in launch.environment},
        "maxElapsedMs": binding.max_elapsed_ms or DEFAULT_ELAPSED_MS,
        "maxOutputBytes": size_in_bytes(binding.max_output_bytes),
    }
    return parse_mcp_target_policy({"authorizations": [entry]})


class ToolUnit:
    """One tool-server interface in one workspace."""

    def __init__(self, interface: AnyInterface, binding: Interface, launch: Launch, setting: Setting) -> None:
        self._lane = setting.sandbox.lane(setting.workspace)
        self._setting = setting
        policy = mcp_policy(interface, binding, launch, setting)
        self._connection = None if binding.lifetime == "call" else ToolConnection(self._lane)
        self._adapter = McpAdapter(policy, self._connection, lane=self._lane)

    def send(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Make one tool call."""
        observed = self._adapter.probe(request, signal)
        self._setting.sandbox.check(self._lane)
        return observed

    def overgrown(self) -> bool:
        """Whether the workspace grew beyond its ceiling."""
        return self._setting.sandbox.overgrown(self._lane)

    def close(self) -> None:
        """End the server."""
        if self._connection is not None:
            self._connection.close()
        self._lane.close()
