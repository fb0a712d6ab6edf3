"""Which declared operation a defect signature is about (spec 08 §1.3).

1. Render the signature's transport identity within its shape family: `api` and `web` share one.
2. Walk interfaces in declaration order, skipping other families, and operations in declaration order.
3. The first operation with the same identity is home. None is an answer, not a failure.
"""

from collections.abc import Iterable

from msgspec import UNSET

from eval_quality.core.contract.operation import (
    AnyInterface,
    AnyOperation,
    TransportIdentity,
    command_identity,
    http_identity,
    tool_identity,
    transport_identity,
)
from eval_quality.model.probe import ApiSignature, CommandSignature, DefectSignature, Probe
from eval_quality.model.record import Record


class HomeOperation(Record):
    """The operation a signature resolves to; `interface_id` is the declaring interface's `logicalId`."""

    interface_id: str
    operation: AnyOperation

    @property
    def pair(self) -> tuple[str, str]:
        """The name an observation carries: (interface, operation)."""
        return (self.interface_id, self.operation.operation_id)


def signature_of(probe: Probe) -> DefectSignature | None:
    """The probe's signature; None for a clean control, which has no such member, and where it is null."""
    signature = probe.defect_signature
    return None if signature is UNSET else signature


def resolve_home_operation(signature: DefectSignature, interfaces: Iterable[AnyInterface]) -> HomeOperation | None:
    """The first operation of `interfaces` with the signature's transport identity (spec 08 §1.3)."""
    wanted = _signature_identity(signature)
    for interface in interfaces:
        for operation in interface.operations:
            if transport_identity(operation) == wanted:
                return HomeOperation(interface_id=interface.logical_id, operation=operation)
    return None


def _signature_identity(signature: DefectSignature) -> TransportIdentity:
    if isinstance(signature, ApiSignature):
        return http_identity(signature.method, signature.path_template)
    if isinstance(signature, CommandSignature):
        return command_identity(signature.invocation)
    return tool_identity(signature.tool_name)
