"""The oracle outcome procedure (spec 08 §6): every table over its whole finite space."""

from itertools import product

import pytest

from eval_quality.core.decision import Row, every, first, holds
from eval_quality.core.score import outcome as tables
from eval_quality.core.score.outcome import (
    BUCKETS,
    CHECK_RESOLUTIONS,
    CORROBORATION,
    DISPOSITIONS,
    INVALIDATING,
    JUDGE_CONDUCTS,
    PROBE_CLASSES,
    SELECTIONS,
    STATE_LADDER,
    WAIVER_STATES,
    WAIVERS,
    WITNESS_RESULTS,
    Facts,
    decide,
)
from eval_quality.core.score.reduction import STATE_GROUPS
from eval_quality.model.primitives import OUTCOME_STATES

CLASSES = (None, *PROBE_CLASSES)
CITED = (None, *BUCKETS)
WITNESSES = (None, *WITNESS_RESULTS)
CHECKS = (None, *CHECK_RESOLUTIONS)
CLEAN = (None, True, False)


def expected_state(facts: Facts) -> tuple[str, str, bool]:
    """The ladder of spec 08 §6.3 written out once more, rule by rule: (rule, state, cites)."""
    cites = facts.bucket is not None
    canary = facts.probe_class == "canary"
    if facts.evaluation_fault:
        return "evaluation-fault", "oracle-error", False
    if facts.judge == "malformed":
        return "judge-malformed", "judge-error", False
    if facts.probe_class is not None and not facts.qualified:
        return "probe-unqualified", "infrastructure-error", False
    if facts.bucket == "dangling":
        return "finding-dangling-probe", "infrastructure-error", True
    if facts.witness == "unwitnessed-claim":
        return "witness-unwitnessed-claim", "infrastructure-error", False
    if facts.witness == "vacuous":
        return "witness-vacuous", "infrastructure-error", False
    if facts.ambiguous:
        return "selector-ambiguous", "infrastructure-error", False
    if facts.witness == "unexercised" and facts.expected_clean is not True:
        return "witness-unexercised", "not-applicable", False
    if (facts.witness is None or facts.witness == "not-triggered") and facts.selections == "all-none":
        return "steps-unreached", "unreached", False
    if facts.probe_class == "zero-action" and facts.expected_clean is False and facts.witness == "matched":
        return "zero-action-detected", "caught", False
    if facts.expected_clean is True and cites:
        return "clean-control-false-positive", "false-positive", True
    if facts.expected_clean is True and facts.check != "insufficient-evidence":
        return "clean-control-passed", "passed-clean-control", False
    if canary and cites:
        return "canary-detected", "caught", True
    if canary and facts.selections == "some" and not cites:
        return "canary-undetected", "infrastructure-error", False
    if facts.witness == "matched" and facts.expected_clean is not True:
        return "witness-matched", "caught", False
    if facts.witness == "manifested-unclaimed" and facts.expected_clean is not True:
        return "witness-manifested-unclaimed", "missed", False
    if facts.witness is None and facts.bucket == "mapped":
        return "oracle-cited-defect", "caught", True
    if facts.check == "insufficient-evidence":
        return "check-insufficient-evidence", "abstained", False
    if facts.witness == "not-triggered":
        return "witness-not-triggered", "confirmed", False
    return "outcome-clear", "confirmed", False


def test_s6_3_state_ladder_is_total_and_first_match_over_its_whole_space() -> None:
    seen = set()
    space = product(
        (False, True),
        ("absent", "malformed"),
        CLASSES,
        (True, False),
        CITED,
        WITNESSES,
        (False, True),
        CLEAN,
        SELECTIONS,
        CHECKS,
    )
    for fault, judge, probe_class, qualified, bucket, witness, ambiguous, clean, selections, check in space:
        facts = Facts(
            evaluation_fault=fault,
            judge=judge,
            probe_class=probe_class,
            expected_clean=clean,
            qualified=qualified,
            bucket=bucket,
            witness=witness,
            ambiguous=ambiguous,
            selections=selections,
            check=check,
        )
        row = first(STATE_LADDER, facts)
        assert (row.rule, row.value.state, row.value.cites) == expected_state(facts), facts
        seen.add(row.rule)
    assert seen == {row.rule for row in STATE_LADDER}, "a row that no input reaches"


def test_s6_1_a_conforming_judge_changes_nothing() -> None:
    assert JUDGE_CONDUCTS == ("absent", "conforming", "malformed")
    for row in (*INVALIDATING, *STATE_LADDER, *CORROBORATION):
        for judge in ("absent", "conforming"):
            facts = Facts(judge=judge, probe_class="defect", state="confirmed")
            assert holds(row.guard, facts) == holds(row.guard, facts._replace(judge="absent"))


