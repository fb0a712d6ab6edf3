"""What one oracle made of one trial (spec 08 §6).

The decision reads eleven facts and goes through four tables:

    stage A   INVALIDATING     every row that holds is reported (§6.2)
    stage B   STATE_LADDER     the first row that holds gives the state (§6.3)
    stage C   WAIVERS          may turn `missed` into `not-applicable` or `bypassed` (§6.4)
    then      CORROBORATION    how the check and the evaluator's words agree; it decides no verdict (§6.5)

The truth value of a check decides no state: only `insufficient-evidence` is read by the ladder. Not here: where the
facts come from (`score/trial.py`), and what a state does to a verdict (`score/ladder.py`).
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from eval_quality.core.decision import Fact, Guard, Row, every, first
from eval_quality.model.primitives import OutcomeState

PROBE_CLASSES: Final = ("defect", "gameability", "zero-action", "canary")
BUCKETS: Final = ("mapped", "unmapped", "dangling", "signatureless")
WITNESS_RESULTS: Final = (
    "unexercised",
    "unwitnessed-claim",
    "matched",
    "manifested-unclaimed",
    "not-triggered",
    "vacuous",
)
JUDGE_CONDUCTS: Final = ("absent", "conforming", "malformed")
WAIVER_STATES: Final = ("none", "applied-condition-met", "applied-condition-unmet", "expired")
CHECK_RESOLUTIONS: Final = ("true", "false", "insufficient-evidence")
DISPOSITIONS: Final = ("held", "violated", "not-attempted")
SELECTIONS: Final = ("no-step", "all-none", "some")

NO_DISPOSITION: Final = "disposition-missing"
AMBIGUOUS_SELECTOR: Final = "selector-ambiguity"
UNWITNESSED_CLAIM: Final = "unwitnessed-detection-claim"


class Facts(NamedTuple):
    """Everything the four tables read, each over a finite domain (spec 08 §6.1)."""

    evaluation_fault: bool = False
    judge: str = "absent"
    """One of `JUDGE_CONDUCTS`."""
    probe_class: str | None = None
    expected_clean: bool | None = None
    qualified: bool = True
    bucket: str | None = None
    """Bucket of the one defect finding that cites the oracle; None when no finding cites it."""
    witness: str | None = None
    """The witness result; None on every oracle but the designated one."""
    ambiguous: bool = False
    """An addressed step selected several observations and its cardinality does not admit that."""
    selections: str = "no-step"
    """`no-step` when the check addresses no plan step, `all-none` when each selected nothing, else `some`."""
    check: str | None = None
    """Resolution of the check's root; None when the oracle has no check."""
    holds_expected: bool = True
    """Polarity `expects-hold`."""
    disposition: str | None = None
    supported: bool = True
    """False when the disposition cites no observation."""
    required: bool = True
    waiver: str = "none"
    state: str | None = None
    """The final state; set between stage C and corroboration."""

    @property
    def cited(self) -> bool:
        """A defect finding cites the oracle."""
        return self.bucket is not None

    @property
    def satisfied(self) -> bool:
        """The check resolved to what its polarity expects; `insufficient-evidence` and None never do."""
        return self.check == ("true" if self.holds_expected else "false")


Corroboration: TypeAlias = Literal["agrees", "disagrees", "not-evaluable"]


class Outcome(NamedTuple):
    """The state ladder's answer: the state, and whether `resolvedFrom` is the cited finding."""

    state: OutcomeState
    cites: bool = False


_NOT_CLEAN: Final = ("expected_clean", (False, None))
_CLEAN: Final = ("expected_clean", (True,))
_CITED: Final = ("cited", (True,))
_UNCITED: Final = ("cited", (False,))
_UNEXAMINED: Final = ("check", ("insufficient-evidence",))
_UNSUPPORTED: Final[Guard] = (("disposition", ("held", "violated")), ("supported", (False,)))


def _fact(name: str, *admitted: Fact) -> tuple[str, tuple[Fact, ...]]:
    return (name, admitted)


# spec 08 §6.2
INVALIDATING: Final[tuple[Row[None], ...]] = (
    Row("evaluation-fault", (_fact("evaluation_fault", True),), None),
    Row("judge-malformed", (_fact("judge", "malformed"),), None),
    Row(
        "unqualified-probe-in-sealed-set",
        (_fact("probe_class", *PROBE_CLASSES), _fact("qualified", False)),
        None,
    ),
    Row("dangling-probe-citation", (_fact("bucket", "dangling"),), None),
    Row(UNWITNESSED_CLAIM, (_fact("witness", "unwitnessed-claim"),), None),
    Row("vacuous-signature", (_fact("witness", "vacuous"),), None),
    Row(AMBIGUOUS_SELECTOR, (_fact("ambiguous", True),), None),
    Row("canary-non-detection", (_fact("probe_class", "canary"), _fact("selections", "some"), _UNCITED), None),
    Row("unsupported-disposition", _UNSUPPORTED, None),
    Row(NO_DISPOSITION, (_fact("required", True), _fact("disposition", None)), None),
)
"""Stage A: the invalidating conditions, all evaluated."""

