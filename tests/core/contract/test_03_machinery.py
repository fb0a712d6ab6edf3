"""Spec 03 §5: pointers, the plan index, facts about operations, bindings, the walk and substitution."""

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.contract.binding import bound_channels, bound_values, captured_values
from eval_quality.core.contract.keys import js_order, member_key, utf16_order
from eval_quality.core.contract.operation import (
    addresses_described,
    declared_artifacts,
    declares_key,
    declares_no_request_keys,
    described_artifact,
    described_channel,
    family,
    first_operation,
    input_channels,
    operations_of,
    request_shape,
    transport_identity,
)
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.contract.pointer import INPUT_CHANNELS, ParsedPointer, is_bound, parse_pointer, substitute
from eval_quality.core.contract.text import compact, display, is_blank, js_trim
from eval_quality.core.contract.walk import walk
from eval_quality.core.explain.patch import add, put
from eval_quality.model.decode import decode
from eval_quality.model.expression import Expression
from support.contracts import (
    EMPTY,
    api_binding,
    api_operation,
    both,
    cli_binding,
    command_contract,
    command_operation,
    contract,
    every,
    exists,
    keys,
    library,
    lit,
    negated,
    p,
    raw_body,
    refset,
    shape,
    step,
    tool_contract,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/interactions/a-1/response-body", ("a-1", "response-body", None, None, ())),
        ("/interactions/a/response-body/", ("a", "response-body", None, None, ("",))),
        ("/interactions/a/response-headers/x~1y~0z", ("a", "response-headers", None, None, ("x/y~z",))),
        ("/interactions/a/stdout/~01", ("a", "stdout", None, None, ("~1",))),
        ("/interactions/a/stderr//b", ("a", "stderr", None, None, ("", "b"))),
        ("/interactions/a/response-status", ("a", "response-status", None, None, ())),
        ("/interactions/a/exit-code", ("a", "exit-code", None, None, ())),
        ("/interactions/a/call-inputs/body", ("a", "call-inputs", "body", None, ())),
        ("/interactions/a/call-inputs/arguments/q/*x", ("a", "call-inputs", "arguments", None, ("q", "*x"))),
        ("/interactions/a/artifact/re-port/0/\n", ("a", "artifact", None, "re-port", ("0", "\n"))),
    ],
)
def test_s5_1_a_pointer_is_taken_apart(text: str, expected: tuple[object, ...]) -> None:
    assert parse_pointer(text) == ParsedPointer(*expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "@/a",
        "/interactions/a/response-body/*",
        "/interactions/a/response-body/*/b",
        "/interactions/a/response-status/x",
        "/interactions/a/call-inputs",
        "/interactions/a/call-inputs/cookie",
        "/interactions/a/artifact",
        "/interactions/A/stdout",
        "/interactions/a/stdout~2",
        "/interactions/a/stdout/~2",
        "/interactions/a/exit-code\n",
        "",
    ],
)
def test_s5_1_a_text_that_is_no_pointer_is_a_programming_error(text: str) -> None:
    with pytest.raises(ValueError, match="not an interaction-rooted pointer"):
        parse_pointer(text)


def test_s5_1_input_channels_keep_their_order() -> None:
    assert INPUT_CHANNELS == (
        "path",
        "query",
        "header",
        "body",
        "argument",
        "option",
        "environment",
        "stdin",
        "arguments",
    )


def test_s5_2_the_index_answers_by_id_and_by_pair() -> None:
    index = PlanIndex(read_contract(library()))
    lend = index.step("lend")
    assert lend is not None
    assert lend.operation_id == "lend-book"
    operation = index.operation_of(lend)
    assert operation is index.operation("library", "lend-book")
    assert operation is not None
    assert index.step("nowhere") is None
    assert index.operation("library", "burn-book") is None
    assert index.operation("archive", "lend-book") is None
    assert [each.step_id for each in index.steps_using("library", "get-loan")] == ["read"]
    assert index.steps_using("library", "burn-book") == ()
    assert index.first_duplicate() is None
    assert index.why_unresolved("library", "x") == 'on interface "library", which that interface does not declare'


