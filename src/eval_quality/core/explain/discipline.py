"""The seven coverage rules (spec 04 §3), each with a contract per declaration state (§4)."""

from typing import Any, Final, Literal, NamedTuple, TypeAlias

from eval_quality.core.explain.patch import Edit, put
from eval_quality.core.explain.record import Explanation

State: TypeAlias = Literal["absent", "explicitly-empty", "witnessed", "unwitnessed"]
STATES: Final[tuple[State, ...]] = ("absent", "explicitly-empty", "witnessed", "unwitnessed")

_OPERATIONS: Final = "/permittedInterfaces/0/operations"
_EMPTY_SHAPE: Final[dict[str, Any]] = {"requiredKeys": [], "permittedKeys": [], "types": {}}
_NO_OPERATION: Final = (
    put("/permittedInterfaces", []),
    put("/oracles", []),
    put("/interactionPlan", []),
    put("/rubrics", []),
    put("/siblingGroups", {"operations": [], "parameters": []}),
)
_NO_COLLECTION_ANSWER: Final = (put(f"{_OPERATIONS}/1/responseDescriptor/collectionLocations", None),)


class StateExample(NamedTuple):
    """A contract in which one rule's declaration is in one state: its name and its edits of the base."""

    name: str
    edits: tuple[Edit, ...]


_BASE: Final = StateExample("satisfied-declarations", ())
_INVENTORY: Final = StateExample("no-operation-declared", _NO_OPERATION)
_UNSAID_COLLECTIONS: Final = StateExample("collections-not-declared", _NO_COLLECTION_ANSWER)

RULE_STATES: Final[dict[str, dict[State, StateExample]]] = {
    "success-indicator-separation": {
        "absent": StateExample(
            "success-indicator-not-declared", (put(f"{_OPERATIONS}/0/responseDescriptor/successIndicator", None),)
        ),
        "explicitly-empty": StateExample(
            "channel-roles-empty", (put(f"{_OPERATIONS}/0/responseDescriptor/channelRoles", {}),)
        ),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "indicator-oracle-not-listed", (put("/behaviors/0/oracles", ["O-001", "O-003", "O-004", "O-005"]),)
        ),
    },
    "whole-body": {
        "absent": _INVENTORY,
        "explicitly-empty": StateExample(
            "one-required-key",
            (
                put(f"{_OPERATIONS}/0/responseDescriptor/requiredKeys", ["parcelId"]),
                put(f"{_OPERATIONS}/0/responseDescriptor/permittedKeys", ["status"]),
                put(f"{_OPERATIONS}/1/responseDescriptor/requiredKeys", ["parcelId"]),
                put(f"{_OPERATIONS}/1/responseDescriptor/permittedKeys", ["sender", "events"]),
            ),
        ),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "direction-skips-a-key",
            (
                put(
                    "/oracles/2/direction/evidenceTargets",
                    ["/interactions/track/response-body/parcelId", "/interactions/track/response-body/events"],
                ),
            ),
        ),
    },
    "malformed-input": {
        "absent": _INVENTORY,
        "explicitly-empty": StateExample(
            "no-request-key",
            (
                put(f"{_OPERATIONS}/0/requestShape/body", _EMPTY_SHAPE),
                put(f"{_OPERATIONS}/1/requestShape/path", _EMPTY_SHAPE),
            ),
        ),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "only-well-formed-input", (put("/interactionPlan/3/inputBinding/path/id", {"literal": "p-0"}),)
        ),
    },
    "per-record": {
        "absent": _UNSAID_COLLECTIONS,
        "explicitly-empty": StateExample(
            "no-collection", (put(f"{_OPERATIONS}/1/responseDescriptor/collectionLocations", []),)
        ),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "collection-only-counted",
            (
                put(f"{_OPERATIONS}/1/responseDescriptor/collectionLocations/0/referenceSet", None),
                put(
                    "/oracles/2/check/operands/2",
                    {
                        "op": "count-tolerance",
                        "operands": [{"pointer": "/interactions/track/response-body/events"}],
                        "expected": 2,
                        "tolerance": 0,
                        "relative": False,
                    },
                ),
            ),
        ),
    },
    "sibling-cross-check": {
        "absent": StateExample("siblings-not-declared", (put("/siblingGroups", None),)),
        "explicitly-empty": StateExample("no-sibling", (put("/siblingGroups", {"operations": [], "parameters": []}),)),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "sibling-parameters-not-compared", (put("/siblingGroups/parameters", [["weight", "note"]]),)
        ),
    },
    "omission-and-completeness": {
        "absent": _UNSAID_COLLECTIONS,
        "explicitly-empty": StateExample(
            "collection-without-set",
            (put(f"{_OPERATIONS}/1/responseDescriptor/collectionLocations/0/referenceSet", None),),
        ),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "page-form-for-exact-collection",
            (
                put(
                    f"{_OPERATIONS}/1/responseDescriptor/collectionLocations/0/expectedCardinality",
                    {"mode": "exact", "count": 2},
                ),
            ),
        ),
    },
    "state-change-read-back": {
        "absent": _INVENTORY,
        "explicitly-empty": StateExample("no-state-change", (put(f"{_OPERATIONS}/0/stateChangeMarker", False),)),
        "witnessed": _BASE,
        "unwitnessed": StateExample(
            "read-back-not-compared",
            (
                put("/oracles/0/direction/relation", "all"),
                put(
                    "/oracles/0/check",
                    {
                        "op": "all",
                        "operands": [
                            {
                                "op": "existence",
                                "operands": [{"pointer": "/interactions/register/call-inputs/body/sender"}],
                            },
                            {
                                "op": "existence",
                                "operands": [{"pointer": "/interactions/track/response-body/sender"}],
                            },
                        ],
                    },
                ),
            ),
        ),
    },
}
"""Per rule, a contract for every state of its declaration; `witnessed` is the base contract itself."""


