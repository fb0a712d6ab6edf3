"""Broken adapters, one for each assertion of the conformance suite (spec 07 §7.7): what the suite must catch.

Each breaks one promise in the way a plausible implementation would. The subject still declares the honest policy and
requests; only the adapter behind it misbehaves.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_quality.conformance import FileSystemSubject
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.probe.command import run_command
from eval_quality.probe.http_exchange import exchange_http
from eval_quality.probe.mcp import run_session
from eval_quality.probe.mcp_protocol import ToolCall
from eval_quality.probe.signals import AbortController
from support import subjects
from support.subjects import SimpleSubject

Port = Callable[[Any, Any], Any]
Breaker = Callable[[Port], Port]


@dataclass
class Wrapped:
    """A subject whose port is wrapped."""

    inner: SimpleSubject
    breaker: Breaker

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def build(self, scenario: str) -> Any:
        built = self.inner.build(scenario)
        built.port = self.breaker(built.port)
        return built


# --- the six shared assertions ---------------------------------------------------------------------------------------


def leaks_foreign_exceptions(port: Port) -> Port:
    def call(request: Any, signal: Any) -> Any:
        try:
            return port(request, signal)
        except RuntimeFault as fault:
            raise ValueError(str(fault)) from fault

    return call


def asks_twice(port: Port) -> Port:
    def call(request: Any, signal: Any) -> Any:
        port(request, signal)
        return port(request, signal)

    return call


def retries(port: Port) -> Port:
    def call(request: Any, signal: Any) -> Any:
        try:
            return port(request, signal)
        except RuntimeFault:
            return port(request, signal)

    return call


def ignores_the_signal(port: Port) -> Port:
    return lambda request, signal: port(request, AbortController().signal)


def returns_failures(port: Port) -> Port:
    def call(request: Any, signal: Any) -> Any:
        try:
            return port(request, signal)
        except RuntimeFault as fault:
            return {"error": fault.code}

    return call


def adds_members(port: Port) -> Port:
    return lambda request, signal: {**to_value(port(request, signal)), "tookMs": 3}


SHARED: Mapping[str, Breaker] = {
    "typed-fault": leaks_foreign_exceptions,
    "single-underlying-call-on-success": asks_twice,
    "single-underlying-call-on-failure": retries,
    "prompt-abort": ignores_the_signal,
    "no-in-band-error": returns_failures,
    "schema-valid-return": adds_members,
}


def refuses_everything(port: Port) -> Port:
    del port

    def call(request: Any, signal: Any) -> Any:
        raise RuntimeFault("forbidden-target", "ProbeRequest", "closed", "interface-not-authorized")

    return call


def throws_on(condition: Callable[[Mapping[str, Any]], bool]) -> Breaker:
    """An adapter that treats an answer it does not like as a failure."""

    def wrap(port: Port) -> Port:
        def call(request: Any, signal: Any) -> Any:
            observation = port(request, signal)
            if condition(to_value(observation)):
                raise RuntimeFault("port-failure", "ProbeObservation", "unexpected answer")
            return observation

        return call

    return wrap


# --- HTTP ------------------------------------------------------------------------------------------------------------


def _open_http(port: int) -> Any:
    """A policy that admits everything the suite asks for."""
    wide = {
        "addresses": ["127.0.0.1", *subjects.ADDRESSES.values()],
        "methods": ["GET", "DELETE"],
        "maxRedirects": 50,
        "maxElapsedMs": 20_000,
        "maxResponseBytes": 1_000_000,
    }
    named = [("shop", "shop.test"), ("shop", "metadata.test"), ("elsewhere", "shop.test"), *subjects.INTERFACES.items()]
    entries = [subjects.api_entry(port, interface, host, **wide) for interface, host in named]
    return {"authorizations": [*entries, subjects.api_entry(port, "deny-unauthorized-scheme", **wide)]}


def _loopback_only(exchange: Any, signal: Any) -> Any:
    """The real exchange where a socket is needed, a canned answer for addresses nobody may really connect to."""
    if exchange.endpoints[0].address == "127.0.0.1":
        return exchange_http(exchange, signal)
    return {"status": 200, "headers": [], "body": b"reached"}


def http(key: str, port: int) -> Any:
    """The HTTP adapter that breaks `probe/<key>`."""
    if key in SHARED:
        return Wrapped(subjects.api(port), SHARED[key])
    if key == "allow-authorized-loopback":
        return Wrapped(subjects.api(port), refuses_everything)
    if key == "observe-anomalous-status":
        return Wrapped(subjects.api(port), throws_on(lambda seen: seen["status"] >= 500))
    return subjects.api(port, _open_http(port), _loopback_only)


# --- commands --------------------------------------------------------------------------------------------------------


def _open_commands(folder: Path) -> Any:
    entries = subjects.command_policy(folder, slow_ms=3000, loud_bytes=1_000_000)["authorizations"]
    tool = entries[0]
    tool["permittedEnvironmentKeys"] = ["MODE", "SECRET"]
    tool["permittedSubcommandPaths"] = [[], ["fail"], ["destroy"]]
    return {"authorizations": [*entries, {**tool, "interfaceId": "elsewhere"}, {**tool, "executable": "unknown"}]}


def _through_a_shell(invocation: Any, signal: Any) -> Any:
    words = shlex.split(" ".join(invocation.argv).replace("'", "").replace('"', ""))
    return run_command(invocation._replace(argv=tuple(words)), signal)


def _without_artifacts(invocation: Any, signal: Any) -> Any:
    return {**run_command(invocation, signal), "artifacts": {}}


def _cut_silently(invocation: Any, signal: Any) -> Any:
    """Ends a slow command itself and presents what it printed so far."""
    try:
        return run_command(invocation, signal)
    except RuntimeFault:
        return {"exitCode": 0, "stdout": b"", "stderr": b"", "artifacts": {}}


def command(key: str, folder: Path) -> Any:
    """The command adapter that breaks `probe/<key>` or `command/<key>`."""
    if key in SHARED:
        return Wrapped(subjects.command(folder), SHARED[key])
    if key == "allow-authorized-invocation":
        return Wrapped(subjects.command(folder), refuses_everything)
    if key == "observe-nonzero-exit":
        return Wrapped(subjects.command(folder), throws_on(lambda seen: seen["exitCode"] != 0))
    if key == "argument-passed-literally":
        return subjects.command(folder, real=_through_a_shell)
    if key == "capture-declared-artifact":
        return subjects.command(folder, real=_without_artifacts)
    if key == "cap-elapsed":
        return subjects.command(folder, real=_cut_silently)
    return subjects.command(folder, _open_commands(folder))


# --- tool calls ------------------------------------------------------------------------------------------------------


def _open_tools(folder: Path) -> Any:
    entry = subjects.tool_policy(
        folder, ("echo", "refuse", "hang", "flood", "secret"), elapsed_ms=3000, output_bytes=1_000_000
    )["authorizations"][0]
    return {"authorizations": [entry, {**entry, "interfaceId": "elsewhere"}]}


def _stringified(invocation: Any, signal: Any) -> Any:
    arguments = {key: str(value).upper() for key, value in invocation.call.arguments.items()}
    return run_session(invocation._replace(call=ToolCall(invocation.call.tool_name, arguments)), signal)


def _prose(invocation: Any, signal: Any) -> Any:
    answer = run_session(invocation, signal)
    return {**answer, "result": {"kind": "text", "value": str(answer["result"])}}


def _timeless(invocation: Any, signal: Any) -> Any:
    try:
        return run_session(invocation, signal)
    except RuntimeFault:
        return {"isError": True, "result": {"kind": "absent"}}


def tool(key: str, folder: Path) -> Any:
    """The tool-call adapter that breaks `probe/<key>` or `mcp/<key>`."""
    if key in SHARED:
        return Wrapped(subjects.tool(folder), SHARED[key])
    if key == "allow-authorized-tool-call":
        return Wrapped(subjects.tool(folder), refuses_everything)
    if key == "observe-error-result":
        return Wrapped(subjects.tool(folder), throws_on(lambda seen: seen["isError"]))
    if key == "arguments-passed-as-declared":
        return subjects.tool(folder, real=_stringified)
    if key == "observe-declared-result-channel":
        return subjects.tool(folder, real=_prose)
    if key == "cap-elapsed":
        return subjects.tool(folder, real=_timeless)
    return subjects.tool(folder, _open_tools(folder))


# --- local adapters --------------------------------------------------------------------------------------------------


def local(kind: str, key: str, folder: Path) -> Any:
    """The corpus, clock or file-system adapter that breaks `<method>/<key>`."""
    if kind == "corpus":
        return Wrapped(subjects.corpus(folder), SHARED[key])
    if kind == "clock":
        return Wrapped(subjects.clock(), SHARED[key])
    both = subjects.file_system(folder)
    return FileSystemSubject(Wrapped(both.read, SHARED[key]), Wrapped(both.write, SHARED[key]))