def test_s5_2_duplicates_resolve_to_nothing_and_are_still_listed() -> None:
    twice = library(
        add("/interactionPlan/-", step("read", "get-loan")),
        add("/permittedInterfaces/0/operations/-", api_operation("get-loan", "GET", "/other")),
    )
    index = PlanIndex(read_contract(twice))
    assert index.step("read") is None
    assert [each.step_id for each in index.steps_using("library", "get-loan")] == ["read", "read"]
    assert index.operation("library", "get-loan") is None
    assert index.is_operation_duplicated("library", "get-loan")
    assert not index.is_operation_duplicated("library", "lend-book")
    assert not index.is_operation_id_shared("get-loan")
    assert index.first_duplicate() == 'the interaction plan declares step "read" more than once'
    assert index.why_unresolved("library", "get-loan").endswith("which that interface declares more than once")


def test_s5_2_a_duplicate_pair_is_named_and_a_third_step_changes_nothing() -> None:
    once = library(add("/permittedInterfaces/0/operations/-", api_operation("get-loan", "GET", "/other")))
    assert PlanIndex(read_contract(once)).first_duplicate() == (
        'interface "library" declares operation "get-loan" more than once'
    )
    thrice = library(*(add("/interactionPlan/-", step("read", "get-loan")) for _ in range(2)))
    assert PlanIndex(read_contract(thrice)).step("read") is None


def test_s5_2_an_operation_id_may_be_shared_by_interfaces() -> None:
    shared = library(
        add(
            "/permittedInterfaces/-",
            {"logicalId": "archive", "kind": "web", "operations": [api_operation("get-loan", "GET", "/loans/{id}")]},
        )
    )
    index = PlanIndex(read_contract(shared))
    assert index.is_operation_id_shared("get-loan")
    assert not index.is_operation_id_shared("lend-book")
    web = index.operation("archive", "get-loan")
    assert web is not None
    assert described_channel(web) == "response-body"
    assert index.operation("library", "get-loan") is not web


def test_s5_3_facts_depend_on_the_kind() -> None:
    api = PlanIndex(read_contract(library())).operation("library", "lend-book")
    cli = PlanIndex(read_contract(command_contract())).operation("linter", "lint")
    mcp = PlanIndex(read_contract(tool_contract())).operation("notes", "search")
    assert api is not None
    assert cli is not None
    assert mcp is not None
    assert [family(each) for each in (api, cli, mcp)] == ["api", "cli", "mcp"]
    assert input_channels(api) == ("path", "query", "header", "body")
    assert input_channels(cli) == ("argument", "option", "environment", "stdin")
    assert input_channels(mcp) == ("arguments",)
    assert [described_channel(each) for each in (api, cli, mcp)] == ["response-body", "stdout", "response-body"]
    assert [described_artifact(each) for each in (api, cli, mcp)] == [None, None, None]
    assert [declared_artifacts(each) for each in (api, cli, mcp)] == [(), ("report", "log"), ()]
    assert request_shape(api, "stdin") is None
    assert not declares_key(None, "x")
    body = request_shape(api, "body")
    assert declares_key(body, "copyId")
    assert declares_key(body, "note")
    assert not declares_key(body, "x")


@pytest.mark.parametrize(
    ("channel", "described", "artifact"),
    [
        ({"kind": "stream", "channel": "stderr"}, "stderr", None),
        ({"kind": "artifact", "artifactId": "log"}, "artifact", "log"),
    ],
)
def test_s5_3_a_command_describes_a_stream_or_an_artifact(
    channel: object, described: str, artifact: str | None
) -> None:
    document = command_contract(put("/permittedInterfaces/0/operations/0/descriptorChannel", channel))
    operation = PlanIndex(read_contract(document)).operation("linter", "lint")
    assert operation is not None
    assert described_channel(operation) == described
    assert described_artifact(operation) == artifact


def test_s5_3_addressing_an_artifact_compares_its_identifier() -> None:
    document = command_contract(
        put("/permittedInterfaces/0/operations/0/descriptorChannel", {"kind": "artifact", "artifactId": "log"})
    )
    operation = PlanIndex(read_contract(document)).operation("linter", "lint")
    assert operation is not None
    assert addresses_described(parse_pointer("/interactions/run/artifact/log/x"), operation)
    assert not addresses_described(parse_pointer("/interactions/run/artifact/report"), operation)
    assert not addresses_described(parse_pointer("/interactions/run/stdout"), operation)


