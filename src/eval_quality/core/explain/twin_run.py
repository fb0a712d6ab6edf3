"""What the codes of a twin run mean and what mends them (spec 12 §12.27, spec 13 §13.17).

Their examples are experiment folders, so these entries have a remedy in words instead of a pair of documents.
"""

from typing import Final, NamedTuple


class RunCode(NamedTuple):
    """One code of `run`: the exit code it leads to, what it means and what to do."""

    code: str
    exit_code: int
    means: str
    remedy: str


_AUTHORED: Final = (
    RunCode(
        "author-unreadable-source",
        4,
        "A file of the experiment cannot be read, or it is not clear which file is the experiment.",
        "Name the folder or the file; it must be a regular file inside the folder.",
    ),
    RunCode(
        "author-syntax",
        4,
        "The text is not valid YAML, TOML or JSON.",
        "Mend the text at the line and column given.",
    ),
    RunCode(
        "author-yaml-feature-refused",
        4,
        "The YAML uses a tag, an anchor, an alias or a merge key. These let one place of a file change another, and a "
        "small file grow without end.",
        "Write the value out where it is needed.",
    ),
    RunCode(
        "author-duplicate-key",
        4,
        "A key stands twice in one table, so one of the two values would be lost without a word.",
        "Keep one of them.",
    ),
    RunCode(
        "author-unknown-key",
        4,
        "The document has a member that nothing reads, often a slip of the pen.",
        "Correct or remove it; the reference page of experiment documents lists every member.",
    ),
    RunCode("author-missing-key", 4, "A member that must be there is absent.", "Add it."),
    RunCode(
        "author-type-mismatch",
        4,
        "A value has another type than the member, or a member does not fit the kind of its interface.",
        "Write a value of the type named in the message.",
    ),
    RunCode(
        "author-pattern-mismatch",
        4,
        "A value has the right type and not the right form.",
        "Follow the form named in the message.",
    ),
    RunCode(
        "author-number-out-of-domain",
        4,
        "A number is outside the range of its member, or cannot be written exactly in JSON.",
        "Choose a number in the range named in the message.",
    ),
    RunCode(
        "author-limit-exceeded",
        4,
        "A document is larger or deeper than any document needs to be.",
        "Split it, or make it smaller.",
    ),
    RunCode(
        "author-id-collision",
        4,
        "Two documents have the same id.",
        "Rename one of them.",
    ),
    RunCode(
        "author-reserved-prefix",
        4,
        "An id begins with a prefix, or is a name, that the run uses for its own.",
        "Choose another name.",
    ),
)

_STRUCTURAL: Final = (
    RunCode(
        "experiment-reference-unresolved",
        4,
        "A name points to nothing: a file, a mutation, a behaviour, an oracle or an interface that is not declared.",
        "Use one of the declared names that the message lists, or declare it.",
    ),
    RunCode(
        "experiment-path-escape",
        4,
        "A path leaves the experiment folder or the subject's tree, by `..`, by being absolute or through a link.",
        "Move the file inside, and write the path relative to the folder.",
    ),
    RunCode(
        "binding-missing",
        4,
        "The contract has an interface or a principal that the experiment does not bind to anything that runs.",
        "Add the table named in the message.",
    ),
    RunCode(
        "binding-kind-mismatch",
        4,
        "The experiment binds an interface to a subject of another kind than the contract says.",
        "Make both kinds the same; a `python` subject stands for an interface of kind `mcp` or `api`.",
    ),
    RunCode(
        "target-class-refused",
        4,
        "An address belongs to a class, such as loopback or link-local, that the experiment does not allow.",
        "Name the class in the interface's allowed classes if you do mean it.",
    ),
    RunCode(
        "probe-arm-mismatch",
        4,
        "A probe's class and its arm do not fit: defect needs a mutation, gameability a reply, zero-action none.",
        "Change the class or the arm.",
    ),
    RunCode(
        "mutation-target-mismatch",
        4,
        "A replacement does not fit exactly once: its text occurs nowhere, more than once, or its file cannot be used.",
        "Make `find` longer until it is unique, and check that the file still holds it.",
    ),
    RunCode(
        "reply-incomplete",
        4,
        "A canned reply has no answer for a step of the plan.",
        "Add the answer for the operation named in the message.",
    ),
    RunCode(
        "step-not-executable",
        4,
        "A step of the contract's plan cannot be made into a call: a value is missing or does not fit its place.",
        "Give the value in the experiment, or correct the step.",
    ),
    RunCode(
        "judge-missing",
        4,
        "The contract has rubrics, and this run has no judge.",
        "Take the rubrics out of the contract that is run.",
    ),
    RunCode(
        "budget-forbids-action",
        4,
        "The contract's own budget leaves no room for a single trial.",
        "Raise the contract's budget to what its plan needs.",
    ),
    RunCode(
        "secret-unusable",
        4,
        "A secret named in the experiment is not in the environment, or too short to be found again in what is stored.",
        "Export it, with at least eight characters.",
    ),
    RunCode(
        "confinement-conflict",
        4,
        "Two rules about one path contradict each other.",
        "Remove the grant named in the message.",
    ),
)

