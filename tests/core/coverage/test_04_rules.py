"""Spec 04 part A: the seven coverage rules."""

from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.coverage.evaluate import assess, coverage_gaps, gap_severity
from eval_quality.core.coverage.rules import DISCIPLINE_RULE_IDS, DISCIPLINE_RULES
from eval_quality.core.coverage.view import addresses, descriptor_pointer, descriptor_root, parameter, response_key
from eval_quality.core.explain.patch import add, put
from eval_quality.model.decode import to_value
from support.contracts import (
    Edit,
    api_binding,
    api_operation,
    apply,
    both,
    cli_binding,
    command_contract,
    contract,
    desk,
    eq,
    every,
    exists,
    gaps,
    keys,
    library,
    lit,
    negated,
    oracle,
    p,
    raw_body,
    refset,
    response,
    shape,
    step,
    tool_contract,
)

OPERATION = "/permittedInterfaces/0/operations/0"
DESCRIPTOR = f"{OPERATION}/responseDescriptor"


def open_rules(document: Any, *edits: Edit) -> list[int]:
    return gaps(apply(document, edits))


def test_s1_coverage_never_raises_and_never_blocks() -> None:
    from support.contracts import verdict

    wild = library(
        put("/oracles/0/check", {"op": "existence", "operands": [lit(1)]}),
        put("/interactionPlan/0/operationId", "nowhere"),
        add("/interactionPlan/-", step("read", "get-loan")),
        put("/permittedInterfaces/0/kind", "web"),
    )
    assert set(gaps(wild)) >= {3, 4, 7}
    assert verdict(desk(put("/siblingGroups", None))) == "ok"
    assert gaps(desk(put("/siblingGroups", None))) == [5]


def test_s1_1_ids_order_and_predicate_names() -> None:
    assert DISCIPLINE_RULE_IDS == (
        "success-indicator-separation",
        "whole-body",
        "malformed-input",
        "per-record",
        "sibling-cross-check",
        "omission-and-completeness",
        "state-change-read-back",
    )
    for rule in DISCIPLINE_RULES:
        assert rule.relevance_predicate == f"{rule.id}-relevance"
        assert rule.satisfaction_predicate == f"{rule.id}-satisfaction"


def test_s1_2_the_published_record() -> None:
    (gap,) = coverage_gaps(read_contract(desk(put("/siblingGroups", None))))
    assert to_value(gap) == {
        "relevancePredicate": "sibling-cross-check-relevance",
        "rule": "sibling-cross-check",
        "satisfactionPredicate": "sibling-cross-check-satisfaction",
        "satisfied": False,
        "severity": "material",
    }
    assert coverage_gaps(read_contract(desk())) == ()


@pytest.mark.parametrize(
    ("severities", "expected"),
    [(["low"], "low"), (["low", "critical", "material"], "critical"), (["material", "low"], "material")],
)
def test_s1_3_one_severity_the_highest_for_every_gap(severities: list[str], expected: str) -> None:
    behaviors = [{**desk()["behaviors"][0], "severity": each} for each in severities]
    document = desk(put("/behaviors", behaviors), put("/siblingGroups", None), put(f"{DESCRIPTOR}/channelRoles", None))
    record = read_contract(document)
    assert gap_severity(record) == expected
    assert [gap.severity for gap in coverage_gaps(record)] == [expected, expected]


def test_s1_3_waivers_are_not_consulted() -> None:
    waiver = {
        "id": "W-001",
        "rule": "sibling-cross-check",
        "rationale": "x",
        "condition": None,
        "approval": "y",
        "expiresAt": "2099-01-01T00:00:00Z",
    }
    assert gaps(desk(put("/siblingGroups", None), put("/waivers", [waiver]))) == [5]


def test_s1_4_no_operation_at_all() -> None:
    assert gaps(contract()) == [1, 2, 3, 4, 6, 7]
    assert gaps(contract(siblingGroups=None)) == [1, 2, 3, 4, 5, 6, 7]
    empty = contract(permittedInterfaces=[{"logicalId": "a", "kind": "cli", "operations": []}])
    assert gaps(empty) == [1, 2, 3, 4, 6, 7]


def test_s1_4_irrelevant_implies_satisfied_and_absent_is_never_satisfied() -> None:
    for document in (desk(), library(), command_contract(), tool_contract(), contract()):
        for verdict in assess(read_contract(document)):
            assert verdict.relevant or verdict.satisfied


def test_s2_1_duplicated_operations_are_listed() -> None:
    twin = {**library()["permittedInterfaces"][0]["operations"][0], "pathTemplate": "/other"}
    document = library(add("/permittedInterfaces/0/operations/-", twin))
    (verdict,) = [each for each in assess(read_contract(document)) if each.rule.id == "state-change-read-back"]
    assert len(verdict.sites) == 2


