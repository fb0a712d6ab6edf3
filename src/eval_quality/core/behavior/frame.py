"""The two bundles as a provider's side sees them (spec 11 §5.1, §6, §7.1).

This module reads and writes frames and knows nothing of oracles: the runner imports it and nothing of the answer side.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from eval_quality.core.behavior.documents import REQUEST_BUNDLE, RESPONSE_BUNDLE
from eval_quality.core.behavior.draft7 import problems, summary
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, as_text
from eval_quality.errors import EvalQualityError


class BundleRefused(EvalQualityError):
    """A bundle that is refused as a whole: nothing is written (spec 11 §7.1)."""


class RequestBundle(msgspec.Struct, frozen=True):
    """A checked request bundle. Every request is the exact object a provider gets."""

    corpus: str
    oracle: str
    requests: tuple[JsonObject, ...]


class ResponseBundle(msgspec.Struct, frozen=True):
    """A checked response bundle: the answers by opaque case id, whatever shape each answer has."""

    provider_id: str
    answers: dict[str, Any]


def read_request_bundle(value: Any) -> RequestBundle:
    """A request bundle, or `BundleRefused`: shape, the declared total, distinct ids."""
    found = problems(REQUEST_BUNDLE, value)
    if found:
        raise BundleRefused(f"not a request bundle: {summary(found)}")
    requests: tuple[JsonObject, ...] = tuple(value["requests"])
    if value["total"] != len(requests):
        raise BundleRefused("not a request bundle: total differs from the number of requests")
    if len({request["caseId"] for request in requests}) != len(requests):
        raise BundleRefused("not a request bundle: a case id occurs twice")
    return RequestBundle(value["corpusSha256"], value["oracleSha256"], requests)


def _frame_only(value: Any) -> Any:
    """The bundle with every answer replaced by a sound one: answers are judged one by one (spec 11 §6)."""
    members = as_object(value)
    items = as_list((members or {}).get("responses"))
    if members is None or items is None:
        return value
    framed: list[Any] = []
    for item in items:
        entry = as_object(item)
        framed.append(item if entry is None or "response" not in entry else {**entry, "response": {"action": "any"}})
    return {**members, "responses": framed}


def read_response_bundle(value: Any, known: Collection[str]) -> ResponseBundle:
    """A response bundle whose ids are all in `known`, or `BundleRefused` (spec 11 §7.1)."""
    found = problems(RESPONSE_BUNDLE, _frame_only(value))
    if found:
        raise BundleRefused(f"invalid response bundle: {summary(found)}")
    if as_text(value["providerId"]) is None:
        raise BundleRefused("invalid response bundle: /providerId: expected a non-blank string")
    answers: dict[str, Any] = {}
    for item in value["responses"]:
        case_id = item["caseId"]
        if case_id not in known:
            raise BundleRefused(f"unknown case {case_id}: the answers belong to another corpus")
        if case_id in answers:
            raise BundleRefused(f"duplicate case {case_id}")
        answers[case_id] = item["response"]
    return ResponseBundle(value["providerId"], answers)


def response_bundle(provider_id: str, answers: Mapping[str, Any]) -> JsonObject:
    """A response bundle of answers by case id, sorted by id."""
    return {
        "schemaVersion": 1,
        "metric": "agent-behavior-responses",
        "providerId": provider_id,
        "responses": [{"caseId": case_id, "response": answers[case_id]} for case_id in sorted(answers)],
    }
