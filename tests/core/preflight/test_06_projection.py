"""Pruning, projection, fixture digest and evidence (spec 06 §6.4)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.preflight.evidence import build_evidence
from eval_quality.core.preflight.projection import Projection, fixture_digest, project
from eval_quality.core.preflight.volatile import prune
from eval_quality.errors import RuntimeFault
from eval_quality.model.binding import AbsentBody, JsonBody, TextBody, WitnessInputs
from eval_quality.model.decode import decode, to_value
from eval_quality.model.ports import ProbeObservation
from eval_quality.value.freeze import freeze
from support.preflight import (
    ABSENT_BODY,
    NO_CLI_INPUTS,
    NO_INPUTS,
    api,
    api_answer,
    cli,
    cli_answer,
    contract,
    interface,
    mcp,
    mcp_answer,
    plan_of,
)

JSON = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["", "a", "*"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "*", "0", ""]), inner),
    max_leaves=10,
)
POINTER = st.lists(st.sampled_from(["a", "b", "*", "0", "1", "", "-"]), max_size=3).map(
    lambda tokens: "".join("/" + token for token in tokens)
)


def json_body(value: Any) -> dict[str, Any]:
    return {"kind": "json", "value": value}


# §6.4.1


def pruned(value: Any, *pointers: str) -> Any:
    body = prune(JsonBody(value=value), pointers)
    return body.value if isinstance(body, JsonBody) else body


@pytest.mark.parametrize(
    ("value", "pointers", "expected"),
    [
        ({"a": 1, "b": 2}, ["/a"], {"b": 2}),
        ({"a": {"b": 1, "c": 2}}, ["/a/b"], {"a": {"c": 2}}),
        ({"a": [1, 2, 3]}, ["/a/0"], {"a": [2, 3]}),
        ({"a": [1, 2, 3]}, ["/a/0", "/a/0"], {"a": [3]}),
        ({"a": [1, 2, 3]}, ["/a/2", "/a/2"], {"a": [1, 2]}),
        ({"a": [1, 2, 3]}, ["/a/01"], {"a": [1, 2, 3]}),
        ({"a": [1, 2, 3]}, ["/a/-"], {"a": [1, 2, 3]}),
        ({"a": [1, 2, 3]}, ["/a/3"], {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, ["/a/*"], {"a": []}),
        ({"a": {"x": 1}}, ["/a/*"], {"a": {}}),
        ({"a": 1}, ["/*"], {}),
        ([1, 2], ["/*"], []),
        ([[1, 2], [3]], ["/*/0"], [[2], []]),
        ({"x": {"k": 1}, "y": {"k": 2, "z": 3}}, ["/*/k"], {"x": {}, "y": {"z": 3}}),
        ({"*": 1, "b": 2}, ["/*"], {}),
        ({"a": {"*": {"k": 1}}}, ["/a/*/k"], {"a": {"*": {}}}),
        ({"a": 1}, ["/a/b"], {"a": 1}),
        ({"a": "text"}, ["/a/*"], {"a": "text"}),
        ({"a": "text"}, ["/a/0"], {"a": "text"}),
        ("text", ["/*"], "text"),
        ("text", ["/a/b"], "text"),
        (None, ["/"], None),
        ({"": 1}, ["/"], {}),
        ({"a/b": 1, "m~n": 2}, ["/a~1b", "/m~0n"], {}),
        ({"a": [{"b": [1, 2]}, {"b": [3]}]}, ["/a/*/b/*"], {"a": [{"b": []}, {"b": []}]}),
        ({"0": 1}, ["/0"], {}),
    ],
)
def test_s6_4_1_pruning(value: Any, pointers: list[str], expected: Any) -> None:
    assert pruned(value, *pointers) == expected


def test_s6_4_1_the_empty_pointer_leaves_nothing() -> None:
    assert pruned({"a": 1}, "/a", "") == AbsentBody()


@pytest.mark.parametrize("body", [TextBody(value='{"a":1}'), AbsentBody()])
@pytest.mark.parametrize("pointers", [("",), ("/a",), ()])
def test_s6_4_1_only_json_is_pruned(body: Any, pointers: tuple[str, ...]) -> None:
    assert prune(body, pointers) is body


def test_s6_4_1_without_pointers_the_body_is_the_same() -> None:
    body = JsonBody(value={"a": 1})
    assert prune(body, ()) is body


@given(JSON, st.lists(POINTER.filter(bool), max_size=3))
def test_s6_4_1_the_body_given_is_not_changed(value: Any, pointers: list[str]) -> None:
    body = JsonBody(value=freeze(value))
    prune(body, pointers)
    assert body.value == value


@given(JSON, POINTER.filter(bool))
def test_s6_4_1_pruning_members_twice_is_pruning_them_once(value: Any, pointer: str) -> None:
    once = pruned(value, pointer)
    if "0" not in pointer and "1" not in pointer:
        assert pruned(once, pointer) == once


# §6.4.2


def operation_of(kind: str, operation: Any) -> Any:
    return plan_of(contract(interface(kind, "svc", operation))).legs[0].operation


def projected(kind: str, operation: Any, observation: Any) -> Any:
    seen = decode(ProbeObservation, observation, "ProbeObservation")
    return project(seen, operation_of(kind, operation)).value()


STREAM = {"kind": "stream", "channel": "stderr"}
FILE = {"kind": "artifact", "artifactId": "notes"}
OUTPUTS = {
    "stdout": json_body({"o": 1}),
    "stderr": json_body({"e": 1}),
    "artifacts": {"notes": json_body({"n": 1}), "other": json_body(0)},
}


@pytest.mark.parametrize(
    ("kind", "operation", "observation", "fields"),
    [
        (
            "api",
            api("read", volatile=["/at"]),
            api_answer("leg", {"k": 1, "at": 2}, status=404, headers={"x": "y"}),
            {"interfaceId": "shop", "operationId": "get-item", "status": 404, "body": json_body({"k": 1})},
        ),
        (
            "cli",
            cli("read"),
            cli_answer("leg", "read", exitCode=-9, **OUTPUTS),
            {"interfaceId": "tool", "operationId": "read", "exitCode": -9, "body": json_body({"o": 1})},
        ),
        (
            "cli",
            cli("read", channel=STREAM, volatile=["/e"]),
            cli_answer("leg", "read", **OUTPUTS),
            {"interfaceId": "tool", "operationId": "read", "exitCode": 0, "body": json_body({})},
        ),
        (
            "cli",
            cli("read", channel=FILE),
            cli_answer("leg", "read", **OUTPUTS),
            {"interfaceId": "tool", "operationId": "read", "exitCode": 0, "body": json_body({"n": 1})},
        ),
        (
            "cli",
            cli("read", channel=FILE),
            cli_answer("leg", "read", stdout=json_body(1)),
            {"interfaceId": "tool", "operationId": "read", "exitCode": 0, "body": ABSENT_BODY},
        ),
        (
            "mcp",
            mcp("read"),
            mcp_answer("leg", "read", result=json_body({"r": 1})),
            {"interfaceId": "server", "operationId": "read", "toolError": False, "body": json_body({"r": 1})},
        ),
        (
            "mcp",
            mcp("read"),
            mcp_answer("leg", "read", isError=True, exitCode=3),
            {"interfaceId": "server", "operationId": "read", "toolError": True, "exitCode": 3, "body": ABSENT_BODY},
        ),
    ],
    ids=["api", "stdout", "stderr", "artifact", "unwritten", "tool", "ended-session"],
)
def test_s6_4_2_seven_members(kind: str, operation: Any, observation: Any, fields: Any) -> None:
    expected = {"legId": "leg", "status": None, "exitCode": None, "toolError": None, **fields}
    assert projected(kind, operation, observation) == expected


# §6.4.3


def vector(leg: str, value: str) -> Projection:
    return Projection(leg, "thing-api", "read-thing", 200, None, None, JsonBody(value={"value": value}))


def test_s6_4_3_verification_vector_in_any_order() -> None:
    digest = "sha256:9051e86e36f3c3123237d8714ade16bc6269ab9ec759f710fa0a39912b6c38e9"
    legs = [vector("read-a", "alpha"), vector("read-b", "beta")]
    assert fixture_digest(legs) == digest
    assert fixture_digest(legs[::-1]) == digest
    assert fixture_digest(legs[:1]) != digest


def test_s6_4_3_a_value_without_a_canonical_form_is_a_fault() -> None:
    with pytest.raises(RuntimeFault) as caught:
        fixture_digest([vector("a", "\ud800")])
    assert (caught.value.code, caught.value.artifact_path) == ("non-canonicalizable-value", "PreflightVerdict")


# §6.4.4


def evidence(kind: str, operation: Any, observation: Any, inputs: Any) -> Any:
    declared = operation_of(kind, operation)
    seen = decode(ProbeObservation, observation, "ProbeObservation")
    sent = decode(WitnessInputs, inputs, "WitnessInputs")
    return to_value(build_evidence(sent, declared, seen, project(seen, declared)))


NOTHING_SENT: dict[str, Any] = dict.fromkeys(
    ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
)
BASE = {
    "observationId": "leg",
    "sequence": 1,
    "provenance": "baseline",
    "principal": None,
    "responseBody": None,
    "responseHeaders": None,
    "responseStatus": None,
    "stdout": ABSENT_BODY,
    "stderr": ABSENT_BODY,
    "exitCode": None,
    "artifacts": {},
}


def test_s6_4_4_an_http_leg() -> None:
    inputs = {"path": {"id": 1}, "query": {"q": [1]}, "header": {"h": "v"}, "body": json_body({"k": 1})}
    answer = api_answer("leg", {"k": 1, "at": 2}, status=404, headers={"date": "now"})
    assert evidence("api", api("read", volatile=["/at"]), answer, inputs) == {
        **BASE,
        "interfaceId": "shop",
        "operationId": "get-item",
        "callInputs": {**NOTHING_SENT, "path": {"id": 1}, "query": {"q": [1]}, "header": {"h": "v"}, "body": {"k": 1}},
        "responseBody": {"k": 1},
        "responseHeaders": {"date": "now"},
        "responseStatus": 404,
    }


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (json_body({"k": 1}), {"k": 1}),
        (json_body([1]), None),
        (json_body("text"), None),
        (json_body(None), None),
        (ABSENT_BODY, None),
        ({"kind": "raw", "base64": "", "contentType": "text/plain"}, None),
    ],
)
def test_s6_4_4_a_body_was_sent_only_as_an_object(body: Any, sent: Any) -> None:
    seen = evidence("api", api("read"), api_answer("leg"), {**NO_INPUTS, "body": body})
    assert seen["callInputs"]["body"] == sent


@pytest.mark.parametrize(
    ("body", "value"), [(json_body([1]), [1]), ({"kind": "text", "value": "t"}, "t"), (ABSENT_BODY, None)]
)
def test_s6_4_4_a_response_body_is_the_value_the_text_or_null(body: Any, value: Any) -> None:
    assert evidence("api", api("read"), api_answer("leg", body=body), NO_INPUTS)["responseBody"] == value
    assert (
        evidence("mcp", mcp("read"), mcp_answer("leg", "read", result=body), {"arguments": {}})["responseBody"] == value
    )


@pytest.mark.parametrize(
    ("channel", "shown"),
    [
        (None, {"stdout": json_body({"o": 1})}),
        (STREAM, {"stderr": json_body({"e": 1})}),
        (FILE, {"artifacts": {"notes": json_body({"n": 1})}}),
    ],
    ids=["stdout", "stderr", "artifact"],
)
def test_s6_4_4_a_command_leg_shows_its_described_channel_only(channel: Any, shown: Any) -> None:
    inputs = {"argument": {"a": 1}, "option": {"o": 2}, "environment": {"E": "3"}, "stdin": json_body({"s": 4})}
    answer = cli_answer("leg", "read", exitCode=2, **OUTPUTS)
    assert evidence("cli", cli("read", channel=channel), answer, inputs) == {
        **BASE,
        "interfaceId": "tool",
        "operationId": "read",
        "callInputs": {
            **NOTHING_SENT,
            "argument": {"a": 1},
            "option": {"o": 2},
            "environment": {"E": "3"},
            "stdin": {"s": 4},
        },
        "exitCode": 2,
        **shown,
    }


def test_s6_4_4_text_on_standard_input_is_not_an_object() -> None:
    inputs = {**NO_CLI_INPUTS, "stdin": {"kind": "text", "value": "{}"}}
    assert evidence("cli", cli("read"), cli_answer("leg", "read"), inputs)["callInputs"]["stdin"] is None


@pytest.mark.parametrize(
    ("members", "status", "exit_code"),
    [({}, 0, None), ({"isError": True}, 1, None), ({"isError": True, "exitCode": -15}, 1, -15)],
)
def test_s6_4_4_a_tool_leg(members: Any, status: int, exit_code: int | None) -> None:
    seen = evidence("mcp", mcp("read"), mcp_answer("leg", "read", **members), {"arguments": {"q": 1}})
    assert seen == {
        **BASE,
        "interfaceId": "server",
        "operationId": "read",
        "callInputs": {**NOTHING_SENT, "arguments": {"q": 1}},
        "responseStatus": status,
        "exitCode": exit_code,
    }