def test_s2_1_descriptor_roots() -> None:
    api = read_contract(library()).permitted_interfaces[0].operations[0]
    cli = read_contract(command_contract()).permitted_interfaces[0].operations[0]
    file = put(f"{OPERATION}/descriptorChannel", {"kind": "artifact", "artifactId": "report"})
    written = read_contract(command_contract(file)).permitted_interfaces[0].operations[0]
    assert [descriptor_root(each) for each in (api, cli, written)] == ["/response-body", "/stdout", "/artifact/report"]


def test_s2_2_pointer_builders_escape_keys() -> None:
    api = read_contract(library()).permitted_interfaces[0].operations[0]
    assert descriptor_pointer("s", api, "") == "/interactions/s/response-body"
    assert descriptor_pointer("s", api, "/a~1b") == "/interactions/s/response-body/a~1b"
    assert response_key("s", api, "a/~b") == "/interactions/s/response-body/a~1~0b"
    assert parameter("s", "body", "a/b") == "/interactions/s/call-inputs/body/a~1b"


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [("/r/a", True), ("/r/a/b", True), ("/r/ab", False), ("/r", False), ("/r/a.b", False), ("/r/a0", False)],
)
def test_s2_2_addressing_is_equality_or_a_whole_segment_prefix(pointer: str, expected: bool) -> None:
    assert addresses(pointer, "/r/a") is expected
    documented = contract(
        oracles=[oracle(1, exists(f"s{pointer.replace('/r', '/response-body')}"))],
        interactionPlan=[step("s", "x")],
    )
    from eval_quality.core.coverage.view import CoverageView

    view = CoverageView(read_contract(documented))
    root = "/interactions/s/response-body/a"
    assert view.in_check(root) == view.in_both(root) == (frozenset({0}) if expected else frozenset())


def test_s2_3_both_channels_are_needed_and_bound_elements_are_rooted() -> None:
    from eval_quality.core.coverage.view import CoverageView

    check = every("s/response-body/items", exists("@/id"))
    record = read_contract(
        contract(
            oracles=[
                oracle(1, check, ["s/response-body"]),
                {**oracle(2, check), "direction": None},
                {**oracle(3, check), "check": None},
            ],
            interactionPlan=[step("s", "x")],
        )
    )
    view = CoverageView(record)
    assert view.in_check("/interactions/s/response-body/items/id") == {0, 1}
    assert view.in_both("/interactions/s/response-body") == {0}
    assert view.in_both("/interactions/s/response-body/items") == frozenset()
    assert view.oracles[2].nodes == ()
    assert view.oracles[1].targets == ()


# --- rule 1 -----------------------------------------------------------------------------------------------------

STATUS, LOAN = "read/response-body/status", "read/response-body/loanId"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((), []),
        ((put("/behaviors/0/oracles", []),), [1]),
        ((put("/behaviors/0/oracles", ["O-999", "O-001"]),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", {}),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/status": "success-indicator"}),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", None),), [1]),
        ((put(f"{DESCRIPTOR}/successIndicator", None),), [1]),
        ((put(f"{DESCRIPTOR}/successIndicator", None), put(f"{DESCRIPTOR}/channelRoles", {})), [1]),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/loanId": "success-indicator"}),), [1]),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/status": "payload", "/loanId": "diagnostic"}),), []),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/items": "collection"}),), [1]),
        ((put(f"{DESCRIPTOR}/channelRoles", {"/items": "collection", "/loanId": "payload"}),), []),
        ((put(f"{DESCRIPTOR}/successIndicator", ""),), []),
    ],
)
def test_s3_1_the_indicator_is_read_with_another_channel(edits: tuple[Edit, ...], expected: list[int]) -> None:
    assert open_rules(desk(), *edits) == expected


def test_s3_1_both_are_read_at_one_step_by_one_oracle() -> None:
    again = step("again", "get-loan", inputBinding=api_binding(path={"id": lit("l-2")}))
    split = both(exists(STATUS), exists("again/response-body/loanId"))
    assert 1 in open_rules(desk(), add("/interactionPlan/-", again), put("/oracles/0", oracle(1, split)))
    whole = both(exists("again/response-body/status"), exists("again/response-body/loanId"))
    assert open_rules(desk(), add("/interactionPlan/-", again), put("/oracles/0", oracle(1, whole))) == []
    apart = [oracle(1, exists(STATUS)), oracle(3, exists(LOAN))]
    edits = (put("/oracles/0", apart[0]), add("/oracles/-", apart[1]), put("/behaviors/0/oracles", ["O-001", "O-003"]))
    assert open_rules(desk(), *edits) == [1, 2]


