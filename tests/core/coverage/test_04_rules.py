"""Spec 04 §1 and §2, and the rules that look at operations: 2, 3, 7."""

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
    shape,
    step,
    tool_contract,
)
from support.coverage_rules import DESCRIPTOR, LOAN, OBSERVED, OPERATION, SENT, STATUS, open_rules


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


# --- rule 7 -----------------------------------------------------------------------------------------------------


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
