"""Every code has an entry, and every example does what it says: failing, it shows the code; mended, it does not."""

from typing import Any

import pytest

from eval_quality.core.aggregate import aggregate_strength
from eval_quality.core.compile.codes import FAILURE_CODES
from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.coverage.rules import DISCIPLINE_RULE_IDS
from eval_quality.core.evaluation import make_resolve_operand, resolve_check
from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.catalogue import BASES, CATALOGUE, nearest
from eval_quality.core.explain.patch import add, apply, put, remove
from eval_quality.core.explain.record import Explanation
from eval_quality.core.explain.render import catalogue_text, explanation_text
from eval_quality.core.explain.twin_run import RUN_CODES
from eval_quality.core.preflight.entry import preflight_from_observations
from eval_quality.core.qualify.gate import qualify_probe
from eval_quality.core.qualify.home import resolve_home_operation, signature_of
from eval_quality.core.qualify.result import QUALIFICATION_FAILURES
from eval_quality.core.seal.audit import audit_brief_scripting
from eval_quality.core.seal.entry import seal_value
from eval_quality.errors import AGGREGATION_REFUSAL_CODES, RUNTIME_FAULT_CODES, CodedError, RuntimeFault
from eval_quality.model.decode import decode, to_value
from eval_quality.model.expression import Expression
from eval_quality.model.probe import Probe
from eval_quality.model.target import CommandTargetPolicy
from eval_quality.probe.ports import READ_CLOCK
from eval_quality.probe.seam import call_port
from eval_quality.probe.signals import AbortController
from eval_quality.probe.targets import Denied, evaluate_command_target
from eval_quality.value.digest import digest_bytes
from eval_quality.value.manifest import compare_manifest
from eval_quality.value.scan import scan
from support import judgment

PREFLIGHT_CHECK_KINDS = (
    "interface-present",
    "input-sensitivity",
    "state-reset",
    "clean-control",
    "seeded-faults-scoped",
    "seeded-fault-fired",
)

Shown = tuple[str, str]


def from_contract(document: Any) -> list[Shown]:
    compile_value(document)
    return []


def from_brief(document: Any) -> list[Shown]:
    audit_brief_scripting(seal_value(document))
    return []


def from_coverage(document: Any) -> list[Shown]:
    return [(gap.rule, "") for gap in coverage_gaps(compile_value(document))]


def from_probe(document: Any) -> list[Shown]:
    probe = decode(Probe, document, "Probe")
    signature = signature_of(probe)
    interfaces = read_contract(base_contract()).permitted_interfaces
    home = None if signature is None else resolve_home_operation(signature, interfaces)
    result = qualify_probe(probe, None if home is None else home.operation)
    return [(failure.code, failure.artifact_path) for failure in result.failures]


def from_preflight(document: Any) -> list[Shown]:
    verdict = preflight_from_observations(run_id="r-1", **document)
    return [(check.kind, "") for check in verdict.checks if check.outcome == "failed"]


def from_text(document: Any) -> list[Shown]:
    scan(document["text"], "Budgets")
    return []


def from_evaluation(document: Any) -> list[Shown]:
    seen = judgment.observation(1)
    seen = {**seen, "responseBody": document["body"]}
    from eval_quality.model.run_record import Observation

    resolve_check(
        decode(Expression, document["check"], "Oracle"),
        make_resolve_operand({"track": decode(Observation, seen, "Observation")}, {}),
        lambda _pointer: False,
        {},
        document["regexStepBudget"],
        "Oracle",
    )
    return []


def from_manifest(document: Any) -> list[Shown]:
    compare_manifest([("trace-1", document["digest"])], {"trace-1": digest_bytes(document["text"].encode())})
    return []


def from_target(document: Any) -> list[Shown]:
    policy = decode(CommandTargetPolicy, document["policy"], "CommandTargetPolicy")
    asked = document["request"]
    answer = evaluate_command_target(policy, asked["interfaceId"], asked["executable"], tuple(asked["subcommandPath"]))
    if isinstance(answer, Denied):
        raise RuntimeFault("forbidden-target", "ProbeRequest", answer.detail, answer.reason)
    return []


