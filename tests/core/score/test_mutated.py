"""Scoring under damage: typed results only, and no verdict that is better for having less behind it.

Removing evidence means taking away what a verdict stands on: the manifest, the configuration, an oracle's check or
disposition, an observation that something cites, the only text a quotation was read from, the finding that claims a
shown defect. A false claim is not evidence; taking one back may well improve a verdict.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest

from eval_quality.core.score.entry import RunScoreResult
from eval_quality.errors import EvalQualityError
from eval_quality.model.decode import to_value
from eval_quality.value.digest import digest_value
from support import judgment as j
from support.mutants import mutants

RANK = {None: 0, "FAIL": 1, "CONCERNS": 2, "WAIVED": 3, "PASS": 4}


def rich_record() -> dict[str, Any]:
    return j.record(
        observations=[
            j.observation(1, principal="ada"),
            j.observation(2, ["front"], artifacts={"log": {"kind": "text", "value": "done"}}),
            j.observation(
                3, provenance="baseline", responseBody={"a": 1}, responseHeaders={"h": "v"}, responseStatus=200
            ),
        ],
        findings=[
            j.finding(1),
            j.finding(2, "confirmation", observationIds=["obs-2"], oracleId="O-001"),
            j.finding(3, oracleId=None, quotedEvidence=[j.quote("mobile"), j.quote("0", "exit-code")]),
        ],
        judgeResults=[{"rubricId": "R-001", "criterionId": "RC-001", "score": 2, "note": None}],
    )


def sources() -> dict[str, list[Any]]:
    predicates = [
        j.names_any("/interactions/observed/stdout/selected", ["mobile"]),
        j.equality(j.pointer("/interactions/observed/exit-code"), j.literal(0)),
        {"op": "regex", "operands": [j.pointer("/interactions/observed/stderr")], "pattern": "^a+$"},
    ]
    signed = [j.probe(defectSignature=j.with_predicate(predicate)) for predicate in predicates]
    return {
        "record": [rich_record(), j.quiet_record()],
        "probe": [*signed, j.clean_probe(), j.canary(), j.gameability()],
        "policy": [j.policy()],
        "preflight_verdict": [j.preflight()],
        "manifest": [j.manifest()],
    }


def damaged(count: int, seed: str) -> Iterator[dict[str, Any]]:
    """Arguments of `run_score` in which one document is a mutant."""
    documents = sources()
    shares = {"record": 0.45, "probe": 0.4, "policy": 0.05, "preflight_verdict": 0.05, "manifest": 0.05}
    for name, share in shares.items():
        for mutant in mutants(documents[name], int(count * share), f"{seed}-{name}"):
            yield {"record": rich_record(), "manifest": j.manifest(), name: mutant}


def check(count: int, seed: str) -> dict[str, int]:
    seen: dict[str, int] = {}
    for given in damaged(count, seed):
        before = copy.deepcopy(given)
        try:
            result = j.run(**given)
        except EvalQualityError as error:
            outcome = type(error).__name__
        else:
            outcome = str(result.ladder.verdict)
            assert (result.artifact is None) == (result.ladder.verdict is None)
            if result.artifact is not None:
                assert to_value(result.artifact)["exitCode"] == result.ladder.exit_code
            if not result.qualification.qualified:
                assert result.ladder.verdict is None
        assert given == before
        seen[outcome] = seen.get(outcome, 0) + 1
    return seen


def test_mutated_documents_give_typed_results_only() -> None:
    seen = check(600, "fast")
    assert set(seen) >= {"RuntimeFault", "None"}


@pytest.mark.slow
def test_mutated_documents_give_typed_results_only_at_length() -> None:
    seen = check(20_000, "slow")
    assert sum(seen.values()) == 20_000
    assert set(seen) >= {"RuntimeFault", "None", "CONCERNS"}


# --- monotonicity ---------------------------------------------------------------------------------------------------


def random_run(chance: random.Random) -> dict[str, Any]:
    """A run without contradictions of its own: every citation resolves, every oracle has one disposition."""
    observations = []
    for number in range(1, chance.randint(2, 5)):
        case = chance.choice(["front", "front", "back"])
        observations.append(
            j.observation(
                number,
                chance.sample(["front", "mobile", "other"], chance.randint(0, 3)),
                callInputs=j.call_inputs(option={"case": case}),
                provenance=chance.choice(["evaluator-chosen", "evaluator-chosen", "baseline"]),
                exitCode=chance.choice([0, 0, 1]),
            )
        )
    ids = [seen["observationId"] for seen in observations]
    findings = []
    for number in range(1, chance.randint(1, 3)):
        kind = chance.choice(["defect", "defect", "confirmation", "observation"])
        cited = chance.sample(ids, chance.randint(1, min(2, len(ids))))
        over: dict[str, Any] = {"quotedEvidence": [j.quote("selected")]} if kind == "defect" else {}
        findings.append(
            j.finding(
                number,
                kind,
                oracleId=chance.choice(["O-001", "O-002", "O-002", None]),
                severity=chance.choice(["low", "material", "critical"]),
                confidence=chance.choice([0.2, 0.9]),
                observationIds=cited,
                **over,
            )
        )
    words = [
        j.disposition(number, chance.choice(["held", "violated", "not-attempted"]), *chance.sample(ids, 1))
        for number in (1, 2)
    ]
    behaviors = [j.behavior(n, f"O-00{n}", severity=chance.choice(["low", "material"])) for n in (1, 2)]
    contract = j.contract(behaviors=behaviors)
    record = j.record(
        contract,
        observations=observations,
        findings=findings,
        oracleDispositions=words,
        mode=chance.choice(["production", "contract-scoring"]),
        evaluatorRecommendation=chance.choice(["PASS", "CONCERNS", "FAIL"]),
    )
    probe = chance.choice([j.probe, j.probe, j.clean_probe, j.canary, j.gameability])()
    policy = j.policy(minimumTrialCount=chance.choice([1, 3]))
    return {"contract": contract, "record": record, "probe": probe, "policy": policy, "manifest": j.manifest(record)}


def without(given: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The run with members of its record replaced; the manifest is about the same run and stays."""
    return {**given, "record": {**given["record"], **changes}}


