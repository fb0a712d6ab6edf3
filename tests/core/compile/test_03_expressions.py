"""Spec 03 §9: what an expression may say."""

from typing import Any

import pytest

from eval_quality.core.compile.expression import LEGAL_FORMS
from eval_quality.core.compile.regex import MAX_PATTERN_LENGTH, pattern_refusal
from eval_quality.core.evaluation.regex import MAX_ALTERNATIVES
from eval_quality.core.explain.patch import Edit, add, put
from eval_quality.model.primitives import RELATIONS
from support.contracts import (
    api_inputs,
    both,
    eq,
    error_of,
    every,
    exists,
    json_body,
    library,
    lit,
    negated,
    oracle,
    p,
    refset,
    verdict,
)

MALFORMED = "malformed-operator-expression"
CHECK = "EvalContract.oracles[id=O-001].check"
RELATION = "EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness.relation"
LOAN, ITEMS = "read/response-body/loanId", "read/response-body/items"
BOOKS = {"books": {"keys": ["id"], "members": [{"id": 1}, {"id": "1"}], "commentary": None}}
LEGS = eq(p("leg-a/response-body/loanId"), p("leg-b/response-body/loanId"))


def checking(check: Any, *edits: Edit) -> str:
    return verdict(library(put("/referenceSets", BOOKS), put("/oracles", [oracle(1, check)]), *edits))


def relating(relation: Any, *edits: Edit) -> str:
    path = "/permittedInterfaces/0/operations/0/sensitivityWitness/relation"
    return verdict(library(put("/referenceSets", BOOKS), put(path, relation), *edits))


OPERANDS = {"pointer": p(LOAN), "literal": lit(1), "reference-set": refset("books")}
EXTRA: dict[str, dict[str, Any]] = {
    "regex": {"pattern": "^a$"},
    "ordering": {"key": "id", "order": "ascending"},
    "count-tolerance": {"expected": 1, "tolerance": 0, "relative": False},
    "shape": {"descriptor": {"requiredKeys": [], "permittedKeys": [], "types": {}}},
    "covers-by-key": {"expectedKey": "id", "actualKey": "id"},
}
TABLE = {
    "equality": ("pl", "pl"),
    "deep-equality": ("pl", "pl"),
    "containment": ("p", "plr"),
    "existence": ("p",),
    "absence": ("p",),
    "regex": ("p",),
    "set-membership": ("p", "lr"),
    "ordering": ("p",),
    "count-tolerance": ("p",),
    "shape": ("p",),
    "covers-by-key": ("r", "p"),
}
FORMS = {"p": "pointer", "l": "literal", "r": "reference-set"}


def test_s9_1_the_relation_vocabulary_is_operators_connectives_quantifiers() -> None:
    assert (*TABLE, "all", "any", "not", "for-all", "for-any") == RELATIONS
    assert set(LEGAL_FORMS) == {*TABLE, "for-all", "for-any"}


@pytest.mark.parametrize("op", TABLE)
def test_s9_1_each_position_takes_its_forms_and_no_other(op: str) -> None:
    legal = [[FORMS[letter] for letter in letters] for letters in TABLE[op]]
    for position, forms in enumerate(legal):
        for form, operand in OPERANDS.items():
            operands = [OPERANDS[each[0]] for each in legal]
            operands[position] = operand
            if op == "set-membership":
                if position == 1 and form == "pointer":
                    continue  # the schema refuses it
                # there a literal is an array
                operands[1] = {"literal": [1]} if operands[1] == lit(1) else operands[1]
            found = checking({"op": op, "operands": operands, **EXTRA.get(op, {})})
            assert found == ("ok" if form in forms else f"{MALFORMED} @ {CHECK}.operands[{position}]")


@pytest.mark.parametrize("form", ["literal", "reference-set"])
@pytest.mark.parametrize("op", ["for-all", "for-any"])
def test_s9_1_a_quantifier_runs_over_a_pointer(op: str, form: str) -> None:
    check = {"op": op, "collection": OPERANDS[form], "predicate": exists(LOAN)}
    assert checking(check) == f"{MALFORMED} @ {CHECK}.collection"


