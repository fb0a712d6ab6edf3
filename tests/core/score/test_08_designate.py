"""The designated oracle (spec 08 §5)."""

from typing import Any

import pytest

from eval_quality.core.score.designate import check_form, designated_oracle
from eval_quality.core.score.stage import score
from eval_quality.errors import DesignatedOracleRefusal
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.preflight import PreflightVerdict
from eval_quality.model.probe import Probe
from support import judgment as j


def designate(named: str | None = None, *behaviors: dict[str, Any], behavior: str = "B-002") -> str | None:
    contract = decode(EvalContract, j.contract(**({"behaviors": list(behaviors)} if behaviors else {})), "EvalContract")
    return designated_oracle(contract, decode(Probe, j.probe(behaviorId=behavior), "Probe"), named)


def test_s5_the_only_oracle_of_the_first_behaviour_with_that_id() -> None:
    assert designate() == "O-002"
    assert designate(behavior="B-009") is None
    assert designate(None, j.behavior(2)) is None
    assert designate(None, j.behavior(2, "O-001", "O-002")) is None
    assert designate(None, j.behavior(2, "O-001"), j.behavior(2, "O-002")) == "O-001"
    assert designate(None, j.behavior(2, "O-777")) == "O-777"


@pytest.mark.parametrize("named", ["", "O-01", "o-001", "O-001 ", "O-001\n", "O-٠٠١", "XO-001"])
def test_s5_1_a_designation_is_spelled_like_an_oracle_id(named: str) -> None:
    with pytest.raises(DesignatedOracleRefusal) as raised:
        designate(named)
    assert "--designated-oracle" in str(raised.value)
    assert "^O-[0-9]{3,}$" in str(raised.value)
    with pytest.raises(DesignatedOracleRefusal, match=r"\^O-"):
        check_form(named)


@pytest.mark.parametrize(
    ("behaviors", "behavior", "says"),
    [
        ((j.behavior(1, "O-001"),), "B-009", ["O-001", "B-009"]),
        ((j.behavior(2, "O-002", "O-003"),), "B-002", ["O-001", "B-002", "O-002, O-003"]),
        ((j.behavior(2),), "B-002", ["O-001", "B-002", "it lists none"]),
    ],
)
def test_s5_2_3_the_behaviour_lists_the_oracle(behaviors: Any, behavior: str, says: list[str]) -> None:
    with pytest.raises(DesignatedOracleRefusal) as raised:
        designate("O-001", *behaviors, behavior=behavior)
    for fragment in ("--designated-oracle", *says):
        assert fragment in str(raised.value)


def test_s5_4_the_contract_declares_the_oracle() -> None:
    with pytest.raises(DesignatedOracleRefusal, match="declares no such oracle"):
        designate("O-777", j.behavior(2, "O-001", "O-777"))


def test_s5_an_accepted_designation_replaces_the_derived_one() -> None:
    assert designate("O-001", j.behavior(2, "O-001", "O-002")) == "O-001"


def test_s5_naming_the_single_oracle_changes_nothing_in_the_artifact() -> None:
    plain, named = j.run(), j.run(designated_oracle_id="O-002")
    assert to_value(plain) == to_value(named)


def test_s5_inside_the_pure_stage_an_unusable_designation_is_a_programming_error() -> None:
    contract = decode(EvalContract, j.contract(), "EvalContract")
    probe = decode(Probe, j.probe(), "Probe")
    policy = decode(ScoringPolicy, j.policy(), "ScoringPolicy")
    preflight = decode(PreflightVerdict, j.preflight(), "PreflightVerdict")
    with pytest.raises(TypeError, match="does not list"):
        score(contract, (), probe, preflight, policy, designated_oracle_id="O-001")
