"""Spec 02 §1, §3, §4.3 and spec 10 §8: from plain values to immutable records and back."""

import copy
import json
import pickle
import sys
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.errors import RuntimeFault, SchemaIssues
from eval_quality.model.contract import EvalContract, TestData
from eval_quality.model.decode import decode, decode_list, issues, to_value
from eval_quality.model.evidence import ArtifactReference, ExternalLink, PublicReference, ScopedResource
from eval_quality.model.expression import CheckResolution, Expression, Operand, SetOperand
from eval_quality.model.interface import ApiInterface
from eval_quality.model.probe import CleanProbe, Probe, SeededProbe
from eval_quality.model.record import wire_names
from eval_quality.model.rubric import Rubric
from eval_quality.model.run_record import SealedRunRecord
from eval_quality.value.canonical import canonicalize
from eval_quality.value.frozen import FrozenDict, FrozenList
from support.documents import ALL_KINDS, documents, minimal, record_kind, sample


def refused(kind: Any, value: Any) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        decode(kind, value, "Here")
    return caught.value


def same(left: Any, right: Any) -> bool:
    """Equality of values too deep for `==`."""
    return canonicalize(left, "left") == canonicalize(right, "right")


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_s1_generated_documents_survive_the_round_trip(kind: str) -> None:
    record = record_kind(kind)
    for document in (minimal(kind), *(sample(kind, seed) for seed in range(20))):
        before = copy.deepcopy(document)
        decoded = decode(record, document, kind)
        assert to_value(decoded) == document == before
        assert decode(record, to_value(decoded), kind) == decoded


@pytest.mark.parametrize(
    "kind", ["eval-contract", "probe", "sealed-run-record", "evidence-artifact", "probe-observation"]
)
def test_s1_any_valid_document_survives_the_round_trip(kind: str) -> None:
    record = record_kind(kind)

    @settings(max_examples=25, deadline=None)
    @given(documents(kind))
    def check(document: Any) -> None:
        assert to_value(decode(record, document, kind)) == document

    check()


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_s1_1_every_listed_key_is_required_and_no_other_is_accepted(kind: str) -> None:
    record = record_kind(kind)
    document = minimal(kind)
    for key in document:
        without = {name: member for name, member in document.items() if name != key}
        paths = {(problem.path, problem.kind) for problem in issues(record, without)}
        assert ((key,), "invalid_type") in paths or ((key,), "invalid_union") in paths
    assert ((), "unrecognized_keys") in {
        (problem.path, problem.kind) for problem in issues(record, document | {"surplus": 1})
    }


def test_s1_1_nothing_is_coerced() -> None:
    contract = minimal("eval-contract")
    assert issues(EvalContract, contract | {"revisionCount": "0"})[0].kind == "invalid_type"
    assert issues(EvalContract, contract | {"revisionCount": True})[0].kind == "invalid_type"
    assert issues(EvalContract, contract | {"contractId": None})[0].kind == "invalid_type"
    assert issues(CheckResolution, {"resolution": True, "introductionCondition": None, "children": []})[0].path == (
        "resolution",
    )


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (1.0, None),
        (-0.0, None),
        (2**53 - 1, None),
        (2**53, "too_big"),
        (1e300, "too_big"),
        (-1, "too_small"),
        (0.5, "invalid_type"),
    ],
)
def test_s1_2_integers(number: float, kind: str | None) -> None:
    found = issues(EvalContract, minimal("eval-contract") | {"revisionCount": number})
    assert [problem.kind for problem in found] == ([] if kind is None else [kind])


def test_s1_2_an_integral_number_is_an_integer() -> None:
    contract = decode(EvalContract, minimal("eval-contract") | {"revisionCount": 3.0}, "EvalContract")
    assert type(contract.revision_count) is int
    operand = decode(Operand, {"literal": [1.0, -0.0, 0.5, 1e300]}, "Operand")
    assert [type(number) for number in operand.literal] == [int, int, float, float]


def test_s3_a_json_value_may_be_anything_and_any_magnitude() -> None:
    value = {"": [1e300, None, {"a\n": "\ud800"}], "x": 10**400}
    assert to_value(decode(Operand, {"literal": value}, "Operand")) == {"literal": value}


