"""Migration as callers see it: the sealing stage bound to the chain's check (spec 02 §29.3, spec 10 §7.8)."""

from collections.abc import Iterable
from typing import Any

from eval_quality.core.seal.brief import seal_contract
from eval_quality.model import migrate
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.contract import EvalContract
from eval_quality.model.migrate import MigratedChain


def migrate_artifact(kind: str, value: Any, contract: Any = None, to: int | None = None) -> Any:
    """The record of `value` at stamp `to`, by default the stamp this build writes; `kind` is a registry key.

    `contract` is the contract that run records stamped 6 or lower find their interfaces in. Raises
    `schema-version-mismatch`, `schema-parse-failure`; `ValueError` for a kind without stamps or a `to` that is not
    native.
    """
    return migrate.migrate_artifact(kind, value, contract, to)


def migrate_chain(
    contract: Any,
    *,
    brief: Any = None,
    configuration: Any = None,
    manifest: Any = None,
    records: Iterable[Any] = (),
    probes: Iterable[Any] = (),
) -> MigratedChain:
    """A contract and whatever was made from it, migrated and relinked, with a log.

    Raises what `migrate_artifact` raises, and `digest-mismatch` where a digest did not name the document presented.
    """
    return migrate.migrate_chain(
        contract,
        seal=_seal,
        brief=brief,
        configuration=configuration,
        manifest=manifest,
        records=records,
        probes=probes,
    )


def _seal(contract: EvalContract) -> SealedEvaluatorBrief:
    """Inputs were strict or not when the brief was first sealed; its bytes are the same."""
    return seal_contract(contract, strict=False)
