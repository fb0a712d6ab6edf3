"""Strings, numbers and vocabularies that every schema shares (spec 02 §2, §5.7, §6, §7).

Patterns are written as the specification prints them, in ECMAScript. `whole` turns one into the same language for
Python's engine: `$` means the very end, `\\d` means ASCII digits, and the repeated groups that long input could make
expensive match possessively. Vocabularies are tuples in their normative order.
"""

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta

from eval_quality.value.frozen import FrozenDict

if TYPE_CHECKING:
    JsonValue: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
    JsonObject: TypeAlias = dict[str, Any]
else:
    JsonValue = Any
    JsonObject = FrozenDict

SAFE: Final = 9007199254740991
"""The largest magnitude of an integer (spec 02 §1.2)."""

_SPECIAL = re.compile(r"\\d|\\.|\[(?:\\.|[^\]])*\]|\$")
_IN_PYTHON: Final = {"$": r"\Z", r"\d": "[0-9]"}
_TOKEN: Final = "(?:[^/~]|~[01])*"
_QUADS: Final = "(?:[A-Za-z0-9+/]{4})*"


def whole(ecma: str, kind: str = "invalid_format") -> Meta:
    """The constraint that a string matches `ecma`; `kind` is the issue kind a mismatch is reported as."""
    possessive = ecma.replace(_TOKEN, "(?:[^/~]++|~[01])*+").replace(_QUADS, _QUADS + "+")
    python = _SPECIAL.sub(lambda match: _IN_PYTHON.get(match[0], match[0]), possessive)
    return Meta(pattern=python, extra={"ecma": ecma, "kind": kind})


# --- numbers (§1.2) -------------------------------------------------------------------------------------------------

