"""The boundary: stamps, shapes, diagnostics, observation lists (spec 06 §6.1, §6.5)."""

from typing import Any

import pytest

from eval_quality.core.preflight.diagnostic import Diagnostic
from eval_quality.core.preflight.entry import preflight_from_observations, read_inputs, reduce_preflight
from eval_quality.errors import RuntimeFault, StructuralFailure
from eval_quality.model.decode import decode_list, to_value
from eval_quality.model.ports import ProbeObservation
from support.preflight import (
    ABSENT_BODY,
    api,
    api_answer,
    clean_probe,
    cli_answer,
    contract,
    interface,
    mcp_answer,
    verdict_of,
)

FIRST, LAST = "preflight-control-observe", "preflight-control-observe-2"
CONTRACT = contract(interface("api", "shop", api("get-item")))
ANSWERS = [api_answer(FIRST, 1), api_answer(LAST, 1)]


def refused(contract_value: Any, probes: Any, observations: Any) -> tuple[str, str]:
    with pytest.raises(RuntimeFault) as caught:
        preflight_from_observations(contract=contract_value, probes=probes, run_id="r", observations=observations)
    return caught.value.code, caught.value.artifact_path


STALE_CONTRACT = {**CONTRACT, "schemaVersion": 6}
BAD_CONTRACT = {**CONTRACT, "contractId": 1}
STALE_PROBE = {**clean_probe("P-002"), "schemaVersion": 5}
BAD_PROBE = {**clean_probe("P-003"), "rationale": ""}
PARSE, STAMP = "schema-parse-failure", "schema-version-mismatch"


@pytest.mark.parametrize(
    ("value", "probes", "observations", "expected"),
    [
        ({**BAD_CONTRACT, "schemaVersion": 6}, [STALE_PROBE], [1], (STAMP, "EvalContract.schemaVersion")),
        ({**CONTRACT, "schemaVersion": "7"}, [STALE_PROBE], [1], (PARSE, "EvalContract")),
        (BAD_CONTRACT, [STALE_PROBE], [1], (PARSE, "EvalContract")),
        (CONTRACT, [BAD_PROBE, STALE_PROBE], [1], (STAMP, "Probe[probeId=P-002].schemaVersion")),
        (CONTRACT, [{"schemaVersion": 5}], [1], (STAMP, "Probe.schemaVersion")),
        (CONTRACT, [BAD_PROBE], [1], (PARSE, "Probe")),
        (CONTRACT, clean_probe(), [1], (PARSE, "Probe")),
        (CONTRACT, "probes", [1], (PARSE, "Probe")),
        (CONTRACT, [], [1], (PARSE, "ProbeObservation")),
        (CONTRACT, [], ANSWERS[0], (PARSE, "ProbeObservation")),
    ],
)
def test_s6_1_1_boundary_order(value: Any, probes: Any, observations: Any, expected: tuple[str, str]) -> None:
    assert refused(value, probes, observations) == expected


def test_s6_1_1_the_plan_comes_after_every_shape() -> None:
    unplannable = contract()
    assert refused(unplannable, [], [1]) == (PARSE, "ProbeObservation")
    with pytest.raises(StructuralFailure):
        preflight_from_observations(contract=unplannable, probes=[], run_id="r", observations=[])


def test_s6_1_1_records_are_read_like_their_values_and_the_verdict_is_immutable() -> None:
    inputs = read_inputs(CONTRACT, (clean_probe(),))
    again = read_inputs(inputs.contract, inputs.probes)
    assert again == inputs
    seen = decode_list(ProbeObservation, ANSWERS, "ProbeObservation")
    verdict = preflight_from_observations(
        contract=inputs.contract, probes=inputs.probes, run_id="run-1", observations=seen
    )
    assert to_value(verdict) == verdict_of(CONTRACT, [clean_probe()], ANSWERS)
    with pytest.raises(AttributeError):
        verdict.passed = False  # type: ignore[misc]
    assert isinstance(verdict.checks, tuple)


# §6.1.4


