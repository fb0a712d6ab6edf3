"""Every command, in the order in which every list of commands shows them: by chapter (spec 10 §1).

A plain table, so that help can name a command without importing it.
"""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """Where a command, or a family of commands with one first word, is defined."""

    name: str
    module: str
    """A module of `eval_quality.cli` that exports `COMMAND`, or `COMMANDS` for a family."""
    purpose: str
    aliases: tuple[str, ...] = ()
    default: str = ""
    """For a family: the second word meant when none is given, or when a flag follows at once."""
    folds_case: bool = False
    """For a family: its second word is matched without regard to case (spec 11 §13.1)."""


PIPELINE: Final = ("compile", "seal", "preflight", "score", "aggregate-strength")
"""The commands of spec 10 §1: no prompt, no environment variable, no configuration file, no process, no connection."""

REGISTRY: Final = (
    # The pipeline (spec 10).
    Entry("compile", "compile", "refuse a contract that could not prove anything, or return it unchanged"),
    Entry("seal", "seal", "write the blinded brief an evaluator works from"),
    Entry("preflight", "preflight", "show that an environment can be measured and each planted fault shows"),
    Entry("score", "score", "judge what an evaluator recorded against one probe"),
    Entry("aggregate-strength", "aggregate_strength", "add up evidence artifacts and compare them with floors"),
    Entry("migrate", "migrate", "convert documents of older versions, one by one or as a relinked chain"),
    # Behavioural evidence (spec 11).
    Entry(
        "behavior-eval",
        "behavior_eval",
        "blind questions for skills, answers scored, evidence that knows when it is stale",
        aliases=("behavior",),
        default="status",
        folds_case=True,
    ),
    Entry("doctor", "doctor", "check environment, skills, evidence, freshness and maturity, and say what to do next"),
    Entry("skills", "skills", "list the skills of a repository, or inspect one"),
    Entry("capture-holdout", "capture_holdout", "run a deterministic skill's holdout and freeze the result"),
    # Spec 12 and 13.
    Entry("run", "run", "run an experiment: clean and damaged system, evaluators, verdicts and strength"),
    Entry("rescore", "rescore", "score a finished run again, under its own policy or another one"),
    Entry("verify", "verify", "recompute an evidence artifact, or a whole run, and refuse what does not reproduce"),
    Entry("capabilities", "capabilities", "find out what this host can do for a run: sandboxes, limits, the store"),
    Entry("gc", "gc", "remove old runs from a store, and blobs that nothing refers to"),
    # Spec 16, and what helps with all of it.
    Entry("schema", "schema", "print the JSON Schema of a document kind"),
    Entry(
        "coverage",
        "coverage",
        "show which coverage rules a contract owes, what satisfies them and how to close the gaps",
    ),
    Entry(
        "explain",
        "explain",
        "explain a code of a failure, a fault, a coverage rule, a check, a qualification or a run",
    ),
    Entry("why", "why", "explain a verdict: its reasons, what decided each, and what would have to change"),
    Entry("probe", "probe", "ask a live target under a target policy, and show what was observed"),
    Entry("conformance", "conformance", "prove that an adapter keeps the promises of its port"),
    Entry("completion", "completion", "print a completion script for bash, zsh or fish"),
)


def find(word: str) -> Entry | None:
    """The entry whose name or alias is `word`."""
    for entry in REGISTRY:
        if word == entry.name or word in entry.aliases:
            return entry
    return None