def test_s9_2_the_detail_names_operator_form_and_position() -> None:
    error = error_of(library(put("/oracles", [oracle(1, {"op": "existence", "operands": [lit(1)]})])))
    assert error is not None
    assert error.detail == "existence takes no literal as operand 0; it takes pointer"
    error = error_of(
        library(put("/oracles", [oracle(1, {"op": "for-any", "collection": lit(1), "predicate": exists(LOAN)})]))
    )
    assert error is not None
    assert error.detail == "for-any takes no literal as its collection; it takes pointer"


def ordering(pointer: str) -> Any:
    return {"op": "ordering", "operands": [p(pointer)], "key": "id", "order": "descending"}


def test_s9_2_ordering_reads_observed_output_only() -> None:
    assert checking(ordering(ITEMS)) == "ok"
    assert checking(ordering("lend/call-inputs/body")) == f"{MALFORMED} @ {CHECK}.operands[0]"
    assert checking(every(ITEMS, ordering("@/parts"))) == "ok"
    assert checking(both(exists("lend/call-inputs/body"), exists(LOAN))) == "ok"


def test_s9_2_covers_by_key_looks_at_its_set_before_its_operands() -> None:
    twice = put("/referenceSets/books/members", [{"id": 1}, {"id": 1}])
    check = {"op": "covers-by-key", "operands": [refset("books"), lit(1)], **EXTRA["covers-by-key"]}
    assert checking(check, twice) == f"{MALFORMED} @ EvalContract.referenceSets[id=books].members[1].id"
    assert checking(check) == f"{MALFORMED} @ {CHECK}.operands[1]"


def test_s9_2_set_membership_looks_at_its_operand_before_its_set() -> None:
    two = put("/referenceSets/books/keys", ["id", "isbn"])
    check = {"op": "set-membership", "operands": [lit(1), refset("books")]}
    assert checking(check, two) == f"{MALFORMED} @ {CHECK}.operands[0]"


MEMBERSHIP = {"op": "set-membership", "operands": [p(LOAN), refset("books")]}


def covering(key: str) -> Any:
    return {"op": "covers-by-key", "operands": [refset("books"), p(ITEMS)], "expectedKey": key, "actualKey": "id"}


@pytest.mark.parametrize(
    ("check", "books", "expected"),
    [
        (MEMBERSHIP, {"keys": ["id"], "members": []}, "ok"),
        (MEMBERSHIP, {"keys": ["id", "isbn"], "members": []}, f"{MALFORMED} @ {CHECK}.operands[1]"),
        (
            MEMBERSHIP,
            {"keys": ["id"], "members": [{"id": None}, {"isbn": 1}]},
            f"{MALFORMED} @ EvalContract.referenceSets[id=books].members[1].id",
        ),
        (
            MEMBERSHIP,
            {"keys": ["a b"], "members": [{}]},
            f'{MALFORMED} @ EvalContract.referenceSets[id=books].members[0]["a b"]',
        ),
        (MEMBERSHIP, {"keys": ["constructor"], "members": [{"constructor": 1}]}, "ok"),
        (covering("isbn"), {"keys": ["id", "isbn"], "members": [{"isbn": 1}, {"isbn": "1"}, {"isbn": [1]}]}, "ok"),
        (
            covering("isbn"),
            {"keys": ["id"], "members": [{"isbn": 1}, {"id": 1}]},
            f"{MALFORMED} @ EvalContract.referenceSets[id=books].members[1].isbn",
        ),
        (
            covering("id"),
            {"keys": ["id"], "members": [{"id": {"a": 1, "b": 2}}, {"id": 2}, {"id": {"b": 2.0, "a": 1}}]},
            f"{MALFORMED} @ EvalContract.referenceSets[id=books].members[2].id",
        ),
        (
            covering("id"),
            {"keys": ["id"], "members": [{"id": 1e300}]},
            "non-canonicalizable-value @ EvalContract.referenceSets[id=books].members[0].id",
        ),
        (covering("id"), {"keys": ["id"], "members": [{"id": True}, {"id": 1}]}, "ok"),
        (
            {"op": "containment", "operands": [p(ITEMS), refset("books")]},
            {"keys": ["id", "isbn"], "members": [{}]},
            "ok",
        ),
    ],
)
def test_s9_3_what_a_reference_set_must_hold(check: Any, books: Any, expected: str) -> None:
    assert checking(check, put("/referenceSets/books", {**books, "commentary": None})) == expected