def from_port(document: Any) -> list[Shown]:
    controller = AbortController()
    if document["aborted"]:
        controller.abort()

    def clock(_request: object, _signal: object) -> object:
        if document["raises"] is not None:
            raise OSError(document["raises"])
        return document["answer"]

    call_port(READ_CLOCK, clock, {}, controller.signal)
    return []


def from_aggregation(document: Any) -> list[Shown]:
    aggregate_strength(**document)
    return []


def scored() -> Any:
    return {"evidence": [to_value(judgment.run().artifact)], "policy": judgment.policy(), "floors": {}}


RUNNERS = {
    "contract": from_contract,
    "brief": from_brief,
    "coverage": from_coverage,
    "probe": from_probe,
    "preflight": from_preflight,
    "text": from_text,
    "evaluation": from_evaluation,
    "manifest": from_manifest,
    "target": from_target,
    "port": from_port,
    "aggregation": from_aggregation,
}


def shown(entry: Explanation, edits: Any) -> list[Shown]:
    """The codes an example shows, each with its path."""
    base = scored if entry.subject == "aggregation" else BASES[entry.subject]
    try:
        return RUNNERS[entry.subject](apply(base(), edits))
    except CodedError as error:
        return [(error.code, error.artifact_path)]


def test_no_code_is_without_an_entry() -> None:
    assert tuple(CATALOGUE) == (
        *FAILURE_CODES,
        *RUNTIME_FAULT_CODES,
        *AGGREGATION_REFUSAL_CODES,
        *DISCIPLINE_RULE_IDS,
        *PREFLIGHT_CHECK_KINDS,
        *QUALIFICATION_FAILURES,
    )


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=list(CATALOGUE))
def test_the_failing_example_shows_exactly_its_code(entry: Explanation) -> None:
    found = shown(entry, entry.failing)
    assert [code for code, _ in found] == [entry.code, *entry.also]
    if entry.path:
        assert found[0][1] == entry.path


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=list(CATALOGUE))
def test_the_mended_example_shows_nothing(entry: Explanation) -> None:
    assert shown(entry, entry.mended) == []


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=list(CATALOGUE))
def test_an_entry_reads_as_text(entry: Explanation) -> None:
    text = explanation_text(entry)
    assert text.startswith(f"{entry.code} ({entry.family})\n")
    assert entry.means.split()[0] in text
    assert entry.matters.split()[-1] in text
    assert all(edit.path in text for edit in entry.failing)
    assert "Mended:" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_the_list_names_every_code_under_its_family() -> None:
    lines = catalogue_text().splitlines()
    assert lines[0] == "structural failure:"
    assert [line.strip() for line in lines if line.startswith("  ")] == [*CATALOGUE, *RUN_CODES]
    assert [line for line in lines if line.endswith(":")] == [
        *(f"{family}:" for family in dict.fromkeys(entry.family for entry in CATALOGUE.values())),
        "twin run:",
    ]


def test_an_unknown_code_is_answered_with_its_nearest() -> None:
    assert nearest("unreachable_evidence")[0] in ("unreachable-check-evidence", "rubric-evidence-unreachable")
    assert nearest("zzz") == ()


def test_edits_put_add_and_remove() -> None:
    document = {"a": [1, 2], "b": {"c": 3}}
    edits = (put("/b/c", 4), add("/a/-", 5), add("/a/0", 0), add("/b/d", 6), remove("/a/1"), put("/a/0", 9))
    assert apply(document, edits) == {"a": [9, 2, 5], "b": {"c": 4, "d": 6}}
    assert document == {"a": [1, 2], "b": {"c": 3}}
    with pytest.raises(KeyError):
        apply(document, (put("/b/missing", 1),))
    with pytest.raises(IndexError):
        apply(document, (put("/a/7", 1),))


def test_a_member_that_the_mended_document_lacks_is_said_not_to_be_there() -> None:
    entry = CATALOGUE["undeclared-mandatory-input"]._replace(mended=())
    assert "  /interactionPlan/0/inputBinding/body/colour is not there\n" in explanation_text(entry)
    assert "  /forbiddenInputs/0 is not there\n" in explanation_text(CATALOGUE["forbidden-input-floor-incomplete"])
    assert "  as it was scored\n" in explanation_text(CATALOGUE["strength-inputs-disagree"])
