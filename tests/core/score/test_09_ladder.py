"""The two verdict ladders (spec 09 §2)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.ingest.conditions import (
    CrossArtifactDisagreement,
    DanglingCitation,
    DanglingDispositionCitation,
    DuplicateRecordIdentifier,
    EvaluatorConfigurationAbsent,
    EvaluatorConfigurationDigestMismatch,
    ForbiddenInputNotWithheld,
    IsolationManifestAbsent,
    JudgeResultUnscored,
    Quotation,
    UnwitnessedQuotation,
)
from eval_quality.core.score.assessment import (
    Assessment,
    Confidence,
    EvidenceFlags,
    RemediationState,
    ScoredOutcome,
)
from eval_quality.core.score.ladder import (
    CONCERNS_ROWS,
    FAIL_ROWS,
    INVALID_ROWS,
    RUNGS,
    WAIVED_ROWS,
    LadderResolution,
    fired,
    resolve_ladder,
)
from eval_quality.core.score.outcome import OracleOutcome
from eval_quality.core.severity import at_or_above, highest
from eval_quality.model.artifact import CoverageGap, InvalidatedAttempt, Trials, UncitedFindingGap
from eval_quality.model.evidence import QuotedEvidence
from eval_quality.model.primitives import OUTCOME_STATES


def outcome(number: int, state: str, severity: str = "critical", **over: Any) -> ScoredOutcome:
    result = OracleOutcome(
        rule="rule",
        waiver_rule=over.pop("waiver_rule", None),
        corroboration_rule="rule",
        state=state,  # type: ignore[arg-type]
        corroboration="agrees",
        resolved_from=None,
        declined_finding_ids=(),
        invalidating_conditions=over.pop("conditions", ()),
    )
    return ScoredOutcome(
        oracle_id=f"O-{number:03}",
        required=over.pop("required", True),
        severity=severity,  # type: ignore[arg-type]
        check_resolved=over.pop("check_resolved", True),
        outcome=result,
    )


def trials(completed: int = 3, minimum: int = 3, invalidated: int = 0) -> Trials:
    return Trials(
        declared_minimum=minimum,
        completed=completed,
        completed_attempts=tuple(range(1, completed + 1)),
        invalidated_attempts=tuple(
            InvalidatedAttempt(attempt=n, reason="judge-error") for n in range(1, invalidated + 1)
        ),
    )


def gap(rule: str = "malformed-input", severity: str = "critical", satisfied: bool = False) -> CoverageGap:
    return CoverageGap(
        rule=rule,
        relevance_predicate=f"{rule}-relevance",
        satisfaction_predicate=f"{rule}-satisfaction",
        satisfied=satisfied,
        severity=severity,  # type: ignore[arg-type]
    )


UNCITED = UncitedFindingGap(
    finding_id="F-005",
    observation_ids=("obs-1",),
    quoted_evidence=(QuotedEvidence(quote="x", channel="stdout", artifact_id=None),),
    severity="low",
)


def run(**over: Any) -> Assessment:
    clean = Assessment(
        mode="contract-scoring",
        run_id="run-1",
        outcomes=(),
        unwitnessed_quotations=(),
        trials=trials(),
        re_execution_cap=2,
        isolation_violations=(),
        conditions=(),
        disagreements=(),
        evaluator_recommendation="PASS",
        coverage_gaps=(),
        uncited_defect_findings=(),
        confidences=(),
        confidence_threshold=0.5,
        severity_floor="material",
        preflight_passed=True,
    )
    return clean._replace(**over)


PASS = LadderResolution(verdict="PASS", exit_code=0, strict_promotable=True, basis=())


def test_s2_no_rung_fires() -> None:
    assert resolve_ladder(run()) == PASS


INVALID_CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "invalidating-state",
        {
            "outcomes": [
                outcome(1, "oracle-error"),
                outcome(2, "judge-error"),
                outcome(3, "infrastructure-error"),
                outcome(4, "caught"),
            ]
        },
        [
            "oracle O-001 resolved oracle-error",
            "oracle O-002 resolved judge-error",
            "oracle O-003 resolved infrastructure-error",
        ],
    ),
    ("failed-preflight", {"preflight_passed": False}, ["pre-flight verdict did not pass"]),
    (
        "isolation-manifest-violation",
        {"isolation_violations": ["isolation manifest absent", "mount outside allowlist: /x"]},
        [
            "isolation manifest violation: isolation manifest absent",
            "isolation manifest violation: mount outside allowlist: /x",
        ],
    ),
    (
        "re-execution-cap-breach",
        {"trials": trials(invalidated=3)},
        ["3 invalidated attempts exceeded the re-execution cap of 2"],
    ),
    (
        "disposition-missing",
        {"outcomes": [outcome(7, "confirmed", conditions=("disposition-missing",))]},
        ["oracle O-007 is required and carries no disposition"],
    ),
    (
        "required-check-unresolved",
        {"outcomes": [outcome(1, "confirmed", check_resolved=False), outcome(2, "confirmed")]},
        ["oracle O-001 is required and its check never resolved"],
    ),
    (
        "selector-ambiguity",
        {"outcomes": [outcome(1, "confirmed", conditions=("selector-ambiguity",))]},
        ["oracle O-001: selector ambiguity"],
    ),
    (
        "unwitnessed-claim",
        {"outcomes": [outcome(1, "confirmed", conditions=("unwitnessed-detection-claim",))]},
        ["oracle O-001: unwitnessed detection claim"],
    ),
    (
        "unwitnessed-quotation",
        {"unwitnessed_quotations": [Quotation("F-001", 0, "stdout", "x", ())]},
        ["finding F-001: unwitnessed quotation on channel stdout"],
    ),
    (
        "duplicate-record-identifier",
        {"conditions": [DuplicateRecordIdentifier("judge-result", "R-001/RC-001", 2)]},
        ['duplicate judge-result identifier "R-001/RC-001" (2 occurrences)'],
    ),
    (
        "dangling-citation",
        {"conditions": [DanglingCitation("F-001", ("a", "b"))]},
        ["finding F-001 cites unresolved observation(s): a, b"],
    ),
    (
        "dangling-disposition-citation",
        {"conditions": [DanglingDispositionCitation("O-001", ("a", "b"))]},
        ["oracle O-001 disposition cites unresolved observation(s): a, b"],
    ),
    (
        "forbidden-input-not-withheld",
        {"conditions": [ForbiddenInputNotWithheld(("repository", "human-labels"))]},
        [
            "forbidden input admitted rather than withheld: repository",
            "forbidden input admitted rather than withheld: human-labels",
        ],
    ),
    (
        "cross-artifact-disagreement",
        {"conditions": [CrossArtifactDisagreement("runId", "a", "b")]},
        ['record and manifest disagree on runId: record "a", manifest "b"'],
    ),
    (
        "evaluator-configuration-absent",
        {"conditions": [EvaluatorConfigurationAbsent(), EvaluatorConfigurationAbsent()]},
        ["evaluator configuration absent", "evaluator configuration absent"],
    ),
    (
        "evaluator-configuration-digest-mismatch",
        {"conditions": [EvaluatorConfigurationDigestMismatch("a", "b")]},
        ['evaluator configuration digest mismatch: declared "a", computed "b"'],
    ),
    (
        "judge-result-unscored",
        {"conditions": [JudgeResultUnscored("R-001", "RC-002")]},
        ["judge result unscored: rubric R-001 criterion RC-002"],
    ),
    (
        "trial-set-field-disagreement",
        {"disagreements": ["trialIndex: duplicate value 1"]},
        ["trial-set field disagreement: trialIndex: duplicate value 1"],
    ),
]


@pytest.mark.parametrize("mode", ["production", "contract-scoring"])
@pytest.mark.parametrize(("row", "given_inputs", "basis"), INVALID_CASES, ids=[name for name, _, _ in INVALID_CASES])
def test_s2_1_each_invalid_row(mode: str, row: str, given_inputs: dict[str, Any], basis: list[str]) -> None:
    assessment = run(mode=mode, **given_inputs)
    assert resolve_ladder(assessment) == LadderResolution(
        verdict=None, exit_code=3, strict_promotable=True, basis=tuple(basis)
    )
    assert [entry.name for entry, _ in fired(assessment, RUNGS[0])] == [row]


def test_s2_1_the_rows_are_these_eighteen_in_order() -> None:
    assert [row.name for row in INVALID_ROWS] == [name for name, _, _ in INVALID_CASES]


def test_s2_1_an_optional_oracle_may_lack_a_check() -> None:
    assert resolve_ladder(run(outcomes=[outcome(1, "confirmed", required=False, check_resolved=False)])) == PASS


def test_s2_1_quotations_and_the_manifest_reach_the_rung_through_their_own_lists() -> None:
    assert resolve_ladder(run(conditions=[UnwitnessedQuotation(()), IsolationManifestAbsent()])) == PASS


def test_s2_1_the_cap_itself_is_no_breach() -> None:
    assert resolve_ladder(run(trials=trials(invalidated=2))) == PASS


def test_s2_1_the_basis_is_every_row_of_the_rung_in_row_order() -> None:
    everything = run(
        outcomes=[outcome(1, "missed"), outcome(2, "judge-error", conditions=("disposition-missing",))],
        preflight_passed=False,
        isolation_violations=["isolation manifest absent"],
        disagreements=["x"],
    )
    assert resolve_ladder(everything).basis == (
        "oracle O-002 resolved judge-error",
        "pre-flight verdict did not pass",
        "isolation manifest violation: isolation manifest absent",
        "oracle O-002 is required and carries no disposition",
        "trial-set field disagreement: x",
    )


FAIL_CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "behavioural-failure-at-or-above-floor",
        {"outcomes": [outcome(1, "missed", "material"), outcome(2, "abstained"), outcome(3, "missed", "low")]},
        [
            "oracle O-001 resolved missed at or above the severity floor",
            "oracle O-002 resolved abstained at or above the severity floor",
        ],
    ),
    ("evidence-incomplete", {"evidence": EvidenceFlags(reported_incomplete=True)}, ["evidence reported incomplete"]),
    (
        "evidence-over-truncated",
        {"evidence": EvidenceFlags(over_truncated=True)},
        ["evidence truncated past its disclosed bound"],
    ),
    ("evidence-unavailable", {"evidence": EvidenceFlags(unavailable=True)}, ["evidence unavailable"]),
    (
        "evidence-internally-inconsistent",
        {"evidence": EvidenceFlags(internally_inconsistent=True)},
        ["evidence internally inconsistent"],
    ),
    (
        "lineage-chain-inconsistent",
        {"remediation": RemediationState(no_gap=False)},
        ["presented lineage chain is internally inconsistent"],
    ),
    (
        "evaluator-recommendation-fail",
        {"mode": "production", "evaluator_recommendation": "FAIL"},
        ["evaluator recommendation FAIL"],
    ),
]


@pytest.mark.parametrize(("row", "given_inputs", "basis"), FAIL_CASES, ids=[name for name, _, _ in FAIL_CASES])
def test_s2_2_each_fail_row(row: str, given_inputs: dict[str, Any], basis: list[str]) -> None:
    assessment = run(**given_inputs)
    assert resolve_ladder(assessment) == LadderResolution(
        verdict="FAIL", exit_code=2, strict_promotable=True, basis=tuple(basis)
    )
    assert [entry.name for entry, _ in fired(assessment, RUNGS[1])] == [row]


def test_s2_2_the_rows_are_these_seven_in_order() -> None:
    assert [row.name for row in FAIL_ROWS] == [name for name, _, _ in FAIL_CASES]


CONCERNS_CASES: list[tuple[str, bool, dict[str, Any], list[str]]] = [
    (
        "behavioural-failure-below-floor",
        True,
        {"outcomes": [outcome(1, "bypassed", "low"), outcome(2, "false-positive", "low")]},
        [
            "oracle O-001 resolved bypassed below the severity floor",
            "oracle O-002 resolved false-positive below the severity floor",
        ],
    ),
    (
        "coverage-gap-at-or-above-floor",
        True,
        {"coverage_gaps": [gap(), gap("whole-body", "low"), gap("per-record", satisfied=True)]},
        ["coverage gap malformed-input unsatisfied at or above the severity floor"],
    ),
    (
        "finding-confidence-below-threshold",
        True,
        {"confidences": [Confidence("F-001", 0.3), Confidence("F-002", 0.5), Confidence("F-003", 0)]},
        [
            "finding F-001 confidence 0.3 below the policy threshold",
            "finding F-003 confidence 0 below the policy threshold",
        ],
    ),
    (
        "uncited-defect-finding",
        True,
        {"uncited_defect_findings": [UNCITED]},
        ["finding F-005: defect finding citing no oracle"],
    ),
    (
        "below-minimum-trial-count",
        False,
        {"trials": trials(1)},
        ["1 completed trials below the declared minimum of 3"],
    ),
    ("oracle-unreached", False, {"outcomes": [outcome(1, "unreached")]}, ["oracle O-001 resolved unreached"]),
    (
        "evaluator-recommendation-concerns",
        True,
        {"mode": "production", "evaluator_recommendation": "CONCERNS"},
        ["evaluator recommendation CONCERNS"],
    ),
]


@pytest.mark.parametrize(
    ("row", "promotable", "given_inputs", "basis"), CONCERNS_CASES, ids=[name for name, *_ in CONCERNS_CASES]
)
def test_s2_3_each_concerns_row(row: str, promotable: bool, given_inputs: dict[str, Any], basis: list[str]) -> None:
    assessment = run(**given_inputs)
    assert resolve_ladder(assessment) == LadderResolution(
        verdict="CONCERNS", exit_code=0, strict_promotable=promotable, basis=tuple(basis)
    )
    assert [entry.name for entry, _ in fired(assessment, RUNGS[2])] == [row]


def test_s2_3_the_rows_are_these_seven_in_order() -> None:
    assert [row.name for row in CONCERNS_ROWS] == [name for name, *_ in CONCERNS_CASES]


def test_s2_4_a_waiver_honoured() -> None:
    waived = run(outcomes=[outcome(1, "not-applicable", waiver_rule="waiver-honoured"), outcome(2, "bypassed", "low")])
    assert resolve_ladder(waived).verdict == "CONCERNS"
    alone = run(outcomes=[outcome(1, "not-applicable", waiver_rule="waiver-honoured")])
    assert resolve_ladder(alone) == LadderResolution(
        verdict="WAIVED", exit_code=0, strict_promotable=True, basis=("oracle O-001 waived (not-applicable)",)
    )
    assert [row.name for row in WAIVED_ROWS] == ["waiver-honoured"]


@pytest.mark.parametrize("state", OUTCOME_STATES)
@pytest.mark.parametrize("severity", ["low", "material", "critical"])
@pytest.mark.parametrize("mode", ["production", "contract-scoring"])
def test_s2_5_states_and_rungs(state: str, severity: str, mode: str) -> None:
    expected: str | None = "PASS"
    if state in ("oracle-error", "judge-error", "infrastructure-error"):
        expected = None
    elif state in ("missed", "abstained", "bypassed", "false-positive"):
        expected = "CONCERNS" if severity == "low" else "FAIL"
    elif state == "unreached":
        expected = "CONCERNS"
    assert resolve_ladder(run(mode=mode, outcomes=[outcome(1, state, severity)])).verdict == expected


def test_s7_4_precedence() -> None:
    found = resolve_ladder(
        run(
            outcomes=[outcome(1, "missed"), outcome(2, "unreached")],
            trials=trials(1),
            coverage_gaps=[gap()],
        )
    )
    assert (found.verdict, found.exit_code) == ("FAIL", 2)
    assert found.basis == ("oracle O-001 resolved missed at or above the severity floor",)


def test_s7_5_concerns_about_evidence_alone_are_not_promotable() -> None:
    thin = run(outcomes=[outcome(2, "unreached")], trials=trials(1))
    assert resolve_ladder(thin) == LadderResolution(
        verdict="CONCERNS",
        exit_code=0,
        strict_promotable=False,
        basis=("1 completed trials below the declared minimum of 3", "oracle O-002 resolved unreached"),
    )
    unsure = resolve_ladder(thin._replace(confidences=[Confidence("F-001", 0.3)]))
    assert unsure.basis[0] == "finding F-001 confidence 0.3 below the policy threshold"
    assert unsure.strict_promotable


def test_s7_6_mode_split() -> None:
    assert resolve_ladder(run(mode="production", evaluator_recommendation="FAIL")).verdict == "FAIL"
    assert resolve_ladder(run(evaluator_recommendation="FAIL")) == PASS


@pytest.mark.parametrize(
    ("severity", "floor", "expected"),
    [
        ("low", "low", True),
        ("material", "low", True),
        ("low", "material", False),
        ("critical", "material", True),
        ("material", "critical", False),
        ("grave", "low", False),
        ("critical", "grave", False),
    ],
)
def test_s0_at_or_above_the_floor(severity: str, floor: str, expected: bool) -> None:
    assert at_or_above(severity, floor) is expected


def test_s0_the_highest_severity() -> None:
    assert highest(()) == "low"
    assert highest(("material", "critical", "low")) == "critical"
    assert highest(("low", "material")) == "material"


RANK = {None: 0, "FAIL": 1, "CONCERNS": 2, "WAIVED": 3, "PASS": 4}

SOURCES = st.fixed_dictionaries(
    {
        "outcomes": st.lists(
            st.builds(
                outcome,
                st.integers(1, 3),
                st.sampled_from(OUTCOME_STATES),
                st.sampled_from(("low", "material", "critical")),
            ),
            max_size=3,
        ),
        "coverage_gaps": st.lists(st.just(gap()), max_size=2),
        "confidences": st.lists(st.builds(Confidence, st.just("F-001"), st.floats(0, 1)), max_size=2),
        "uncited_defect_findings": st.lists(st.just(UNCITED), max_size=1),
        "conditions": st.lists(st.just(EvaluatorConfigurationAbsent()), max_size=1),
        "disagreements": st.lists(st.just("x"), max_size=1),
    }
)


@given(SOURCES, SOURCES, st.sampled_from(("production", "contract-scoring")))
def test_s2_more_of_what_fires_never_improves_a_verdict(
    one: dict[str, list[Any]], other: dict[str, list[Any]], mode: str
) -> None:
    alone = resolve_ladder(run(mode=mode, **one))
    both = resolve_ladder(run(mode=mode, **{name: [*one[name], *other[name]] for name in one}))
    assert RANK[both.verdict] <= RANK[alone.verdict]