def test_s9_3_an_undeclared_set_is_left_to_its_own_code() -> None:
    gone = put("/referenceSets", None)
    assert checking(covering("id"), gone) == f"unresolved-reference-set @ {CHECK}.operands[0]"
    assert checking(MEMBERSHIP, gone) == f"unresolved-reference-set @ {CHECK}.operands[1]"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("^a$", None),
        ("^(?:a|b)$", None),
        ("^(a|(b|c))d$", None),
        ("^[|]$", None),
        ("^[\\]|]$", None),
        ("^[ab|]$", None),
        ("^[a[|]b|c$", "anchored"),
        ("^((a)|b)$", None),
        ("^>\\k<n$", None),
        ("^a\\|b$", None),
        ("^\\(|\\)$", "anchored"),
        ("^a|b$", "anchored"),
        ("^(a)|b$", "anchored"),
        ("^[(]a|b$", "anchored"),
        ("^a\\$", "anchored"),
        ("^a\\\\$", None),
        ("^a\\\\\\$", "anchored"),
        ("^(?=a)a$", None),
        ("^(?!a)b$", None),
        ("^(?<n>a)$", None),
        ("^(a)\\1$", "backreference"),
        ("^(?<n>a)\\k<n>$", "backreference"),
        ("^\\k<n>$", "backreference"),
        ("^\\k<n$", None),
        ("^\\k<>$", None),
        ("^\\k<\\k<a>$", "backreference"),
        ("^\\0$", None),
        ("^\\\\1$", "backreference"),
        ("^(?<=a)b$", "lookbehind"),
        ("^(?<!a)b$", "lookbehind"),
        ("^[(?<=]$", "lookbehind"),
        ("^(?<=a)b|c$", "anchored"),
        ("^(a)\\1(?<=a)$", "backreference"),
        ("^(?P<n>x)$", "valid"),
        ("^\\d{1,2}{3}$", "valid"),
        ("^($", "valid"),
        ("^[b-a]$", "valid"),
        ("^[^]$", None),
        ("^{$", None),
        ("^}]$", None),
        ("^\\p{L}$", None),
        ("^\\u{1}$", None),
        ("^[\U0001f600-a]$", "valid"),
        ("^[a-\U0001f600]$", None),
        ("^[\ud83d-\ude00]$", None),
        ("^\U0001f600$", None),
        ("^\ud800$", None),
        ("^(?<\U0001d49c>a)$", None),
        ("$", "anchored"),
        ("^", "anchored"),
        ("", "anchored"),
    ],
)
def test_s9_4_the_first_reason_is_reported(pattern: str, reason: str | None) -> None:
    found = pattern_refusal(pattern)
    assert (found is None) if reason is None else (found is not None and reason in found)


def test_s9_4_the_path_ends_in_pattern_at_either_site() -> None:
    bad = {"op": "regex", "operands": [p(LOAN)], "pattern": "^a|b$"}
    assert checking(both(exists(LOAN), bad)) == f"{MALFORMED} @ {CHECK}.operands[1].pattern"
    leg = {"op": "regex", "operands": [p("leg-a/response-body/loanId")], "pattern": "^a|b$"}
    assert relating(both(LEGS, leg)) == f"{MALFORMED} @ {RELATION}.operands[1].pattern"


