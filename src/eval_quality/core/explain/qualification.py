"""The twenty reasons a probe does not qualify (spec 08 §1.2), in registry order."""

from typing import Any, Final

from eval_quality.core.explain.patch import Edit, put
from eval_quality.core.explain.record import Explanation
from eval_quality.model.primitives import INPUT_CHANNELS

_CONDITION: Final = "/defectSignature/condition"
_PREDICATE: Final = f"{_CONDITION}/predicate"
_OBSERVED: Final = "/interactions/observed"
_PLACE: Final = "Probe[probeId=P-001]"
_WHERE: Final = f"{_PLACE}.defectSignature.condition.predicate"


def _reads(channel: str) -> dict[str, Any]:
    return {"op": "existence", "operands": [{"pointer": f"{_OBSERVED}/{channel}"}]}


_CANARY: Final[dict[str, Any]] = {
    "route": "canary",
    "indicts": "corpus",
    "nonDetectionEvidence": {
        "storage": "public",
        "path": "evidence/silence.json",
        "privateRef": None,
        "digest": "sha256:" + "5" * 64,
    },
}


def _command(predicate: dict[str, Any]) -> dict[str, Any]:
    """The signature of a command that shows the fault."""
    return {
        "interfaceKind": "cli",
        "invocation": {"executable": "desk", "subcommandPath": ["track"]},
        "observableChannel": "stdout",
        "condition": {"selector": {"inputBinding": dict.fromkeys(INPUT_CHANNELS)}, "predicate": predicate},
    }


def _entry(
    code: str,
    means: str,
    matters: str,
    path: str,
    failing: tuple[Edit, ...],
    mended: tuple[Edit, ...] = (),
    also: tuple[str, ...] = (),
) -> Explanation:
    return Explanation(code, "qualification reason", means, matters, "probe", failing, mended, path, also)


def _predicate(
    code: str, means: str, matters: str, tail: str, failing: dict[str, Any], mended: dict[str, Any] | None = None
) -> Explanation:
    mend = () if mended is None else (put(_PREDICATE, mended),)
    return _entry(code, means, matters, _WHERE + tail, (put(_PREDICATE, failing),), mend)