@pytest.mark.parametrize(
    ("declared", "none"),
    [(EMPTY, True), (keys({"a": "string"}), False), (keys({}, {"a": ""}), False), (keys(types={"a": None}), False)],
)
def test_s5_3_any_required_permitted_or_typed_key_is_a_request_key(declared: object, none: bool) -> None:
    document = library(put("/permittedInterfaces/0/operations/1/requestShape", shape(header=declared)))
    operation = PlanIndex(read_contract(document)).operation("library", "get-loan")
    assert operation is not None
    assert declares_no_request_keys(operation) is none


def test_s5_3_transport_identity_erases_parameter_names_only() -> None:
    document = contract(
        permittedInterfaces=[
            {"logicalId": "a", "kind": "api", "operations": [api_operation("x", "GET", "/a/{id}/b-{n_1}")]},
            {
                "logicalId": "b",
                "kind": "cli",
                "operations": [
                    command_operation(invocation={"executable": "git", "subcommandPath": ["remote", "add"]})
                ],
            },
            {"logicalId": "c", "kind": "cli", "operations": [command_operation()]},
        ]
    )
    found = [tuple(transport_identity(each.operation)) for each in operations_of(read_contract(document))]
    assert found == [("api", "GET /a/{}/b-{}"), ("cli", "git remote add"), ("cli", "lint")]
    assert tuple(transport_identity(next(operations_of(read_contract(tool_contract()))).operation)) == ("mcp", "search")


def test_s5_3_places_count_interfaces_and_operations() -> None:
    places = [(each.interface_index, each.operation_index) for each in operations_of(read_contract(library()))]
    assert places == [(0, 0), (0, 1)]
    assert first_operation(read_contract(library()), "library", "get-loan") is not None
    assert first_operation(read_contract(library()), "archive", "get-loan") is None


def test_s5_4_bound_channels_keep_order_and_a_raw_body_is_none() -> None:
    bound = api_binding(header={"b": lit(1), "a": lit(2)}, body=raw_body())
    document = library(put("/interactionPlan/0/inputBinding", bound))
    lend = read_contract(document).interaction_plan[0]
    channels = bound_channels(lend)
    assert [name for name, _ in channels] == ["path", "query", "header", "body"]
    assert [value is None for _, value in channels] == [True, True, False, True]
    assert [(each.channel, each.key) for each in bound_values(lend)] == [("header", "a"), ("header", "b")]


def test_s5_4_only_present_channels_are_listed() -> None:
    document = command_contract(put("/interactionPlan/0/inputBinding", cli_binding(option={"x": lit(None)})))
    run = read_contract(document).interaction_plan[0]
    assert [name for name, _ in bound_channels(run)] == ["argument", "option", "environment", "stdin"]
    assert list(captured_values(run)) == []


def _walk(check: object) -> list[tuple[str, str, bool, str | None, list[str]]]:
    return [
        (node.expression.op, node.path, node.inside, node.root, [place.path for place in node.operands])
        for node in walk(decode(Expression, check, "Check"), "R")
    ]


def test_s5_5_the_walk_is_pre_order_with_the_collection_first() -> None:
    check = both(
        negated(exists("s/stdout")),
        every("s/stdout/items", both(exists("@/a"), exists("@/"))),
        {"op": "covers-by-key", "operands": [refset("k"), p("s/stdout/x")], "expectedKey": "a", "actualKey": "b"},
    )
    collection = "/interactions/s/stdout/items"
    assert _walk(check) == [
        ("all", "R", False, None, []),
        ("not", "R.operands[0]", False, None, []),
        ("existence", "R.operands[0].operands[0]", False, None, ["R.operands[0].operands[0].operands[0]"]),
        ("for-all", "R.operands[1]", False, None, ["R.operands[1].collection"]),
        ("all", "R.operands[1].predicate", True, collection, []),
        (
            "existence",
            "R.operands[1].predicate.operands[0]",
            True,
            collection,
            ["R.operands[1].predicate.operands[0].operands[0]"],
        ),
        (
            "existence",
            "R.operands[1].predicate.operands[1]",
            True,
            collection,
            ["R.operands[1].predicate.operands[1].operands[0]"],
        ),
        ("covers-by-key", "R.operands[2]", False, None, ["R.operands[2].operands[0]", "R.operands[2].operands[1]"]),
    ]


