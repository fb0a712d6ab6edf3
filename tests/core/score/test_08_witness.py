"""The witness match and the finding buckets (spec 08 §4)."""

from itertools import product
from typing import Any

import pytest

from eval_quality.core.decision import first
from eval_quality.core.qualify import resolve_home_operation
from eval_quality.core.qualify.home import signature_of
from eval_quality.core.score.witness import WITNESS_TABLE, FindingBuckets, WitnessMatch, bucket_findings, match_witness
from eval_quality.core.score.witness import _Shown as Shown
from eval_quality.errors import RuntimeFault
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.probe import Probe
from eval_quality.model.run_record import SealedRunRecord
from support import judgment as j
from support.judgment import finding, observation

CLEAN = ["front"]
SHOWS = ["front", "mobile"]


def parts(observations: list[dict[str, Any]], findings: list[dict[str, Any]], **over: Any) -> tuple[Any, ...]:
    contract = decode(EvalContract, j.contract(**over.pop("contract", {})), "EvalContract")
    record = decode(SealedRunRecord, j.record(observations=observations, findings=findings), "SealedRunRecord")
    probe = decode(Probe, j.probe(**over), "Probe")
    signature = signature_of(probe)
    home = None if signature is None else resolve_home_operation(signature, contract.permitted_interfaces)
    ordered = sorted(record.observations, key=lambda seen: (seen.sequence, seen.observation_id))
    return probe.probe_id, signature, home, ordered, record.findings


def match(observations: list[dict[str, Any]], findings: list[dict[str, Any]] = [], **over: Any) -> WitnessMatch:  # noqa: B006
    return match_witness(*parts(observations, findings, **over))


O1, O2 = observation(1, SHOWS), observation(2, CLEAN)


def claim(number: int, *cited: str, **over: Any) -> dict[str, Any]:
    return finding(number, observationIds=list(cited), **over)


@pytest.mark.parametrize(
    ("findings", "result", "witnesses", "unwitnessed"),
    [
        ([], "manifested-unclaimed", (), ()),
        ([claim(1, "obs-1")], "matched", ("obs-1",), ()),
        ([claim(1, "obs-2")], "unwitnessed-claim", (), ("F-001",)),
        ([claim(1, "obs-1"), claim(2, "obs-2")], "unwitnessed-claim", ("obs-1",), ("F-002",)),
        ([claim(1, "obs-2"), claim(1, "obs-2")], "unwitnessed-claim", (), ("F-001", "F-001")),
        ([claim(1, "obs-3")], "manifested-unclaimed", (), ()),
        ([claim(1, "ghost")], "manifested-unclaimed", (), ()),
        ([claim(1, "obs-1", probeId="P-009")], "manifested-unclaimed", (), ()),
        ([claim(1, "obs-1", kind="confirmation")], "manifested-unclaimed", (), ()),
        ([claim(1, "obs-1", "obs-2")], "matched", ("obs-1",), ()),
        ([claim(1, "obs-3"), claim(2, "obs-2")], "unwitnessed-claim", (), ("F-002",)),
        ([claim(1, "obs-3"), claim(2, "obs-1")], "matched", ("obs-1",), ()),
        ([claim(1, "obs-1", probeId="P-009"), claim(2, "obs-1")], "matched", ("obs-1",), ()),
    ],
)
def test_s16_9_witness_rows(
    findings: list[dict[str, Any]], result: str, witnesses: tuple[str, ...], unwitnessed: tuple[str, ...]
) -> None:
    found = match([O1, O2, observation(3, SHOWS, operationId="other")], findings)
    assert (found.result, found.witness_observation_ids, found.unwitnessed_finding_ids) == (
        result,
        witnesses,
        unwitnessed,
    )
    assert (found.satisfying, found.refuting, found.inconclusive) == (("obs-1",), ("obs-2",), ())
    assert (found.observation_ids, found.exercised, found.home_operation_resolved, found.basis) == (
        ("obs-1", "obs-2"),
        True,
        True,
        "measured",
    )


def test_s16_9_only_a_refuting_observation() -> None:
    assert match([O2]).result == "not-triggered"


def test_s16_9_baseline_observations_exercise_nothing() -> None:
    found = match([{**O1, "provenance": "baseline"}], [claim(1, "obs-1")])
    assert found == WitnessMatch("unexercised", home_operation_resolved=True, exercised=False)


def test_s4_1_an_unresolved_home_exercises_nothing() -> None:
    signature = j.signature(invocation={"executable": "nobody", "subcommandPath": []})
    found = match([O1], [claim(1, "obs-1")], defectSignature=signature)
    assert found == WitnessMatch("unexercised", home_operation_resolved=False, exercised=False)


def test_s4_1_a_claim_may_cite_home_by_any_provenance_and_past_the_selector() -> None:
    baseline = observation(3, SHOWS, provenance="baseline")
    elsewhere = observation(4, SHOWS, callInputs=j.call_inputs(option={"case": "back"}))
    assert match([O1, baseline], [claim(1, "obs-3")]).result == "unwitnessed-claim"
    found = match([O1, elsewhere], [claim(1, "obs-4")])
    assert (found.result, found.observation_ids) == ("unwitnessed-claim", ("obs-1",))


def test_s4_1_the_selector_leaves_no_candidate() -> None:
    found = match([observation(1, SHOWS, callInputs=j.call_inputs(option={"case": "back"}))])
    assert (found.result, found.exercised, found.observation_ids) == ("not-triggered", True, ())


