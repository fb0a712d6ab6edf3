"""The ten runtime faults (spec 02 §26) and the two refusals of aggregation (spec 09 §4), in registry order."""

from typing import Any, Final

from eval_quality.core.explain.patch import Edit, put
from eval_quality.core.explain.record import Explanation, Subject

BASE_TEXT: Final[dict[str, Any]] = {"text": '{"maxToolCalls": 20}'}
"""A text that reads as JSON."""

BASE_EVALUATION: Final[dict[str, Any]] = {
    "check": {
        "op": "regex",
        "operands": [{"pointer": "/interactions/track/response-body/sender"}],
        "pattern": "^[a-z]+$",
    },
    "body": {"sender": "depot", "events": [{"at": 1}, {"at": 2}]},
    "regexStepBudget": 1000,
}
"""A check, the body observed at step `track`, and the budget it is resolved under."""

BASE_MANIFEST: Final[dict[str, Any]] = {
    "text": "trace of run 1",
    "digest": "sha256:6bca5b7cbb12f79b4142631742158c2647ccb6a5e93f40933b81f1286612c076",
}
"""A private artifact's text and the digest its manifest entry declares for it."""

BASE_TARGET: Final[dict[str, Any]] = {
    "policy": {
        "authorizations": [
            {
                "interfaceId": "desk-command",
                "executable": "desk",
                "target": "parcel-desk",
                "permittedSubcommandPaths": [["track"]],
                "permittedEnvironmentKeys": [],
                "cwd": ".",
                "artifacts": {},
                "maxElapsedMs": 1000,
                "maxOutputBytes": 10000,
            }
        ]
    },
    "request": {"interfaceId": "desk-command", "executable": "desk", "subcommandPath": ["track"]},
}
"""What an operator authorizes, and what a leg asks for."""

# The base of an aggregation example is an evidence artifact just scored, its policy and no floors: `{"evidence": [...],
# "policy": {...}, "floors": {}}`.

BASE_PORT: Final[dict[str, Any]] = {"aborted": False, "raises": None, "answer": {"now": "2026-01-01T00:00:00Z"}}
"""A clock port: whether the caller has aborted, the message of the error it raises, and what it answers."""


def _fault(
    code: str,
    means: str,
    matters: str,
    subject: Subject,
    failing: tuple[Edit, ...],
    mended: tuple[Edit, ...] = (),
    path: str = "",
) -> Explanation:
    return Explanation(code, "runtime fault", means, matters, subject, failing, mended, path)


def _refusal(code: str, means: str, matters: str, failing: tuple[Edit, ...]) -> Explanation:
    return Explanation(code, "aggregation refusal", means, matters, "aggregation", failing)


RUNTIME_FAULTS: Final = (
    _fault(
        "schema-parse-failure",
        "An input is not JSON, or not a document of the kind that was asked for. The list of all problems follows the "
        "message, each with its place.",
        "A document that is only nearly right would be read as something its author did not mean.",
        "contract",
        (put("/budgets/maxToolCalls", "20"),),
        path="EvalContract",
    ),
    _fault(
        "schema-version-mismatch",
        "A document carries a version number that this build does not read.",
        "The same words meant something else in another version. Convert the document with `eval-quality migrate`.",
        "contract",
        (put("/schemaVersion", 6),),
        path="EvalContract.schemaVersion",
    ),
    _fault(
        "non-canonicalizable-value",
        "A value has no canonical form: a repeated key, a lone surrogate, a number beyond exact integers.",
        "Two programs would read two values from it, and its digest would vouch for both.",
        "text",
        (put("/text", '{"maxToolCalls": 20, "maxToolCalls": 30}'),),
    ),
    _fault(
        "digest-mismatch",
        "The bytes behind a reference are not the bytes its digest names.",
        "Evidence that changed after it was recorded is no evidence.",
        "manifest",
        (put("/text", "trace of run 2"),),
    ),
    _fault(
        "budget-exhausted",
        "A cap was reached: time, output bytes, redirects, or the steps a pattern may take.",
        "One hostile answer must not stop a whole campaign.",
        "evaluation",
        (put("/regexStepBudget", 5),),
    ),
    _fault(
        "port-failure",
        "The effect itself failed: a process did not start, a connection broke.",
        "Nothing was observed, and an observation must not be invented.",
        "port",
        (put("/raises", "the clock is not there"),),
    ),
    _fault(
        "port-contract-violation",
        "A port answered with something other than its message shape.",
        "A wrong answer that is believed becomes wrong evidence.",
        "port",
        (put("/answer", {"time": "noon"}),),
    ),
    _fault(
        "forbidden-target",
        "The operator's policy does not authorize what a leg asks for.",
        "A contract is data from somebody else; what may be touched is decided here.",
        "target",
        (put("/request/executable", "shell"),),
    ),
    _fault(
        "aborted",
        "The caller gave up before the call was finished.",
        "An unfinished call has no result, not even a failed one.",
        "port",
        (put("/aborted", True),),
    ),
    _fault(
        "operator-cannot-accept-operand",
        "A check that was never compiled met a value its operator cannot be applied to: a pattern that is no regular "
        "expression.",
        "Calling that false would report a bug of the system where the check is at fault.",
        "evaluation",
        (put("/check/pattern", "^(depot$"),),
    ),
)
"""One entry a fault code."""

AGGREGATION_REFUSALS: Final = (
    _refusal(
        "strength-inputs-disagree",
        "The evidence artifacts were not produced under the same rules as each other and as the given policy.",
        "Rates that were measured differently cannot be added.",
        (put("/policy/minimumTrialCount", 9),),
    ),
    _refusal(
        "strength-input-inconsistent",
        "What one evidence artifact records does not follow from what it records.",
        "An artifact that was edited, or made by something other than a scorer, would carry its claim into the sum.",
        (put("/evidence/0/scoringVersion", "sha256:" + "0" * 64),),
    ),
)
"""One entry a refusal."""
