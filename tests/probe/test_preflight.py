"""Pre-flight through the environment-probe port (spec 06 §6.1.4, §6.3.4; spec 10 §7.7)."""

from collections.abc import Callable
from typing import Any

import pytest

from eval_quality.core.preflight.diagnostic import Diagnostic
from eval_quality.errors import RuntimeFault, StructuralFailure
from eval_quality.model.decode import decode, to_value
from eval_quality.model.ports import ProbeObservation, ProbeRequest
from eval_quality.probe.preflight import run_preflight
from eval_quality.probe.signals import AbortController, AbortSignal
from support.preflight import NO_CLI_INPUTS, clean_probe, cli, cli_answer, contract, interface, verdict_of, witness
from support.shop import shop, shop_answers, shop_probe

ANSWERS = {answer["probeId"]: answer for answer in shop_answers({"broken": True}, {"broken": False})}
LEGS = (
    *("w-a", "w-b", "p-a", "p-b"),
    *("preflight-control-observe", "preflight-control-mutate", "reset-leg", "preflight-control-observe-2"),
    "f-1",
)


class Environment:
    """A port that answers from a table and remembers what it was asked."""

    def __init__(self, answer: Callable[[ProbeRequest], Any]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def probe(self, request: ProbeRequest, signal: AbortSignal) -> Any:
        self.asked.append(request.probe_id)
        return self.answer(request)


def observation(request: ProbeRequest) -> ProbeObservation:
    return decode(ProbeObservation, ANSWERS[request.probe_id], "ProbeObservation")


def run(environment: Environment, value: Any = None, probes: Any = None, **members: Any) -> Any:
    given = {"run_id": "run-1", "signal": AbortController().signal, **members}
    return run_preflight(
        contract=shop() if value is None else value,
        probes=[shop_probe()] if probes is None else probes,
        port=environment,
        **given,
    )


def fault(environment: Environment, *args: Any, **members: Any) -> tuple[str, str]:
    with pytest.raises(RuntimeFault) as caught:
        run(environment, *args, **members)
    return caught.value.code, caught.value.artifact_path


def test_s6_3_4_legs_are_issued_one_by_one_in_plan_order() -> None:
    environment = Environment(observation)
    verdict = run(environment)
    assert tuple(environment.asked) == LEGS
    assert to_value(verdict) == verdict_of(shop(), [shop_probe()], list(ANSWERS.values()))


def test_s6_1_4_each_leg_is_announced_before_it_is_asked() -> None:
    told: list[str] = []
    environment = Environment(lambda request: told.append(f"asked {request.probe_id}") or observation(request))

    def sink(diagnostic: Diagnostic) -> None:
        assert (diagnostic.stage, diagnostic.run_id) == ("preflight", "run-1")
        told.append(diagnostic.message)

    run(environment, sink=sink)
    expected = [line for leg in LEGS for line in (f'leg "{leg}": planned', f"asked {leg}", f'leg "{leg}": observed')]
    assert told == [*expected, "reduced 9 leg(s): passed"]


def test_s6_3_4_a_fault_ends_pre_flight() -> None:
    def answer(request: ProbeRequest) -> Any:
        if request.probe_id == "p-a":
            raise RuntimeFault("forbidden-target", "ProbeRequest", "no", "host-not-authorized")
        return observation(request)

    environment, told = Environment(answer), list[str]()
    assert fault(environment, sink=lambda d: told.append(d.message)) == ("forbidden-target", "ProbeRequest")
    assert environment.asked == ["w-a", "w-b", "p-a"]
    assert told[-1] == 'leg "p-a": planned'


def test_s7_7_an_exception_of_the_port_is_a_port_failure() -> None:
    def answer(request: ProbeRequest) -> Any:
        raise OSError(request.probe_id)

    environment = Environment(answer)
    assert fault(environment) == ("port-failure", "ProbeObservation")
    assert environment.asked == ["w-a"]


@pytest.mark.parametrize("answer", [None, {"kind": "api"}, cli_answer("w-a", "read") | {"exitCode": "0"}])
def test_s7_7_an_answer_without_its_shape_is_a_contract_violation(answer: Any) -> None:
    assert fault(Environment(lambda _: answer)) == ("port-contract-violation", "ProbeObservation")


def test_s6_6_1_an_answer_under_another_legs_id_leaves_its_own_leg_unanswered() -> None:
    def answer(request: ProbeRequest) -> Any:
        return {**ANSWERS[request.probe_id], "probeId": "stray"} if request.probe_id == "p-b" else observation(request)

    verdict = run(Environment(answer))
    notes = [check.note for check in verdict.checks if check.kind == "interface-present"]
    assert notes == [None, 'leg "p-b" produced no observation', None]


def test_s7_7_an_aborted_signal_issues_nothing() -> None:
    controller, environment = AbortController(), Environment(observation)
    controller.abort()
    assert fault(environment, signal=controller.signal) == ("aborted", "ProbeRequest")
    assert environment.asked == []


def test_s7_7_an_abort_between_legs_stops_the_next_one() -> None:
    controller = AbortController()

    def answer(request: ProbeRequest) -> Any:
        controller.abort()
        return observation(request)

    environment = Environment(answer)
    assert fault(environment, signal=controller.signal) == ("aborted", "ProbeRequest")
    assert environment.asked == ["w-a"]


def test_s25_2_what_a_witness_may_hold_and_a_request_may_not_fails_at_the_port() -> None:
    odd = {**NO_CLI_INPUTS, "environment": {"NOT A NAME": "x"}}
    value = contract(interface("cli", "tool", cli("read", witness=witness(("a", odd), ("b", NO_CLI_INPUTS)))))
    environment = Environment(observation)
    assert fault(environment, value, []) == ("schema-parse-failure", "ProbeRequest")
    assert environment.asked == []


def test_s6_1_1_nothing_is_issued_for_inputs_that_are_refused() -> None:
    environment = Environment(observation)
    assert fault(environment, {**shop(), "schemaVersion": 6}) == (
        "schema-version-mismatch",
        "EvalContract.schemaVersion",
    )
    assert fault(environment, shop(), [{**clean_probe(), "rationale": ""}]) == ("schema-parse-failure", "Probe")
    with pytest.raises(StructuralFailure):
        run(environment, contract(), [])
    assert environment.asked == []
    assert fault(environment, run_id="") == ("schema-parse-failure", "PreflightVerdict")
