"""The worked micro-examples of spec 06 §6.9."""

from typing import Any

import pytest

from eval_quality.core.preflight.volatile import prune
from eval_quality.model.binding import JsonBody
from eval_quality.model.decode import to_value
from eval_quality.value.canonical import canonicalize
from support.preflight import api, api_answer, contract, interface, plan_of, results, step, verdict_of
from support.shop import NO_INPUTS, READ_LEGS, shop, shop_answers, shop_probe

BROKEN = {"broken": True}
CLEAN = {"broken": False}
LEGS = (
    "w-a",
    "w-b",
    "p-a",
    "p-b",
    "preflight-control-observe",
    "preflight-control-mutate",
    "reset-leg",
    "preflight-control-observe-2",
    "f-1",
)


def test_s6_9_the_plan() -> None:
    plan = plan_of(shop(), shop_probe())
    assert tuple(leg.leg_id for leg in plan.legs) == LEGS
    assert [leg.purpose for leg in plan.legs] == [
        *["sensitivity"] * 4,
        "control-observe",
        "control-mutate",
        "control-reset",
        "control-observe",
        "seeded-fault",
    ]
    requests = {leg.leg_id: to_value(leg.request) for leg in plan.legs}
    assert requests["preflight-control-observe"]["channels"]["path"] == {"id": "1"}
    assert requests["preflight-control-mutate"]["operationId"] == "put-item"
    assert requests["preflight-control-mutate"]["channels"]["path"] == {"id": "1"}


def test_s6_9_the_checks() -> None:
    verdict = verdict_of(shop(), [shop_probe()], shop_answers(BROKEN, CLEAN))
    rows = [(check["kind"], check["interfaceId"], check["operationId"]) for check in verdict["checks"]]
    assert rows == [
        ("interface-present", "shop", "get-item"),
        ("interface-present", "shop", "put-item"),
        ("interface-present", "shop", "reset"),
        ("input-sensitivity", "shop", "get-item"),
        ("input-sensitivity", "shop", "put-item"),
        ("input-sensitivity", "shop", "reset"),
        ("state-reset", None, None),
        ("clean-control", None, None),
        ("seeded-faults-scoped", "shop", "get-item"),
        ("seeded-fault-fired", "shop", "get-item"),
    ]
    scoped = plan_of(shop(), shop_probe()).checks[8]
    assert getattr(scoped, "clean_leg_ids") == READ_LEGS[:-1]  # noqa: B009 - one of six kinds of check
    present = plan_of(shop(), shop_probe()).checks[0]
    assert getattr(present, "leg_ids") == READ_LEGS  # noqa: B009


def test_s6_9_case_a_legs_answered_alike_are_dropped() -> None:
    verdict = verdict_of(shop(), [shop_probe()], shop_answers(BROKEN, CLEAN))
    assert results(verdict, "seeded-faults-scoped") == [("satisfied", "D-001")]
    assert results(verdict, "seeded-fault-fired") == [("satisfied", "D-001")]
    assert verdict["passed"] is True


def test_s6_9_case_b_a_defect_that_shows_on_a_clean_leg_is_not_scoped() -> None:
    verdict = verdict_of(shop(), [shop_probe()], shop_answers(BROKEN, BROKEN))
    note = 'D-001: the manifestation witness fires on clean leg "w-b"'
    assert results(verdict, "seeded-faults-scoped") == [("failed", note)]
    assert results(verdict, "input-sensitivity")[0] == ("failed", "The witness relation resolved false.")
    assert verdict["passed"] is False


