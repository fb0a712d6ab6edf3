"""One port over several adapters: each request goes to the adapter that serves its kind and interface."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from eval_quality.errors import RuntimeFault
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.probe.ports import EnvironmentProbePort
from eval_quality.probe.signals import AbortSignal

ANY_INTERFACE: Final = None
"""A route for every interface of a kind that has no route of its own."""


class Routes(NamedTuple):
    """The adapters by `(kind, interface)`; `(kind, ANY_INTERFACE)` serves the rest of a kind."""

    table: Mapping[tuple[str, str | None], EnvironmentProbePort]

    def probe(self, request: ProbeRequest, signal: AbortSignal) -> ProbeObservation:
        """Pass the request on; an unserved kind is `forbidden-target`."""
        port = self.table.get((request.kind, request.interface_id)) or self.table.get((request.kind, ANY_INTERFACE))
        if port is None:
            detail = f"no target policy was given for {request.kind} interfaces"
            raise RuntimeFault("forbidden-target", "ProbeRequest", detail, "interface-not-authorized")
        return port.probe(request, signal)