def test_s4_1_inconclusive_candidates_alone_are_vacuous() -> None:
    empty = observation(1, [])
    found = match([empty])
    assert (found.result, found.inconclusive) == ("vacuous", ("obs-1",))
    assert match([empty, O2]).result == "not-triggered"
    assert match([empty, O2, observation(3, SHOWS)]).result == "manifested-unclaimed"


def test_s4_1_candidates_in_sequence_order() -> None:
    found = match([observation(1, SHOWS, sequence=8), observation(2, SHOWS, sequence=3)])
    assert found.observation_ids == ("obs-2", "obs-1")


def test_s4_1_the_per_operation_collection_predicate_decides_absent_collections() -> None:
    """An absent declared collection on a tool call is no answer; anywhere else absence is an answer."""
    located = {"pointer": "/items", "expectedCardinality": {"mode": "at-most", "max": 9}, "referenceSet": None}
    declared = j.descriptor(**j.shape(["items"], types={"items": "array"}), collectionLocations=[located])
    base = j.signature(observableChannel="response-body")
    del base["invocation"]
    signature = {
        **base,
        "interfaceKind": "mcp",
        "toolName": "search",
        "condition": {
            "selector": j.selector(),
            "predicate": {"op": "absence", "operands": [j.pointer("/interactions/observed/response-body/items")]},
        },
    }
    tool = j.tool("run-skill", responseDescriptor=declared)
    contract = {"permittedInterfaces": [j.interface("mcp", "agent", tool)], "interactionPlan": []}
    found = match([observation(1, responseBody={})], contract=contract, defectSignature=signature)
    assert found.result == "vacuous"


def test_s4_1_a_pattern_over_its_constant_budget_is_a_fault_at_the_predicate() -> None:
    pattern = {"op": "regex", "operands": [j.pointer("/interactions/observed/stderr")], "pattern": "^a*b$"}
    signature = j.with_predicate(pattern, observableChannel="stderr")
    seen = observation(1, stderr={"kind": "text", "value": "a" * 600_000})
    with pytest.raises(RuntimeFault) as raised:
        match([seen], defectSignature=signature)
    assert raised.value.code == "budget-exhausted"
    assert raised.value.artifact_path == "Probe[probeId=P-001].defectSignature.condition.predicate"
    assert match([observation(1, stderr={"kind": "text", "value": "a" * 400_000})], defectSignature=signature)


def test_s4_1_a_predicate_the_evaluator_cannot_take_leaves_candidates_inconclusive() -> None:
    member = {"op": "set-membership", "operands": [j.pointer("@/"), {"referenceSet": "rs"}]}
    quantifier = {
        "op": "for-any",
        "collection": j.pointer("/interactions/observed/stdout/selected"),
        "predicate": member,
    }
    assert match([O1], defectSignature=j.with_predicate(quantifier)).result == "vacuous"


def test_s4_1_the_table_is_total_and_first_match_over_its_whole_space() -> None:
    def expected(shown: Shown) -> str:
        if not shown.exercised:
            return "unexercised"
        if shown.unwitnessed:
            return "unwitnessed-claim"
        if shown.satisfied:
            return "matched" if shown.claimed else "manifested-unclaimed"
        return "not-triggered" if not shown.candidates or shown.refuted else "vacuous"

    rules = set()
    for values in product((False, True), repeat=6):
        row = first(WITNESS_TABLE, Shown(*values))
        assert row.value == expected(Shown(*values))
        rules.add(row.rule)
    assert rules == {row.rule for row in WITNESS_TABLE}


# --- buckets --------------------------------------------------------------------------------------------------------


def test_s4_2_every_bucket_sorted() -> None:
    findings = [
        claim(9, "obs-1"),
        claim(2, "obs-1"),
        claim(3, "obs-3"),
        claim(4, "obs-1", probeId="P-002"),
        claim(5, "obs-1", kind="observation"),
    ]
    probe_id, signature, home, observations, decoded = parts(
        [{**O1, "provenance": "baseline"}, observation(3, operationId="other")], findings
    )
    buckets = bucket_findings(probe_id, signature is not None, home, observations, decoded)
    assert buckets == FindingBuckets(("F-002", "F-009"), ("F-003",), ("F-004",), ())
    assert [buckets.bucket_of(name) for name in ("F-002", "F-003", "F-004", "F-999")] == [
        "mapped",
        "unmapped",
        "dangling",
        "dangling",
    ]


def test_s4_2_a_probe_without_a_signature() -> None:
    probe_id, _, home, observations, decoded = parts([O1], [claim(1, "obs-1")], defectSignature=None)
    buckets = bucket_findings(probe_id, False, home, observations, decoded)
    assert buckets == FindingBuckets((), (), (), ("F-001",))


def test_s4_2_an_unresolved_home_maps_nothing() -> None:
    probe_id, _, _, observations, decoded = parts([O1], [claim(1, "obs-1")])
    assert bucket_findings(probe_id, True, None, observations, decoded).unmapped == ("F-001",)


def test_s4_2_a_repeated_identifier_is_in_its_last_bucket() -> None:
    buckets = FindingBuckets(("F-001",), (), ("F-001",), ())
    assert buckets.bucket_of("F-001") == "dangling"