Int = Annotated[int, Meta(ge=-SAFE, le=SAFE)]
Count = Annotated[int, Meta(ge=0, le=SAFE)]
"""An integer of at least 0."""
Positive = Annotated[int, Meta(gt=0, le=SAFE)]
"""An integer of at least 1."""
Amount = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
"""A number of at least 0, fractions allowed."""
PositiveAmount = Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]
Fraction = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1."""

# --- strings (§2) ---------------------------------------------------------------------------------------------------

_ID: Final = "[a-z0-9]+(?:-[a-z0-9]+)*"

Text = Annotated[str, Meta(min_length=1)]
"""A non-empty string."""
Identifier = Annotated[str, whole(f"^{_ID}$")]
BehaviorId = Annotated[str, whole("^B-[0-9]{3,}$")]
OracleId = Annotated[str, whole("^O-[0-9]{3,}$")]
ProbeId = Annotated[str, whole("^P-[0-9]{3,}$")]
WaiverId = Annotated[str, whole("^W-[0-9]{3,}$")]
DefectId = Annotated[str, whole("^D-[0-9]{3,}$")]
FindingId = Annotated[str, whole("^F-[0-9]{3,}$")]
RubricId = Annotated[str, whole("^R-[0-9]{3,}$")]
RubricCriterionId = Annotated[str, whole("^RC-[0-9]{3,}$")]
Digest = Annotated[str, whole("^sha256:[0-9a-f]{64}$")]
DecimalString = Annotated[str, whole(r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$")]
UnsignedDecimalString = Annotated[str, whole(r"^(0|[1-9][0-9]*)(\.[0-9]+)?$")]
PositiveDecimalString = Annotated[str, whole(r"^([1-9][0-9]*(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)$")]
Rfc3339Utc = Annotated[
    str,
    whole(
        r"^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29"
        r"|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
        r"|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z))$"
    ),
]
KeyName = Annotated[str, Meta(min_length=1)]
"""A plain key name, never a pointer."""
ToolName = Annotated[str, whole("^[A-Za-z0-9_-]+$")]
EnvironmentKeyName = Annotated[str, whole("^[A-Za-z_][A-Za-z0-9_]*$")]
PathTemplate = Annotated[str, whole(r"^(?:\/(?:[^/{}:]|\{[A-Za-z0-9_-]+\})*)+$")]
RegexPattern = Annotated[str, whole(r"^\^[\s\S]*\$$")]
Base64 = Annotated[str, whole(f"^{_QUADS}(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{{2}}[AEIMQUYcgkosw048]=)?$")]
ContentType = Annotated[str, whole(r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:;[ \t]*[^\r\n]+)?$")]

# --- pointers (§7) --------------------------------------------------------------------------------------------------

_EVIDENCE_TOKEN: Final = rf"/(?!\*(?:/|$)){_TOKEN}"
_TAIL: Final = f"(?:{_EVIDENCE_TOKEN})*"
_INTERACTION: Final = (
    f"/interactions/{_ID}/(?:(?:response-body|response-headers|stdout|stderr){_TAIL}"
    "|(?:response-status|exit-code)"
    f"|call-inputs/(?:path|query|header|body|argument|option|environment|stdin|arguments){_TAIL}"
    f"|artifact/{_ID}{_TAIL})"
)
_BOUND: Final = f"@(?:{_EVIDENCE_TOKEN})+"

InteractionPointer = Annotated[str, whole(f"^{_INTERACTION}$")]
BoundElementPointer = Annotated[str, whole(f"^{_BOUND}$")]
EvidencePointer = Annotated[str, whole(f"^(?:{_INTERACTION}|{_BOUND})$", kind="invalid_union")]
DescriptorPointer = Annotated[str, whole(f"^(?:/{_TOKEN})*$")]

# --- vocabularies (§2, §5.7, §6, §21) -------------------------------------------------------------------------------

JsonTypeName = Literal["string", "number", "boolean", "object", "array", "null"]
Severity = Literal["low", "material", "critical"]
RunMode = Literal["production", "contract-scoring"]
Verdict = Literal["PASS", "WAIVED", "CONCERNS", "FAIL"]
EvaluatorRecommendation = Literal["PASS", "CONCERNS", "FAIL"]
Polarity = Literal["expects-hold", "expects-violation"]
HttpMethod = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
InterfaceKind = Literal["api", "web", "cli", "mcp"]
ForbiddenInput = Literal[
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
]
EvidenceChannel = Literal[
    "response-body",
    "response-headers",
    "response-status",
    "call-inputs",
    "stdout",
    "stderr",
    "exit-code",
    "artifact",
]
InputChannel = Literal["path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments"]
WitnessChannel = Literal["path", "query", "body", "argument", "option", "environment", "stdin", "arguments"]
OracleVerdict = Literal["held", "violated", "not-attempted"]
Basis = Literal["measured", "reconstructed"]
ScoringVersionInputName = Literal[
    "contractSchemaVersion",
    "corpusDigest",
    "fixtureDigest",
    "evaluatorConfigurationDigest",
    "scoringPolicyDigest",
    "mode",
]
OutcomeState = Literal[
    "caught",
    "confirmed",
    "missed",
    "passed-clean-control",
    "false-positive",
    "abstained",
    "bypassed",
    "unreached",
    "oracle-error",
    "judge-error",
    "infrastructure-error",
    "not-applicable",
]

JSON_TYPE_NAMES: Final = ("string", "number", "boolean", "object", "array", "null")
SEVERITY_LEVELS: Final = ("low", "material", "critical")
RUN_MODES: Final = ("production", "contract-scoring")
VERDICTS: Final = ("PASS", "WAIVED", "CONCERNS", "FAIL")
EVALUATOR_RECOMMENDATIONS: Final = ("PASS", "CONCERNS", "FAIL")
HTTP_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
INTERFACE_KINDS: Final = ("api", "web", "cli", "mcp")
FORBIDDEN_INPUTS: Final[tuple[ForbiddenInput, ...]] = (
    "original-spec",
    "source-code",
    "repository",
    "builder-transcript",
    "implementation-logs",
    "comparator-results",
    "human-labels",
)
EVIDENCE_CHANNELS: Final = (
    "response-body",
    "response-headers",
    "response-status",
    "call-inputs",
    "stdout",
    "stderr",
    "exit-code",
    "artifact",
)
TAIL_BEARING_CHANNELS: Final = ("response-body", "response-headers", "stdout", "stderr")
SCALAR_CHANNELS: Final = ("response-status", "exit-code")
API_RESPONSE_CHANNELS: Final = ("response-body", "response-headers", "response-status")
COMMAND_RESPONSE_CHANNELS: Final = ("stdout", "stderr", "exit-code", "artifact")
INPUT_CHANNELS: Final = ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
WITNESS_CHANNELS: Final = ("path", "query", "body", "argument", "option", "environment", "stdin", "arguments")
OUTCOME_STATES: Final = (
    "caught",
    "confirmed",
    "missed",
    "passed-clean-control",
    "false-positive",
    "abstained",
    "bypassed",
    "unreached",
    "oracle-error",
    "judge-error",
    "infrastructure-error",
    "not-applicable",
)
SCORING_VERSION_INPUT_NAMES: Final = (
    "contractSchemaVersion",
    "corpusDigest",
    "fixtureDigest",
    "evaluatorConfigurationDigest",
    "scoringPolicyDigest",
    "mode",
)
RELATIONS: Final = (
    "equality",
    "deep-equality",
    "containment",
    "existence",
    "absence",
    "regex",
    "set-membership",
    "ordering",
    "count-tolerance",
    "shape",
    "covers-by-key",
    "all",
    "any",
    "not",
    "for-all",
    "for-any",
)
Relation = Literal[
    "equality",
    "deep-equality",
    "containment",
    "existence",
    "absence",
    "regex",
    "set-membership",
    "ordering",
    "count-tolerance",
    "shape",
    "covers-by-key",
    "all",
    "any",
    "not",
    "for-all",
    "for-any",
]