def test_s3_1_every_operation_is_a_site_of_its_own() -> None:
    other = api_operation("other", "GET", "/other", responseDescriptor=response(channelRoles={"/x": "payload"}))
    assert open_rules(desk(), add("/permittedInterfaces/0/operations/-", other)) == [1]
    quiet = api_operation("other", "GET", "/other")
    assert open_rules(desk(), add("/permittedInterfaces/0/operations/-", quiet)) == []


EXIT, OUT = "run/exit-code", "run/stdout"


def scalar(check: Any, *edits: Edit, targets: Any = (OUT, EXIT), **over: Any) -> list[int]:
    """A command that prints one plain text; one listed oracle."""
    described = response(successIndicator=None, channelRoles=None)
    base = command_contract(
        put(DESCRIPTOR, described),
        put("/oracles", [oracle(1, check, [*targets], **over)]),
    )
    return open_rules(base, *edits)


SAID = both(eq(p(EXIT), lit(0)), eq(p(OUT), lit("42\n")))


@pytest.mark.parametrize(
    "check",
    [
        SAID,
        both(eq(lit(0), p(EXIT)), eq(lit("42"), p(OUT))),
        both(eq(p(EXIT), lit(0.0)), eq(p(OUT), lit(42))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit(True))),
        both(both(eq(p(EXIT), lit(0)), exists(OUT)), both(exists(EXIT), eq(p(OUT), lit("")))),
        {"op": "all", "operands": [{**eq(p(EXIT), lit(0)), "op": "deep-equality"}, eq(p(OUT), lit("x"))]},
    ],
)
def test_s3_1_a_scalar_command_asserts_exit_and_exact_text(check: Any) -> None:
    assert scalar(check) == []


@pytest.mark.parametrize(
    "check",
    [
        eq(p(EXIT), lit(0)),
        eq(p(OUT), lit("42")),
        both(eq(p(EXIT), lit(1)), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit(False)), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit("0")), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit(0)), {"op": "containment", "operands": [p(OUT), lit("42")]}),
        both(eq(p(EXIT), lit(0)), {"op": "regex", "operands": [p(OUT)], "pattern": "^42$"}),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit(None))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit(["42"]))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), lit({}))),
        both(eq(p(EXIT), lit(0)), eq(p(OUT), p(EXIT))),
        both(eq(p(EXIT), p(OUT)), eq(p(OUT), lit("42"))),
        both(eq(p(EXIT), lit(0)), eq(p("run/stdout/x"), lit("42"))),
        both(eq(lit(0), lit(0)), eq(p(OUT), lit("42"))),
        negated(SAID),
        both(eq(p(EXIT), lit(0)), negated(eq(p(OUT), lit("42")))),
        {"op": "any", "operands": SAID["operands"]},
        both(eq(p(EXIT), lit(0)), every("run/stdout", eq(p(OUT), lit("42")))),
    ],
)
def test_s3_1_what_is_not_enough_for_a_scalar_command(check: Any) -> None:
    assert scalar(check) == [1]


def test_s3_1_direction_polarity_listing_and_form_of_a_scalar_command() -> None:
    assert scalar(SAID, targets=(EXIT, OUT, "run/stderr")) == []
    assert scalar(SAID, targets=(OUT,)) == [1]
    assert scalar(SAID, targets=(EXIT,)) == [1]
    assert scalar(SAID, polarity="expects-violation") == [1]
    assert scalar(SAID, put("/behaviors/0/oracles", [])) == [1]
    assert scalar(SAID, put("/oracles/0/check", None)) == [1]
    assert scalar(SAID, put("/oracles/0/direction", None)) == [1]
    assert scalar(SAID, put("/interactionPlan/0/stepId", "other")) == [1]
    for roles, expected in (
        ({}, []),
        ({"": "payload"}, []),
        ({"": "diagnostic"}, [1]),
        ({"/x": "payload"}, [1]),
        ({"": "payload", "/x": "payload"}, [1]),
    ):
        assert scalar(SAID, put(f"{DESCRIPTOR}/channelRoles", roles)) == expected
    for declared in ({"requiredKeys": ["x"]}, {"permittedKeys": ["x"]}, {"types": {"x": None}}):
        name, value = next(iter(declared.items()))
        assert scalar(SAID, put(f"{DESCRIPTOR}/{name}", value)) == [1]
    errors = put(f"{OPERATION}/descriptorChannel", {"kind": "stream", "channel": "stderr"})
    assert scalar(SAID, errors) == [1]