def test_s5_5_operand_sites_know_their_form() -> None:
    check = {"op": "set-membership", "operands": [p("s/stdout"), refset("k")]}
    first, second = next(iter(walk(decode(Expression, check, "Check"), ""))).operands
    assert (first.pointer, first.reference_set, first.position) == ("/interactions/s/stdout", None, 0)
    assert (second.pointer, second.reference_set, second.position) == (None, "k", 1)


def test_s5_5_hundreds_of_levels_need_no_stack() -> None:
    check = exists("s/stdout")
    for _ in range(400):
        check = negated(check)
    assert len(_walk(check)) == 401


@pytest.mark.parametrize(
    ("pointer", "root", "expected"),
    [
        ("/interactions/a/stdout", "R", "/interactions/a/stdout"),
        ("@/a~1b", None, "@/a~1b"),
        ("@/", "R/items", "R/items"),
        ("@/a~1b", "R/items", "R/items/a~1b"),
        ("@//", "R/items", "R/items//"),
    ],
)
def test_s5_6_substitution_is_concatenation(pointer: str, root: str | None, expected: str) -> None:
    assert substitute(pointer, root) == expected


def test_s5_6_a_nested_collection_is_rooted_through_the_outer_one() -> None:
    check = every("s/stdout/a", every("@/b", exists("@/c")))
    nodes = list(walk(decode(Expression, check, "Check"), ""))
    assert [list(node.pointers()) for node in nodes] == [
        ["/interactions/s/stdout/a"],
        ["/interactions/s/stdout/a/b"],
        ["/interactions/s/stdout/a/b/c"],
    ]


def test_s5_6_a_collection_that_is_no_pointer_leaves_the_root_absent() -> None:
    check = every("s/stdout/a", {"op": "for-any", "collection": lit([1]), "predicate": exists("@/c")})
    nodes = list(walk(decode(Expression, check, "Check"), ""))
    assert [node.root for node in nodes] == [None, "/interactions/s/stdout/a", None]
    assert list(nodes[2].pointers()) == ["@/c"]
    assert nodes[2].inside
    assert is_bound("@/c")


def test_orders_js_keys_and_utf16_keys() -> None:
    assert js_order(["b", "10", "a", "2", "01", "4294967295", "4294967294", "0", "-1", "1.5", "\u0662"]) == [
        "0",
        "2",
        "10",
        "4294967294",
        "b",
        "a",
        "01",
        "4294967295",
        "-1",
        "1.5",
        "\u0662",
    ]
    assert js_order(["b", "a"]) == ["b", "a"]
    assert js_order(["9" * 5000, "1"]) == ["1", "9" * 5000]
    assert utf16_order(["\uff5e", "\U0001f600", "a"]) == ["a", "\U0001f600", "\uff5e"]


def test_spells_member_keys_compact_text_and_blanks() -> None:
    assert [member_key(key) for key in ("a_$1", "1a", "", 'a"b', "a b")] == [
        ".a_$1",
        '["1a"]',
        '[""]',
        '["a\\"b"]',
        '["a b"]',
    ]
    assert compact({"b": [1.0, True, None], "2": "x\n", "1": -0.0}) == '{"1":0,"2":"x\\n","b":[1,true,null]}'
    assert display({"b": False, "a": 1e21, "10": 1, "9": {"z": 1, "y": 2}}) == (
        '{"9":{"y":2,"z":1},"10":1,"a":1e+21,"b":false}'
    )
    assert js_trim("\ufeff\u00a0 a\u2028\t") == "a"
    assert js_trim("\u200ba") == "\u200ba"
    assert is_blank("\u200b\u200c \u200d\ufeff")
    assert not is_blank(".")
    assert not is_blank("\u2060")
