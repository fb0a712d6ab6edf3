"""The 27 structural failures (spec 03 §3), in registry order."""

from typing import Any, Final

from eval_quality.core.compile import codes
from eval_quality.core.explain.patch import Edit, add, put, remove
from eval_quality.core.explain.record import Explanation, Subject

_EVENTS: Final = "/interactions/track/response-body/events"
_STEP_AGAIN: Final[dict[str, Any]] = {
    "stepId": "register-again",
    "interfaceId": "parcel-desk",
    "operationId": "register-parcel",
    "inputBinding": {
        "path": None,
        "query": None,
        "header": None,
        "body": {"weight": {"literal": 2}, "sender": {"literal": "depot"}},
    },
    "after": None,
    "cardinality": "exactly-one",
}
_COMPARE_TWICE: Final = (
    add("/interactionPlan/-", _STEP_AGAIN),
    add("/oracles/1/direction/evidenceTargets/-", "/interactions/register-again/response-body/status"),
    add(
        "/oracles/1/check/operands/-",
        {"op": "existence", "operands": [{"pointer": "/interactions/register-again/response-body/status"}]},
    ),
)


def _entry(
    code: str,
    means: str,
    matters: str,
    path: str,
    failing: tuple[Edit, ...],
    mended: tuple[Edit, ...] = (),
    subject: Subject = "contract",
) -> Explanation:
    return Explanation(code, "structural failure", means, matters, subject, failing, mended, path)