# spec 08 §6.3
STATE_LADDER: Final[tuple[Row[Outcome], ...]] = (
    Row("evaluation-fault", (_fact("evaluation_fault", True),), Outcome("oracle-error")),
    Row("judge-malformed", (_fact("judge", "malformed"),), Outcome("judge-error")),
    Row(
        "probe-unqualified",
        (_fact("probe_class", *PROBE_CLASSES), _fact("qualified", False)),
        Outcome("infrastructure-error"),
    ),
    Row("finding-dangling-probe", (_fact("bucket", "dangling"),), Outcome("infrastructure-error", cites=True)),
    Row("witness-unwitnessed-claim", (_fact("witness", "unwitnessed-claim"),), Outcome("infrastructure-error")),
    Row("witness-vacuous", (_fact("witness", "vacuous"),), Outcome("infrastructure-error")),
    Row("selector-ambiguous", (_fact("ambiguous", True),), Outcome("infrastructure-error")),
    Row("witness-unexercised", (_fact("witness", "unexercised"), _NOT_CLEAN), Outcome("not-applicable")),
    Row(
        "steps-unreached",
        (_fact("witness", None, "not-triggered"), _fact("selections", "all-none")),
        Outcome("unreached"),
    ),
    Row(
        "zero-action-detected",
        (_fact("probe_class", "zero-action"), _fact("expected_clean", False), _fact("witness", "matched")),
        Outcome("caught"),
    ),
    Row("clean-control-false-positive", (_CLEAN, _CITED), Outcome("false-positive", cites=True)),
    Row("clean-control-passed", (_CLEAN, _fact("check", "true", "false", None)), Outcome("passed-clean-control")),
    Row("canary-detected", (_fact("probe_class", "canary"), _CITED), Outcome("caught", cites=True)),
    Row(
        "canary-undetected",
        (_fact("probe_class", "canary"), _fact("selections", "some"), _UNCITED),
        Outcome("infrastructure-error"),
    ),
    Row("witness-matched", (_fact("witness", "matched"), _NOT_CLEAN), Outcome("caught")),
    Row("witness-manifested-unclaimed", (_fact("witness", "manifested-unclaimed"), _NOT_CLEAN), Outcome("missed")),
    Row("oracle-cited-defect", (_fact("witness", None), _fact("bucket", "mapped")), Outcome("caught", cites=True)),
    Row("check-insufficient-evidence", (_UNEXAMINED,), Outcome("abstained")),
    Row("witness-not-triggered", (_fact("witness", "not-triggered"),), Outcome("confirmed")),
    Row("outcome-clear", (), Outcome("confirmed")),
)
"""Stage B: the first row that holds gives the provisional state."""

# spec 08 §6.4
WAIVERS: Final[tuple[Row[OutcomeState | None], ...]] = (
    Row("waiver-honoured", (_fact("waiver", "applied-condition-met"), _fact("state", "missed")), "not-applicable"),
    Row("waiver-bypassed", (_fact("waiver", "applied-condition-unmet"), _fact("state", "missed")), "bypassed"),
    Row("no-waiver", (), None),
)
"""Stage C: only `missed` can be waived; None leaves the state alone."""

# spec 08 §6.5
CORROBORATION: Final[tuple[Row[Corroboration], ...]] = (
    Row("disposition-unsupported", _UNSUPPORTED, "disagrees"),
    Row("disposition-contradicts-evidence", (_fact("disposition", "violated"), _UNCITED), "disagrees"),
    Row("disposition-contradicts-evidence", (_fact("disposition", "held", "not-attempted"), _CITED), "disagrees"),
    Row("citation-declined", (_fact("bucket", "unmapped", "signatureless"),), "disagrees"),
    Row("examined-nothing", (_UNEXAMINED, _CITED), "disagrees"),
    Row("examined-nothing", (_UNEXAMINED,), "agrees"),
    Row("never-ran", (_fact("state", "unreached"),), "not-evaluable"),
    Row("never-ran", (_fact("check", None),), "not-evaluable"),
    Row("check-confirms-silence", (_fact("satisfied", True), _UNCITED), "agrees"),
    Row("check-confirms-finding", (_fact("satisfied", False), _CITED), "agrees"),
    Row("check-and-findings-diverge", (), "disagrees"),
)
"""Corroboration, decided after the final state."""


class OracleOutcome(NamedTuple):
    """The result of one decision (spec 08 §6.6), apart from the observations it looked at."""

    rule: str
    waiver_rule: str | None
    corroboration_rule: str
    state: OutcomeState
    corroboration: Corroboration
    resolved_from: str | None
    declined_finding_ids: tuple[str, ...]
    invalidating_conditions: tuple[str, ...]


def decide(facts: Facts, cited_finding_id: str | None) -> OracleOutcome:
    """Run the four stages over `facts`; `cited_finding_id` belongs to `facts.bucket`."""
    conditions = tuple(sorted(row.rule for row in every(INVALIDATING, facts)))
    step = first(STATE_LADDER, facts)
    waiver = first(WAIVERS, facts._replace(state=step.value.state))
    state = waiver.value or step.value.state
    corroboration = first(CORROBORATION, facts._replace(state=state))
    declined = not step.value.cites and facts.bucket in ("unmapped", "signatureless") and cited_finding_id is not None
    return OracleOutcome(
        rule=step.rule,
        waiver_rule=waiver.rule if waiver.value is not None else None,
        corroboration_rule=corroboration.rule,
        state=state,
        corroboration=corroboration.value,
        resolved_from=cited_finding_id if step.value.cites else None,
        declined_finding_ids=(cited_finding_id,) if declined and cited_finding_id is not None else (),
        invalidating_conditions=conditions,
    )
