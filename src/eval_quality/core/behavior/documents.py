"""The published schemas of the behaviour documents, draft-07 (spec 11 §1.2, §5.1, §6, §8, §11.1, §13.2).

The four evidence documents keep the reference's shape: closed objects, same members, same constraints. Everything this
product adds lives in sidecars, which have schemas of their own. `schemas/behavior/` is generated from this module.
"""

from typing import Any, Final

from eval_quality.core.behavior.words import CONDITIONS

DRAFT: Final = "http://json-schema.org/draft-07/schema#"

_TEXT: Final[dict[str, Any]] = {"type": "string", "minLength": 1}
_TEXTS: Final[dict[str, Any]] = {"type": "array", "items": _TEXT}
_HASH: Final[dict[str, Any]] = {"type": "string", "pattern": "^[a-f0-9]{64}$"}
_CASE_ID: Final[dict[str, Any]] = {"type": "string", "pattern": "^case-[a-f0-9]{24}$"}
_COUNT: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
_INSTANT: Final[dict[str, Any]] = {"type": "string", "format": "date-time"}


def _closed(required: tuple[str, ...], properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    assert set(properties) == {*required, *optional}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def _document(title: str, body: dict[str, Any], definitions: dict[str, Any] | None = None) -> dict[str, Any]:
    whole = {"$schema": DRAFT, "title": title, **body}
    return whole if definitions is None else {**whole, "definitions": definitions}


_ANSWER: Final[dict[str, Any]] = {
    "action": _TEXT,
    "selectedSkill": _TEXT,
    "produces": _TEXT,
    "gates": _TEXTS,
    "structure": _TEXTS,
}
_OPTIONAL: Final = ("selectedSkill", "produces", "gates", "structure")
_RESPONSE: Final = _closed(("action",), _ANSWER, _OPTIONAL)
_PARTIAL: Final[dict[str, Any]] = {"type": "object", "additionalProperties": False, "properties": _ANSWER}

REQUEST_BUNDLE: Final = _document(
    "AgentBehaviorRequestBundleV1",
    _closed(
        ("schemaVersion", "metric", "corpusSha256", "oracleSha256", "total", "requests"),
        {
            "schemaVersion": {"const": 1},
            "metric": {"const": "agent-behavior-requests"},
            "corpusSha256": _HASH,
            "oracleSha256": _HASH,
            "total": {"type": "integer", "minimum": 1},
            "requests": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/request"}},
        },
    ),
    {
        "request": _closed(
            ("skillId", "caseId", "instruction", "given", "actionVocabulary"),
            {
                "skillId": _TEXT,
                "caseId": _CASE_ID,
                "instruction": _TEXT,
                "given": {"type": "object"},
                "actionVocabulary": {"type": "array", "minItems": 1, "items": _TEXT},
            },
        )
    },
)

RESPONSE_BUNDLE: Final = _document(
    "AgentBehaviorResponseBundleV1",
    _closed(
        ("schemaVersion", "metric", "providerId", "responses"),
        {
            "schemaVersion": {"const": 1},
            "metric": {"const": "agent-behavior-responses"},
            "providerId": _TEXT,
            "responses": {
                "type": "array",
                "items": _closed(
                    ("caseId", "response"), {"caseId": _CASE_ID, "response": {"$ref": "#/definitions/response"}}
                ),
            },
        },
    ),
    {"response": _RESPONSE},
)

EVIDENCE: Final = _document(
    "AgentBehaviorEvalResultV1",
    _closed(
        (
            "schemaVersion",
            "metric",
            "providerId",
            "total",
            "passed",
            "passRate",
            "forbiddenViolations",
            "cases",
            "corpusSha256",
            "oracleSha256",
            "capturedAt",
        ),
        {
            "schemaVersion": {"const": 1},
            "metric": {"const": "agent-behavior"},
            "providerId": _TEXT,
            "total": _COUNT,
            "passed": _COUNT,
            "passRate": {"type": "number", "minimum": 0, "maximum": 1},
            "forbiddenViolations": _COUNT,
            "corpusSha256": _HASH,
            "oracleSha256": _HASH,
            "capturedAt": _INSTANT,
            "cases": {
                "type": "array",
                "items": _closed(
                    ("category", "skillId", "caseId", "passed", "forbiddenViolated", "expected"),
                    {
                        "category": {"enum": list(CONDITIONS)},
                        "skillId": _TEXT,
                        "caseId": _TEXT,
                        "passed": {"type": "boolean"},
                        "forbiddenViolated": {"type": "boolean"},
                        "expected": {"$ref": "#/definitions/oracle"},
                        "forbidden": {"$ref": "#/definitions/partialOracle"},
                        "response": {"$ref": "#/definitions/response"},
                        "error": {"type": "string"},
                    },
                    ("forbidden", "response", "error"),
                ),
            },
        },
    ),
    {"oracle": _RESPONSE, "partialOracle": _PARTIAL, "response": _RESPONSE},
)

ENVELOPE: Final = _document(
    "CliJsonEnvelopeV1",
    _closed(
        ("schemaVersion", "command", "data"),
        {"schemaVersion": {"const": 1}, "command": _TEXT, "data": {}},
    ),
)

EVAL_RESULT: Final = _document(
    "EvaluationResultV1",
    {
        "type": "object",
        "required": ["schemaVersion", "metric", "total", "passed"],
        "properties": {
            "schemaVersion": {"const": 1},
            "metric": {"enum": ["routing", "spark"]},
            "total": _COUNT,
            "passed": _COUNT,
        },
    },
)

RESOURCE_PATTERNS: Final = {
    "agents": r"^agents/[a-zA-Z0-9._/-]+\.(yaml|yml|json)$",
    "references": r"^references/[a-zA-Z0-9._/-]+\.(md|json|yaml|yml|txt)$",
    "templates": r"^templates/[a-zA-Z0-9._/-]+\.(md|json|yaml|yml|ts|js|txt)$",
    "examples": r"^examples/[a-zA-Z0-9._/-]+\.(md|json|yaml|yml|ts|js|txt)$",
    "evals": r"^evals/[a-zA-Z0-9._/-]+\.(json|yaml|yml)$",
    "scripts": r"^scripts/[a-zA-Z0-9._/-]+\.(sh|bash|py|js|mjs|ts)$",
}
"""The resource categories of a manifest, in the order they are always read, with the paths each may hold."""

SKILL_PACKAGE: Final = _document(
    "SkillPackageManifestV2",
    {
        "description": "Strict resource inventory of a skill package. Declared scripts are inert data, never executed.",
        **_closed(
            ("schemaVersion", "id", "entry", *RESOURCE_PATTERNS, "scriptPolicy"),
            {
                "$schema": {"type": "string"},
                "schemaVersion": {"type": "integer", "enum": [2]},
                "id": {"type": "string", "pattern": "^[a-z0-9-]+$"},
                "entry": {"type": "string", "enum": ["SKILL.md"]},
                **{
                    name: {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": pattern}}
                    for name, pattern in RESOURCE_PATTERNS.items()
                },
                "scriptPolicy": {"type": "string", "enum": ["data-only"]},
            },
            ("$schema",),
        ),
    },
)

_DIGESTS: Final[dict[str, Any]] = {"corpusSha256": _HASH, "oracleSha256": _HASH, "total": _COUNT}

RECEIPT: Final = _document(
    "AgentBehaviorExportReceiptV1",
    _closed(
        (
            "schemaVersion",
            "metric",
            "corpusSha256",
            "oracleSha256",
            "perSkill",
            "bundleSha256",
            "total",
            "exportedAt",
            "configSha256",
        ),
        {
            "schemaVersion": {"const": 1},
            "metric": {"const": "agent-behavior-export"},
            "corpusSha256": _HASH,
            "oracleSha256": _HASH,
            "perSkill": {"type": "object"},
            "bundleSha256": _HASH,
            "total": {"type": "integer", "minimum": 1},
            "exportedAt": _INSTANT,
            "configSha256": _HASH,
            "open": _closed(tuple(_DIGESTS), _DIGESTS),
            "sealed": _closed(tuple(_DIGESTS), _DIGESTS),
        },
        ("open", "sealed"),
    ),
)

PROVENANCE: Final = _document(
    "AgentBehaviorProvenanceV1",
    {
        "type": "object",
        "required": ["schemaVersion", "metric", "evidenceSha256", "perSkill", "counts", "configSha256", "ledgerHead"],
        "properties": {
            "schemaVersion": {"const": 1},
            "metric": {"const": "agent-behavior-provenance"},
            "evidenceSha256": _HASH,
            "perSkill": {"type": "object"},
            "counts": {"type": "object"},
            "configSha256": _HASH,
            "ledgerHead": _HASH,
            "evidenceKind": {"const": "stated"},
            "thresholds": {"type": "object"},
            "packages": {"type": "object"},
            "suspicion": {"type": "array", "items": {"type": "string"}},
            "repeats": {"type": "array", "items": {"type": "object"}},
        },
    },
)

PUBLISHED: Final = {
    "agent-behavior-request-bundle": REQUEST_BUNDLE,
    "agent-behavior-response-bundle": RESPONSE_BUNDLE,
    "agent-behavior-eval-result": EVIDENCE,
    "agent-behavior-export-receipt": RECEIPT,
    "agent-behavior-provenance": PROVENANCE,
    "cli-json-envelope": ENVELOPE,
    "eval-result": EVAL_RESULT,
    "skill-package": SKILL_PACKAGE,
}
"""File stem to document: what `schemas/behavior/` holds."""
