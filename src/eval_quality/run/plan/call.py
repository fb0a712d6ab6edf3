"""One call of a subject: what is sent, how it travels as a port request, and how it is recorded.

A call keeps the values an evaluator or a plan step chose. A principal's value is a mark, never the credential: the
credential is put in when the request is made, and the record says `principal:<name>` (spec 12 §12.13.2, §12.17.1).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from eval_quality.core.contract.operation import AnyOperation, family, input_channels
from eval_quality.model.decode import decode, to_value
from eval_quality.model.interface import CommandOperation, McpOperation, Operation
from eval_quality.model.ports import (
    ApiObservation,
    ApiRequest,
    CommandObservation,
    CommandRequest,
    ProbeObservation,
    ProbeRequest,
    ToolRequest,
)

Channels: TypeAlias = Mapping[str, Mapping[str, Any]]

INPUT_CHANNELS: Final = ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")


class Injected(NamedTuple):
    """The place of a principal's value."""

    principal: str

    @property
    def text(self) -> str:
        """What records and evaluators see in its place."""
        return f"principal:{self.principal}"


class Call(NamedTuple):
    """One call: the operation and what each channel carries.

    `channels` maps an input channel to its keys and values; a raw HTTP body is `{"kind": "raw", "base64",
    "contentType"}` under `body` with `raw_body` set. `principal` is the one principal the call acts as.
    """

    interface_id: str
    operation_id: str
    channels: Channels
    raw_body: bool = False
    principal: str | None = None


Expand: TypeAlias = Callable[[str, str, str], str]
"""(principal, channel, key) -> the value to send."""


def request_of(call: Call, operation: AnyOperation, correlation: str, stdin_form: str, expand: Expand) -> ProbeRequest:
    """The port request of a call. `stdin_form` is `auto`, `json` or `text` (12.8.2).

    Raises `RuntimeFault` (`schema-parse-failure`) when a value does not fit the port's message shape.
    """
    sent = {
        channel: {
            key: expand(value.principal, channel, key) if isinstance(value, Injected) else value
            for key, value in keys.items()
        }
        for channel, keys in call.channels.items()
    }
    message: dict[str, Any] = {
        "probeId": correlation,
        "interfaceId": call.interface_id,
        "operationId": call.operation_id,
        "kind": family(operation),
    }
    channels: dict[str, Any] = {name: sent.get(name, {}) for name in input_channels(operation)}
    if isinstance(operation, Operation):
        channels["body"] = _body(call, sent, operation)
        message |= {"method": operation.method, "pathTemplate": operation.path_template, "channels": channels}
        return decode(ApiRequest, message, "ProbeRequest")
    if isinstance(operation, CommandOperation):
        channels["stdin"] = _stdin(sent.get("stdin"), operation, stdin_form)
        invocation = to_value(operation.invocation)
        message |= {**invocation, "channels": channels}  # pyright: ignore
        return decode(CommandRequest, message, "ProbeRequest")
    assert isinstance(operation, McpOperation)
    message |= {"toolName": operation.tool_name, "channels": channels}
    return decode(ToolRequest, message, "ProbeRequest")


def _body(call: Call, sent: Channels, operation: Operation) -> Any:
    if call.raw_body:
        return dict(sent["body"])
    if "body" in sent:
        return {"kind": "json", "value": sent["body"]}
    # an operation that declares body keys gets an object even when a call chooses none of them
    return {"kind": "json", "value": {}} if operation.request_shape.body.required_keys else {"kind": "absent"}


def _stdin(keys: Mapping[str, Any] | None, operation: CommandOperation, form: str) -> Any:
    if keys is None:
        return {"kind": "absent"}
    required = operation.request_shape.stdin.required_keys
    only = next(iter(keys.values())) if len(keys) == 1 else None
    if form != "json" and isinstance(only, str) and (form == "text" or tuple(required) == tuple(keys)):
        return {"kind": "text", "value": only}
    return {"kind": "json", "value": dict(keys)}


def call_inputs_of(call: Call) -> dict[str, Any]:
    """What a record says was sent (spec 02 §16.5): channels that carried nothing are null."""
    inputs: dict[str, Any] = dict.fromkeys(INPUT_CHANNELS)
    for channel, keys in call.channels.items():
        inputs[channel] = {key: value.text if isinstance(value, Injected) else value for key, value in keys.items()}
    inputs["bodyEncoding"] = "raw" if call.raw_body else None
    return inputs


def record_of(
    call: Call, observed: ProbeObservation, observation_id: str, sequence: int, provenance: str
) -> dict[str, Any]:
    """The run record's observation of one answered call, as a plain value (spec 02 §16.4, 12.17.1)."""
    absent = {"kind": "absent"}
    record: dict[str, Any] = {
        "observationId": observation_id,
        "sequence": sequence,
        "interfaceId": call.interface_id,
        "operationId": call.operation_id,
        "provenance": provenance,
        "principal": call.principal,
        "callInputs": call_inputs_of(call),
        "responseBody": None,
        "responseHeaders": None,
        "responseStatus": None,
        "stdout": absent,
        "stderr": absent,
        "exitCode": None,
        "artifacts": {},
    }
    value: Any = to_value(observed)
    if isinstance(observed, ApiObservation):
        record |= {"responseStatus": value["status"], "responseHeaders": value["headers"]}
        record["responseBody"] = value["body"].get("value")
    elif isinstance(observed, CommandObservation):
        record |= {name: value[name] for name in ("exitCode", "stdout", "stderr", "artifacts")}
    else:
        record |= {"responseStatus": int(value["isError"]), "responseBody": value["result"].get("value")}
        record["exitCode"] = value.get("exitCode")
    return record