def removals(given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    record = given["record"]
    yield "the manifest", {**given, "manifest": None}
    yield "the configuration", {**given, "configuration": None}
    for entry in record["oracleDispositions"]:
        rest = [other for other in record["oracleDispositions"] if other is not entry]
        yield f"the disposition of {entry['oracleId']}", without(given, oracleDispositions=rest)
    citing = [*record["findings"], *record["oracleDispositions"]]
    cited = {name for entry in citing for name in entry["observationIds"]}
    for seen in record["observations"]:
        if seen["observationId"] in cited:
            rest = [other for other in record["observations"] if other is not seen]
            yield f"cited {seen['observationId']}", without(given, observations=rest)
    for finding in record["findings"]:
        if finding["findingType"] == "defect" and len(finding["observationIds"]) == 1:
            blank = [
                {**seen, "stdout": {"kind": "absent"}} if seen["observationId"] in finding["observationIds"] else seen
                for seen in record["observations"]
            ]
            yield f"the text {finding['findingId']} quotes", without(given, observations=blank)
    for position, oracle in enumerate(given["contract"]["oracles"]):
        oracles = list(given["contract"]["oracles"])
        oracles[position] = {**oracle, "check": None}
        contract = {**given["contract"], "oracles": oracles}
        digest = digest_value(contract, "x")
        changed = without({**given, "contract": contract}, contractDigest=digest)
        yield f"the check of {oracle['id']}", {**changed, "manifest": j.manifest(changed["record"])}


def claims(given: dict[str, Any], before: RunScoreResult) -> Iterator[tuple[str, dict[str, Any]]]:
    """Taking back every finding that claims the shown defect, where it was caught by a witness."""
    record = given["record"]
    designated = [] if before.artifact is None else [o for o in before.artifact.outcomes if o.oracle_id == "O-002"]
    seeded = not given["probe"]["expectedClean"] and given["probe"]["probeClass"] != "canary"
    if seeded and designated and designated[0].state == "caught":
        rest = [finding for finding in record["findings"] if finding["findingType"] != "defect"]
        kept = [finding for finding in record["findings"] if finding["findingType"] == "defect"]
        if all(finding["oracleId"] == "O-002" and finding["confidence"] > 0.5 for finding in kept):
            yield "the claim", without(given, findings=rest)


def check_monotone(count: int, seed: str) -> None:
    chance = random.Random(seed)
    verdicts = set()
    for _ in range(count):
        given = random_run(chance)
        before = j.run(**given)
        verdicts.add(before.ladder.verdict)
        for what, reduced in (*removals(given), *claims(given, before)):
            after = j.run(**reduced)
            assert RANK[after.ladder.verdict] <= RANK[before.ladder.verdict], (what, given)
    assert verdicts >= {None, "FAIL", "CONCERNS"}


def test_removing_evidence_never_improves_a_verdict() -> None:
    check_monotone(60, "fast")


@pytest.mark.slow
def test_removing_evidence_never_improves_a_verdict_at_length() -> None:
    check_monotone(1000, "slow")
