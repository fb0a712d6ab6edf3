"""The interface inventory (spec 03 §7.1 to §7.3)."""

from collections.abc import Sequence
from typing import Final

from eval_quality.core.compile.codes import (
    DUPLICATE_INTERFACE_IDENTIFIER,
    DUPLICATE_OPERATION_SIGNATURE,
    UNSUPPORTED_INTERFACE_KIND,
)
from eval_quality.core.compile.survey import Survey, operation_path
from eval_quality.core.contract.operation import DeclaredOperation, TransportIdentity, transport_identity
from eval_quality.errors import StructuralFailure
from eval_quality.model.interface import PermittedInterface

SUPPORTED_INTERFACE_KINDS: Final = ("api", "cli", "mcp")
"""The kinds this build can evaluate; `web` parses and stops here."""


def duplicate_interface_identifier(interfaces: Sequence[PermittedInterface]) -> StructuralFailure | None:
    """§7.1: one logical id names one interface, whatever its kind. Pre-flight repeats this on its own."""
    first_seen: dict[str, int] = {}
    for position, interface in enumerate(interfaces):
        earlier = first_seen.setdefault(interface.logical_id, position)
        if earlier != position:
            return StructuralFailure(
                DUPLICATE_INTERFACE_IDENTIFIER,
                f"EvalContract.permittedInterfaces[{position}].logicalId",
                f'interface identifier "{interface.logical_id}" is declared at position {earlier} '
                f"and again at position {position}",
            )
    return None


def unsupported_interface_kind(interfaces: Sequence[PermittedInterface]) -> StructuralFailure | None:
    """§7.2: the first interface of a kind this build cannot evaluate. Pre-flight repeats this on its own."""
    for interface in interfaces:
        if interface.kind not in SUPPORTED_INTERFACE_KINDS:
            return StructuralFailure(
                UNSUPPORTED_INTERFACE_KIND,
                f"EvalContract.permittedInterfaces[logicalId={interface.logical_id}].kind",
                f'interface kind "{interface.kind}" is not supported: {_listed(SUPPORTED_INTERFACE_KINDS)} supported',
            )
    return None


def _listed(kinds: Sequence[str]) -> str:
    quoted = [f'"{kind}"' for kind in kinds]
    if len(quoted) == 1:
        return f"{quoted[0]} is"
    return f"{', '.join(quoted[:-1])} and {quoted[-1]} are"


def interface_identifiers(survey: Survey) -> StructuralFailure | None:
    """Step 2."""
    return duplicate_interface_identifier(survey.contract.permitted_interfaces)


def interface_kinds(survey: Survey) -> StructuralFailure | None:
    """Step 19."""
    return unsupported_interface_kind(survey.contract.permitted_interfaces)


def operation_signatures(survey: Survey) -> StructuralFailure | None:
    """§7.3: no two operations of one family are the same on the wire."""
    holders: dict[TransportIdentity, DeclaredOperation] = {}
    for declared in survey.operations:
        identity = transport_identity(declared.operation)
        holder = holders.setdefault(identity, declared)
        if holder is not declared:
            erased = ", parameter names erased" if identity.family == "api" else ""
            return StructuralFailure(
                DUPLICATE_OPERATION_SIGNATURE,
                operation_path(declared),
                f'operation "{holder.operation.operation_id}" of interface "{holder.interface.logical_id}" already has '
                f'the {identity.family} signature "{identity.signature}"{erased}',
            )
    return None
