"""Spec 02 §28: the published schemas are the committed ones, and agree with decoding."""

import json
from typing import Any

import jsonschema_rs
import pytest

from eval_quality import schemas
from eval_quality.model import decode as decoding
from eval_quality.model.explain import explain
from eval_quality.model.publish import document
from support import reference
from support.documents import ARTIFACT_KINDS, OTHER_KINDS, minimal, record_kind, sample
from support.mutants import mutants

MUTANTS = 6000


def test_s28_one_schema_for_each_registry_key_in_order() -> None:
    assert schemas.names()[:13] == ARTIFACT_KINDS
    assert len(set(schemas.names())) == len(schemas.names())


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_s28_committed_bytes_are_the_generated_ones(kind: str) -> None:
    assert schemas.text(kind) == document(kind)


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_s28_serialization(kind: str) -> None:
    text = schemas.text(kind)
    assert text == json.dumps(json.loads(text), indent=2) + "\n"
    assert text.isascii()


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_s28_dialect_identity_and_self_containment(kind: str) -> None:
    schema = schemas.load(kind)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:eval-quality:schema:{kind}"
    assert jsonschema_rs.meta.is_valid(schema)
    references = [value["$ref"] for value in _objects(schema) if "$ref" in value]
    assert all(name.removeprefix("#/$defs/") in schema["$defs"] for name in references)


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_s28_objects_are_closed_and_maps_have_ruled_keys(kind: str) -> None:
    for value in _objects(schemas.load(kind)):
        if value.get("type") != "object":
            continue
        if "properties" in value:
            assert value["additionalProperties"] is False
        else:
            assert isinstance(value["additionalProperties"], dict)


def test_s28_operand_tuples_are_fixed_in_length() -> None:
    definitions = schemas.load("eval-contract")["$defs"]
    arity = {
        name: definitions[name]["properties"]["operands"]["minItems"]
        for name in definitions
        if definitions[name].get("properties", {}).get("operands", {}).get("items") is False
    }
    assert arity == {
        **dict.fromkeys(("Absence", "CountTolerance", "Existence", "Not", "Ordering", "Regex", "Shape"), 1),
        **dict.fromkeys(("Containment", "CoversByKey", "DeepEquality", "Equality", "SetMembership"), 2),
    }


@pytest.mark.parametrize(
    ("kind", "name"), [("eval-contract", "InputBindingChannel"), ("probe", "ProbeInputBindingChannel")]
)
def test_s28_binding_channels_are_not_empty(kind: str, name: str) -> None:
    assert schemas.load(kind)["$defs"][name]["minProperties"] == 1


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("eval-contract", {"Expression", "Operand", "JsonValue", "WitnessInputs", "Operation", "RubricBody"}),
        ("sealed-run-record", {"Finding", "ArtifactReference", "EvaluatorRecommendation", "EvidenceChannel"}),
        ("evidence-artifact", {"CheckResolution", "Verdict"}),
        ("strength-aggregate", {"FloorDecision"}),
    ],
)
def test_s28_named_definitions(kind: str, names: set[str]) -> None:
    schema = schemas.load(kind)
    if kind == "sealed-run-record":
        names = names - {"EvidenceChannel"}  # written out there: each branch of a quotation narrows it
    assert names <= schema["$defs"].keys()


@pytest.mark.parametrize("kind", ["nothing", "../pyproject", ""])
def test_s28_unknown_kind(kind: str) -> None:
    with pytest.raises(ValueError, match="no schema is published"):
        schemas.text(kind)


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_s28_generated_documents_are_valid(kind: str) -> None:
    validator = jsonschema_rs.Draft202012Validator(schemas.load(kind))
    for candidate in (minimal(kind), *(sample(kind, seed) for seed in range(15))):
        assert [error.message for error in validator.iter_errors(candidate)] == []


@reference.present
@pytest.mark.parametrize(("name", "kind"), reference.documents().items())
def test_s28_reference_documents_are_valid(name: str, kind: str) -> None:
    validator = jsonschema_rs.Draft202012Validator(schemas.load(kind))
    assert [error.message for error in validator.iter_errors(reference.load(name))] == []


