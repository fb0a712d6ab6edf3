"""The command-line adapter (spec 07 §7.4)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import decode, to_value
from eval_quality.model.ports import ProbeRequest
from eval_quality.model.target import parse_command_target_policy
from eval_quality.probe.command import CommandInvocation, CommandLineAdapter, argument_vector
from eval_quality.probe.signals import AbortController, AbortSignal
from support.programs import program
from support.subjects import ABSENT, api_request, command_request, tool_request


def entry(folder: Path, target: str, **changes: Any) -> Any:
    return {
        "interfaceId": "shop",
        "executable": "tool",
        "target": target,
        "permittedSubcommandPaths": [[], ["run"]],
        "permittedEnvironmentKeys": ["MODE", "Path"][:1],
        "cwd": str(folder),
        "artifacts": {},
        "maxElapsedMs": 10_000,
        "maxOutputBytes": 65536,
        **changes,
    }


def adapter(folder: Path, target: str = "/bin/sh", **changes: Any) -> CommandLineAdapter:
    return CommandLineAdapter(parse_command_target_policy({"authorizations": [entry(folder, target, **changes)]}))


def observe(subject: CommandLineAdapter, request: Any) -> Any:
    return to_value(subject.probe(request, AbortSignal()))


def fault(subject: CommandLineAdapter, request: Any) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        subject.probe(request, AbortSignal())
    return caught.value


def shell(script: str) -> Any:
    """A request whose only argument vector is `-c <script>`: options come before positionals."""
    return command_request(option={}, argument={"0": "-c", "1": script})


# --- order of work ---------------------------------------------------------------------------------------------------


def never(*_: object) -> Any:
    raise AssertionError("the mechanism must not be reached")


@pytest.mark.parametrize(("request_", "kind"), [(api_request("/x"), "api"), (tool_request(), "mcp")])
def test_s7_4_1_another_kind_is_forbidden(request_: Any, kind: str, tmp_path: Path) -> None:
    policy = parse_command_target_policy({"authorizations": [entry(tmp_path, "x", interfaceId="shop")]})
    found = fault(CommandLineAdapter(policy, never), request_)
    assert (found.code, found.artifact_path, found.reason) == (
        "forbidden-target",
        "ProbeRequest",
        "interface-not-authorized",
    )
    assert f"no {kind} target is ever authorized" in found.detail


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (command_request(interface="elsewhere"), "interface-not-authorized"),
        (command_request("unknown"), "executable-not-authorized"),
        (command_request(path=("destroy",)), "subcommand-not-authorized"),
        (command_request(environment={"mode": "x"}), "environment-key-not-authorized"),
        (command_request(environment={"MODE_2": "x"}), "environment-key-not-authorized"),
        (command_request(environment={"PATH": "/t"}), "environment-key-not-authorized"),
        (command_request(environment={"Path": "/t"}), "environment-key-not-authorized"),
    ],
)
def test_s7_4_1_a_denied_request_never_reaches_the_mechanism(request_: Any, reason: str, tmp_path: Path) -> None:
    policy = parse_command_target_policy({"authorizations": [entry(tmp_path, "/bin/sh")]})
    found = fault(CommandLineAdapter(policy, never), request_)
    assert (found.code, found.artifact_path, found.reason) == ("forbidden-target", "ProbeRequest", reason)


@pytest.mark.parametrize("key", ["A=B", "1BAD", "HAS SPACE", "", "MODE=Y"])
def test_s7_1_2_a_malformed_environment_key_is_refused_before_any_policy(key: str, tmp_path: Path) -> None:
    policy = parse_command_target_policy({"authorizations": []})
    found = fault(CommandLineAdapter(policy, never), command_request(environment={key: "x"}))
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "ProbeRequest")


def test_s7_4_2_path_is_denied_even_when_a_hand_made_policy_lists_it(tmp_path: Path) -> None:
    import msgspec

    policy = parse_command_target_policy({"authorizations": [entry(tmp_path, "/bin/sh")]})
    msgspec.structs.force_setattr(policy.authorizations[0], "permitted_environment_keys", ("Path", "PATH"))
    found = fault(CommandLineAdapter(policy, never), command_request(environment={"Path": "/t"}))
    assert found.reason == "environment-key-not-authorized"


# --- the child's world -----------------------------------------------------------------------------------------------


def test_s7_4_2_the_environment_is_path_and_the_declared_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    monkeypatch.setenv("PATH", os.defpath)
    seen = observe(adapter(tmp_path, "/usr/bin/env"), command_request(environment={"MODE": "x"}))
    assert seen["stdout"]["value"] == f"PATH={os.defpath}\nMODE=x\n"


def test_s7_4_2_a_host_without_a_path_gives_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    seen = observe(adapter(tmp_path, "/usr/bin/env"), command_request())
    assert seen["stdout"] == {"kind": "text", "value": ""}


def test_s7_3_3_a_bare_name_is_looked_up_in_the_path_of_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "my-tool").write_text("#!/bin/sh\necho found\n")
    (folder / "my-tool").chmod(0o755)
    monkeypatch.setenv("PATH", f"/nonexistent:{folder}:{os.defpath}")
    assert observe(adapter(tmp_path, "my-tool"), command_request())["stdout"]["value"] == "found\n"


def vector(**channels: Any) -> list[str]:
    request = decode(ProbeRequest, command_request(path=("run",), **channels), "ProbeRequest")
    return argument_vector(request)  # type: ignore[arg-type]


def test_s7_4_3_the_worked_example() -> None:
    options = {"verbose": True, "quiet": False, "level": 3, "tag": ["a", "b"], "none": [], "opt": None}
    arguments = {"file": "x y", "ids": [1, True], "cfg": {"a": 1}}
    assert vector(option=options, argument=arguments) == [
        *("run", "--verbose", "--level", "3", "--tag", "a", "--tag", "b", "--opt", "null"),
        *("x y", "1", "true", '{"a":1}'),
    ]


def test_s7_4_3_positional_keys_iterate_in_property_order() -> None:
    assert vector(argument={"b": "B", "10": "ten", "2": "two"}) == ["run", "two", "ten", "B"]


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        ("", ["--o", ""]),
        ({}, ["--o", "{}"]),
        ([True, False], ["--o", "true", "--o", "false"]),
        ([[1, "a"]], ["--o", '[1,"a"]']),
        (1e21, ["--o", "1e+21"]),
        (False, []),
    ],
)
def test_s7_4_3_options(value: Any, tokens: list[str]) -> None:
    assert vector(option={"o": value}) == ["run", *tokens]


def test_s7_4_3_booleans_among_positionals_are_text() -> None:
    assert vector(argument={"a": True, "b": False, "c": [False]}) == ["run", "true", "false", "false"]


@pytest.mark.parametrize(
    ("stdin", "arrived"),
    [
        (ABSENT, b""),
        ({"kind": "text", "value": "é\n"}, "é\n".encode()),
        ({"kind": "json", "value": {"b": 1, "a": [1.5, None], "2": "é"}}, '{"2":"é","b":1,"a":[1.5,null]}'.encode()),
        ({"kind": "text", "value": ""}, b""),
    ],
)
def test_s7_4_4_standard_input(stdin: Any, arrived: bytes, tmp_path: Path) -> None:
    subject = adapter(tmp_path, "/bin/sh", artifacts={"copy": "copy"})
    request = shell("cat > copy")
    request["channels"]["stdin"] = stdin
    observe(subject, request)
    assert (tmp_path / "copy").read_bytes() == arrived


def test_s7_4_4_a_child_that_does_not_read_is_no_failure(tmp_path: Path) -> None:
    request = shell("exec true")
    request["channels"]["stdin"] = {"kind": "text", "value": "x" * 1_000_000}
    assert observe(adapter(tmp_path), request)["exitCode"] == 0


# --- streams, caps, exit codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -15), ("kill -KILL $$", -9)]
)
def test_s7_4_5_exit_codes_are_observations(script: str, code: int, tmp_path: Path) -> None:
    assert observe(adapter(tmp_path), shell(script))["exitCode"] == code


def test_s7_4_7_streams_are_tagged_apart(tmp_path: Path) -> None:
    seen = observe(adapter(tmp_path), shell("echo '{\"a\":1}'; echo oops >&2"))
    assert seen["stdout"] == {"kind": "json", "value": {"a": 1}}
    assert seen["stderr"] == {"kind": "text", "value": "oops\n"}
    assert observe(adapter(tmp_path), shell("true"))["stdout"] == {"kind": "text", "value": ""}


@pytest.mark.parametrize(
    ("script", "changes", "detail"),
    [
        ("sleep 60", {"maxElapsedMs": 200}, "maxElapsedMs"),
        ("sleep 60 & exit 0", {"maxElapsedMs": 200}, "maxElapsedMs"),
        ("echo 12345", {"maxOutputBytes": 5}, "stdout"),
        ("echo 12345 >&2", {"maxOutputBytes": 5}, "stderr"),
        ("exec yes", {"maxOutputBytes": 5}, "stdout"),
    ],
)
def test_s7_4_5_exceeded_caps(script: str, changes: dict[str, int], detail: str, tmp_path: Path) -> None:
    found = fault(adapter(tmp_path, **changes), shell(script))
    assert (found.code, found.artifact_path) == ("budget-exhausted", "CommandProbeRequest")
    assert detail in found.detail
    assert str(next(iter(changes.values()))) in found.detail


def test_s7_4_5_output_of_exactly_the_cap_is_kept(tmp_path: Path) -> None:
    assert observe(adapter(tmp_path, maxOutputBytes=6), shell("echo hello"))["stdout"]["value"] == "hello\n"


def test_s7_4_5_the_longest_delay_is_accepted(tmp_path: Path) -> None:
    assert observe(adapter(tmp_path, maxElapsedMs=2147483647), shell("true"))["exitCode"] == 0


@pytest.mark.parametrize(
    ("target", "number"),
    [("/nonexistent/x", "ENOENT"), ("no-such-program-anywhere", "ENOENT"), ("/etc/passwd", "EACCES")],
)
def test_s7_4_5_a_target_that_cannot_be_started(target: str, number: str, tmp_path: Path) -> None:
    found = fault(adapter(tmp_path, target), command_request())
    assert (found.code, found.artifact_path, found.reason) == ("port-failure", "ProbeObservation", None)
    assert isinstance(found.cause, OSError)
    assert number in found.detail


def test_s7_4_5_a_working_folder_that_does_not_exist(tmp_path: Path) -> None:
    found = fault(adapter(tmp_path / "gone"), command_request())
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")


def test_s7_4_5_a_launch_refused_for_its_size(tmp_path: Path) -> None:
    for big in ("x" * 200_000, ["y" * 100_000] * 200):
        found = fault(adapter(tmp_path), command_request(argument={"big": big}))
        assert found.port_failure_reason == "launch-too-large"
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")
    assert found.reason == found.port_failure_reason == "launch-too-large"
    assert isinstance(found.cause, OSError)


def test_s7_4_5_a_nul_in_an_argument_cannot_be_launched(tmp_path: Path) -> None:
    found = fault(adapter(tmp_path), command_request(argument={"bad": "a\0b"}))
    assert (found.code, found.reason) == ("port-failure", None)


def test_s7_4_5_a_lone_surrogate_travels_as_a_replacement_character(tmp_path: Path) -> None:
    seen = observe(adapter(tmp_path, "/bin/echo"), command_request(argument={"a": "x\ud800y"}))
    assert seen["stdout"]["value"] == "x\ufffdy\n"


def test_s7_4_7_a_number_that_overflows_is_a_contract_violation(tmp_path: Path) -> None:
    found = fault(adapter(tmp_path), shell("echo 1e400"))
    assert (found.code, found.artifact_path) == ("port-contract-violation", "ProbeObservation")


def test_s7_4_7_json_that_nests_too_deep_is_a_contract_violation(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("[" * 2000 + "]" * 2000)
    found = fault(adapter(tmp_path), shell("cat deep"))
    assert (found.code, found.artifact_path) == ("port-contract-violation", "ProbeObservation")


def test_s7_2_2_an_aborted_signal_starts_nothing(tmp_path: Path) -> None:
    controller = AbortController()
    controller.abort()
    with pytest.raises(RuntimeFault) as caught:
        adapter(tmp_path).probe(shell("touch started"), controller.signal)
    assert (caught.value.code, caught.value.artifact_path) == ("aborted", "ProbeRequest")
    assert not (tmp_path / "started").exists()


# --- artifacts -------------------------------------------------------------------------------------------------------


def test_s7_4_6_every_mapped_artifact_is_read(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    subject = adapter(
        tmp_path, artifacts={"one": "one.txt", "two": str(elsewhere), "three": "missing", "four": "empty"}
    )
    seen = observe(subject, shell(f"echo text > one.txt; echo '[1]' > {elsewhere}; : > empty"))
    assert seen["artifacts"] == {
        "one": {"kind": "text", "value": "text\n"},
        "two": {"kind": "json", "value": [1]},
        "three": {"kind": "absent"},
        "four": {"kind": "text", "value": ""},
    }


def test_s7_4_6_a_stale_artifact_is_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("stale")
    assert observe(adapter(tmp_path, artifacts={"old": "old"}), shell("true"))["artifacts"]["old"]["value"] == "stale"


def test_s7_4_6_an_artifact_over_the_cap(tmp_path: Path) -> None:
    subject = adapter(tmp_path, artifacts={"big": "big"}, maxOutputBytes=10)
    assert observe(subject, shell("printf 1234567890 > big"))["artifacts"]["big"]["value"] == 1234567890
    found = fault(subject, shell("printf 12345678901 > big"))
    assert (found.code, found.artifact_path) == ("budget-exhausted", "CommandProbeRequest")
    assert "big" in found.detail
    endless = fault(subject, shell("rm -f big; ln -s /dev/zero big"))
    assert endless.code == "port-failure"


@pytest.mark.parametrize("script", ["mkdir a", "mkfifo a", "ln -s a a"])
def test_s7_4_6_an_artifact_that_cannot_be_read(script: str, tmp_path: Path) -> None:
    found = fault(adapter(tmp_path, artifacts={"a": "a"}), shell(script))
    assert (found.code, found.artifact_path) == ("port-failure", "ProbeObservation")


# --- the mechanism ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [None, {}, {"exitCode": "0"}, {"exitCode": 0, "stdout": "text", "stderr": b"", "artifacts": {}}, {"error": "x"}],
)
def test_s7_2_2_an_untyped_answer_of_a_mechanism_is_checked(answer: Any, tmp_path: Path) -> None:
    policy = parse_command_target_policy({"authorizations": [entry(tmp_path, "/bin/sh")]})
    found = fault(CommandLineAdapter(policy, lambda invocation, signal: answer), command_request())
    assert (found.code, found.artifact_path) == ("port-contract-violation", "ProbeObservation")


def test_s7_1_1_a_mechanism_is_called_once_with_everything_decided(tmp_path: Path) -> None:
    seen: list[CommandInvocation] = []

    def mechanism(invocation: CommandInvocation, signal: AbortSignal) -> Any:
        seen.append(invocation)
        return {"exitCode": 0, "stdout": b"", "stderr": b"", "artifacts": {"a": None}}

    policy = parse_command_target_policy({"authorizations": [entry(tmp_path, "tool", artifacts={"a": "f"})]})
    request = command_request(path=("run",), argument={"x": 1}, stdin={"kind": "text", "value": "in"})
    CommandLineAdapter(policy, mechanism).probe(request, AbortSignal())
    (invocation,) = seen
    assert invocation.argv == ("tool", "run", "1")
    assert (invocation.cwd, invocation.stdin, dict(invocation.artifacts)) == (str(tmp_path), b"in", {"a": "f"})
    assert (invocation.max_elapsed_ms, invocation.max_output_bytes) == (10_000, 65536)


def test_s7_1_2_the_observation_echoes_the_request(tmp_path: Path) -> None:
    seen = observe(adapter(tmp_path, program("tool")), command_request())
    assert (seen["probeId"], seen["interfaceId"], seen["operationId"], seen["kind"]) == ("leg-1", "shop", "run", "cli")
    assert json.dumps(seen["stdout"]["value"]) == '{"argv": []}'