QUALIFICATION: Final = (
    _entry(
        "qualification-route-incompatible",
        "The probe claims a qualification route that its class and its defects do not admit.",
        "Each route proves one kind of fault; the wrong one proves nothing about this probe.",
        f"{_PLACE}.qualification.route",
        (put("/defects/0/source", "natural"),),
    ),
    _entry(
        "qualification-defect-sources-mixed",
        "The probe seeds natural faults together with mutations.",
        "No single route covers both, so half of the probe would be unproven.",
        f"{_PLACE}.defects",
        (
            put(
                "/defects",
                [
                    {
                        "defectId": f"D-00{number}",
                        "behaviorId": "B-001",
                        "summary": "the sender is lost",
                        "severity": "material",
                        "oracleEvidence": [],
                        "source": source,
                        "manifestationWitness": None,
                    }
                    for number, source in ((1, "controlled-mutation"), (2, "natural"))
                ],
            ),
        ),
        also=("qualification-route-incompatible",),
    ),
    _entry(
        "qualification-evidence-unverified",
        "The probe's own record says that its route's precondition was not met.",
        "A mutation that was not undone, or an oracle that changed between revisions, may have made the difference.",
        f"{_PLACE}.qualification.rollbackVerified",
        (put("/qualification/rollbackVerified", False),),
    ),
    _entry(
        "signature-absent",
        "A probe that is no canary has no defect signature.",
        "Nothing says where the fault shows, so no observation can witness it.",
        f"{_PLACE}.defectSignature",
        (put("/defectSignature", None),),
    ),
    _entry(
        "signature-present-on-canary",
        "A canary carries a defect signature.",
        "A canary's fault must be undetectable; a signature says how to detect it.",
        f"{_PLACE}.defectSignature",
        (
            put("/probeClass", "canary"),
            put("/qualification", _CANARY),
        ),
        (put("/probeClass", "canary"), put("/qualification", _CANARY), put("/defectSignature", None)),
    ),
    _entry(
        "signature-interface-kind-unsupported",
        "The signature is about an interface kind without probe semantics.",
        "No observation of that kind exists to be compared with it.",
        f"{_PLACE}.defectSignature.interfaceKind",
        (put("/defectSignature/interfaceKind", "web"),),
    ),
    _entry(
        "signature-observable-channel-not-response-side",
        "The channel where the fault is said to show is what was sent.",
        "A fault of the system shows in what it answers.",
        f"{_PLACE}.defectSignature.observableChannel",
        (
            put("/defectSignature/observableChannel", "call-inputs"),
            put(
                _PREDICATE,
                {"op": "all", "operands": [_reads("response-body/sender"), _reads("response-status")]},
            ),
        ),
        (
            put(
                _PREDICATE,
                {"op": "all", "operands": [_reads("response-body/sender"), _reads("response-status")]},
            ),
        ),
    ),
    _predicate(
        "condition-channels-underspecified",
        "The predicate reads neither the observable channel nor two channels with a response among them.",
        "Such a condition can hold without the fault.",
        "",
        _reads("response-status"),
    ),
    _predicate(
        "condition-disjunct-without-response-channel",
        "One alternative of an `any` reads nothing the system answered.",
        "That alternative holds of a request, whatever the system does with it.",
        ".operands[1]",
        {"op": "any", "operands": [_reads("response-body/sender"), _reads("call-inputs/path/id")]},
        {"op": "any", "operands": [_reads("response-body/sender"), _reads("response-body/parcelId")]},
    ),
    _entry(
        "condition-selector-key-undeclared",
        "The selector asks for a key that the home operation does not declare, or for a type violation of a key whose "
        "type is not declared.",
        "The selector matches no observation, so the probe can never be triggered.",
        f'{_PLACE}.defectSignature.condition.selector.inputBinding.path["parcel"]',
        (put(f"{_CONDITION}/selector/inputBinding/path", {"parcel": {"literal": "p-9"}}),),
    ),
    _predicate(
        "condition-pointer-not-observation-rooted",
        "A pointer of the predicate is not rooted at `observed`.",
        "A probe belongs to a corpus and knows no contract's step names.",
        ".operands[1].operands[0]",
        {
            "op": "all",
            "operands": [
                _reads("response-body/sender"),
                {"op": "existence", "operands": [{"pointer": "/interactions/track/response-body/sender"}]},
            ],
        },
    ),
    _predicate(
        "condition-pointer-unwritable",
        "A pointer reads what the home operation's declarations cannot produce.",
        "The condition would wait for evidence that never comes.",
        ".operands[0]",
        _reads("response-body/receiver"),
    ),
    _entry(
        "condition-artifact-channel-contract-local",
        "The predicate reads a written file.",
        "Which files exist is a contract's own declaration; a corpus cannot rely on it.",
        f"{_WHERE}.operands[1].operands[0]",
        (put("/defectSignature", _command({"op": "all", "operands": [_reads("stdout"), _reads("artifact/receipt")]})),),
        (put("/defectSignature", _command(_reads("stdout"))),),
    ),
    _predicate(
        "condition-text-channel-on-api",
        "The signature reads a channel that its interface kind never produces.",
        "A web service has no standard output; the condition could never hold.",
        ".operands[1].operands[0]",
        {"op": "all", "operands": [_reads("response-body/sender"), _reads("exit-code")]},
        {"op": "all", "operands": [_reads("response-body/sender"), _reads("response-status")]},
    ),
    _predicate(
        "condition-reference-set-operand",
        "The predicate names a reference set.",
        "Reference sets are declared by contracts; a corpus signature has none.",
        ".operands[1]",
        {
            "op": "set-membership",
            "operands": [{"pointer": f"{_OBSERVED}/response-body/sender"}, {"referenceSet": "senders"}],
        },
        {
            "op": "set-membership",
            "operands": [{"pointer": f"{_OBSERVED}/response-body/sender"}, {"literal": ["", "unknown"]}],
        },
    ),
    _predicate(
        "condition-operand-illegal",
        "An operator of the predicate takes another kind of operand.",
        "Evaluation could only guess what is meant.",
        ".operands[1].operands[0]",
        {"op": "all", "operands": [_reads("response-body/sender"), {"op": "existence", "operands": [{"literal": ""}]}]},
    ),
    _predicate(
        "condition-regex-illegal",
        "A pattern is not valid, not anchored as a whole, or carries a backreference or a lookbehind.",
        "Half-anchored patterns match by accident; the other two have no bounded cost.",
        ".pattern",
        {
            "op": "regex",
            "operands": [{"pointer": f"{_OBSERVED}/response-body/sender"}],
            "pattern": "^none|unknown$",
        },
        {
            "op": "regex",
            "operands": [{"pointer": f"{_OBSERVED}/response-body/sender"}],
            "pattern": "^(?:none|unknown)$",
        },
    ),
    _predicate(
        "condition-quantifier-nesting",
        "A quantifier stands inside another quantifier's predicate.",
        "The bound element would name two things at once.",
        ".predicate",
        {
            "op": "for-any",
            "collection": {"pointer": f"{_OBSERVED}/response-body/events"},
            "predicate": {
                "op": "for-any",
                "collection": {"pointer": "@/scans"},
                "predicate": {"op": "absence", "operands": [{"pointer": "@/at"}]},
            },
        },
        {
            "op": "for-any",
            "collection": {"pointer": f"{_OBSERVED}/response-body/events"},
            "predicate": {"op": "absence", "operands": [{"pointer": "@/at"}]},
        },
    ),
    _predicate(
        "condition-quantifier-over-non-collection",
        "A quantifier runs over a field that the home operation declares to be no array.",
        "There is nothing to run over.",
        ".collection",
        {
            "op": "for-any",
            "collection": {"pointer": f"{_OBSERVED}/response-body/sender"},
            "predicate": {"op": "absence", "operands": [{"pointer": "@/at"}]},
        },
    ),
    _predicate(
        "condition-bound-element-outside-quantifier",
        "A bound element stands outside every quantifier.",
        "It is bound to nothing.",
        ".operands[1].operands[0]",
        {
            "op": "all",
            "operands": [_reads("response-body/sender"), {"op": "absence", "operands": [{"pointer": "@/at"}]}],
        },
    ),
)
"""One entry a reason."""