def test_s3_1_only_a_command_may_go_without_an_indicator() -> None:
    silent = response(successIndicator=None, channelRoles={})
    assert open_rules(tool_contract(), put(DESCRIPTOR, silent)) == [1]
    assert 1 in open_rules(library(), put(f"{DESCRIPTOR}/successIndicator", None))


COUNT, FINDINGS = "run/stdout/count", "run/stdout/findings"


def printed(*edits: Edit) -> list[int]:
    """A command whose described output has an indicator, two required keys and a collection."""
    described = response(
        {"count": "number", "findings": "array"},
        successIndicator="/count",
        channelRoles={"/findings": "collection"},
        collectionLocations=[
            {"pointer": "/findings", "expectedCardinality": {"mode": "at-most", "max": 9}, "referenceSet": None}
        ],
    )
    check = both(eq(p(COUNT), lit(0)), every(FINDINGS, exists("@/line")))
    return open_rules(command_contract(put(DESCRIPTOR, described), put("/oracles", [oracle(1, check)])), *edits)


def test_s2_1_rules_look_at_the_described_channel_whatever_the_kind() -> None:
    assert printed() == []
    errors = put(f"{OPERATION}/descriptorChannel", {"kind": "stream", "channel": "stderr"})
    assert printed(errors) == [1, 2, 4]


# --- rule 2 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((put(f"{DESCRIPTOR}/requiredKeys", ["loanId", "loanId"]),), []),
        ((put(f"{DESCRIPTOR}/requiredKeys", ["loanId", "loanId", "status"]),), []),
        ((put(f"{DESCRIPTOR}/requiredKeys", ["loanId", "items"]),), [2]),
        ((put(f"{DESCRIPTOR}/requiredKeys", []), put(f"{DESCRIPTOR}/permittedKeys", ["a", "b", "c"])), []),
        ((put("/oracles/0/direction/evidenceTargets", [f"/interactions/{STATUS}"]),), [1, 2]),
        (
            (put("/oracles/0", oracle(1, exists("read/response-body"), ["read/response-body"])),),
            [1, 2],
        ),
        (
            (
                put(
                    "/oracles/0",
                    oracle(1, both(exists(f"{STATUS}/deep"), exists(f"{LOAN}/0"))),
                ),
            ),
            [],
        ),
        ((put("/behaviors/0/oracles", []), put(f"{DESCRIPTOR}/channelRoles", {})), []),
    ],
)
def test_s3_2_one_oracle_reads_every_required_key(edits: tuple[Edit, ...], expected: list[int]) -> None:
    assert open_rules(desk(), *edits) == expected


def test_s3_2_at_one_step() -> None:
    again = step("again", "get-loan", inputBinding=api_binding(path={"id": lit("l-2")}))
    split = both(exists(STATUS), exists("again/response-body/loanId"))
    quiet = put(f"{DESCRIPTOR}/channelRoles", {})
    assert open_rules(desk(), quiet, add("/interactionPlan/-", again), put("/oracles/0", oracle(1, split))) == [2]


# --- rule 3 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((put("/interactionPlan/1/inputBinding/path/id", lit("x")),), [3]),
        ((put("/interactionPlan/1/inputBinding/path/id", {"matcher": "any"}),), [3]),
        ((put("/interactionPlan/1/inputBinding", api_binding(query={"z": {"matcher": "type-violating"}})),), []),
        ((put("/oracles/1", oracle(2, exists("bad/call-inputs/path/id"))),), []),
        ((put("/oracles/1/direction", None),), []),
        ((put("/oracles/1", oracle(2, exists("read/response-status"))),), [3]),
        ((put("/oracles/1/check", None),), [3]),
        ((put(f"{OPERATION}/requestShape", shape()),), []),
        ((put(f"{OPERATION}/requestShape", shape(header=keys(types={"x": None}))),), []),
        ((put(f"{OPERATION}/requestShape", shape(body=keys({}, {"x": ""}))), put("/oracles/1/check", None)), [3]),
        ((put("/interactionPlan/1/inputBinding", api_binding(body=raw_body())),), [3]),
    ],
)
def test_s3_3_a_type_violation_is_sent_and_looked_at(edits: tuple[Edit, ...], expected: list[int]) -> None:
    assert open_rules(desk(), *edits) == expected


# --- rules 4 and 6 ----------------------------------------------------------------------------------------------

MEMBER = {"op": "set-membership", "operands": [p("@/id"), refset("books")]}
ITEMS = "read/response-body/items"