def _entry(rule: str, means: str, matters: str) -> Explanation:
    failing = RULE_STATES[rule]["unwitnessed"].edits
    return Explanation(rule, "coverage rule", means, matters, "coverage", failing)


DISCIPLINE: Final = (
    _entry(
        "success-indicator-separation",
        "An operation has a success indicator and other answer channels, and no oracle that a behaviour lists reads "
        "the indicator together with another channel at one step.",
        'A system that answers "ok" and does nothing passes every oracle that reads only "ok".',
    ),
    _entry(
        "whole-body",
        "An answer requires several keys and no single oracle reads all of them at one step.",
        "A bug that spoils one field hides behind oracles that each look at another.",
    ),
    _entry(
        "malformed-input",
        "An operation takes inputs, and no step sends it a value of the wrong type with a check that reads the answer.",
        "Refusing bad input is behaviour too, and it is the part that breaks unseen.",
    ),
    _entry(
        "per-record",
        "An answer holds a collection and no quantifier runs over it.",
        "A fault in the second record is invisible to a check of the first, or of the count.",
    ),
    _entry(
        "sibling-cross-check",
        "Operations or parameters are declared to be siblings, and no oracle compares two of them.",
        "Two views of one thing that disagree prove a bug even where neither is known to be right.",
    ),
    _entry(
        "omission-and-completeness",
        "A collection is to be reconciled with a reference set, and no check does so in the form that fits: "
        "`covers-by-key` for an exact collection, `for-all` with `set-membership` for a page.",
        "What is left out of an answer leaves no trace in it; only the expected set shows the hole.",
    ),
    _entry(
        "state-change-read-back",
        "An operation changes state and no one comparison relates what was sent with what a later, harmless step read.",
        "A write that is acknowledged and lost passes every check of the acknowledgement.",
    ),
)
"""One entry a rule; its failing example is the rule's unwitnessed contract."""
