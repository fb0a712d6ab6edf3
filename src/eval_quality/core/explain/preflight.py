"""The six checks of pre-flight (spec 06 §6.6.2).

The example is one document with the contract, its one probe, and the observations of the seven legs those two plan.
"""

from typing import Any, Final

from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.patch import Edit, put
from eval_quality.core.explain.probe import base_observations, base_probe
from eval_quality.core.explain.record import Explanation


def base_preflight() -> dict[str, Any]:
    """A fresh copy of everything a pre-flight reads; as it stands, pre-flight passes."""
    return {"contract": base_contract(), "probes": [base_probe()], "observations": base_observations()}


def _entry(kind: str, means: str, matters: str, *failing: Edit) -> Explanation:
    return Explanation(kind, "pre-flight check", means, matters, "preflight", failing)


PREFLIGHT: Final = (
    _entry(
        "interface-present",
        "Every leg sent to an operation was answered, by that operation and under the leg's own label.",
        "A run over an interface that is not there measures nothing.",
        put("/observations/1/operationId", "track-parcel"),
    ),
    _entry(
        "input-sensitivity",
        "The operation's witness relation holds between its two legs: answers depend on what was sent, or do not, as "
        "the author said.",
        "A stub that answers everything alike passes any oracle written for that one answer.",
        put("/observations/1/body/value/parcelId", "p-1"),
    ),
    _entry(
        "state-reset",
        "The state read first and the state read last are the same.",
        "An environment that remembers earlier trials judges the second one by the first.",
        put("/observations/5/body/value/sender", "another desk"),
    ),
    _entry(
        "clean-control",
        "The control legs answer without any anomaly: no error status, no failing exit code, no tool error.",
        "Where the healthy request fails, every fault seems caught.",
        put("/observations/4/status", 503),
        put("/observations/5/status", 503),
    ),
    _entry(
        "seeded-faults-scoped",
        "The planted fault shows on its own leg and on no other leg of the operation.",
        "A fault that shows everywhere is found by anything, and says nothing about the evaluation.",
        put("/observations/3/body/value/sender", ""),
    ),
    _entry(
        "seeded-fault-fired",
        "The planted fault shows on the leg that is meant to trigger it.",
        "An evaluation cannot be blamed for missing a fault that was not there.",
        put("/observations/6/body/value/sender", "depot"),
    ),
)
"""One entry a check kind; `means` says what a satisfied check established, and the failing example fails only it."""