def located(mode: str = "at-most", named: str | None = "books", pointer: str = "/items") -> Edit:
    size = {"mode": mode, "count" if mode == "exact" else "max": 5}
    return put(
        f"{DESCRIPTOR}/collectionLocations",
        [{"pointer": pointer, "expectedCardinality": size, "referenceSet": named}],
    )


def reconciled(check: Any, *edits: Edit) -> list[int]:
    third = {**oracle(3, check), "direction": None}
    return open_rules(desk(), add("/oracles/-", third), *(edits or (located(),)))


def covers(collection: str = ITEMS, named: str = "books") -> Any:
    return {"op": "covers-by-key", "operands": [refset(named), p(collection)], "expectedKey": "id", "actualKey": "id"}


PAGE = every(ITEMS, MEMBER)


@pytest.mark.parametrize(
    ("check", "edits", "expected"),
    [
        (PAGE, (located(),), []),
        (PAGE, (located("page-bounded"),), []),
        (PAGE, (located("exact"),), [6]),
        (covers(), (located("exact"),), [4]),
        (both(covers(), every(ITEMS, exists("@/id"), "for-any")), (located("exact"),), []),
        (both(covers(), PAGE), (located("at-most"),), []),
        (covers(), (located("at-most"),), [4, 6]),
        (covers(named="films"), (located("exact"),), [4, 6]),
        (covers("read/response-body"), (located("exact"),), [4, 6]),
        (every(ITEMS, MEMBER, "for-any"), (located(),), [6]),
        (every(ITEMS, both(MEMBER, exists("@/id"))), (located(),), [6]),
        (every(ITEMS, negated(MEMBER)), (located(),), [6]),
        (every(ITEMS, {**MEMBER, "operands": [p("@/id"), refset("films")]}), (located(),), [6]),
        (every(ITEMS, {**MEMBER, "operands": [p("@/id"), {"literal": [1]}]}), (located(),), [6]),
        (negated(PAGE), (located(),), []),
        (every("read/response-body", MEMBER), (located(),), [4, 6]),
        (every(f"{ITEMS}/0", MEMBER), (located(),), [4, 6]),
        (every("bad/response-body/items", MEMBER), (located(),), []),
        (exists(ITEMS), (located(named=None),), [4]),
        (every(ITEMS, exists("@/x")), (located(named=None),), []),
        (every("read/response-body", exists("@/x")), (located(named=None, pointer=""),), []),
        (exists(ITEMS), (put(f"{DESCRIPTOR}/collectionLocations", None),), [4, 6]),
        (PAGE, (put(f"{DESCRIPTOR}/collectionLocations", None),), [4, 6]),
        (exists(ITEMS), (put(f"{DESCRIPTOR}/collectionLocations", []),), []),
    ],
)
def test_s3_4_and_s3_6_collections(check: Any, edits: tuple[Edit, ...], expected: list[int]) -> None:
    assert reconciled(check, *edits) == expected


def test_s3_4_each_location_is_a_site_and_nested_quantifiers_count() -> None:
    two = located()
    second = {**two.value[0], "pointer": "/items/parts", "referenceSet": None}
    more = add(f"{DESCRIPTOR}/collectionLocations/-", second)
    assert reconciled(PAGE, two, more) == [4]
    nested = every(ITEMS, every("@/parts", exists("@/x")))
    assert reconciled(both(PAGE, nested), two, more) == []


def test_s3_6_an_undeclared_set_is_as_relevant() -> None:
    assert desk()["referenceSets"] is None
    assert reconciled(exists(ITEMS), located()) == [4, 6]


# --- rule 5 -----------------------------------------------------------------------------------------------------


def pair(*names: str) -> Any:
    return [{"interfaceId": "library", "operationId": name} for name in names]


def grouped(operations: Any = (), parameters: Any = ()) -> Edit:
    return put("/siblingGroups", {"operations": [*operations], "parameters": [*parameters]})


LEND_AND_READ = eq(p("lend/response-body/loanId"), p("read/response-body/loanId"))