def test_s6_2_every_invalidating_condition_over_its_whole_space() -> None:
    def expected(facts: Facts) -> list[str]:
        cites = facts.bucket is not None
        conditions = {
            "evaluation-fault": facts.evaluation_fault,
            "judge-malformed": facts.judge == "malformed",
            "unqualified-probe-in-sealed-set": facts.probe_class is not None and facts.qualified is False,
            "dangling-probe-citation": facts.bucket == "dangling",
            "unwitnessed-detection-claim": facts.witness == "unwitnessed-claim",
            "vacuous-signature": facts.witness == "vacuous",
            "selector-ambiguity": facts.ambiguous,
            "canary-non-detection": facts.probe_class == "canary" and facts.selections == "some" and not cites,
            "unsupported-disposition": facts.disposition in ("held", "violated") and not facts.supported,
            "disposition-missing": facts.required and facts.disposition is None,
        }
        return [name for name, found in conditions.items() if found]

    one_each = product(
        (False, True),
        ("absent", "malformed"),
        (None, "defect", "canary"),
        (True, False),
        (None, "mapped", "dangling"),
        (None, "matched", "unwitnessed-claim", "vacuous"),
        (False, True),
        SELECTIONS,
        (None, *DISPOSITIONS),
        (True, False),
        (True, False),
    )
    for fault, judge, cls, qualified, bucket, witness, ambiguous, selections, word, supported, required in one_each:
        facts = Facts(
            evaluation_fault=fault,
            judge=judge,
            probe_class=cls,
            qualified=qualified,
            bucket=bucket,
            witness=witness,
            ambiguous=ambiguous,
            selections=selections,
            disposition=word,
            supported=supported,
            required=required,
        )
        assert [row.rule for row in every(INVALIDATING, facts)] == expected(facts)


def test_s6_2_conditions_are_reported_ascending() -> None:
    facts = Facts(evaluation_fault=True, judge="malformed", ambiguous=True, disposition=None, probe_class="defect")
    found = decide(facts, None).invalidating_conditions
    assert found == ("disposition-missing", "evaluation-fault", "judge-malformed", "selector-ambiguity")


@pytest.mark.parametrize("waiver", WAIVER_STATES)
@pytest.mark.parametrize("state", OUTCOME_STATES)
def test_s6_4_only_missed_is_waivable(waiver: str, state: str) -> None:
    row = first(WAIVERS, Facts(waiver=waiver, state=state))
    expected = {
        ("applied-condition-met", "missed"): ("waiver-honoured", "not-applicable"),
        ("applied-condition-unmet", "missed"): ("waiver-bypassed", "bypassed"),
    }.get((waiver, state), ("no-waiver", None))
    assert (row.rule, row.value) == expected


@pytest.mark.parametrize(
    ("waiver", "state", "rule"),
    [
        ("none", "missed", None),
        ("expired", "missed", None),
        ("applied-condition-met", "not-applicable", "waiver-honoured"),
        ("applied-condition-unmet", "bypassed", "waiver-bypassed"),
    ],
)
def test_s6_4_a_waiver_replaces_the_provisional_state(waiver: str, state: str, rule: str | None) -> None:
    found = decide(Facts(probe_class="defect", witness="manifested-unclaimed", waiver=waiver, disposition="held"), None)
    assert (found.rule, found.state, found.waiver_rule) == ("witness-manifested-unclaimed", state, rule)


def test_s6_5_corroboration_is_total_and_first_match_over_its_whole_space() -> None:
    def expected(facts: Facts) -> tuple[str, str]:
        cites = facts.bucket is not None
        satisfied = (facts.check == "true" and facts.holds_expected) or (
            facts.check == "false" and not facts.holds_expected
        )
        if facts.disposition in ("held", "violated") and not facts.supported:
            return "disposition-unsupported", "disagrees"
        if facts.disposition is not None and (
            (facts.disposition == "violated" and not cites) or (facts.disposition != "violated" and cites)
        ):
            return "disposition-contradicts-evidence", "disagrees"
        if facts.bucket in ("unmapped", "signatureless"):
            return "citation-declined", "disagrees"
        if facts.check == "insufficient-evidence":
            return "examined-nothing", "disagrees" if cites else "agrees"
        if facts.state == "unreached" or facts.check is None:
            return "never-ran", "not-evaluable"
        if satisfied and not cites:
            return "check-confirms-silence", "agrees"
        if not satisfied and cites:
            return "check-confirms-finding", "agrees"
        return "check-and-findings-diverge", "disagrees"

    seen = set()
    space = product((None, *DISPOSITIONS), (True, False), CITED, CHECKS, (True, False), OUTCOME_STATES)
    for word, supported, bucket, check, holds_expected, state in space:
        facts = Facts(
            disposition=word,
            supported=supported,
            bucket=bucket,
            check=check,
            holds_expected=holds_expected,
            state=state,
        )
        row = first(CORROBORATION, facts)
        assert (row.rule, row.value) == expected(facts), facts
        seen.add(row.rule)
    assert seen == {row.rule for row in CORROBORATION}


