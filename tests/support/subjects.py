"""Conformance subjects for the adapters of this package, over real processes, servers and files."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_quality.conformance import FileSystemSubject
from eval_quality.model.target import (
    parse_command_target_policy,
    parse_mcp_target_policy,
    parse_probe_target_policy,
)
from eval_quality.probe.api import ApiAdapter, ApiTarget
from eval_quality.probe.command import CommandLineAdapter, run_command
from eval_quality.probe.http_exchange import Endpoint, exchange_http
from eval_quality.probe.local import FileSystemAdapter, LocalCorpusAdapter, SystemClockAdapter, utc_now
from eval_quality.probe.mcp import McpAdapter, run_session
from eval_quality.probe.mcp_http import McpHttpAdapter, parse_mcp_http_target_policy, run_http_session
from support.programs import program

Mechanism = Callable[..., Any]


class Counted:
    """A mechanism in one of the four scenarios, counting its calls."""

    def __init__(self, scenario: str, real: Mechanism) -> None:
        self.scenario = scenario
        self.real = real
        self.calls = 0
        self.released = threading.Event()

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        if self.scenario == "fails":
            raise OSError("the mechanism failed")
        if self.scenario == "in-band-error":
            return {"error": "the mechanism failed"}
        if self.scenario == "hangs":
            self.released.wait()
            raise OSError("released")
        return self.real(*arguments)


@dataclass
class Built:
    """An instance: a port over a counted mechanism."""

    port: Callable[..., Any]
    mechanism: Counted

    def underlying_calls(self) -> int:
        return self.mechanism.calls

    def dispose(self) -> None:
        self.mechanism.released.set()


@dataclass
class SimpleSubject:
    """A subject whose port is made from a counted mechanism by `make`."""

    name: str
    conforms_to: str
    sample_request: Any
    real: Mechanism
    make: Callable[[Counted], Callable[..., Any]]
    policy: Any = None
    requests: Mapping[str, Any] = field(default_factory=dict)
    expectations: Mapping[str, Any] = field(default_factory=dict)
    abort_budget_ms: int = 400

    def build(self, scenario: str) -> Built:
        mechanism = Counted(scenario, self.real)
        return Built(self.make(mechanism), mechanism)


def corpus(folder: Path) -> SimpleSubject:
    """The local corpus adapter over one file."""
    (folder / "reference.bin").write_bytes(b"\x00\xff")
    return SimpleSubject(
        "local corpus",
        "corpus",
        {"privateRef": "reference.bin"},
        lambda path: Path(path).read_bytes(),
        lambda mechanism: LocalCorpusAdapter(str(folder), mechanism).resolve,
    )


def clock() -> SimpleSubject:
    """The system clock adapter."""
    return SimpleSubject("system clock", "clock", {}, utc_now, lambda mechanism: SystemClockAdapter(mechanism).read)


class _Files:
    def __init__(self, mechanism: Counted) -> None:
        self.read_bytes = self.write_bytes = mechanism


def file_system(folder: Path) -> FileSystemSubject:
    """The file-system adapter: a read subject and a write subject."""
    path = str(folder / "file.bin")
    Path(path).write_bytes(b"content")
    read = SimpleSubject(
        "host files",
        "file-system",
        {"path": path},
        lambda name: Path(name).read_bytes(),
        lambda mechanism: FileSystemAdapter(_Files(mechanism)).read_file,
    )
    write = SimpleSubject(
        "host files",
        "file-system",
        {"path": str(folder / "written.bin"), "bytes": b"new"},
        lambda name, data: Path(name).write_bytes(data),
        lambda mechanism: FileSystemAdapter(_Files(mechanism)).write_file,
    )
    return FileSystemSubject(read, write)


# --- commands --------------------------------------------------------------------------------------------------------

ABSENT = {"kind": "absent"}
LITERAL = "a b; $(touch owned) * \"'\\ \n--x"


def command_request(
    executable: str = "tool", path: tuple[str, ...] = (), interface: str = "shop", **channels: Any
) -> Any:
    """A plain command request."""
    return {
        "probeId": "leg-1",
        "interfaceId": interface,
        "operationId": "run",
        "kind": "cli",
        "executable": executable,
        "subcommandPath": list(path),
        "channels": {"argument": {}, "option": {}, "environment": {}, "stdin": ABSENT, **channels},
    }


def command_policy(folder: Path, **caps: int) -> Any:
    """Executables `tool` (behaves), `slow` and `loud`; each takes its program as its only subcommand."""

    def entry(name: str, target: str, paths: list[list[str]], artifacts: dict[str, str], **more: Any) -> Any:
        return {
            "interfaceId": "shop",
            "executable": name,
            "target": target,
            "permittedSubcommandPaths": paths,
            "permittedEnvironmentKeys": ["MODE"],
            "cwd": str(folder),
            "artifacts": artifacts,
            "maxElapsedMs": 20000,
            "maxOutputBytes": 65536,
            **more,
        }

    return {
        "authorizations": [
            entry("tool", program("tool"), [[], ["fail"]], {"report": "report.txt"}),
            entry("slow", program("sleeper"), [[]], {}, maxElapsedMs=caps.get("slow_ms", 300)),
            entry("loud", program("loud"), [[]], {}, maxOutputBytes=caps.get("loud_bytes", 4096)),
        ]
    }


def command(folder: Path, adapter_policy: Any = None, real: Mechanism = run_command) -> SimpleSubject:
    """The command-line adapter; `adapter_policy` is what it really uses, for broken ones."""
    policy = command_policy(folder)
    typed = parse_command_target_policy(adapter_policy or policy)
    return SimpleSubject(
        "command line",
        "command-probe",
        command_request(),
        real,
        lambda mechanism: CommandLineAdapter(typed, mechanism).probe,
        policy,
        {
            "allow-authorized-invocation": command_request(),
            "observe-nonzero-exit": command_request(path=("fail",)),
            "deny-unmapped-interface": command_request(interface="elsewhere"),
            "deny-unmapped-executable": command_request("unknown"),
            "deny-unauthorized-subcommand": command_request(path=("destroy",)),
            "argument-passed-literally": command_request(argument={"text": LITERAL}),
            "capture-declared-artifact": command_request(),
            "cap-elapsed": command_request("slow"),
            "cap-output-bytes": command_request("loud"),
            "deny-unpermitted-environment-key": command_request(environment={"SECRET": "1"}),
        },
        {"argument-passed-literally": LITERAL, "capture-declared-artifact": ("report", "written by the tool\n")},
    )


# --- tool calls ------------------------------------------------------------------------------------------------------


def tool_request(tool: str = "echo", interface: str = "server", **arguments: Any) -> Any:
    """A plain tool request."""
    return {
        "probeId": "leg-1",
        "interfaceId": interface,
        "operationId": "call",
        "kind": "mcp",
        "toolName": tool,
        "channels": {"arguments": arguments},
    }


def tool_policy(folder: Path, tools: tuple[str, ...] = ("echo", "refuse", "hang", "flood"), **caps: int) -> Any:
    """One server with the tools of `programs/server.py`."""
    return {
        "authorizations": [
            {
                "interfaceId": "server",
                "target": program("server"),
                "targetArgs": [],
                "tools": list(tools),
                "cwd": str(folder),
                "serverEnvironment": {},
                "maxElapsedMs": caps.get("elapsed_ms", 1000),
                "maxOutputBytes": caps.get("output_bytes", 65536),
            }
        ]
    }


def tool(folder: Path, adapter_policy: Any = None, real: Mechanism = run_session) -> SimpleSubject:
    """The MCP adapter over stdio."""
    policy = tool_policy(folder)
    typed = parse_mcp_target_policy(adapter_policy or policy)
    return SimpleSubject(
        "MCP over stdio",
        "mcp-probe",
        tool_request(text="x"),
        real,
        lambda mechanism: McpAdapter(typed, mechanism).probe,
        policy,
        {
            "allow-authorized-tool-call": tool_request(text="x"),
            "observe-error-result": tool_request("refuse"),
            "deny-unmapped-interface": tool_request(interface="elsewhere"),
            "deny-unauthorized-tool": tool_request("secret"),
            "arguments-passed-as-declared": tool_request(text=LITERAL),
            "observe-declared-result-channel": tool_request(text="x", more=[1, None]),
            "cap-elapsed": tool_request("hang"),
            "cap-result-bytes": tool_request("flood"),
        },
        {"arguments-passed-as-declared": ("text", LITERAL), "observe-declared-result-channel": ["text", "more"]},
    )


def tool_over_http(port: int) -> SimpleSubject:
    """The MCP adapter over streamable HTTP against a service on `port`."""
    entry = {
        "interfaceId": "server",
        "url": f"http://mcp.test:{port}/mcp",
        "addresses": ["127.0.0.1"],
        "tools": ["echo", "refuse", "hang", "flood"],
        "headers": {},
        "maxElapsedMs": 1000,
        "maxOutputBytes": 65536,
    }
    policy = {"authorizations": [entry]}
    over_stdio = tool(Path())
    return SimpleSubject(
        "MCP over HTTP",
        "mcp-probe",
        over_stdio.sample_request,
        run_http_session,
        lambda mechanism: McpHttpAdapter(parse_mcp_http_target_policy(policy), mechanism, resolver=resolver).probe,
        policy,
        over_stdio.requests,
        over_stdio.expectations,
    )


# --- HTTP ------------------------------------------------------------------------------------------------------------

ADDRESSES = {
    "other-loopback.test": "127.0.0.2",
    "private.test": "10.1.2.3",
    "link-local.test": "169.254.1.1",
    "metadata.test": "169.254.169.254",
}
INTERFACES = {
    "deny-unauthorized-loopback": "other-loopback.test",
    "deny-private": "private.test",
    "deny-link-local": "link-local.test",
    "deny-metadata": "metadata.test",
}


def resolver(host: str, port: int) -> list[Endpoint]:
    """Names of this suite at their addresses; every other host on loopback."""
    address = ADDRESSES.get(host, "127.0.0.1")
    return [Endpoint(address, 2, (address, port))]


def api_request(path: str, interface: str = "shop", method: str = "GET", query: Any = None) -> Any:
    """A plain HTTP request."""
    return {
        "probeId": "leg-1",
        "interfaceId": interface,
        "operationId": "get",
        "kind": "api",
        "method": method,
        "pathTemplate": path,
        "channels": {"path": {}, "query": query or {}, "header": {}, "body": ABSENT},
    }


def api_entry(port: int, interface: str = "shop", host: str = "shop.test", **more: Any) -> Any:
    """One authorization of loopback."""
    return {
        "interfaceId": interface,
        "scheme": "http",
        "host": host,
        "port": port,
        "addresses": ["127.0.0.1"],
        "methods": ["GET"],
        "safeMethods": ["GET"],
        "maxRedirects": 2,
        "maxElapsedMs": 1000,
        "maxRequestBytes": 4096,
        "maxResponseBytes": 4096,
        **more,
    }


def api_policy(port: int) -> Any:
    """Interface `shop`, and one interface for each class of address that must be denied."""
    return {
        "authorizations": [
            api_entry(port),
            *(api_entry(port, interface, host) for interface, host in INTERFACES.items()),
            api_entry(port, "deny-unauthorized-scheme", scheme="https"),
        ]
    }


def api(port: int, adapter_policy: Any = None, real: Mechanism = exchange_http) -> SimpleSubject:
    """The HTTP adapter against a service on `port`."""
    policy = api_policy(port)
    typed = parse_probe_target_policy(adapter_policy or policy)
    targets = {
        "shop": ApiTarget(f"http://shop.test:{port}"),
        "deny-unauthorized-scheme": ApiTarget(f"http://shop.test:{port}"),
    }
    targets |= {interface: ApiTarget(f"http://{host}:{port}") for interface, host in INTERFACES.items()}
    targets["elsewhere"] = ApiTarget(f"http://shop.test:{port}")
    return SimpleSubject(
        "HTTP",
        "environment-probe",
        api_request("/status/200"),
        real,
        lambda mechanism: ApiAdapter(typed, mechanism, targets=targets, resolver=resolver).probe,
        policy,
        {
            "allow-authorized-loopback": api_request("/hello"),
            "observe-anomalous-status": api_request("/status/500"),
            "deny-unmapped-interface": api_request("/hello", "elsewhere"),
            **{key: api_request("/hello", key) for key in INTERFACES},
            "deny-unauthorized-method": api_request("/hello", method="DELETE"),
            "deny-unauthorized-scheme": api_request("/hello", "deny-unauthorized-scheme"),
            "deny-on-redirect": api_request("/redirect", query={"to": f"http://metadata.test:{port}/"}),
            "cap-redirects": api_request("/chain/9"),
            "cap-response-bytes": api_request("/body", query={"size": 5000}),
            "cap-elapsed": api_request("/slow"),
        },
    )
