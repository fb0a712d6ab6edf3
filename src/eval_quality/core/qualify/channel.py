"""Which channels a signature may be observed on (spec 08 §1.8, §1.9).

Rules:

1. `api`, `cli` and `mcp` signatures have probe semantics; `web` has none.
2. The observable channel is on the response side; what was sent proves nothing about the reply.
3. It is a channel the signature's kind can produce. The code of that failure, `condition-text-channel-on-api`, is
   narrower than the rule it stands for.
"""

from collections.abc import Iterator
from typing import Final

from eval_quality.core.qualify.result import QualificationFailure
from eval_quality.model.primitives import API_RESPONSE_CHANNELS, COMMAND_RESPONSE_CHANNELS
from eval_quality.model.probe import DefectSignature
from eval_quality.value.text import quoted

RESPONSE_SIDE: Final = (*API_RESPONSE_CHANNELS, *COMMAND_RESPONSE_CHANNELS)
"""Every evidence channel but `call-inputs`."""

SUPPORTED_KINDS: Final = ("api", "cli", "mcp")

FOREIGN_CHANNELS: Final[dict[str, tuple[str, ...]]] = {
    "api": COMMAND_RESPONSE_CHANNELS,
    "web": COMMAND_RESPONSE_CHANNELS,
    "cli": API_RESPONSE_CHANNELS,
    "mcp": ("stdout", "stderr", "artifact", "response-headers"),
}
"""Channels a kind can never produce (spec 08 §1.9)."""


def channel_failures(signature: DefectSignature, path: str) -> Iterator[QualificationFailure]:
    """Failures of the interface kind, then of the observable channel."""
    kind, channel = signature.interface_kind, signature.observable_channel
    if kind not in SUPPORTED_KINDS:
        yield QualificationFailure(
            code="signature-interface-kind-unsupported",
            artifact_path=f"{path}.defectSignature.interfaceKind",
            detail=f"interface kind {quoted(kind)} has no probe semantics; supported are {', '.join(SUPPORTED_KINDS)}",
        )
    at = f"{path}.defectSignature.observableChannel"
    if channel not in RESPONSE_SIDE:
        yield QualificationFailure(
            code="signature-observable-channel-not-response-side",
            artifact_path=at,
            detail=f"{quoted(channel)} is what was sent; a defect shows on a response-side channel",
        )
    elif channel in FOREIGN_CHANNELS[kind]:
        yield QualificationFailure(
            code="condition-text-channel-on-api",
            artifact_path=at,
            detail=f"an interface of kind {quoted(kind)} produces no {quoted(channel)} channel",
        )