@pytest.mark.parametrize(("volatile", "passed"), [(("/servedAt",), True), ((), False)])
def test_s6_9_case_c_volatile_members_are_no_difference(volatile: tuple[str, ...], passed: bool) -> None:
    served = {leg.replace("-", "_"): api_answer(leg, {**BROKEN, "servedAt": leg}) for leg in READ_LEGS if leg != "w-b"}
    verdict = verdict_of(shop(volatile), [shop_probe()], shop_answers(BROKEN, CLEAN, **served))
    assert verdict["passed"] is passed
    if not passed:
        note = 'D-001: the manifestation witness fires on clean leg "w-a"'
        assert results(verdict, "seeded-faults-scoped") == [("failed", note)]
        note = 'the projections of "preflight-control-observe" and "preflight-control-observe-2" differ'
        assert results(verdict, "state-reset") == [("failed", note)]


def test_s6_9_case_d_only_the_fault_leg_under_another_label() -> None:
    answers = shop_answers(CLEAN, {}, f_1=api_answer("f-1", None, operationId="reset"))
    verdict = verdict_of(shop(), [shop_probe("reset", NO_INPUTS)], answers)
    note = (
        "D-001: every other leg of the operation issued the fault leg's own request and received its answer "
        '("reset-leg"), so nothing here establishes that the defect is scoped to it'
    )
    assert results(verdict, "seeded-faults-scoped") == [("failed", note)]


def test_s6_9_case_e_a_missing_observation() -> None:
    whole = verdict_of(shop(), [shop_probe()], shop_answers(BROKEN, CLEAN))
    verdict = verdict_of(shop(), [shop_probe()], shop_answers(BROKEN, CLEAN, p_b=None))
    assert results(verdict, "interface-present")[1] == ("failed", 'leg "p-b" produced no observation')
    assert results(verdict, "input-sensitivity")[1] == ("failed", 'witness leg "p-b" produced no observation')
    assert verdict["fixtureDigest"] != whole["fixtureDigest"]
    assert verdict["passed"] is False


def test_s6_9_case_f_minted_ids_avoid_those_taken() -> None:
    taken = [step("preflight-control-observe", "shop", "get-item")]
    legs = [leg.leg_id for leg in plan_of(shop(interactionPlan=taken), shop_probe()).legs]
    assert legs[4] == "preflight-control-observe-2"
    assert legs[7] == "preflight-control-observe-3"


@pytest.mark.parametrize(
    ("pointers", "pruned"),
    [
        (("/rows/*/id",), {"kind": "json", "value": {"rows": [{"v": 2}, {"v": 4}]}}),
        (("/rows/*",), {"kind": "json", "value": {"rows": []}}),
        (("/nope/*/id",), {"kind": "json", "value": {"rows": [{"id": 1, "v": 2}, {"id": 3, "v": 4}]}}),
        (("",), {"kind": "absent"}),
    ],
)
def test_s6_9_case_g_pruning(pointers: tuple[str, ...], pruned: Any) -> None:
    body = JsonBody(value={"rows": [{"id": 1, "v": 2}, {"id": 3, "v": 4}]})
    assert to_value(prune(body, pointers)) == pruned


def test_s6_9_minimal_verdict_bytes() -> None:
    service = contract(interface("api", "svc", api("ping")))
    seen = {"interfaceId": "svc", "operationId": "ping", "body": {"kind": "absent"}}
    answers = [api_answer(leg, **seen) for leg in ("preflight-control-observe", "preflight-control-observe-2")]
    verdict = verdict_of(service, [], answers)
    expected = (
        '{"checks":[{"interfaceId":"svc","kind":"interface-present","note":null,"operationId":"ping",'
        '"outcome":"satisfied"},{"interfaceId":"svc","kind":"input-sensitivity","note":"The operation declares no '
        'inputs in any channel.","operationId":"ping","outcome":"exempt"},{"interfaceId":null,"kind":"state-reset",'
        '"note":null,"operationId":null,"outcome":"satisfied"},{"interfaceId":null,"kind":"clean-control","note":null,'
        f'"operationId":null,"outcome":"satisfied"}}],"fixtureDigest":"{verdict["fixtureDigest"]}",'
        '"parentDigest":null,"passed":true,"revisionCount":0,"runId":"run-1","schemaVersion":2}'
    )
    assert canonicalize(verdict, "x").decode() == expected
