"""What each ladder row means to a reader, and what would have to change for it not to fire (spec 09 §2).

A row that no shipped path reaches is here as well: a table with holes would explain some verdicts and not others.

`effect` says how much is redone: `rescore` (the stored documents suffice), `rerun` (new trials), `author` (the
contract or the probe changes, so its brief and its records are stale), `setup` (the environment).
"""

from typing import Final, Literal, NamedTuple, TypeAlias

Effect: TypeAlias = Literal["rescore", "rerun", "author", "setup"]


class Remedy(NamedTuple):
    """One row in plain words: what it means, what to do about it, and what doing it costs."""

    means: str
    remedy: str
    effect: Effect


REMEDIES: Final[dict[str, Remedy]] = {
    # Invalid: no artifact exists, so these explain the lines that `score` prints.
    "invalidating-state": Remedy(
        "An oracle could not be decided at all.", "Repair what the state names, then run the trial again.", "rerun"
    ),
    "failed-preflight": Remedy(
        "The environment was not shown to be fit to measure.",
        "Look at the failed checks of the pre-flight verdict and mend the environment.",
        "setup",
    ),
    "isolation-manifest-violation": Remedy(
        "The evaluator was not kept apart as declared, or nothing says that it was.",
        "Supply the isolation manifest, or run again inside the allowlists.",
        "rerun",
    ),
    "re-execution-cap-breach": Remedy(
        "Too many attempts were lost for the rest to speak.", "Mend what invalidates the attempts.", "rerun"
    ),
    "disposition-missing": Remedy(
        "The evaluator says nothing, or two things, about an oracle.",
        "Have it return exactly one disposition for each oracle.",
        "rerun",
    ),
    "required-check-unresolved": Remedy("The oracle has no check to enforce.", "Give it one.", "author"),
    "selector-ambiguity": Remedy(
        "A plan step matches several observations and admits one.",
        "Bind more of the step's inputs, or set its cardinality to any.",
        "author",
    ),
    "unwitnessed-claim": Remedy(
        "A finding reports the planted defect where it did not show.",
        "Have the evaluator cite the observation that shows it, or report nothing.",
        "rerun",
    ),
    "unwitnessed-quotation": Remedy(
        "A finding quotes text that no observation it cites contains.",
        "Quote the evidence exactly; JSON is quoted in canonical form.",
        "rerun",
    ),
    "duplicate-record-identifier": Remedy(
        "One identifier stands for two things in a record.", "Make identifiers unique within the record.", "rerun"
    ),
    "dangling-citation": Remedy(
        "A finding cites observations the record does not hold.", "Record what is cited.", "rerun"
    ),
    "dangling-disposition-citation": Remedy(
        "A disposition cites observations the record does not hold.", "Record what is cited.", "rerun"
    ),
    "forbidden-input-not-withheld": Remedy(
        "The evaluator could see what it must not.", "Withhold it and run again.", "rerun"
    ),
    "cross-artifact-disagreement": Remedy(
        "Record and manifest are about different runs.", "Score the record with its own manifest.", "rescore"
    ),
    "evaluator-configuration-absent": Remedy("Nothing says who evaluated.", "Supply the configuration.", "rescore"),
    "evaluator-configuration-digest-mismatch": Remedy(
        "The record names another configuration.", "Supply the one it names.", "rescore"
    ),
    "judge-result-unscored": Remedy("A judge returned no score.", "Repair the judge, or remove it.", "rerun"),
    "trial-set-field-disagreement": Remedy(
        "The trials were not one run, or not a run of this contract.",
        "Score trials of one run, against the contract they were sealed with.",
        "rescore",
    ),
    # FAIL
    "behavioural-failure-at-or-above-floor": Remedy(
        "An oracle did not do its work, on a behaviour that matters.", "See the oracle below.", "rerun"
    ),
    "evidence-incomplete": Remedy("The evidence is reported incomplete.", "Collect all of it.", "rerun"),
    "evidence-over-truncated": Remedy("The evidence was cut too short.", "Raise the bound it was cut at.", "rerun"),
    "evidence-unavailable": Remedy("The evidence is not there.", "Collect it.", "rerun"),
    "evidence-internally-inconsistent": Remedy("The evidence contradicts itself.", "Collect it anew.", "rerun"),
    "lineage-chain-inconsistent": Remedy(
        "The revisions presented are no chain.", "Present every revision, each with its parent.", "rescore"
    ),
    "evaluator-recommendation-fail": Remedy(
        "The evaluator itself recommends FAIL for the system.", "Mend what its findings report.", "rerun"
    ),
    # CONCERNS
    "behavioural-failure-below-floor": Remedy(
        "An oracle did not do its work, on a behaviour below the severity floor.", "See the oracle below.", "rerun"
    ),
    "coverage-gap-at-or-above-floor": Remedy(
        "The contract leaves a discipline open that its own declarations call for.",
        "Close the gap in the contract: eval-quality coverage <contract> says how.",
        "author",
    ),
    "finding-confidence-below-threshold": Remedy(
        "The evaluator is less sure of a finding than the policy asks.",
        "Look closer at what the finding cites, or settle for a lower threshold in the policy.",
        "rerun",
    ),
    "uncited-defect-finding": Remedy(
        "The evaluator reports a defect that no oracle asks about.",
        "Write an oracle for what it found; the contract is blind there.",
        "author",
    ),
    "below-minimum-trial-count": Remedy(
        "Fewer trials completed than the policy asks for.", "Run more trials and score them together.", "rerun"
    ),
    "oracle-unreached": Remedy(
        "None of the calls an oracle asks about was made.", "Have the evaluator take the steps of its brief.", "rerun"
    ),
    "evaluator-recommendation-concerns": Remedy(
        "The evaluator itself has concerns about the system.", "Mend what its findings report.", "rerun"
    ),
    # WAIVED
    "waiver-honoured": Remedy(
        "A defect was missed, and a waiver covers it.", "Catch it, and the waiver is not needed.", "rerun"
    ),
}
"""By row name, in the order of the ladders."""

STATES: Final[dict[str, tuple[str, str, Effect]]] = {
    "missed": (
        "the planted defect showed, and no finding claims it",
        "have the evaluator report it, citing the observation that shows it",
        "rerun",
    ),
    "abstained": (
        "the check examined nothing: a collection it needs was absent or empty",
        "see that the evidence holds at least one element, or assert the emptiness itself with count-tolerance",
        "author",
    ),
    "bypassed": (
        "a waiver was applied and its condition was not met",
        "meet the condition or drop the waiver",
        "author",
    ),
    "false-positive": (
        "a finding reports a defect where none was planted",
        "find out what misled the evaluator: the finding's quotation is where to start",
        "rerun",
    ),
    "unreached": (
        "none of the steps its check reads was ever taken",
        "have the evaluator make those calls",
        "rerun",
    ),
}
"""What a failing or unreached state says about one oracle, and what would change it."""