def messages(observations: list[Any]) -> list[str]:
    told: list[Diagnostic] = []
    try:
        preflight_from_observations(
            contract=CONTRACT, probes=[], run_id="run-1", observations=observations, sink=told.append
        )
    except RuntimeFault:
        told.append(Diagnostic("preflight", "run-1", "fault"))
    assert {(each.stage, each.run_id) for each in told} == {("preflight", "run-1")}
    return [each.message for each in told]


@pytest.mark.parametrize(
    ("observations", "expected"),
    [
        (
            ANSWERS,
            [
                f'leg "{FIRST}": planned',
                f'leg "{FIRST}": observed',
                f'leg "{LAST}": planned',
                f'leg "{LAST}": observed',
                "reduced 2 leg(s): passed",
            ],
        ),
        (
            ANSWERS[1:],
            [
                f'leg "{FIRST}": planned',
                f'leg "{FIRST}": no observation',
                f'leg "{LAST}": planned',
                f'leg "{LAST}": observed',
                "reduced 2 leg(s): failed",
            ],
        ),
        (
            [],
            [
                f'leg "{FIRST}": planned',
                f'leg "{FIRST}": no observation',
                f'leg "{LAST}": planned',
                f'leg "{LAST}": no observation',
                "fault",
            ],
        ),
    ],
    ids=["passed", "failed", "faulted"],
)
def test_s6_1_4_messages(observations: list[Any], expected: list[str]) -> None:
    assert messages(observations) == expected


def test_s6_1_4_what_the_sink_raises_reaches_the_caller() -> None:
    class Deaf(Exception):
        pass

    def sink(diagnostic: Diagnostic) -> None:
        raise Deaf(diagnostic.message)

    inputs = read_inputs(CONTRACT, [])
    with pytest.raises(Deaf, match="planned"):
        reduce_preflight(inputs.contract, inputs.probes, "r", decode_list(ProbeObservation, ANSWERS, "x"), sink)


# §6.5


CLI = cli_answer("leg", "list")
MCP = mcp_answer("leg", "list")
API = api_answer("leg", 1)


@pytest.mark.parametrize(
    "observation",
    [
        API,
        {**API, "status": 100, "headers": {"a": "b"}, "body": {"kind": "text", "value": ""}},
        {**API, "status": 599, "body": ABSENT_BODY},
        {**CLI, "exitCode": -15, "artifacts": {"notes": {"kind": "json", "value": None}}},
        MCP,
        {**MCP, "isError": True},
        {**MCP, "isError": True, "exitCode": -2},
    ],
)
def test_s6_5_observations_that_parse(observation: Any) -> None:
    (record,) = decode_list(ProbeObservation, [observation], "ProbeObservation")
    assert to_value(record) == observation


@pytest.mark.parametrize(
    "observation",
    [
        {**API, "status": 99},
        {**API, "status": 600},
        {**API, "status": 200.5},
        {**API, "headers": {"a": 1}},
        {**API, "timing": 1},
        {**API, "exitCode": 0},
        {**API, "probeId": "Leg"},
        {**API, "kind": "web"},
        {**API, "body": {"kind": "raw", "base64": "", "contentType": "a/b"}},
        {**API, "body": {"kind": "json"}},
        {key: value for key, value in API.items() if key != "headers"},
        {**CLI, "exitCode": "0"},
        {**CLI, "artifacts": {"Notes": ABSENT_BODY}},
        {**CLI, "stdout": None},
        {**MCP, "isError": 1},
        {**MCP, "exitCode": 1},
        {**MCP, "isError": True, "result": {"kind": "text", "value": "x"}, "exitCode": 1},
        {**MCP, "isError": True, "exitCode": None},
    ],
)
def test_s6_5_observations_that_do_not(observation: Any) -> None:
    assert refused(CONTRACT, [], [observation]) == (PARSE, "ProbeObservation")


def test_s6_5_a_misplaced_exit_code_is_reported_where_it_stands() -> None:
    with pytest.raises(RuntimeFault) as caught:
        preflight_from_observations(contract=CONTRACT, probes=[], run_id="r", observations=[{**MCP, "exitCode": 1}])
    issues = getattr(caught.value.cause, "issues")  # noqa: B009 - the cause of a parse failure carries them
    assert [issue.path for issue in issues] == [(0, "exitCode")]