@pytest.mark.parametrize("holder", ["root", "record", "map", "json"])
def test_s1_6_a_proto_key_is_dropped_everywhere(holder: str) -> None:
    contract = minimal("eval-contract") | {
        "referenceSets": {"known": {"keys": ["id"], "members": [{}], "commentary": None}}
    }
    clean = copy.deepcopy(contract)
    place = {
        "root": contract,
        "record": contract["budgets"],
        "map": contract["referenceSets"],
        "json": contract["referenceSets"]["known"]["members"][0],
    }[holder]
    place["__proto__"] = {"polluted": True}
    assert to_value(decode(EvalContract, contract, "EvalContract")) == clean
    assert "__proto__" in place, "the caller's value was changed"


def test_s1_6_members_come_back_in_table_order() -> None:
    assert [wire for _, wire in wire_names(EvalContract)][:6] == [
        "schemaVersion",
        "parentDigest",
        "revisionCount",
        "contractId",
        "sourceSpecDigest",
        "behaviors",
    ]
    assert [wire for _, wire in wire_names(ApiInterface)] == ["logicalId", "kind", "operations"]
    assert [wire for _, wire in wire_names(PublicReference)] == ["storage", "path", "privateRef", "digest"]
    assert [wire for _, wire in wire_names(Rubric)][-3:] == ["schemaVersion", "parentDigest", "revisionCount"]
    assert list(to_value(decode(ArtifactReference, dict(reversed(minimal("artifact-reference").items())), "x"))) == [
        "storage",
        "path",
        "privateRef",
        "digest",
    ]
    for kind, last in (("evidence-artifact", "productionVerdict"), ("probe", "defects")):
        assert list(to_value(decode(record_kind(kind), minimal(kind) | {}, kind)))[-1] in (last, "defectSignature")


def test_s1_6_the_mode_stands_before_the_branch_members() -> None:
    evidence = sample("evidence-artifact", 0)
    members = list(to_value(decode(record_kind("evidence-artifact"), evidence, "EvidenceArtifact")))
    assert members[members.index("remediation") + 1] == "mode"


def test_s1_6_caller_keyed_maps_keep_their_order() -> None:
    principals = {"zed": {"kind": "user"}, "amy": {"kind": "user"}}
    data = decode(TestData, {"setup": None, "cleanup": None, "principals": principals, "resources": None}, "TestData")
    assert list(to_value(data)["principals"]) == ["zed", "amy"]


def test_s1_7_one_fault_carries_every_issue() -> None:
    fault = refused(EvalContract, minimal("eval-contract") | {"notes": "", "budgets": None, "behaviors": []})
    assert (fault.code, fault.artifact_path) == ("schema-parse-failure", "Here")
    assert isinstance(fault.cause, SchemaIssues)
    assert [(problem.path, problem.kind) for problem in fault.cause.issues] == [
        (("behaviors",), "too_small"),
        (("budgets",), "invalid_type"),
        ((), "unrecognized_keys"),
    ]


