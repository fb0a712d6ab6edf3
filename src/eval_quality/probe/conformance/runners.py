"""The six runners and their tables (spec 07 §7.7.1 - §7.7.3).

Nothing here decides about targets: what a policy allows is the adapter's to know, and the suite only looks whether a
subject's request can test what its assertion is for.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from eval_quality.probe.conformance import assertions as a
from eval_quality.probe.conformance.assertions import Assertion, rejects, resolves
from eval_quality.probe.conformance.attempt import Attempt, attempt
from eval_quality.probe.conformance.subject import MISSING, FileSystemSubject, Outcome, Report, member
from eval_quality.probe.ports import PROBE, READ_CLOCK, READ_FILE, RESOLVE, WRITE_FILE
from eval_quality.probe.seam import PortMethod

PUBLISHED_COUNTS: Final[Mapping[str, int]] = {
    "corpus": 6,
    "clock": 6,
    "file-system": 12,
    "environment-probe": 19,
    "command-probe": 16,
    "mcp-probe": 14,
}
"""How many assertions each runner has; a report with another number never passes."""


def _shared(method: PortMethod[Any, Any]) -> tuple[Assertion, ...]:
    prefix = method.name
    return (
        Assertion(f"{prefix}/typed-fault", "a failure is a typed fault", a.typed_fault, "fails"),
        Assertion(
            f"{prefix}/single-underlying-call-on-success",
            "one effect for one answer",
            a.one_call_on_success,
            "resolves",
        ),
        Assertion(f"{prefix}/single-underlying-call-on-failure", "one effect for one failure", a.one_call, "fails"),
        Assertion(f"{prefix}/prompt-abort", "an abort ends the call at once", a.prompt_abort, "hangs"),
        Assertion(f"{prefix}/no-in-band-error", "no failure is returned as an answer", a.any_fault, "in-band-error"),
        Assertion(
            f"{prefix}/schema-valid-return",
            "the answer meets its schema",
            a.valid_return(method.parse_response),
            "resolves",
        ),
    )


def _arm(prefix: str, key: str, title: str, check: a.Check, precondition: a.Precondition | None = None) -> Assertion:
    return Assertion(f"{prefix}/{key}", title, check, "resolves", key, precondition)


# --- HTTP ------------------------------------------------------------------------------------------------------------


def _status_500(observation: Mapping[str, Any], expectation: Any) -> str | None:
    del expectation
    return None if observation["status"] == 500 else f"status is {observation['status']} instead of 500"


def _redirects_and_one(subject: Any) -> int:
    request = a.plain(member(subject, "requests", "cap-redirects"))
    entries = a.authorizations(a.plain(subject.policy), interface_id=request.get("interfaceId"))
    return entries[0]["maxRedirects"] + 1 if entries else 1


def _denied(key: str, title: str) -> Assertion:
    return _arm("probe", key, title, rejects("forbidden-target", 0))


_HTTP: Final = (
    _arm("probe", "allow-authorized-loopback", "an authorized target answers", resolves("allow-authorized-loopback")),
    _arm(
        "probe",
        "observe-anomalous-status",
        "a server error is an observation",
        resolves("observe-anomalous-status", _status_500),
    ),
    _denied("deny-unmapped-interface", "an interface nobody mapped is denied"),
    _denied("deny-unauthorized-loopback", "an unnamed loopback address is denied"),
    _denied("deny-private", "a private address is denied"),
    _denied("deny-link-local", "a link-local address is denied"),
    _denied("deny-metadata", "the cloud metadata address is denied"),
    _denied("deny-unauthorized-method", "an unlisted method is denied"),
    _denied("deny-unauthorized-scheme", "an unnamed scheme is denied"),
    _arm("probe", "deny-on-redirect", "a redirect to a denied target is denied", rejects("forbidden-target", 1)),
    _arm("probe", "cap-redirects", "a long chain of redirects is cut", rejects("budget-exhausted", _redirects_and_one)),
    _arm("probe", "cap-response-bytes", "an oversize response is refused", rejects("budget-exhausted")),
    _arm("probe", "cap-elapsed", "a slow response is refused", rejects("budget-exhausted")),
)

# --- commands --------------------------------------------------------------------------------------------------------


def _nonzero(observation: Mapping[str, Any], expectation: Any) -> str | None:
    del expectation
    return "the exit code is 0" if observation["exitCode"] == 0 else None


def _artifact(observation: Mapping[str, Any], expectation: Any) -> str | None:
    if (problem := a.unspecified(expectation)) is not None:
        return problem
    artifact_id, text = expectation
    body = observation["artifacts"].get(artifact_id)
    wanted = {"kind": "text", "value": text}
    return None if body is not None and a.same(body, wanted) else f"artifact {artifact_id} is {body!r}"


def _pairs(request: Mapping[str, Any], policy: Mapping[str, Any]) -> list[Mapping[str, Any]] | str:
    if request.get("kind") != "cli":
        return "the request is not a command"
    return a.authorizations(policy, interface_id=request["interfaceId"], executable=request["executable"])


def _interface_unmapped(request: Mapping[str, Any], policy: Mapping[str, Any]) -> str | None:
    named = a.authorizations(policy, interface_id=request.get("interfaceId"))
    return "the subject's policy names this interface" if named else None


def _executable_unmapped(request: Mapping[str, Any], policy: Mapping[str, Any]) -> str | None:
    pairs = _pairs(request, policy)
    if isinstance(pairs, str):
        return pairs
    return "the subject's policy maps this executable" if pairs else None


def _subcommand_refused(request: Mapping[str, Any], policy: Mapping[str, Any]) -> str | None:
    pairs = _pairs(request, policy)
    if isinstance(pairs, str):
        return pairs
    if not pairs:
        return "the subject's policy does not map this executable"
    wanted = list(request["subcommandPath"])
    permitted = any(list(path) == wanted for entry in pairs for path in entry["permittedSubcommandPaths"])
    return "the subject's policy permits this subcommand" if permitted else None


def _key_refused(request: Mapping[str, Any], policy: Mapping[str, Any]) -> str | None:
    pairs = _pairs(request, policy)
    if isinstance(pairs, str):
        return pairs
    if not pairs:
        return "the subject's policy does not map this executable"
    permitted = {key for entry in pairs for key in entry["permittedEnvironmentKeys"]}
    declared = request["channels"]["environment"]
    return "every declared environment key is permitted" if all(key in permitted for key in declared) else None


_COMMAND: Final = (
    _arm(
        "command",
        "allow-authorized-invocation",
        "an authorized invocation runs",
        resolves("allow-authorized-invocation"),
    ),
    _arm(
        "command",
        "observe-nonzero-exit",
        "a non-zero exit is an observation",
        resolves("observe-nonzero-exit", _nonzero),
    ),
    _arm(
        "command",
        "deny-unmapped-interface",
        "an interface nobody mapped is denied",
        rejects("forbidden-target", 0),
        _interface_unmapped,
    ),
    _arm(
        "command",
        "deny-unmapped-executable",
        "an executable nobody mapped is denied",
        rejects("forbidden-target", 0),
        _executable_unmapped,
    ),
    _arm(
        "command",
        "deny-unauthorized-subcommand",
        "a subcommand nobody permitted is denied",
        rejects("forbidden-target", 0),
        _subcommand_refused,
    ),
    _arm(
        "command",
        "argument-passed-literally",
        "an argument arrives as one literal token",
        resolves("argument-passed-literally", a.literal_argument),
    ),
    _arm(
        "command",
        "capture-declared-artifact",
        "a declared artifact is captured",
        resolves("capture-declared-artifact", _artifact),
    ),
    _arm("command", "cap-elapsed", "a slow command is cut", rejects("budget-exhausted")),
    _arm("command", "cap-output-bytes", "an oversize output is refused", rejects("budget-exhausted")),
    _arm(
        "command",
        "deny-unpermitted-environment-key",
        "an environment key nobody permitted is denied",
        rejects("forbidden-target", 0, "environment-key-not-authorized"),
        _key_refused,
    ),
)

# --- tool calls ------------------------------------------------------------------------------------------------------


def _tool_error(observation: Mapping[str, Any], expectation: Any) -> str | None:
    del expectation
    if observation["isError"] is not True:
        return "isError is false"
    return "the result is absent" if observation["result"]["kind"] == "absent" else None


def _echoed(observation: Mapping[str, Any], expectation: Any) -> str | None:
    if (problem := a.unspecified(expectation)) is not None:
        return problem
    key, literal = expectation
    result = a.json_object(observation["result"])
    if result is None or key not in result or not a.same(result[key], literal):
        return f"the result is {observation['result']!r}, whose {key} should be {literal!r}"
    return None


def _declared_keys(observation: Mapping[str, Any], expectation: Any) -> str | None:
    if (problem := a.unspecified(expectation)) is not None:
        return problem
    result = a.json_object(observation["result"])
    lacking = [key for key in expectation if result is None or key not in result]
    return f"the result lacks {lacking!r}" if result is None or lacking else None


def _tool_refused(request: Mapping[str, Any], policy: Mapping[str, Any]) -> str | None:
    if request.get("kind") != "mcp":
        return "the request is not a tool call"
    entries = a.authorizations(policy, interface_id=request["interfaceId"])
    if not entries:
        return "the subject's policy does not map this interface"
    permitted = any(request["toolName"] in entry["tools"] for entry in entries)
    return "the subject's policy permits this tool" if permitted else None


_TOOL: Final = (
    _arm(
        "mcp", "allow-authorized-tool-call", "an authorized tool call answers", resolves("allow-authorized-tool-call")
    ),
    _arm(
        "mcp", "observe-error-result", "a tool error is an observation", resolves("observe-error-result", _tool_error)
    ),
    _arm(
        "mcp",
        "deny-unmapped-interface",
        "an interface nobody mapped is denied",
        rejects("forbidden-target", 0),
        _interface_unmapped,
    ),
    _arm(
        "mcp",
        "deny-unauthorized-tool",
        "a tool nobody permitted is denied",
        rejects("forbidden-target", 0),
        _tool_refused,
    ),
    _arm(
        "mcp",
        "arguments-passed-as-declared",
        "arguments arrive as declared",
        resolves("arguments-passed-as-declared", _echoed),
    ),
    _arm(
        "mcp",
        "observe-declared-result-channel",
        "the structured result has every declared key",
        resolves("observe-declared-result-channel", _declared_keys),
    ),
    _arm("mcp", "cap-elapsed", "a slow tool is cut", rejects("budget-exhausted")),
    _arm("mcp", "cap-result-bytes", "an oversize result is refused", rejects("budget-exhausted")),
)

TABLES: Final[Mapping[str, tuple[Assertion, ...]]] = {
    "corpus": _shared(RESOLVE),
    "clock": _shared(READ_CLOCK),
    "environment-probe": (*_shared(PROBE), *_HTTP),
    "command-probe": (*_shared(PROBE), *_COMMAND),
    "mcp-probe": (*_shared(PROBE), *_TOOL),
}


class Case(NamedTuple):
    """One assertion about one subject, to be run on its own."""

    id: str
    title: str
    run: Callable[[], Outcome]

    def __str__(self) -> str:
        return self.id

    def check(self) -> None:
        """Raise `AssertionError` with the detail unless the assertion holds."""
        outcome = self.run()
        if not outcome.passed:
            raise AssertionError(f"{outcome.id}: {outcome.title} - {outcome.detail}")


class _Shared:
    """The instances that two assertions share, made when the first of them runs."""

    def __init__(self, subject: Any) -> None:
        self._subject = subject

    @cached_property
    def resolves(self) -> Attempt:
        return attempt(self._subject, "resolves", self._subject.sample_request)

    @cached_property
    def fails(self) -> Attempt:
        return attempt(self._subject, "fails", self._subject.sample_request)

    def of(self, assertion: Assertion) -> Attempt:
        if assertion.scenario == "resolves":
            return self.resolves
        if assertion.scenario == "fails":
            return self.fails
        aborting = assertion.scenario == "hangs"
        return attempt(self._subject, assertion.scenario, self._subject.sample_request, aborting=aborting)


def cases(subject: Any) -> list[Case]:
    """Every assertion about `subject`, in report order; nothing runs yet. Raises `ValueError` for an unknown runner."""
    if isinstance(subject, FileSystemSubject):
        return [*_cases(subject.read, _shared(READ_FILE)), *_cases(subject.write, _shared(WRITE_FILE))]
    table = TABLES.get(subject.conforms_to)
    if table is None:
        raise ValueError(
            f"no conformance runner is called {subject.conforms_to!r}; there are {sorted(PUBLISHED_COUNTS)}"
        )
    return _cases(subject, table)


def _cases(subject: Any, table: Iterable[Assertion]) -> list[Case]:
    shared = _Shared(subject)
    return [Case(row.id, row.title, lambda row=row: _outcome(row, subject, shared)) for row in table]


def run(subject: Any) -> Report:
    """Run every assertion about `subject`."""
    outcomes = tuple(case.run() for case in cases(subject))
    return Report(subject.name, subject.conforms_to, outcomes, PUBLISHED_COUNTS[subject.conforms_to])


def _outcome(row: Assertion, subject: Any, shared: _Shared) -> Outcome:
    try:
        problem = _problem(row, subject, shared)
    except Exception as error:  # a malformed subject fails its own assertion, not the run
        problem = f"the subject cannot be read: {error!r}"
    return Outcome(row.id, row.title, problem is None, problem or "")


def _problem(row: Assertion, subject: Any, shared: _Shared) -> str | None:
    if row.request is None:
        made = shared.of(row)
    else:
        request = member(subject, "requests", row.request)
        if request is MISSING:
            return "the subject has no request for this assertion"
        if row.precondition is not None:
            unfit = row.precondition(a.plain(request), a.plain(subject.policy))
            if unfit is not None:
                return unfit
        made = attempt(subject, row.scenario, request)
    if made.build_error is not None:
        return a.outcome_of(made)
    problem = row.check(made, subject)
    if problem is None and made.dispose_error is not None:
        return f"dispose raised {made.dispose_error!r}"
    return problem
