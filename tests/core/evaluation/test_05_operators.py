"""The operators and their laws (spec 05 §5.7), `regex` apart."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.core.evaluation import operators
from eval_quality.errors import RuntimeFault
from eval_quality.model.expression import KeyedShapeDescriptor
from eval_quality.value.compare import json_equal
from eval_quality.value.text import utf16_key
from support.evaluation import ABSENT, answer, body, evaluate, literal, observation

PATH = "Evidence"

SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -0.0, 1.0]),
    st.sampled_from(["", "a", "b", "1", "\U0001f600", "\uffff"]),
)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abk"), inner, max_size=2),
    max_leaves=6,
)
MAYBE = st.one_of(JSON, st.just(ABSENT))
NOT_ARRAYS = [ABSENT, None, True, 0, "text", {"k": []}]
NOT_OBJECTS = [ABSENT, None, True, 0, "text", [{}]]


def node(op: str, *operands: Any, **members: Any) -> dict[str, Any]:
    return {"op": op, "operands": list(operands), **members}


# §5.7.1, §5.7.2


@given(MAYBE)
def test_s5_7_2_absence_is_the_complement_of_existence(value: Any) -> None:
    assert operators.existence(value) is not operators.absence(value)
    assert operators.existence(value) is (value is not ABSENT)


# §5.7.3, §5.7.4


@given(MAYBE, MAYBE)
def test_s5_7_3_equality_is_json_equality_of_present_values(left: Any, right: Any) -> None:
    expected = left is not ABSENT and right is not ABSENT and json_equal(left, right)
    assert operators.equality(left, right, PATH) is expected
    assert operators.deep_equality(left, right, PATH) is expected
    assert operators.equality(right, left, PATH) is expected


@given(JSON)
def test_s5_7_3_equality_is_reflexive_on_present_values_only(value: Any) -> None:
    assert operators.equality(value, value, PATH)
    assert operators.deep_equality(value, value, PATH)
    assert not operators.equality(ABSENT, ABSENT, PATH)
    assert not operators.deep_equality(ABSENT, ABSENT, PATH)


@pytest.mark.parametrize(("left", "right"), [("1", 1), (True, 1), (False, 0), (None, ""), (None, False), ([], {})])
def test_s5_7_3_nothing_is_coerced(left: Any, right: Any) -> None:
    assert not operators.equality(left, right, PATH)
    assert not operators.deep_equality(left, right, PATH)


@pytest.mark.parametrize("value", [2**53, 1e300, "\ud800"])
def test_s5_7_4_only_their_fault_surface_differs(value: Any) -> None:
    assert operators.equality(value, value, PATH)
    with pytest.raises(RuntimeFault) as caught:
        operators.deep_equality(value, value, PATH)
    assert (caught.value.code, caught.value.artifact_path) == ("non-canonicalizable-value", PATH)
    with pytest.raises(RuntimeFault):
        operators.equality([value], [value], PATH)
    assert not operators.equality(value, None, PATH)


def test_s5_7_3_two_unsafe_integers_that_are_one_double_are_equal() -> None:
    assert operators.equality(2**53 + 1, 2**53, PATH)
    assert not operators.equality(2**53 + 2, 2**53, PATH)


# §5.7.5


@given(st.lists(JSON, max_size=4), st.lists(JSON, min_size=1, max_size=3))
def test_s5_7_5_an_array_candidate_is_a_subset_test(container: list[Any], candidate: list[Any]) -> None:
    expected = all(any(json_equal(held, wanted) for held in container) for wanted in candidate)
    assert operators.containment(container, candidate, PATH) is expected
    assert operators.containment(container, candidate * 2, PATH) is expected


@given(st.lists(JSON, min_size=1, max_size=4))
def test_s5_7_5_equality_implies_containment(values: list[Any]) -> None:
    assert operators.containment(values, values, PATH)
    for value in values:
        if not isinstance(value, list):
            assert operators.containment(values, value, PATH)


@given(st.lists(JSON, max_size=3), JSON, JSON)
def test_s5_7_5_a_larger_container_contains_no_less(container: list[Any], candidate: Any, more: Any) -> None:
    if operators.containment(container, candidate, PATH):
        assert operators.containment([*container, more], candidate, PATH)
        assert operators.containment([more, *container], candidate, PATH)


@pytest.mark.parametrize(
    ("container", "candidate", "expected"),
    [
        (ABSENT, 1, False),
        (ABSENT, [1], False),
        ("text", [1], False),
        ({"k": 1}, [1], False),
        ([1], ABSENT, False),
        ("text", ABSENT, False),
        ("text", "ex", True),
        ("text", "", True),
        ("text", 1, False),
        ("1", 1, False),
        ([[1, 2], [3, 4]], [1, 2], False),
        ([[1, 2]], [[1, 2]], True),
        ([True], 1, False),
        ({"k": 1}, "k", False),
        (5, 5, False),
        (True, True, False),
        (None, None, False),
        ([None], None, True),
    ],
)
def test_s5_7_5_the_table(container: Any, candidate: Any, expected: bool) -> None:
    assert operators.containment(container, candidate, PATH) is expected


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("\U0001f600", "\ud83d", True),
        ("\U0001f600", "\ude00", True),  # noqa: PT014 - two different halves
        ("a\U0001f600b", "a\ud83d", True),
        ("a\U0001f600b", "\ude00b", True),
        ("\U0001f600", "\ud83e", False),
        ("\U0001f600", "\ude00\ud83d", False),
        ("\U0001f600\U0001f600", "\ude00\ud83d", True),
        ("\u0058\u3dd8", "\ud83d", False),
        ("\u3dd8\u3d00", "\ud83d", False),
        ("\u00d8\u3dd8\u3d00\ud83d", "\ud83d", True),
        ("abc", "d", False),
        ("", "\ud83d", False),
        ("\ud83d\ude00", "\U0001f600", True),
    ],
)
def test_s5_7_5_substrings_are_of_code_units(text: str, part: str, expected: bool) -> None:
    assert operators.contains_text(text, part) is expected


@given(
    st.text("\u00d8\u3dd8\u3d00\ud83d\ude00\U0001f600a", max_size=6),
    st.text("\u3dd8\ud83d\ude00\U0001f600a", max_size=2),
)
def test_s5_7_5_substring_law(text: str, part: str) -> None:
    def units(value: str) -> list[int]:
        raw = utf16_key(value)
        return [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]

    whole, wanted = units(text), units(part)
    expected = any(whole[at : at + len(wanted)] == wanted for at in range(len(whole) - len(wanted) + 1))
    assert operators.contains_text(text, part) is expected


BAD = 2**53


@pytest.mark.parametrize(
    ("container", "candidate", "outcome"),
    [
        ([1, BAD], 1, True),
        ([BAD, 1], 1, "fault"),
        ([1], BAD, "fault"),
        ([], BAD, False),
        ([1, BAD], [1, 1], True),
        ([1, BAD], [1, 2], "fault"),
        ([1], [2, BAD], False),
        ([1], [1, BAD], "fault"),
        ([1], [BAD], "fault"),
        ([], [BAD], False),
    ],
)
def test_s5_7_5_the_search_stops_at_the_first_match_and_so_do_its_faults(
    container: Any, candidate: Any, outcome: Any
) -> None:
    if outcome == "fault":
        with pytest.raises(RuntimeFault, match="safe range"):
            operators.containment(container, candidate, PATH)
    else:
        assert operators.containment(container, candidate, PATH) is outcome


def test_s5_7_5_an_element_is_digested_before_the_candidate() -> None:
    with pytest.raises(RuntimeFault, match="lone surrogate"):
        operators.containment(["\ud800"], BAD, PATH)
    with pytest.raises(RuntimeFault, match="lone surrogate"):
        operators.containment(["\ud800"], [BAD], PATH)


def test_s5_7_5_a_reference_set_that_is_no_array_is_the_callers_mistake() -> None:
    check = node("containment", literal([1]), {"referenceSet": "gone"})
    with pytest.raises(ValueError, match='"gone"'):
        evaluate(check)
    assert answer(node("containment", body("/x"), {"referenceSet": "rs"}), members={"rs": [{"id": 1}]}) == "false"


def test_s5_7_5_interception_comes_before_that_mistake() -> None:
    check = node("containment", literal([]), {"referenceSet": "gone"})
    assert answer(check) == "insufficient-evidence"


# §5.7.7


@given(JSON, st.lists(JSON, max_size=4))
def test_s5_7_7_membership_is_a_search(value: Any, members: list[Any]) -> None:
    expected = any(json_equal(value, member) for member in members)
    assert operators.set_membership(value, members, PATH) is expected
    assert operators.set_membership(value, members[::-1], PATH) is expected


@given(JSON, st.lists(JSON, min_size=1, max_size=4))
def test_s5_7_7_membership_is_containment_seen_from_the_other_side(value: Any, members: list[Any]) -> None:
    if not isinstance(value, list):
        assert operators.set_membership(value, members, PATH) is operators.containment(members, value, PATH)


def test_s5_7_7_absent_is_a_member_of_nothing() -> None:
    assert not operators.set_membership(ABSENT, [None], PATH)
    assert not operators.set_membership(ABSENT, None, PATH)


def test_s5_7_7_a_member_is_digested_before_the_value() -> None:
    with pytest.raises(RuntimeFault, match="lone surrogate"):
        operators.set_membership(BAD, ["\ud800"], PATH)
    assert operators.set_membership(1, [1, BAD], PATH)


def test_s5_7_7_an_undeclared_set_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="not an array"):
        evaluate(node("set-membership", literal(1), {"referenceSet": "gone"}))
    assert answer(node("set-membership", literal([]), {"referenceSet": "gone"})) == "insufficient-evidence"


MEMBERS = {"rs": [{"id": 1}, {"id": [2]}], "pair": [{"id": 1, "k": 1}], "none": [], "lacking": [{"k": 1}]}
KEYS = {"rs": ("id",), "pair": ("id", "k"), "none": ("id",), "lacking": ("id",)}


@pytest.mark.parametrize(("value", "expected"), [(1, "true"), ([2], "true"), ({"id": 1}, "false"), (3, "false")])
def test_s5_6_4_a_set_is_projected_to_its_key(value: Any, expected: str) -> None:
    check = node("set-membership", literal(value), {"referenceSet": "rs"})
    assert answer(check, members=MEMBERS, keys=KEYS) == expected


def test_s5_6_4_an_empty_set_trips_after_projection() -> None:
    check = node("set-membership", literal(1), {"referenceSet": "none"})
    assert answer(check, members=MEMBERS, keys=KEYS) == "insufficient-evidence"


@pytest.mark.parametrize(("name", "message"), [("pair", "2 keys"), ("lacking", 'lacks its key "id"')])
def test_s5_6_4_what_cannot_be_projected_is_the_callers_mistake_even_behind_a_trip(name: str, message: str) -> None:
    for value in (1, []):
        with pytest.raises(ValueError, match=message):
            evaluate(node("set-membership", literal(value), {"referenceSet": name}), members=MEMBERS, keys=KEYS)


def test_s5_6_4_without_declared_keys_the_members_pass_through() -> None:
    check = node("set-membership", literal({"id": 1}), {"referenceSet": "rs"})
    assert answer(check, members=MEMBERS, keys={}) == "true"


# §5.7.8

NUMBERS = st.sampled_from([-1, 0, -0.0, 0.5, 1, 1.0, 2])
STRINGS = st.sampled_from(["", "a", "ab", "b", "\uffff", "\U0001f600"])


def rows(values: list[Any]) -> list[Any]:
    return [{"k": value, "other": index} for index, value in enumerate(values)]


@given(st.lists(NUMBERS, min_size=1, max_size=5) | st.lists(STRINGS, min_size=1, max_size=5))
def test_s5_7_8_ordering_is_being_sorted(values: list[Any]) -> None:
    ranked = sorted(values, key=lambda value: (utf16_key(value), 0.0) if isinstance(value, str) else (b"", value))
    assert operators.ordering(rows(ranked), "k", "ascending")
    assert operators.ordering(rows(ranked[::-1]), "k", "descending")
    assert operators.ordering(rows(values), "k", "ascending") is (values == ranked)
    both = operators.ordering(rows(values), "k", "ascending") and operators.ordering(rows(values), "k", "descending")
    assert both is (len(set(values)) == 1)


@pytest.mark.parametrize(
    "collection",
    [
        [{"k": 1}, {"z": 2}],
        [{"z": 1}, {"k": 2}],
        [{"k": 1}, 2],
        [1, {"k": 2}],
        [{"k": 1}, {"k": "2"}],
        [{"k": "1"}, {"k": 2}],
        [{"k": True}, {"k": True}],
        [{"k": None}, {"k": None}],
        [{"k": [1]}, {"k": [1]}],
        [{"k": False}, {"k": 1}],
        [{"k": 1}, {"k": True}],
    ],
)
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_s5_7_8_pairs_that_cannot_be_ranked(collection: Any, order: str) -> None:
    assert operators.ordering(collection, "k", order) is False


@pytest.mark.parametrize("collection", NOT_ARRAYS)
def test_s5_7_8_only_arrays_are_ordered(collection: Any) -> None:
    assert operators.ordering(collection, "k", "ascending") is False


@pytest.mark.parametrize("element", [{"k": 1}, {}, "text", None])
def test_s5_7_8_one_element_is_in_order_whatever_it_is(element: Any) -> None:
    assert operators.ordering([element], "k", "ascending")


def test_s5_7_8_strings_rank_by_code_unit() -> None:
    astral_first = rows(["\U0001f600", "\uffff"])
    assert operators.ordering(astral_first, "k", "ascending")
    assert not operators.ordering(astral_first, "k", "descending")


def test_s5_7_8_numbers_rank_as_doubles() -> None:
    assert operators.ordering(rows([2**53 + 1, 2**53]), "k", "ascending")
    assert operators.ordering(rows([2**53, 2**53 + 1]), "k", "descending")
    assert not operators.ordering(rows([2, 1]), "k", "ascending")


# §5.7.9


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_s5_7_9_absolute_tolerance(length: int, expected: int, tolerance: int) -> None:
    inside = expected - tolerance <= length <= expected + tolerance
    assert operators.count_tolerance([0] * length, expected, tolerance, relative=False) is inside
    if inside:
        assert operators.count_tolerance([0] * length, expected, tolerance + 1, relative=False)


@pytest.mark.parametrize(
    ("length", "expected", "tolerance", "inside"),
    [(0, 0, 100, True), (1, 0, 100, False), (9, 10, 10, True), (11, 10, 10, True), (8, 10, 10, False), (3, 3, 0, True)],
)
def test_s5_7_9_relative_tolerance(length: int, expected: int, tolerance: int, inside: bool) -> None:
    assert operators.count_tolerance([0] * length, expected, tolerance, relative=True) is inside


@pytest.mark.parametrize("collection", NOT_ARRAYS)
def test_s5_7_9_only_arrays_are_counted(collection: Any) -> None:
    assert operators.count_tolerance(collection, 0, 100, relative=False) is False


# §5.7.10


def describe(required: str = "", permitted: str = "", **types: str | None) -> KeyedShapeDescriptor:
    return KeyedShapeDescriptor(required_keys=tuple(required), permitted_keys=tuple(permitted), types=types)


@pytest.mark.parametrize(
    ("value", "descriptor", "expected"),
    [
        ({}, describe(), True),
        ({"a": 1}, describe(), False),
        ({"a": 1}, describe("a", "a"), True),
        ({"a": 1}, describe("a", ""), False),
        ({}, describe("a", "a"), False),
        ({"a": 1, "b": 2}, describe("", "ab"), True),
        ({"a": 1, "b": 2}, describe("", "a"), False),
        ({"a": 1}, describe("", "a", a="number"), True),
        ({"a": True}, describe("", "a", a="number"), False),
        ({"a": None}, describe("", "a", a="null"), True),
        ({"a": {}}, describe("", "a", a="object"), True),
        ({"a": []}, describe("", "a", a="array"), True),
        ({"a": []}, describe("", "a", a="object"), False),
        ({"a": 1}, describe("", "a", a=None), True),
        ({"a": 1}, describe("", "a", b="string"), True),
        ({"a": {"deep": 1}}, describe("a", "a", a="object"), True),
    ],
)
def test_s5_7_10_the_rules(value: Any, descriptor: KeyedShapeDescriptor, expected: bool) -> None:
    assert operators.shape(value, descriptor) is expected


@pytest.mark.parametrize("value", NOT_OBJECTS)
def test_s5_7_10_only_objects_have_a_shape(value: Any) -> None:
    assert operators.shape(value, describe()) is False


@given(st.dictionaries(st.sampled_from("abc"), SCALAR), st.sampled_from("abc"))
def test_s5_7_10_permitting_more_or_requiring_less_never_refuses(value: dict[str, Any], key: str) -> None:
    strict = describe("".join(value)[:1], "".join(value))
    assert operators.shape(value, strict)
    assert operators.shape(value, describe("", "".join({*value, key})))


# §5.7.11


def covers(expected: Any, actual: Any) -> bool:
    return operators.covers_by_key(expected, actual, "e", "a", PATH)


@given(st.lists(st.sampled_from([None, True, 1, 1.0, "1", (1,)]), min_size=1, max_size=4), st.data())
def test_s5_7_11_it_is_a_bijection_of_key_values(keys: list[Any], data: st.DataObject) -> None:
    other = data.draw(st.permutations(keys) | st.lists(st.sampled_from(keys), min_size=1, max_size=4))
    plain = [list(key) if isinstance(key, tuple) else key for key in keys]
    against = [list(key) if isinstance(key, tuple) else key for key in other]

    def tally(values: list[Any]) -> Counter[str]:
        return Counter(f"{type(value is True)}{value is True}{value!r}".replace("1.0", "1") for value in values)

    one_to_one = tally(plain) == tally(against) and max(tally(plain).values()) == 1
    answered = covers([{"e": key, "x": n} for n, key in enumerate(plain)], [{"a": key} for key in against])
    assert answered is one_to_one


@pytest.mark.parametrize(
    ("expected", "actual", "holds"),
    [
        (ABSENT, [{"a": 1}], False),
        ([{"e": 1}], ABSENT, False),
        ([{"e": 1}], {"a": 1}, False),
        ([{"e": 1}], None, False),
        ([{"e": 1}], [{"a": 1}], True),
        ([{"e": None}], [{"a": None}], True),
        ([{"e": 1}], [{"a": 1}, {"z": 1}], False),
        ([{"e": 1}], [{"z": 1}], False),
        ([{"e": 1}], [1], False),
        ([{"z": 1}], [{"a": 1}], False),
        ([1], [{"a": 1}], False),
        ([{"e": 1}, {"e": 1}], [{"a": 1}], False),
        ([{"e": 1}, {"e": 1}], [{"a": 1}, {"a": 2}], False),
        ([{"e": 1}, {"e": 2}], [{"a": 2}, {"a": 1}], True),
        ([{"e": "keyless"}], [{"z": 1}], False),
    ],
)
def test_s5_7_11_the_operator(expected: Any, actual: Any, holds: bool) -> None:
    assert covers(expected, actual) is holds


def test_s5_7_11_a_keyless_row_is_matched_by_nothing_not_even_another() -> None:
    assert not covers([{"e": 1}, {"e": 2}], [{"z": 1}, {"z": 2}])


RS = {"referenceSet": "rs"}


def node_of(expected: Any, actual: Any) -> dict[str, Any]:
    return node("covers-by-key", expected, actual, expectedKey="e", actualKey="a")


@pytest.mark.parametrize(
    ("expected", "actual", "resolution"),
    [
        (literal([]), literal([{"a": 1}]), "insufficient-evidence"),
        (literal([{"e": 1}]), literal([]), "insufficient-evidence"),
        (literal([]), literal([]), "insufficient-evidence"),
        (literal([]), body("/gone"), "false"),
        (literal([{"e": 1}]), body("/gone"), "false"),
        (literal([]), literal({}), "false"),
        (body("/gone"), literal([]), "false"),
        (RS, literal([{"a": 1}]), "false"),
    ],
)
def test_s5_7_11_the_node_has_its_own_empty_rule(expected: Any, actual: Any, resolution: str) -> None:
    collections = ("/interactions/s/response-body/gone",)
    result = evaluate(node_of(expected, actual), {"s": observation(responseBody={})}, collections=collections)
    assert result.resolution == resolution
    assert result.introduction_condition == ("empty-collection" if resolution == "insufficient-evidence" else None)


@pytest.mark.parametrize("actual", [literal([]), body("/gone"), literal([{"a": 1}])])
def test_s5_7_11_an_expected_side_that_is_no_array_is_the_callers_mistake(actual: Any) -> None:
    with pytest.raises(ValueError, match="not an array"):
        evaluate(node_of(literal({"e": 1}), actual), {"s": observation(responseBody={})})