@pytest.mark.parametrize(
    ("group", "check", "targets", "expected"),
    [
        (grouped([pair("lend-book", "get-loan")]), LEND_AND_READ, None, False),
        (grouped([pair("lend-book", "get-loan", "nowhere")]), LEND_AND_READ, None, False),
        (grouped([pair("lend-book", "lend-book")]), LEND_AND_READ, None, True),
        (grouped([pair("lend-book", "nowhere")]), LEND_AND_READ, None, True),
        (grouped([pair("lend-book", "get-loan")]), LEND_AND_READ, ["lend/response-body/loanId"], True),
        (grouped([pair("lend-book", "get-loan")]), exists("read/stdout"), None, True),
        (grouped([pair("lend-book", "get-loan")] * 2), LEND_AND_READ, None, False),
        (grouped([pair("lend-book", "get-loan"), pair("lend-book", "other")]), LEND_AND_READ, None, True),
        (
            grouped([], [["copyId", "id"]]),
            both(exists("lend/call-inputs/body/copyId"), exists("read/call-inputs/path/id")),
            None,
            False,
        ),
        (
            grouped([], [["copyId", "id"]]),
            both(exists("lend/call-inputs/body/copyId"), exists("lend/call-inputs/option/id/deep")),
            None,
            False,
        ),
        (grouped([], [["copyId", "id"]]), exists("lend/call-inputs/body/copyId"), None, True),
        (grouped([], [["copyId", "copyId"]]), exists("lend/call-inputs/body/copyId"), None, True),
        (grouped([], [["copyId", "id"]]), exists("lend/call-inputs/body"), None, True),
        (
            grouped([], [["copyId", "id"]]),
            both(exists("lend/call-inputs/body/copyId"), exists("nowhere/call-inputs/path/id")),
            None,
            True,
        ),
        (put("/siblingGroups", None), LEND_AND_READ, None, True),
        (grouped(), exists("read/stdout"), None, False),
    ],
)
def test_s3_5_two_members_are_read_by_one_oracle(group: Edit, check: Any, targets: Any, expected: bool) -> None:
    found = open_rules(library(), group, put("/oracles", [oracle(1, check, targets)]))
    assert (5 in found) is expected


def test_s3_5_two_oracles_of_one_member_each_compare_nothing() -> None:
    apart = [oracle(1, exists("lend/stdout")), oracle(2, exists("read/stdout"))]
    assert 5 in open_rules(library(), grouped([pair("lend-book", "get-loan")]), put("/oracles", apart))


# --- rule 7 -----------------------------------------------------------------------------------------------------

SENT, OBSERVED = "lend/call-inputs/body/copyId", "read/response-body/loanId"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))),), False),
        ((put("/oracles/0", oracle(1, eq(p(OBSERVED), p(SENT)))),), False),
        ((put("/oracles/0", oracle(1, negated(eq(p("lend/call-inputs/body"), p("read/response-body"))))),), False),
        ((put("/oracles/0", {**oracle(1, eq(p(SENT), p(OBSERVED))), "direction": None}),), False),
        ((put("/oracles/0", oracle(1, both(exists(SENT), exists(OBSERVED)))),), True),
        ((put("/oracles/0", oracle(1, eq(p(SENT), p("read/response-status")))),), True),
        ((put("/oracles/0", oracle(1, eq(p("lend/response-body"), p(OBSERVED)))),), True),
        ((put("/oracles/0", oracle(1, every(OBSERVED, eq(p(SENT), p("@/id"))))),), False),
        ((put("/oracles/0", oracle(1, every(OBSERVED, eq(p(SENT), lit(1))))),), True),
        ((put("/oracles/0", oracle(1, every(OBSERVED, exists("lend/call-inputs/body")))),), True),
        (
            (put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))), put("/interactionPlan/1/after", None)),
            True,
        ),
        (
            (
                put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))),
                put("/interactionPlan/1/operationId", "lend-book"),
            ),
            True,
        ),
        (
            (put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))), put("/interactionPlan/1/operationId", "nowhere")),
            True,
        ),
        ((put(f"{OPERATION}/stateChangeMarker", False),), False),
    ],
)
def test_s3_7_what_was_sent_is_compared_with_what_was_read_back(edits: tuple[Edit, ...], expected: bool) -> None:
    assert (7 in open_rules(library(), *edits)) is expected


def test_s3_7_a_step_does_not_read_itself_back_and_a_duplicated_reader_does_not_count() -> None:
    itself = (
        put("/oracles/0", oracle(1, eq(p("read/call-inputs/path/id"), p(OBSERVED)))),
        put("/permittedInterfaces/0/operations/1/stateChangeMarker", True),
        put("/interactionPlan/1/after", "read"),
        put(f"{OPERATION}/stateChangeMarker", False),
    )
    assert 7 in open_rules(library(), *itself)
    twin = {**library()["permittedInterfaces"][0]["operations"][1], "pathTemplate": "/twin"}
    doubled = (
        put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))),
        add("/permittedInterfaces/0/operations/-", twin),
    )
    assert 7 in open_rules(library(), *doubled)


