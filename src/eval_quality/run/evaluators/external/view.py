"""The sealed view: the two documents an external evaluator gets (spec 12 §12.14.1)."""

from typing import Any, NamedTuple

from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_composite


class SealedView(NamedTuple):
    """`brief` is the sealed brief as plain JSON, `surface` what may be called. There is room for nothing else."""

    brief: dict[str, Any]
    surface: dict[str, Any]

    @property
    def brief_bytes(self) -> bytes:
        """The brief exactly as `seal` writes it."""
        return canonicalize(self.brief, "SealedEvaluatorBrief") + b"\n"

    @property
    def digest(self) -> str:
        """One digest over both documents."""
        return digest_composite({"brief": self.brief, "surface": self.surface}, "SealedView")

    @property
    def oracle_ids(self) -> tuple[str, ...]:
        """The oracles the brief asks about, in its order."""
        return tuple(direction["oracleId"] for direction in self.brief["directions"])

    @property
    def behavior_ids(self) -> tuple[str, ...]:
        """The behaviors the brief names."""
        return tuple(behavior["id"] for behavior in self.brief["behaviors"])

    def channels(self, interface_id: str, operation_id: str) -> dict[str, Any] | None:
        """The request channels of one operation, or None when the surface has no such operation."""
        for interface in self.surface["interfaces"]:
            for operation in interface["operations"]:
                if (interface["interfaceId"], operation["operationId"]) == (interface_id, operation_id):
                    return operation["channels"]
        return None
