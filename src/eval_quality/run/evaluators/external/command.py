"""A command evaluator: any executable (spec 12 §12.15.1).

The sealed brief goes to its standard input, then end of file. It acts through the bridge socket and ends by `submit`,
or by printing one submission document and nothing else. Standard error is kept as a private transcript.

| Stop reason | When |
|---|---|
| `submitted` | a submission was accepted, or the last readable one is taken after the form checks are used up |
| `exited-without-submission` | it ended with code 0 and nothing to show |
| `crashed` | it ended with another code and nothing to show, or could not be run any further |
| `time-cap` | its time was up |
| `malformed-submission` | what it printed is no submission, or is larger than its cap |
"""

import os
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from eval_quality.errors import RuntimeFault
from eval_quality.run.evaluators.external.dispatch import Dispatcher
from eval_quality.run.evaluators.external.server import BridgeServer
from eval_quality.run.evaluators.external.submission import Submission, empty_submission
from eval_quality.value.scan import scan

SOCKET_NAME: Final = "bridge.sock"
PROGRAM_NAME: Final = "bridge.py"


class Ran(NamedTuple):
    """How the evaluator's process ended: `ended` is `exit`, `elapsed`, `stdout`, `stderr` or `lost`."""

    ended: str
    exit_code: int
    stdout: bytes
    stderr: bytes


class Place(NamedTuple):
    """Where the evaluator runs: the folder the bridge lies in on the host, and as the evaluator sees it; its home."""

    shared: str
    shared_seen: str
    home_seen: str
    interpreter: str


class Runner(Protocol):
    """Runs the evaluator's command with this environment and standard input."""

    def __call__(self, environment: Mapping[str, str], stdin: bytes) -> Ran: ...


class Evaluated(NamedTuple):
    """What one trial of an external evaluator gave."""

    submission: Submission
    stop: str
    stderr: bytes
    exit_code: int


def closed_environment(place: Place, declared: Mapping[str, str]) -> dict[str, str]:
    """The evaluator's whole environment (12.15)."""
    socket_path = os.path.join(place.shared_seen, SOCKET_NAME)
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": place.home_seen,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        **declared,
        "EVAL_QUALITY_BRIDGE": socket_path,
        "EVAL_QUALITY_BRIDGE_COMMAND": f"{place.interpreter} {os.path.join(place.shared_seen, PROGRAM_NAME)}",
    }


def evaluate(dispatcher: Dispatcher, place: Place, declared: Mapping[str, str], channel: str, run: Runner) -> Evaluated:
    """One trial: serve the bridge, run the command, take the submission. `channel` is 12.5.6's `submission`."""
    socket_path = os.path.join(place.shared, SOCKET_NAME)
    with BridgeServer(socket_path, dispatcher):
        ran = run(closed_environment(place, declared), dispatcher.view.brief_bytes)
    os.unlink(socket_path)
    submission, stop = _outcome(dispatcher, ran, channel)
    return Evaluated(submission, stop, ran.stderr, ran.exit_code)


def _outcome(dispatcher: Dispatcher, ran: Ran, channel: str) -> tuple[Submission, str]:
    if channel != "stdout":
        if dispatcher.accepted is not None:
            return dispatcher.accepted, "submitted"
        if dispatcher.attempts_left == 0:
            taken = dispatcher.last_readable
            return (taken, "submitted") if taken is not None else (empty_submission(), "malformed-submission")
    if ran.ended == "elapsed":
        return empty_submission(), "time-cap"
    if ran.ended in ("stdout", "stderr"):
        return empty_submission(), "malformed-submission"
    printed = ran.stdout.strip()
    if channel != "bridge" and printed:
        return _printed(dispatcher, printed)
    ended_well = ran.ended == "exit" and ran.exit_code == 0
    return empty_submission(), "exited-without-submission" if ended_well else "crashed"


def _printed(dispatcher: Dispatcher, printed: bytes) -> tuple[Submission, str]:
    try:
        document = scan(printed, "Submission")
    except RuntimeFault:
        return empty_submission(), "malformed-submission"
    dispatcher.submit(document)
    # a printed submission cannot be corrected, so whatever is readable is taken and ingest judges it
    taken = dispatcher.accepted or dispatcher.last_readable
    return (taken, "submitted") if taken is not None else (empty_submission(), "malformed-submission")