def test_s3_7_the_described_channel_of_the_reader_counts() -> None:
    base = command_contract(
        put(f"{OPERATION}/stateChangeMarker", True),
        put(f"{OPERATION}/operationId", "write"),
        put(f"{OPERATION}/requestShape/option", keys({}, {"x": "string"})),
        add(
            "/permittedInterfaces/0/operations/-",
            {
                **command_contract()["permittedInterfaces"][0]["operations"][0],
                "descriptorChannel": {"kind": "artifact", "artifactId": "report"},
            },
        ),
        put("/interactionPlan/0/operationId", "write"),
        add("/interactionPlan/-", step("look", "lint", "run", "linter", inputBinding=cli_binding())),
    )
    for read, expected in (("artifact/report/count", False), ("artifact/log", True), ("stdout", True)):
        related = eq(p("run/call-inputs/option/x"), p(f"look/{read}"))
        assert (7 in open_rules(base, put("/oracles", [oracle(1, related)]))) is expected


def test_s3_8_what_each_rule_consults() -> None:
    table = [(rule.site, rule.direction, rule.check, rule.behavior_link) for rule in DISCIPLINE_RULES]
    assert table == [
        ("operation", True, "yes", True),
        ("operation", True, "yes", False),
        ("operation", False, "yes", False),
        ("collection location", False, "yes (quantifier)", False),
        ("sibling group", True, "yes", False),
        ("collection location with a set", False, "yes (form)", False),
        ("state-changing operation", False, "yes (one node)", False),
    ]


# --- §11.1 ------------------------------------------------------------------------------------------------------

