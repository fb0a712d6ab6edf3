"""The shipped adapters and their policies (spec 07): the public face of `eval_quality.probe`.

    from eval_quality import AbortSignal, run_preflight
    from eval_quality.adapters import create_command_line_adapter, parse_command_target_policy

    policy = parse_command_target_policy({"authorizations": [...]})
    port = create_command_line_adapter(policy)
    verdict = run_preflight(contract=contract, probes=probes, run_id="r-1", port=port, signal=AbortSignal())

A policy from a file goes through its parser first; adapters take it as typed. Names are imported when they are first
used, so that a program that runs commands pays for no HTTP client.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eval_quality.model.target import (
        CommandTargetPolicy,
        McpTargetPolicy,
        ProbeTargetPolicy,
        parse_command_target_policy,
        parse_mcp_target_policy,
        parse_probe_target_policy,
    )
    from eval_quality.probe.api import ApiAdapter, ApiTarget, create_http_adapter
    from eval_quality.probe.command import CommandInvocation, CommandLineAdapter, create_command_line_adapter
    from eval_quality.probe.http_exchange import Endpoint, HttpExchange
    from eval_quality.probe.local import (
        FileSystemAdapter,
        LocalCorpusAdapter,
        SystemClockAdapter,
        create_local_corpus_adapter,
        create_node_file_system_adapter,
        create_system_clock_adapter,
    )
    from eval_quality.probe.mcp import McpAdapter, ToolInvocation, create_mcp_adapter
    from eval_quality.probe.mcp_http import (
        HttpToolInvocation,
        McpHttpAdapter,
        McpHttpTargetPolicy,
        create_mcp_http_adapter,
        parse_mcp_http_target_policy,
    )
    from eval_quality.probe.mcp_protocol import SessionFacts
    from eval_quality.probe.seam import PortMethod, call_port, run_port_method
    from eval_quality.probe.signals import AbortController, AbortError, AbortSignal
    from eval_quality.probe.system import Routes
    from eval_quality.probe.targets import evaluate_command_target, evaluate_mcp_target

__all__ = [
    "AbortController",
    "AbortError",
    "AbortSignal",
    "ApiAdapter",
    "ApiTarget",
    "CommandInvocation",
    "CommandLineAdapter",
    "CommandTargetPolicy",
    "Endpoint",
    "FileSystemAdapter",
    "HttpExchange",
    "HttpToolInvocation",
    "LocalCorpusAdapter",
    "McpAdapter",
    "McpHttpAdapter",
    "McpHttpTargetPolicy",
    "McpTargetPolicy",
    "PortMethod",
    "ProbeTargetPolicy",
    "Routes",
    "SessionFacts",
    "SystemClockAdapter",
    "ToolInvocation",
    "call_port",
    "create_command_line_adapter",
    "create_http_adapter",
    "create_local_corpus_adapter",
    "create_mcp_adapter",
    "create_mcp_http_adapter",
    "create_node_file_system_adapter",
    "create_system_clock_adapter",
    "evaluate_command_target",
    "evaluate_mcp_target",
    "parse_command_target_policy",
    "parse_mcp_http_target_policy",
    "parse_mcp_target_policy",
    "parse_probe_target_policy",
    "run_port_method",
]

_HOMES = {
    "model.target": (
        "CommandTargetPolicy",
        "McpTargetPolicy",
        "ProbeTargetPolicy",
        "parse_command_target_policy",
        "parse_mcp_target_policy",
        "parse_probe_target_policy",
    ),
    "probe.api": ("ApiAdapter", "ApiTarget", "create_http_adapter"),
    "probe.command": ("CommandInvocation", "CommandLineAdapter", "create_command_line_adapter"),
    "probe.http_exchange": ("Endpoint", "HttpExchange"),
    "probe.local": (
        "FileSystemAdapter",
        "LocalCorpusAdapter",
        "SystemClockAdapter",
        "create_local_corpus_adapter",
        "create_node_file_system_adapter",
        "create_system_clock_adapter",
    ),
    "probe.mcp": ("McpAdapter", "ToolInvocation", "create_mcp_adapter"),
    "probe.mcp_http": (
        "HttpToolInvocation",
        "McpHttpAdapter",
        "McpHttpTargetPolicy",
        "create_mcp_http_adapter",
        "parse_mcp_http_target_policy",
    ),
    "probe.mcp_protocol": ("SessionFacts",),
    "probe.seam": ("PortMethod", "call_port", "run_port_method"),
    "probe.signals": ("AbortController", "AbortError", "AbortSignal"),
    "probe.system": ("Routes",),
    "probe.targets": ("evaluate_command_target", "evaluate_mcp_target"),
}
"""The module under this package that defines a name -> the names."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"eval_quality.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion in a shell."""
    return sorted(__all__)