STRUCTURAL_FAILURES: Final = (
    _entry(
        codes.MISSING_REQUIREMENT_LINKAGE,
        "A behaviour links to no requirement and to no risk.",
        "Nobody can say why the behaviour is tested, so nobody can say what a missed bug would cost.",
        "EvalContract.behaviors[id=B-001]",
        (put("/behaviors/0/requirementLinks", []),),
        (put("/behaviors/0/requirementLinks", []), put("/behaviors/0/riskLinks", [{"scheme": "risk", "id": "LOST-1"}])),
    ),
    _entry(
        codes.NO_OBSERVABLE_SUCCESS_CRITERION,
        "A behaviour does not say how its success can be observed.",
        "Without a criterion an oracle checks whatever happens to be easy to check.",
        "EvalContract.behaviors[id=B-001].observableSuccessCriterion",
        (put("/behaviors/0/observableSuccessCriterion", None),),
    ),
    _entry(
        codes.UNREACHABLE_CHECK_EVIDENCE,
        "A check, a capture, a witness or a reset pointer reads evidence that the declared operations never produce: "
        "an unknown step, a channel the interface kind lacks, or a field nobody declared.",
        "A check over evidence that cannot exist never resolves, so the bug it was written for is never caught.",
        "EvalContract.oracles[id=O-002].check.operands[1].operands[0]",
        (put("/oracles/1/check/operands/1/operands/0/pointer", "/interactions/register/response-body/receipt"),),
    ),
    _entry(
        codes.MALFORMED_OPERATOR_EXPRESSION,
        "An operator is used in a way it does not support: the wrong kind of operand, a pattern that is not anchored "
        "or not valid, a bound element outside its quantifier, a reference set without the one key it needs, or a "
        "witness that cannot tell its two legs apart.",
        "The schema admits the expression and evaluation could only guess what it means.",
        "EvalContract.oracles[id=O-002].check.operands[1].operands[0]",
        (put("/oracles/1/check/operands/1/operands/0", {"literal": "p-1"}),),
    ),
    _entry(
        codes.QUANTIFIER_OVER_NON_COLLECTION,
        "A quantifier runs over a field that its operation declares to be no array.",
        "There is nothing to run over, so `for-all` would hold of nothing.",
        "EvalContract.oracles[id=O-003].check.operands[2].collection",
        (put("/oracles/2/check/operands/2/collection/pointer", "/interactions/track/response-body/sender"),),
    ),
    _entry(
        codes.QUANTIFIER_NESTING_EXCEEDED,
        "A quantifier, or `covers-by-key`, stands inside another quantifier's predicate.",
        "The bound element would name two things at once. Relate two collections with `covers-by-key` instead.",
        "EvalContract.oracles[id=O-003].check.operands[2].predicate",
        (
            put(
                "/oracles/2/check/operands/2/predicate",
                {
                    "op": "for-any",
                    "collection": {"pointer": "@/scans"},
                    "predicate": {"op": "existence", "operands": [{"pointer": "@/at"}]},
                },
            ),
        ),
        (put("/oracles/2/check/operands/2/predicate", {"op": "existence", "operands": [{"pointer": "@/scans"}]}),),
    ),
    _entry(
        codes.UNRESOLVED_REFERENCE_SET,
        "An operand names a reference set that the contract does not declare.",
        "Membership in an unknown set cannot be decided.",
        "EvalContract.oracles[id=O-003].check.operands[2].predicate.operands[1]",
        (put("/oracles/2/check/operands/2/predicate/operands/1/referenceSet", "scan-kinds"),),
    ),
    _entry(
        codes.DUPLICATE_OPERATION_SIGNATURE,
        "Two operations are the same on the wire: same method and path template (parameter names aside), same command "
        "words, or same tool name.",
        "An observation of one could be taken for the other, and a planted fault would have two homes.",
        "EvalContract.permittedInterfaces[logicalId=parcel-desk].operations[operationId=track-parcel]",
        (
            put("/permittedInterfaces/0/operations/1/method", "POST"),
            put("/permittedInterfaces/0/operations/1/pathTemplate", "/parcels"),
        ),
    ),
    _entry(
        codes.UNDECLARED_MANDATORY_INPUT,
        "A step, a witness leg or the fixture reset sends a key that its operation does not declare, leaves out one it "
        "requires, or an operation with inputs has no sensitivity witness.",
        "What is sent and what is declared drift apart, and pre-flight cannot send what nobody described. The two "
        "checks on steps and witnesses are left out by --no-strict-inputs.",
        'EvalContract.interactionPlan[stepId=register].inputBinding.body["colour"]',
        (add("/interactionPlan/0/inputBinding/body/colour", {"literal": "red"}),),
        (
            add("/interactionPlan/0/inputBinding/body/colour", {"literal": "red"}),
            add("/permittedInterfaces/0/operations/0/requestShape/body/permittedKeys/-", "colour"),
        ),
    ),
    _entry(
        codes.ORACLE_MISSING_CHANNEL,
        "An oracle lacks its direction or its check.",
        "Without a direction the evaluator is told nothing; without a check nothing is enforced.",
        "EvalContract.oracles[id=O-004].direction",
        (put("/oracles/3/direction", None),),
    ),
    _entry(
        codes.DIRECTION_CHECK_MISALIGNED,
        "A direction announces evidence, a relation or a polarity that the oracle's check does not have.",
        "The evaluator would be sent to look for something other than what is judged.",
        "EvalContract.oracles[id=O-004].direction.relation",
        (put("/oracles/3/direction/relation", "containment"),),
    ),
    _entry(
        codes.UNSUPPORTED_INTERFACE_KIND,
        "An interface has a kind that this build cannot evaluate.",
        "No pre-flight leg could be sent to it and no observation of it would be understood.",
        "EvalContract.permittedInterfaces[logicalId=parcel-desk].kind",
        (put("/permittedInterfaces/0/kind", "web"),),
    ),
    _entry(
        codes.NESTED_TEMPORAL_CLAUSE,
        "A step comes after a step that itself comes after one.",
        "A plan selects observations. A chain of steps is a script, and a scripted evaluator finds what it is led to.",
        "EvalContract.interactionPlan[stepId=register-malformed].after",
        (put("/interactionPlan/2/after", "track"),),
        (put("/interactionPlan/2/after", "register"),),
    ),
    _entry(
        codes.PLAN_EXCEEDS_SCRIPTING_BOUND,
        "The plan has too many steps, too many steps after one step, or too many pairs.",
        "The larger the plan, the more of the evaluator's work it prescribes.",
        "EvalContract.interactionPlan",
        (put("/interactionPlan/2/after", "register"), put("/interactionPlan/3/after", "register")),
        (put("/interactionPlan/2/after", "register"),),
    ),
    _entry(
        codes.BINDING_CYCLE,
        "A captured value depends, through captures and `after` clauses, on the step that captures it.",
        "No order of calls could produce the observations the plan selects.",
        'EvalContract.interactionPlan[stepId=register].inputBinding.body["sender"]',
        (put("/interactionPlan/0/inputBinding/body/sender", {"captured": "/interactions/track/response-body/sender"}),),
    ),
    _entry(
        codes.CAPTURED_CHANNEL_UNDECLARED,
        "A capture reads a channel that no response descriptor describes.",
        "Only a declared field has a type, and only a typed value can be passed on.",
        'EvalContract.interactionPlan[stepId=track].inputBinding.path["id"]',
        (
            put(
                "/interactionPlan/1/inputBinding/path/id",
                {"captured": "/interactions/register/response-headers/location"},
            ),
        ),
    ),
    _entry(
        codes.RUBRIC_SCORES_REASONING_PROSE,
        "A rubric scores reasoning: its text speaks of a chain of thought, a rationale or the like.",
        "A judge that rewards explanations rewards fluent ones, whatever the system did.",
        "EvalContract.rubrics[id=R-001].criteria[id=RC-001].text",
        (put("/rubrics/0/criteria/0/text", "Is the reasoning sound?"),),
    ),
    _entry(
        codes.RUBRIC_UNANCHORED,
        "A rubric leaves out what gives its scores a meaning: levels with distinct numbers and anchors, a maximum "
        "length, named penalties, worded criteria, distinct ids.",
        "Two judges would give one answer two scores.",
        "EvalContract.rubrics[id=R-001].scaleLevels",
        (put("/rubrics/0/scaleLevels", []),),
    ),
    _entry(
        codes.RUBRIC_EVIDENCE_UNREACHABLE,
        "A rubric criterion is judged on evidence that the declared operations never produce.",
        "The judge would score an empty page.",
        "EvalContract.rubrics[id=R-001].criteria[id=RC-001].evidence",
        (put("/rubrics/0/criteria/0/evidence", "/interactions/track/response-body/history"),),
        (put("/rubrics/0/criteria/0/evidence", _EVENTS),),
    ),
    _entry(
        codes.FORBIDDEN_INPUT_FLOOR_INCOMPLETE,
        "The contract does not withhold all seven inputs that every evaluator must work without.",
        "An evaluator that has read the source code, or another evaluator's verdict, is not blind.",
        "EvalContract.forbiddenInputs",
        (remove("/forbiddenInputs/0"),),
    ),
    _entry(
        codes.SCOPED_REFERENCE_RESOLVES_FORBIDDEN,
        "The contract hands the evaluator a resource by reference.",
        "Nothing here can tell whether the reference leads to a forbidden input, so none is admitted.",
        "EvalContract.scopedResources[0].reference",
        (put("/scopedResources", [{"reference": "desk-manual", "kind": "document"}]),),
        (put("/scopedResources", []),),
    ),
    _entry(
        codes.WAIVER_INCOMPLETE,
        "A waiver lacks its rule, its rationale, its approval or its expiry.",
        "An exception that nobody approved, or that never ends, is a hole.",
        "EvalContract.waivers[id=W-001].approval",
        (put("/waivers/0/approval", None),),
    ),
    _entry(
        codes.BRIEF_EXCEEDS_SCRIPTING_BOUND,
        "A direction's text carries more sequence words or list numbers than the contract's own bound admits. Only the "
        "audit of a sealed brief reports this; compile and seal never do.",
        "Author text can smuggle a script past the plan's bounds.",
        "SealedEvaluatorBrief.directions[oracleId=O-001].text",
        (put("/oracles/0/direction/scope", "Register it, then wait, then track it, and finally compare"),),
        subject="brief",
    ),
    _entry(
        codes.UNRESOLVED_ARTIFACT_REFERENCE,
        "A pointer or a response descriptor names a written file that its operation does not declare.",
        "A file nobody promised is not missing evidence; it is no evidence.",
        "EvalContract.oracles[id=O-002].check.operands[1].operands[0]",
        (put("/oracles/1/check/operands/1/operands/0/pointer", "/interactions/register/artifact/receipt"),),
    ),
    _entry(
        codes.IRREDUCIBLE_STEP_REFERENCE,
        "A direction reads two steps of one operation that bind the same values, so the brief cannot name them apart.",
        "The evaluator could not know which call is meant, and the plan's step names are not told.",
        "EvalContract.oracles[id=O-002].direction.evidenceTargets",
        _COMPARE_TWICE,
        (*_COMPARE_TWICE, put("/interactionPlan/4/inputBinding/body/weight", {"literal": 9})),
    ),
    _entry(
        codes.EXCLUDED_CONTENT_IN_DECLARATION,
        "Some text of the contract is shaped like a credential, a token, an address, an account or a card number.",
        "Contracts are shared and digested: a secret in one can be neither masked nor taken back.",
        "EvalContract.safetyLimits[0]",
        (put("/safetyLimits/0", "report accidents to desk@example.com"),),
        (put("/safetyLimits/0", "report accidents to the desk owner"),),
    ),
    _entry(
        codes.DUPLICATE_INTERFACE_IDENTIFIER,
        "Two interfaces have one logical id.",
        "Every pointer, step and target policy names an interface by that id.",
        "EvalContract.permittedInterfaces[1].logicalId",
        (add("/permittedInterfaces/-", {"logicalId": "parcel-desk", "kind": "mcp", "operations": []}),),
        (add("/permittedInterfaces/-", {"logicalId": "courier-tools", "kind": "mcp", "operations": []}),),
    ),
)
"""One entry a code."""