def test_s9_4_patterns_have_caps() -> None:
    assert pattern_refusal("^" + "a" * (MAX_PATTERN_LENGTH - 2) + "$") is None
    long = pattern_refusal("^" + "a" * (MAX_PATTERN_LENGTH - 1) + "$")
    assert long is not None
    assert str(MAX_PATTERN_LENGTH) in long
    assert pattern_refusal("^(?:" + "|" * (MAX_ALTERNATIVES - 1) + ")$") is None
    many = pattern_refusal("^(?:" + "|" * MAX_ALTERNATIVES + ")$")
    assert many is not None
    assert str(MAX_ALTERNATIVES) in many


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (exists("@/a"), f"{MALFORMED} @ {CHECK}.operands[0]"),
        (every("@/a", exists("@/b")), f"{MALFORMED} @ {CHECK}.collection"),
        (both(every(ITEMS, exists("@/b")), exists("@/")), f"{MALFORMED} @ {CHECK}.operands[1].operands[0]"),
        (every(ITEMS, both(negated(exists("@/a")), exists("@/"))), "ok"),
        (eq(lit(1), p("@/a")), f"{MALFORMED} @ {CHECK}.operands[1]"),
    ],
)
def test_s9_5_a_bound_element_needs_a_quantifier_around_it(check: Any, expected: str) -> None:
    assert checking(check) == expected


@pytest.mark.parametrize(
    ("collection", "declared", "expected"),
    [
        ("read/response-body/items", "array", "ok"),
        ("read/response-body/items", None, "ok"),
        ("read/response-body/items", "object", "quantifier-over-non-collection"),
        ("read/response-body/items", "string", "quantifier-over-non-collection"),
        ("read/response-body/items", "null", "quantifier-over-non-collection"),
        ("read/response-body/items/0", "object", "ok"),
        ("read/response-body", "object", "ok"),
        ("read/response-headers/items", "string", "ok"),
        ("lend/call-inputs/body/copyId", "string", "ok"),
    ],
)
def test_s9_5_a_quantifier_needs_a_collection(collection: str, declared: str | None, expected: str) -> None:
    types = put("/permittedInterfaces/0/operations/1/responseDescriptor/types/items", declared)
    found = checking(every(collection, exists(LOAN)), types)
    assert found == (expected if expected == "ok" else f"{expected} @ {CHECK}.collection")


def test_s9_5_the_collection_is_substituted_and_relations_are_walked() -> None:
    nested = every(ITEMS, every("@/0", exists("@/x")))
    assert checking(nested).startswith("quantifier-nesting-exceeded")
    leg = every("leg-a/response-body/loanId", exists("@/x"))
    assert relating(both(LEGS, leg)) == f"quantifier-over-non-collection @ {RELATION}.operands[1].collection"
    stray = every("read/response-body/loanId", exists("@/x"))
    # A step id is not a leg id, so the type is not looked at; the witness's own rule refuses it later.
    assert relating(both(LEGS, stray)) == f"unreachable-check-evidence @ {RELATION}"
    bound = every("@/x", exists("@/y"))
    assert relating(both(LEGS, bound)) == "ok"


def test_s9_5_an_inner_collection_is_judged_where_it_is_rooted() -> None:
    whole = every("read/response-body", every("@/loanId", exists("@/x")))
    assert checking(whole) == f"quantifier-over-non-collection @ {CHECK}.predicate.collection"


@pytest.mark.parametrize(
    ("predicate", "at"),
    [
        (every("@/parts", exists("@/x")), ""),
        (every("@/parts", exists("@/x"), "for-any"), ""),
        (negated(both(exists("@/x"), covering("id"))), ".operands[0].operands[1]"),
    ],
)
def test_s9_6_no_quantifier_and_no_cover_inside_a_predicate(predicate: Any, at: str) -> None:
    assert checking(every(ITEMS, predicate)) == f"quantifier-nesting-exceeded @ {CHECK}.predicate{at}"