def test_s6_3_the_states_are_the_published_twelve() -> None:
    reached = {row.value.state for row in STATE_LADDER} | {row.value for row in WAIVERS if row.value is not None}
    assert reached == set(OUTCOME_STATES) == set(STATE_GROUPS)


QUALIFIED = Facts(probe_class="defect", expected_clean=False, disposition="held", selections="some")


@pytest.mark.parametrize(
    ("facts", "rule", "state", "corroboration", "resolved"),
    [
        (
            {"witness": "matched", "bucket": "mapped", "disposition": "violated", "check": "false"},
            "witness-matched",
            "caught",
            ("check-confirms-finding", "agrees"),
            None,
        ),
        (
            {"witness": "manifested-unclaimed", "check": "true"},
            "witness-manifested-unclaimed",
            "missed",
            ("check-confirms-silence", "agrees"),
            None,
        ),
        ({"check": "true"}, "outcome-clear", "confirmed", ("check-confirms-silence", "agrees"), None),
        (
            {"selections": "all-none", "check": "insufficient-evidence"},
            "steps-unreached",
            "unreached",
            ("examined-nothing", "agrees"),
            None,
        ),
        (
            {"bucket": "mapped", "disposition": "violated", "check": "false"},
            "oracle-cited-defect",
            "caught",
            ("check-confirms-finding", "agrees"),
            "F-001",
        ),
        (
            {"witness": "not-triggered", "bucket": "unmapped", "check": "true"},
            "witness-not-triggered",
            "confirmed",
            ("disposition-contradicts-evidence", "disagrees"),
            None,
        ),
        (
            {"expected_clean": True, "probe_class": "zero-action", "check": "insufficient-evidence"},
            "check-insufficient-evidence",
            "abstained",
            ("examined-nothing", "agrees"),
            None,
        ),
        (
            {"expected_clean": True, "probe_class": "zero-action", "bucket": "signatureless", "check": "true"},
            "clean-control-false-positive",
            "false-positive",
            ("disposition-contradicts-evidence", "disagrees"),
            "F-001",
        ),
        (
            {"probe_class": "canary", "selections": "no-step"},
            "outcome-clear",
            "confirmed",
            ("never-ran", "not-evaluable"),
            None,
        ),
    ],
)
def test_s16_10_outcome_tuples(
    facts: dict[str, object], rule: str, state: str, corroboration: tuple[str, str], resolved: str | None
) -> None:
    given = QUALIFIED._replace(**facts)  # type: ignore[arg-type]
    found = decide(given, None if given.bucket is None else "F-001")
    assert (found.rule, found.state) == (rule, state)
    assert (found.corroboration_rule, found.corroboration) == corroboration
    assert found.resolved_from == resolved


@pytest.mark.parametrize(
    ("bucket", "declined"),
    [("unmapped", ("F-007",)), ("signatureless", ("F-007",)), ("mapped", ()), ("dangling", ())],
)
def test_s6_6_a_citation_that_resolves_nothing_is_declined(bucket: str, declined: tuple[str, ...]) -> None:
    found = decide(QUALIFIED._replace(bucket=bucket, witness="not-triggered", check="true"), "F-007")
    assert found.declined_finding_ids == declined


def test_s6_6_a_citation_the_rule_cites_is_not_declined() -> None:
    found = decide(QUALIFIED._replace(bucket="signatureless", expected_clean=True, check="true"), "F-007")
    assert (found.resolved_from, found.declined_finding_ids) == ("F-007", ())


def test_s6_3_a_table_without_a_last_resort_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="always holds"):
        first((Row("never", (("required", (None,)),), 1),), Facts())


def test_s6_3_the_order_of_the_ladder_is_the_published_one() -> None:
    assert [row.rule for row in STATE_LADDER] == [
        "evaluation-fault",
        "judge-malformed",
        "probe-unqualified",
        "finding-dangling-probe",
        "witness-unwitnessed-claim",
        "witness-vacuous",
        "selector-ambiguous",
        "witness-unexercised",
        "steps-unreached",
        "zero-action-detected",
        "clean-control-false-positive",
        "clean-control-passed",
        "canary-detected",
        "canary-undetected",
        "witness-matched",
        "witness-manifested-unclaimed",
        "oracle-cited-defect",
        "check-insufficient-evidence",
        "witness-not-triggered",
        "outcome-clear",
    ]
    assert tables.NO_DISPOSITION in {row.rule for row in INVALIDATING}