NO_LOAN = put("/oracles/0/direction/evidenceTargets", [f"/interactions/{STATUS}"])
SPLIT = (
    put("/oracles/0", oracle(1, eq(p(STATUS), lit("open")))),
    add("/oracles/-", oracle(3, eq(p(LOAN), lit("l-1")))),
    put("/behaviors/0/oracles", ["O-001", "O-003"]),
)
WHOLE = put("/oracles/0", oracle(1, exists("read/response-body")))
EXAMPLES: dict[str, tuple[tuple[Edit, ...], list[int]]] = {
    "K0": ((), []),
    "not listed": ((put("/behaviors/0/oracles", []),), [1]),
    "direction drops loanId": ((NO_LOAN,), [1, 2]),
    "split": (SPLIT, [1, 2]),
    "whole body only": ((WHOLE,), [1, 2]),
    "no roles": ((put(f"{DESCRIPTOR}/channelRoles", {}),), []),
    "roles absent": ((put(f"{DESCRIPTOR}/channelRoles", None),), [1]),
    "literal": ((put("/interactionPlan/1/inputBinding/path/id", lit("x")),), [3]),
    "locations absent": ((put(f"{DESCRIPTOR}/collectionLocations", None),), [4, 6]),
    "location without quantifier": ((located(),), [4, 6]),
    "page form": ((located(), add("/oracles/-", oracle(3, PAGE))), []),
    "wrapped membership": (
        (located(), add("/oracles/-", oracle(3, every(ITEMS, both(MEMBER, exists("@/id")))))),
        [6],
    ),
    "page form of an exact collection": ((located("exact"), add("/oracles/-", oracle(3, PAGE))), [6]),
    "siblings absent": ((put("/siblingGroups", None),), [5]),
    "no interface": ((put("/permittedInterfaces", []), put("/interactionPlan", [])), [1, 2, 3, 4, 6, 7]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_s11_1_worked_example(name: str) -> None:
    edits, expected = EXAMPLES[name]
    assert open_rules(desk(), *edits) == expected


def test_s11_1_a_critical_behaviour_makes_the_gap_critical() -> None:
    record = read_contract(desk(put("/behaviors/0/severity", "critical"), put("/siblingGroups", None)))
    assert [(gap.rule, gap.severity) for gap in coverage_gaps(record)] == [("sibling-cross-check", "critical")]


def test_s11_1_reasons_name_place_witness_and_way_out() -> None:
    verdicts = {each.rule.id: each for each in assess(read_contract(desk(NO_LOAN)))}
    (indicator,) = verdicts["success-indicator-separation"].sites
    assert indicator.place == "operation library/get-loan"
    assert '"/status"' in indicator.because
    assert indicator.witness is None
    (malformed,) = verdicts["malformed-input"].sites
    assert malformed.witness == "oracle O-002 at step bad"
    whole = verdicts["whole-body"].sites[0]
    assert "loanId, status" in whole.close
    assert "2 keys" in whole.because


def reasons(document: Any, rule: str) -> list[tuple[str, str, str | None, str]]:
    """Every site of one rule, whole."""
    (verdict,) = [each for each in assess(read_contract(document)) if each.rule.id == rule]
    return [tuple(site) for site in verdict.sites]


def test_s1_4_every_reason_is_a_sentence_about_its_place() -> None:
    place = "operation library/get-loan"
    read_both = (
        "let one oracle that a behaviour lists read the indicator and one other channel, at one step, in its direction "
        "and in its check"
    )
    indicator = "success-indicator-separation"
    assert reasons(desk(), indicator) == [
        (
            place,
            'its success indicator "/status" and another answer channel have roles',
            "oracle O-001 at step read",
            read_both,
        )
    ]
    assert reasons(desk(put(f"{DESCRIPTOR}/channelRoles", None)), indicator) == [
        (
            place,
            "channelRoles is null, so nothing says what stands beside the indicator",
            None,
            "declare channelRoles; {} says that nothing stands beside the indicator",
        )
    ]
    assert reasons(desk(put(f"{DESCRIPTOR}/successIndicator", None)), indicator) == [
        (
            place,
            "successIndicator is null, so nothing says where success shows",
            None,
            'nominate a successIndicator ("" is the whole answer), or, for a command that prints one plain text, let '
            "one listed oracle assert exit code 0 and the exact text together",
        )
    ]
    assert reasons(contract(), indicator) == [
        (
            "contract",
            "it declares no operation, so nothing says that the rule does not apply",
            None,
            "declare the operations under test in permittedInterfaces",
        )
    ]
    assert reasons(desk(), "whole-body") == [
        (
            place,
            "its answer requires 2 keys",
            "oracle O-001 at step read",
            "let one oracle read all of loanId, status at one step, in its direction and in its check",
        )
    ]
    assert reasons(desk(), "malformed-input") == [
        (
            place,
            "it declares request keys",
            "oracle O-002 at step bad",
            'add a step that binds one key to {"matcher": "type-violating"} and an oracle whose check reads that step',
        )
    ]


def test_s1_4_reasons_of_collections_siblings_and_read_backs() -> None:
    undeclared = (
        "operation library/get-loan",
        "collectionLocations is null, so nothing says whether the answer holds a collection",
        None,
        "declare collectionLocations; [] says that the answer holds none",
    )
    unsaid = desk(put(f"{DESCRIPTOR}/collectionLocations", None))
    assert reasons(unsaid, "per-record") == reasons(unsaid, "omission-and-completeness") == [undeclared]
    where = 'operation library/get-loan, collection "/items"'
    found = desk(located(), add("/oracles/-", oracle(3, PAGE)))
    assert reasons(found, "per-record") == [
        (
            where,
            "the answer holds a collection there",
            "oracle O-003 at step read",
            "let some check run for-all or for-any over exactly that collection",
        )
    ]
    assert reasons(found, "omission-and-completeness") == [
        (
            where,
            'the at-most collection is reconciled with reference set "books"',
            "oracle O-003 at step read",
            "let some check be for-all over that collection whose predicate is set-membership in that set",
        )
    ]
    exact = desk(located("exact"))
    assert reasons(exact, "omission-and-completeness")[0][3] == (
        "let some check be covers-by-key with that set and that collection"
    )
    grouping = grouped([pair("lend-book", "get-loan")], [["copyId", "id"]])
    compare = "let one oracle read two members of the group, in its direction and in its check"
    assert reasons(library(grouping), "sibling-cross-check") == [
        ("siblingGroups.operations[0]", "library/lend-book, library/get-loan should agree", "oracle O-001", compare),
        ("siblingGroups.parameters[0]", "copyId, id should agree", None, compare),
    ]
    assert reasons(library(put("/siblingGroups", None)), "sibling-cross-check") == [
        (
            "contract",
            "siblingGroups is null, so nothing says which operations or parameters should agree",
            None,
            'declare siblingGroups; {"operations": [], "parameters": []} says that none should',
        )
    ]
    related = library(put("/oracles/0", oracle(1, eq(p(SENT), p(OBSERVED)))))
    assert reasons(related, "state-change-read-back") == [
        (
            "operation library/lend-book",
            "it is marked as changing state",
            "oracle O-001 relates step lend with step read",
            "add a step after it that reads the state back, and one comparison between what was sent and what that "
            "step observed",
        )
    ]


def test_s1_4_an_operation_without_site_does_not_hide_the_next() -> None:
    quiet = api_operation("quiet", "GET", "/quiet")
    first = add("/permittedInterfaces/0/operations/0", quiet)
    only_target = put("/oracles/0/direction/evidenceTargets", [f"/interactions/{STATUS}"])
    silent = put("/interactionPlan/1/inputBinding/path/id", lit("x"))
    assert open_rules(desk(), first) == []
    assert open_rules(desk(), first, only_target, silent) == [1, 2, 3]