def test_s9_6_quantifiers_and_covers_may_stand_side_by_side() -> None:
    assert checking(both(every(ITEMS, exists("@/x")), covering("id"))) == "ok"
    inside = every("leg-a/response-body", every("@/parts", exists("@/x")))
    assert relating(both(LEGS, inside)) == f"quantifier-nesting-exceeded @ {RELATION}.operands[1].predicate"


def test_s9_7_every_named_set_is_declared() -> None:
    contains = {"op": "containment", "operands": [p(ITEMS), refset("films")]}
    assert checking(contains) == f"unresolved-reference-set @ {CHECK}.operands[1]"
    assert checking({**contains, "operands": [p(ITEMS), refset("books")]}) == "ok"
    leg = {"op": "set-membership", "operands": [p("leg-a/response-body/loanId"), refset("films")]}
    assert relating(both(LEGS, leg)) == f"unresolved-reference-set @ {RELATION}.operands[1].operands[1]"
    error = error_of(library(put("/oracles", [oracle(1, contains)])))
    assert error is not None
    assert '"films"' in error.detail


@pytest.mark.parametrize(
    ("node", "code"),
    [
        ({"op": "existence", "operands": [lit(1)]}, MALFORMED),
        (ordering("leg-a/call-inputs/body"), MALFORMED),
        ({"op": "set-membership", "operands": [p("leg-a/response-body/loanId"), refset("pairs")]}, MALFORMED),
    ],
)
def test_s9_8_operand_rules_cover_relations_too(node: Any, code: str) -> None:
    pairs = put("/referenceSets", {"pairs": {"keys": ["a", "b"], "members": [], "commentary": None}})
    assert relating(both(LEGS, node), pairs).startswith(code)


def test_s9_8_oracles_are_walked_before_witnesses() -> None:
    relation = put(
        "/permittedInterfaces/0/operations/0/sensitivityWitness/relation",
        {"op": "existence", "operands": [lit(1)]},
    )
    bad = {"op": "existence", "operands": [lit(2)]}
    assert checking(bad, relation) == f"{MALFORMED} @ {CHECK}.operands[0]"


def test_s9_hundreds_of_levels_compile() -> None:
    deep = exists(LOAN)
    for _ in range(450):
        deep = negated(deep)
    assert checking(deep) == "ok"
    deeper = LEGS
    for _ in range(400):
        deeper = negated(deeper)
    assert relating(deeper) == "ok"


def test_s9_a_deep_literal_is_compared_without_running_out_of_stack() -> None:
    value: Any = 1
    for _ in range(500):
        value = [value]
    witness = "/permittedInterfaces/0/operations/0/sensitivityWitness"
    edits = (
        put(f"{witness}/legs/0/inputs", api_inputs(body=json_body({"copyId": value}))),
        put(f"{witness}/legs/1/inputs", api_inputs(body=json_body({"copyId": [value]}))),
        add("/permittedInterfaces/0/operations/0/requestShape/body/types/copyId", None),
        put("/interactionPlan/0/inputBinding/body/copyId", lit(value)),
    )
    assert verdict(library(*edits)) == "ok"


@pytest.mark.parametrize(("channel", "expected"), [("stdout", "quantifier-over-non-collection"), ("stderr", "ok")])
def test_s9_5_the_described_channel_of_a_command_counts(channel: str, expected: str) -> None:
    from support.contracts import command_contract

    described = put("/permittedInterfaces/0/operations/0/descriptorChannel", {"kind": "stream", "channel": "stdout"})
    over = f"run/{channel}/count" if channel == "stdout" else f"run/{channel}"
    document = command_contract(described, put("/oracles", [oracle(1, every(over, exists("@/x")))]))
    assert verdict(document).split(" @ ")[0] == expected


def test_s9_5_a_step_that_does_not_resolve_is_skipped() -> None:
    from eval_quality.core.compile.entry import read_contract
    from eval_quality.core.compile.expression import quantifier_collections
    from eval_quality.core.compile.survey import Survey

    lost = library(put("/oracles", [oracle(1, every("nowhere/response-body/loanId", exists("@/x")))]))
    assert quantifier_collections(Survey(read_contract(lost))) is None
