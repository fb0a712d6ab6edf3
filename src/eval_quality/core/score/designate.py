"""The oracle a probe is measured by (spec 08 §5).

Derived: the only oracle of the first behaviour the probe names; a behaviour with none or several has none. A caller may
name one instead. What it names is checked in this order, and the first refusal wins:

1. it is spelled like an oracle id
2. some behaviour has the probe's `behaviorId`
3. that behaviour lists the oracle
4. the contract declares it

An accepted designation leaves no member of its own in any artifact. `defects[].behaviorId` is never consulted.
"""

import re
from typing import Final

from eval_quality.errors import DesignatedOracleRefusal
from eval_quality.model.contract import Behavior, EvalContract
from eval_quality.model.probe import Probe
from eval_quality.value.text import quoted

FLAG: Final = "--designated-oracle"
_ORACLE_ID: Final = re.compile(r"O-[0-9]{3,}")


def designated_oracle(contract: EvalContract, probe: Probe, named: str | None) -> str | None:
    """The designated oracle's id, or None; `named` is the caller's designation (spec 08 §5).

    Raises `DesignatedOracleRefusal` for a designation the contract does not admit.
    """
    if named is not None:
        return admit_designation(contract, probe, named)
    behavior = _behavior(contract, probe)
    return behavior.oracles[0] if behavior is not None and len(behavior.oracles) == 1 else None


def check_form(named: str) -> None:
    """Refuse a designation that is not spelled like an oracle id, in the words the command line uses too."""
    if _ORACLE_ID.fullmatch(named) is None:
        raise DesignatedOracleRefusal(f"{FLAG}: {quoted(named)} is not an oracle id; expected ^O-[0-9]{{3,}}$")


def admit_designation(contract: EvalContract, probe: Probe, named: str) -> str:
    """Check a caller's designation against the contract; returns it (spec 08 §5)."""
    check_form(named)
    behavior = _behavior(contract, probe)
    if behavior is None:
        raise DesignatedOracleRefusal(f"{FLAG} {named}: the contract has no behaviour {probe.behavior_id}")
    listed = ", ".join(behavior.oracles) or "none"
    if named not in behavior.oracles:
        raise DesignatedOracleRefusal(f"{FLAG} {named}: behaviour {behavior.id} does not list it; it lists {listed}")
    if all(oracle.id != named for oracle in contract.oracles):
        raise DesignatedOracleRefusal(
            f"{FLAG} {named}: behaviour {behavior.id} lists {listed}, but the contract declares no such oracle"
        )
    return named


def _behavior(contract: EvalContract, probe: Probe) -> Behavior | None:
    return next((behavior for behavior in contract.behaviors if behavior.id == probe.behavior_id), None)