def test_s16_5_the_record_schema_reads_both_native_stamps() -> None:
    validator = jsonschema_rs.Draft202012Validator(schemas.load("sealed-run-record"))
    record = next(found for seed in range(50) if (found := sample("sealed-run-record", seed))["observations"])
    for stamp, encoded, valid in ((7, False, True), (7, True, False), (8, True, True), (8, False, False)):
        record["schemaVersion"] = stamp
        for observation in record["observations"]:
            observation["callInputs"].pop("bodyEncoding", None)
            if encoded:
                observation["callInputs"]["bodyEncoding"] = "raw"
        assert validator.is_valid(record) is valid


def test_s27_1_what_the_schema_cannot_say_is_refused_by_decoding_alone() -> None:
    record = next(found for seed in range(50) if len((found := sample("sealed-run-record", seed))["observations"]) > 1)
    for observation in record["observations"]:
        observation["sequence"] = 1
    assert _repeats_a_sequence("sealed-run-record", record)
    assert jsonschema_rs.Draft202012Validator(schemas.load("sealed-run-record")).is_valid(record)
    assert decoding.issues(record_kind("sealed-run-record"), record)


def test_s1_6_a_proto_key_is_dropped_by_decoding_and_refused_by_the_schema() -> None:
    contract = minimal("eval-contract") | {"__proto__": 1}
    assert _has_proto("eval-contract", contract)
    assert not jsonschema_rs.Draft202012Validator(schemas.load("eval-contract")).is_valid(contract)
    assert decoding.issues(record_kind("eval-contract"), contract) == ()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_s28_decoding_explaining_and_an_independent_validator_agree_on_mutants(kind: str) -> None:
    record = record_kind(kind)
    validator = jsonschema_rs.Draft202012Validator(schemas.load(kind))
    seeds = [minimal(kind), *sorted((sample(kind, seed) for seed in range(12)), key=lambda found: len(str(found)))[:6]]
    if reference.ROOT.is_dir():
        known = [reference.load(name) for name, held in reference.documents().items() if held == kind]
        seeds += sorted(known, key=lambda found: len(str(found)))[:1]
    accepted = 0
    for mutant in mutants(seeds, MUTANTS, kind):
        before = json.dumps(mutant)
        problems = decoding.issues(record, mutant)
        assert json.dumps(mutant) == before, "decoding changed its input"
        assert all(problem.message != "is refused" for problem in problems), "explain found nothing to report"
        valid = validator.is_valid(mutant)
        if not problems:
            accepted += 1
            frozen, foreign = decoding.normalise(mutant, kind)
            assert (foreign, explain(record, frozen)) == ((), ()), "explain reports what convert accepts"
        assert (not problems) == valid or _inexpressible(kind, mutant), (mutant, problems)
    assert MUTANTS // 50 < accepted < MUTANTS - MUTANTS // 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_s27_1_decoding_and_explaining_agree_on_mutants_of_inputs_without_a_schema(kind: str) -> None:
    record = record_kind(kind)
    accepted = 0
    for mutant in mutants([minimal(kind), *(sample(kind, seed) for seed in range(8))], MUTANTS // 3, kind):
        problems = decoding.issues(record, mutant)
        assert all(problem.message != "is refused" for problem in problems), "explain found nothing to report"
        if not problems:
            accepted += 1
            assert explain(record, decoding.normalise(mutant, kind)[0]) == ()
    assert 0 < accepted < MUTANTS // 3


def _inexpressible(kind: str, document: Any) -> bool:
    """What decoding and a schema may differ about (spec 02 §1.6, §28)."""
    return _has_proto(kind, document) or _repeats_a_sequence(kind, document)


def _has_proto(kind: str, document: Any) -> bool:
    return any("__proto__" in value for value in _objects(document))


def _repeats_a_sequence(kind: str, document: Any) -> bool:
    if kind != "sealed-run-record" or not isinstance(document, dict):
        return False
    observations = document.get("observations")
    found = (
        [one.get("sequence") for one in observations if isinstance(one, dict)] if isinstance(observations, list) else []
    )
    return any(found.count(number) > 1 for number in found)


def _objects(value: Any) -> list[dict[str, Any]]:
    pending, found = [value], []
    while pending:
        taken = pending.pop()
        if isinstance(taken, dict):
            found.append(taken)
            pending.extend(taken.values())
        elif isinstance(taken, list):
            pending.extend(taken)
    return found