_INVALID: Final = (
    RunCode(
        "clean-preflight-failed",
        3,
        "The sound subject failed a pre-flight check, so nothing that is measured on it would mean anything.",
        "Mend the contract or the subject; `eval-quality explain <check>` tells what the check is.",
    ),
    RunCode(
        "arm-preflight-failed",
        3,
        "The environment of one probe failed a pre-flight check.",
        "Read the failed checks; a defect that shows on every call wants `scoping: twin`.",
    ),
    RunCode(
        "clean-arm-failed",
        3,
        "The sound subject does not satisfy the contract. A violated check on the damaged one would prove nothing.",
        "Mend the subject, or the check that is wrong about it.",
    ),
    RunCode(
        "clean-after-restore-failed",
        3,
        "After the change was undone the subject does not satisfy the contract: something outlived the roll-back.",
        "Look for state that the subject keeps outside its workspace.",
    ),
    RunCode(
        "fault-fires-on-clean",
        3,
        "What is said to show the defect shows on the sound subject as well.",
        "Make the witness ask for something that only the defect causes.",
    ),
    RunCode(
        "signature-fires-on-clean",
        3,
        "The probe's signature matches what the sound subject answers.",
        "Narrow the signature's predicate.",
    ),
    RunCode(
        "signature-vacuous",
        3,
        "The probe's signature matches no call of the plan, so nothing could ever be attributed to it.",
        "Make its selector match the call that shows the defect.",
    ),
    RunCode(
        "mutation-without-effect",
        3,
        "The damaged files are equal to the sound ones.",
        "Write a replacement that changes something.",
    ),
    RunCode(
        "mutation-inert",
        3,
        "The change is there, and no check of the behaviour it should break was violated.",
        "Plant it where a step of the plan goes through, or add the check that would see it.",
    ),
    RunCode(
        "mutation-unobservable",
        3,
        "The damaged subject does not start, or nothing it answered could be judged: a broken build, not a defect.",
        "Choose a smaller change that leaves the subject running.",
    ),
    RunCode(
        "mutation-undesignated",
        3,
        "The change is seen, and not by the oracle that the draft says must see it.",
        "Name another oracle, or a change that the named one is about.",
    ),
    RunCode(
        "mutation-spills-over",
        3,
        "The change also breaks behaviours that the draft does not name, so a catch could have another cause.",
        "Make the change smaller, or name the other behaviours in the draft.",
    ),
    RunCode(
        "restore-digest-mismatch",
        3,
        "After the change was undone the files are not what they were.",
        "Make sure that nothing else writes into the subject's files while the run lasts.",
    ),
    RunCode(
        "workspace-drift",
        3,
        "The files that a trial was about to start from are not the files that the plan was made with.",
        "Make sure that nothing else writes into the run directory while the run lasts.",
    ),
    RunCode(
        "gameability-not-naive",
        3,
        "The canned reply does not even satisfy the careless check it is meant to please.",
        "Answer what that check reads.",
    ),
    RunCode(
        "gameability-not-rejected",
        3,
        "No oracle rejects the canned reply: the contract can be passed without doing the work.",
        "Add an oracle that the reply cannot satisfy; this is what the probe was for.",
    ),
    RunCode(
        "qualification-cap-reached",
        3,
        "Showing that the probes are real took longer than the experiment allows.",
        "Raise the cap, or make the subject faster.",
    ),
    RunCode(
        "probe-unqualified",
        3,
        "The probe was shown to be real, and the gate that every probe passes still refuses it.",
        "`eval-quality explain <reason>` tells what each reason is.",
    ),
    RunCode(
        "cell-not-scored",
        3,
        "What one evaluator recorded about one probe could not be scored.",
        "Read the reason in the message; `rescore` tries again without running anything.",
    ),
    RunCode(
        "cell-invalid",
        3,
        "What one evaluator recorded about one probe supports no verdict.",
        "Read the basis in the message; `eval-quality why` on the cell's folder says more.",
    ),
)