@pytest.mark.parametrize(
    ("foreign", "kind"),
    [
        ((1, 2), "tuple"),
        (Decimal("1"), "Decimal"),
        ({1, 2}, "set"),
        (b"x", "bytes"),
        (OrderedDict(a=1), "OrderedDict"),
        (type("Text", (str,), {})("x"), "Text"),
        (type("Number", (int,), {})(1), "Number"),
        (object(), "object"),
        (float, "type"),
    ],
)
def test_s9_foreign_values_are_typed_faults(foreign: Any, kind: str) -> None:
    for value in (foreign, [foreign], {"deep": [{"er": foreign}]}):
        found = refused(Operand, {"literal": value}).cause
        assert isinstance(found, SchemaIssues)
        assert [(problem.kind, problem.path[0]) for problem in found.issues] == [("invalid_type", "literal")]
        assert found.issues[0].message.endswith(kind)
    assert refused(EvalContract, foreign).code == "schema-parse-failure"


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=3) | st.decimals()
_KEYS = st.text(max_size=3) | st.sampled_from(
    ("schemaVersion", "op", "kind", "operands", "expectedClean", "mode", "literal")
)
_ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(_KEYS, inner, max_size=4)
        | st.dictionaries(st.integers() | st.none(), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(st.sampled_from(ALL_KINDS), _ANYTHING)
@settings(max_examples=150, deadline=None)
def test_s9_only_our_exceptions_leave(kind: str, value: Any) -> None:
    before = repr(value)
    problems = issues(record_kind(kind), value)
    if problems:
        assert refused(record_kind(kind), value).code == "schema-parse-failure"
    else:
        assert issues(record_kind(kind), to_value(decode(record_kind(kind), value, kind))) == ()
    assert repr(value) == before


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_s1_2_numbers_are_finite(number: float) -> None:
    assert issues(Operand, {"literal": [0, number]})[0].path == ("literal", 1)


def test_s9_a_key_that_is_no_string_is_a_typed_fault() -> None:
    assert issues(Operand, {"literal": {1: 2, "a": 3}}) == (
        (("literal",), "invalid_type", "must have strings for keys"),
    )
    assert refused(EvalContract, {None: 1}).code == "schema-parse-failure"


@pytest.mark.parametrize(
    "document",
    [
        {"op": "\ud800"},
        {"op": "existence", "operands": [{"referenceSet": "\ud800"}]},
        {"op": "ordering", "operands": [{"literal": 1}], "key": "\ud800", "order": "\ud800"},
        {"\ud800": 1},
    ],
)
def test_s9_lone_surrogates_never_raise_a_foreign_exception(document: Any) -> None:
    assert refused(Expression, document).code == "schema-parse-failure"


def test_s2_a_depth_of_1024_decodes_and_one_more_is_refused() -> None:
    deep: Any = []
    for _ in range(1022):
        deep = [deep]
    record = decode(Operand, {"literal": deep}, "Operand")
    assert same(to_value(record), {"literal": deep})
    fault = refused(Operand, {"literal": [deep]})
    assert (fault.code, fault.artifact_path) == ("non-canonicalizable-value", "Here")
    assert fault.detail == "nesting depth exceeds 1024"


def test_s2_a_value_that_holds_itself_is_refused() -> None:
    cycle: list[Any] = []
    cycle += [cycle, cycle]
    assert refused(Operand, {"literal": cycle}).code == "non-canonicalizable-value"


@pytest.mark.parametrize(
    ("grow", "levels"),
    [
        (lambda inner: {"op": "not", "operands": [inner]}, 500),
        (lambda inner: {"op": "all", "operands": [inner, {"op": "existence", "operands": [{"pointer": "@/"}]}]}, 500),
        (lambda inner: {"op": "for-all", "collection": {"pointer": "@/"}, "predicate": inner}, 1000),
    ],
)
def test_s8_3_deep_expressions_decode_and_explain(grow: Any, levels: int) -> None:
    limit = sys.getrecursionlimit()
    good: Any = {"op": "existence", "operands": [{"pointer": "@/"}]}
    bad: Any = {"op": "existence", "operands": []}
    for _ in range(levels):
        good, bad = grow(good), grow(bad)
    assert same(to_value(decode(Expression, good, "Expression")), good)
    found = issues(Expression, bad)
    assert [(problem.path[-1], problem.kind) for problem in found] == [("operands", "too_small")]
    assert sys.getrecursionlimit() == limit


def test_s8_4_deep_resolutions_decode() -> None:
    tree: Any = {"resolution": "true", "introductionCondition": None, "children": []}
    for _ in range(505):
        tree = {"resolution": "insufficient-evidence", "introductionCondition": "empty-collection", "children": [tree]}
    assert same(to_value(decode(CheckResolution, tree, "CheckResolution")), tree)


# --- immutability -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_s8_records_are_immutable_through_and_through(kind: str) -> None:
    for seed in range(10):
        record = decode(record_kind(kind), sample(kind, seed), kind)
        pending: list[Any] = [record]
        while pending:
            held = pending.pop()
            assert not isinstance(held, dict) or type(held) is FrozenDict, held
            assert not isinstance(held, list) or type(held) is FrozenList, held
            if isinstance(held, msgspec.Struct):
                with pytest.raises(AttributeError):
                    setattr(held, next(iter(held.__struct_fields__), "anything"), None)
                pending += [getattr(held, name) for name in held.__struct_fields__]
            elif isinstance(held, dict):
                pending += held.values()
            elif isinstance(held, list | tuple):
                pending += held


def test_s8_a_record_does_not_share_with_what_it_was_decoded_from() -> None:
    literal = {"a": [1]}
    operand = decode(Operand, {"literal": literal}, "Operand")
    literal["a"].append(2)
    assert operand.literal == {"a": [1]}
    plain = to_value(operand)
    plain["literal"]["a"].append(3)
    assert operand.literal == {"a": [1]}


def test_s8_a_record_is_returned_unchanged() -> None:
    contract = decode(EvalContract, minimal("eval-contract"), "EvalContract")
    assert decode(EvalContract, contract, "EvalContract") is contract
    assert issues(EvalContract, contract) == ()
    seeded = decode(Probe, minimal("probe"), "Probe")
    assert decode(Probe, seeded, "Probe") is seeded
    assert refused(SealedRunRecord, contract).code == "schema-parse-failure"


def test_s8_to_value_accepts_a_json_value() -> None:
    assert to_value(FrozenDict(a=FrozenList([1, None]))) == {"a": [1, None]}
    assert to_value((decode(Operand, {"literal": 1}, "x"), "y")) == [{"literal": 1}, "y"]


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_s8_records_can_be_copied_and_pickled(kind: str) -> None:
    for seed in range(5):
        record = decode(record_kind(kind), sample(kind, seed), kind)
        for clone in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
            assert clone == record
            assert type(clone) is type(record)
            assert to_value(clone) == to_value(record)


def test_s8_copies_of_frozen_values_are_frozen() -> None:
    value = FrozenDict(a=FrozenList([FrozenDict(b=1)]))
    for clone in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (type(clone), type(clone["a"]), type(clone["a"][0])) == (FrozenDict, FrozenList, FrozenDict)
        assert clone == value


# --- lists ------------------------------------------------------------------------------------------------------------


def test_s1_7_lists_report_the_issues_of_every_element() -> None:
    good = minimal("probe")
    record = decode(Probe, good, "Probe")
    assert decode_list(Probe, [good, record], "Probe[]") == (record, record)
    assert decode_list(Probe, (record,), "Probe[]") == (record,)
    assert decode_list(Probe, [], "Probe[]") == ()
    with pytest.raises(RuntimeFault) as caught:
        decode_list(Probe, [good | {"probeId": "x"}, good, good | {"systemId": ""}], "Probe[]")
    assert isinstance(caught.value.cause, SchemaIssues)
    assert [problem.path for problem in caught.value.cause.issues] == [(0, "probeId"), (2, "systemId")]


@pytest.mark.parametrize("value", [None, {}, "x", 1])
def test_s1_7_a_list_that_is_none(value: Any) -> None:
    with pytest.raises(RuntimeFault, match=r"^schema-parse-failure in SealedRunRecord\[\]"):
        decode_list(SealedRunRecord, value, "SealedRunRecord[]")


# --- forms ------------------------------------------------------------------------------------------------------------


def test_s15_a_probe_is_clean_or_seeded() -> None:
    probes = [decode(Probe, sample("probe", seed), "Probe") for seed in range(20)]
    assert {type(probe) for probe in probes} == {CleanProbe, SeededProbe}
    for probe in probes:
        assert probe.expected_clean is isinstance(probe, CleanProbe)
        assert (probe.defect_signature is msgspec.UNSET) is probe.expected_clean


@pytest.mark.parametrize("operand", [Operand, SetOperand])
def test_s8_1_an_operand_built_with_two_forms_is_refused(operand: Any) -> None:
    with pytest.raises(ValueError):
        operand(literal=[1], reference_set="known")


def test_s1_7_a_scalar_tag_of_another_type_is_no_branch() -> None:
    assert [(problem.path, problem.kind) for problem in issues(Probe, minimal("probe") | {"expectedClean": 1})] == [
        (("expectedClean",), "invalid_union")
    ]


@pytest.mark.parametrize("value", [None, [], "x", 3])
@pytest.mark.parametrize("kind", [Probe, EvalContract, ScopedResource, ArtifactReference])
def test_s1_7_what_is_no_object(kind: Any, value: Any) -> None:
    assert [(problem.path, problem.kind) for problem in issues(kind, value)] == [((), "invalid_type")]


def test_s1_7_records_print_without_their_defaults_lost() -> None:
    assert json.loads(msgspec.json.encode(ExternalLink(scheme="a", id="b"))) == {"scheme": "a", "id": "b"}