_VERDICTS: Final = (
    RunCode(
        "cell-failed",
        2,
        "The verdict of one evaluator on one probe is FAIL: the defect was missed, or the clean system accused.",
        "Strengthen the oracle that the message names. This is the answer to the question the run asked.",
    ),
    RunCode(
        "cell-stale",
        2,
        "The draft says that this defect is a known miss, and now it is caught.",
        "Remove `pending` from the draft.",
    ),
    RunCode(
        "cell-concerns",
        1,
        "The verdict is CONCERNS and --strict promotes it.",
        "Close the gap that the message names, or waive it in the contract.",
    ),
    RunCode(
        "floor-not-met",
        2,
        "The strength is below a floor that the experiment declares, or could not be measured.",
        "Catch more, or lower the floor with a reason.",
    ),
)

_STOPS: Final = (
    RunCode(
        "run-budget-reached",
        75,
        "The run used up its calls or its time. What was captured is kept.",
        "Go on with --resume, with a higher cap in the experiment if need be.",
    ),
    RunCode(
        "infrastructure-exhausted",
        75,
        "An item failed again and again for a reason that is not the subject's behaviour, such as a start that fails.",
        "Mend what the last failure names and go on with --resume.",
    ),
)

_FAULTS: Final = (
    RunCode(
        "preflight-cap-reached",
        5,
        "Pre-flight of the sound subject took longer than the experiment allows.",
        "Raise the cap, or make the subject faster.",
    ),
    RunCode(
        "launch-target-missing",
        5,
        "The program or function that an interface starts is not there.",
        "Check the name; inside the sandbox only the system's programs and the subject's files exist.",
    ),
    RunCode(
        "workspace-too-large",
        5,
        "The subject's files are more or larger than the experiment allows.",
        "Include less, or raise the cap.",
    ),
    RunCode(
        "workspace-link-escape",
        5,
        "A symbolic link among the subject's files points outside of them.",
        "Replace the link, or exclude it.",
    ),
    RunCode(
        "workspace-unsupported-entry",
        5,
        "Among the subject's files is a device, a socket, a pipe, or a name that is no text.",
        "Exclude it.",
    ),
    RunCode(
        "prepare-failed",
        5,
        "A preparation step of the subject failed.",
        "Read the last lines it printed; the step runs isolated, in a copy of the files.",
    ),
    RunCode(
        "confinement-unavailable",
        5,
        "This host cannot isolate processes as the experiment asks.",
        "Install bubblewrap, or say --confine none; every manifest then says that nothing was isolated.",
    ),
    RunCode(
        "confinement-breach",
        5,
        "The sandbox that was built is not the one that was asked for. The process was killed before it ran.",
        "Report this; until then use another host.",
    ),
    RunCode(
        "store-locked",
        5,
        "Another process is working on this run directory.",
        "Wait for it, or end it; the message names it.",
    ),
    RunCode(
        "store-unsupported",
        5,
        "The place of the run directory cannot keep a journal safely, or it cannot be written.",
        "Choose a local disk with --store or --run-dir.",
    ),
    RunCode(
        "store-full",
        5,
        "There is no space left. What was captured before is kept.",
        "Make space (`eval-quality gc`) and go on with --resume.",
    ),
    RunCode(
        "store-corrupt",
        5,
        "Something in the store is not what was written.",
        "`eval-quality verify <run directory>` lists all of it; run again what is lost.",
    ),
    RunCode(
        "plan-mismatch",
        5,
        "The plan of the resumed run is not the plan that was started.",
        "Resume with the version that started it, or start a new run.",
    ),
    RunCode(
        "resume-refused",
        5,
        "There is nothing to resume: the run was never planned, was found invalid, or is of another version.",
        "Start a new run.",
    ),
    RunCode(
        "derivation-differs",
        5,
        "An artifact of the run does not follow from what was captured.",
        "The artifact was changed after the run, or by another version; `rescore` writes it anew.",
    ),
    RunCode(
        "view-lost",
        5,
        "A file of the run directory that people read is gone or was changed; what it is made of is intact.",
        "`rescore` writes it anew.",
    ),
)

RUN_CODES: Final[dict[str, RunCode]] = {
    entry.code: entry for entry in (*_AUTHORED, *_STRUCTURAL, *_INVALID, *_VERDICTS, *_STOPS, *_FAULTS)
}
"""Code -> what it means, in the order of the registry."""
