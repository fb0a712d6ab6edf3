"""Spec 03 §10 to §12: oracles, the plan's graph, and captured bindings."""

from typing import Any

import pytest

from eval_quality.core.compile.entry import read_contract
from eval_quality.core.compile.plan import scripting_bound
from eval_quality.core.compile.survey import Survey
from eval_quality.core.explain.patch import Edit, add, put
from support.contracts import (
    api_binding,
    api_operation,
    both,
    cli_binding,
    command_contract,
    contract,
    eq,
    error_of,
    every,
    exists,
    keys,
    library,
    lit,
    oracle,
    p,
    response,
    shape,
    step,
    verdict,
)

LOAN = "read/response-body/loanId"


@pytest.mark.parametrize(
    ("direction", "check", "expected"),
    [("x", "x", "ok"), ("x", None, ".check"), (None, "x", ".direction"), (None, None, ".direction")],
)
def test_s10_1_an_oracle_has_both_channels(direction: Any, check: Any, expected: str) -> None:
    edits = [put(f"/oracles/0/{name}", None) for name, kept in (("direction", direction), ("check", check)) if not kept]
    found = verdict(library(*edits))
    assert found == ("ok" if expected == "ok" else f"oracle-missing-channel @ EvalContract.oracles[id=O-001]{expected}")


def test_s10_1_oracles_are_taken_in_order() -> None:
    second = {**oracle(2, exists(LOAN)), "check": None, "direction": None}
    document = library(put("/oracles/0/check", None), add("/oracles/-", second))
    assert verdict(document) == "oracle-missing-channel @ EvalContract.oracles[id=O-001].check"


DIRECTION = "EvalContract.oracles[id=O-001].direction"
ALIGNED = both(eq(p(LOAN), lit("x")), every("read/response-body/items", exists("@/id")))


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({}, "ok"),
        ({"evidenceTargets": []}, "ok"),
        ({"evidenceTargets": [f"/interactions/{LOAN}"]}, "ok"),
        ({"evidenceTargets": ["/interactions/read/response-body/items/id"]}, "ok"),
        ({"evidenceTargets": [f"/interactions/{LOAN}", "/interactions/read/response-body"]}, "evidenceTargets"),
        ({"evidenceTargets": ["/interactions/read/response-body/id"]}, "evidenceTargets"),
        ({"relation": "all"}, "ok"),
        ({"relation": "equality"}, "ok"),
        ({"relation": "existence"}, "ok"),
        ({"relation": "for-all"}, "ok"),
        ({"relation": "for-any"}, "relation"),
        ({"relation": "any"}, "relation"),
        ({"polarity": "expects-violation"}, "polarity"),
        ({"evidenceTargets": ["/interactions/read/stdout"], "relation": "any"}, "evidenceTargets"),
        ({"relation": "any", "polarity": "expects-violation"}, "relation"),
    ],
)
def test_s10_2_the_check_enforces_what_the_direction_announces(over: Any, expected: str) -> None:
    base = oracle(1, ALIGNED)
    document = library(put("/oracles", [{**base, "direction": {**base["direction"], **over}}]))
    assert verdict(document) == ("ok" if expected == "ok" else f"direction-check-misaligned @ {DIRECTION}.{expected}")


def test_s10_2_equality_of_targets_is_textual_and_details_name_the_difference() -> None:
    keyed = put("/permittedInterfaces/0/operations/1/responseDescriptor/permittedKeys", ["items", "a/b"])
    check = exists("read/response-body/a~1b")
    assert verdict(library(keyed, put("/oracles", [oracle(1, check)]))) == "ok"
    error = error_of(library(put("/oracles/0/direction/evidenceTargets", ["/interactions/read/response-status"])))
    assert error is not None
    assert '"/interactions/read/response-status"' in error.detail
    error = error_of(library(put("/oracles/0/polarity", "expects-violation")))
    assert error is not None
    assert '"expects-hold"' in error.detail
    assert '"expects-violation"' in error.detail


def test_s10_2_scope_and_negative_domain_are_exempt() -> None:
    document = library(put("/oracles/0/direction/scope", "any"), put("/oracles/0/direction/negativeDomain", "other"))
    assert verdict(document) == "ok"


def planned(*clauses: tuple[str, str | None]) -> Any:
    """A contract whose plan has these steps and `after` clauses, all of one operation."""
    return contract(
        permittedInterfaces=[
            {"logicalId": "library", "kind": "api", "operations": [api_operation("get-loan", "GET", "/loans")]}
        ],
        interactionPlan=[step(name, "get-loan", after) for name, after in clauses],
    )


NESTED = "nested-temporal-clause @ EvalContract.interactionPlan[stepId={}].after"
BOUND = "plan-exceeds-scripting-bound @ EvalContract.interactionPlan"


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ([("a", None), ("b", "a")], "ok"),
        ([("a", None), ("b", "a"), ("c", "b")], NESTED.format("c")),
        ([("c", "b"), ("b", "a"), ("a", None)], NESTED.format("c")),
        ([("a", "a")], NESTED.format("a")),
        ([("a", "b"), ("b", "a")], NESTED.format("a")),
        ([("a", "nowhere"), ("b", "a")], "ok"),
        ([("a", None), ("a", None), ("b", "a"), ("c", "b")], "ok"),
    ],
)
def test_s11_1_after_clauses_do_not_nest(clauses: list[tuple[str, str | None]], expected: str) -> None:
    assert verdict(planned(*clauses)) == expected


def pairs(count: int) -> list[tuple[str, str | None]]:
    return [each for n in range(count) for each in ((f"w{n}", None), (f"r{n}", f"w{n}"))]


def stars(count: int) -> list[tuple[str, str | None]]:
    return [each for n in range(count) for each in ((f"s{n}", None), (f"x{n}", f"s{n}"), (f"y{n}", f"s{n}"))]


def singles(count: int) -> list[tuple[str, str | None]]:
    return [(f"n{n}", None) for n in range(count)]


@pytest.mark.parametrize(
    ("clauses", "detail"),
    [
        (stars(2), None),
        ([*stars(1), ("z", "s0")], "width, the steps after one step, is 3; the bound is 2"),
        (stars(3), "number of shared anchors is 3; the bound is 2"),
        (pairs(4), None),
        (pairs(5), "number of disjoint pairs is 5; the bound is 4"),
        ([*pairs(4), *stars(2), *singles(2)], None),
        (singles(16), None),
        (singles(17), "number of steps is 17; the bound is 16"),
        ([*pairs(5), *singles(7)], "number of disjoint pairs is 5; the bound is 4"),
        ([*stars(3), *pairs(5)], "number of shared anchors is 3; the bound is 2"),
        ([*stars(3), ("z", "s0")], "width, the steps after one step, is 3; the bound is 2"),
        ([*singles(2), ("n0", None), ("k", "n0")], None),
    ],
)
def test_s11_2_bounds_are_inclusive_and_the_first_metric_is_reported(
    clauses: list[tuple[str, str | None]], detail: str | None
) -> None:
    error = error_of(planned(*clauses))
    if detail is None:
        assert error is None
    else:
        assert error is not None
        assert f"{error.code} @ {error.artifact_path}" == BOUND
        assert error.detail == f"the {detail}"


def test_s11_2_positions_keep_duplicated_ids_apart() -> None:
    # Two steps of one id, each after a parent of its own: two pairs, not one star.
    clauses = [("p", None), ("q", None), ("x", "p"), ("x", "q"), *pairs(2)]
    assert error_of(planned(*clauses)) is None
    assert error_of(planned(*clauses, ("r", None), ("y", "r"))) is not None


def test_s11_2_depth_is_measured_first_where_nothing_else_has_looked() -> None:
    survey = Survey(read_contract(planned(("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "b"))))
    failure = scripting_bound(survey)
    assert failure is not None
    assert failure.detail == "the depth of after clauses is 2; the bound is 1"


def captures(pointer: str) -> Any:
    return {"captured": f"/interactions/{pointer}"}


READ_ID = 'EvalContract.interactionPlan[stepId=read].inputBinding.path["id"]'
UNREACHABLE = f"unreachable-check-evidence @ {READ_ID}"


def capturing(pointer: str, *edits: Edit) -> Any:
    return library(put("/interactionPlan/1/inputBinding/path/id", captures(pointer)), *edits)


@pytest.mark.parametrize(
    ("pointer", "reason"),
    [
        ("nowhere/response-body/loanId", 'does not declare one step "nowhere"'),
        ("lend/response-body/x", 'declares no field "x"'),
        ("lend/response-body", "the whole channel"),
        ("lend/response-body/unstated/deep", "2 segments deep"),
        ("lend/response-body/list", "declared array"),
        ("lend/response-body/object", "declared object"),
        ("lend/response-body/untyped", "no declared type"),
        ("lend/response-body/unstated", "unstated type"),
        ("lend/response-body/0", "an element of a collection"),
        ("lend/response-body/number", "captured type number is not the string"),
        ("lend/response-body/loanId", None),
    ],
)
def test_s12_2_a_capture_reads_one_declared_scalar_of_the_right_type(pointer: str, reason: str | None) -> None:
    descriptor = response(
        {"loanId": "string"}, {"untyped": "", "list": "array", "object": "object", "number": "number", "0": "string"}
    )
    descriptor["permittedKeys"].append("unstated")
    descriptor["types"]["unstated"] = None
    document = capturing(pointer, put("/permittedInterfaces/0/operations/0/responseDescriptor", descriptor))
    error = error_of(document)
    if reason is None:
        assert error is None
    else:
        assert error is not None
        assert f"{error.code} @ {error.artifact_path}" == UNREACHABLE
        assert error.detail.startswith(f'"/interactions/{pointer}": ')
        assert reason in error.detail


def test_s12_2_the_referenced_operation_must_resolve() -> None:
    document = capturing(
        "other/response-body/x", add("/interactionPlan/-", step("other", "burn-book")), put("/oracles", [])
    )
    error = error_of(document)
    assert error is not None
    assert f"{error.code} @ {error.artifact_path}" == UNREACHABLE
    assert 'step "other" names operation "burn-book" on interface "library"' in error.detail


@pytest.mark.parametrize(
    ("path_shape", "expected"),
    [
        (keys({"id": "string"}), "ok"),
        (keys({}, {"id": "string"}), "ok"),
        (keys({"id": ""}), UNREACHABLE),
        ({"requiredKeys": ["id"], "permittedKeys": [], "types": {"id": None}}, UNREACHABLE),
        (keys({"id": "number"}), UNREACHABLE),
        (keys({"other": "string"}), "ok"),
    ],
)
def test_s12_2_the_parameter_states_the_same_type(path_shape: Any, expected: str) -> None:
    witness = put("/permittedInterfaces/0/operations/1/sensitivityWitness", None)
    document = library(put("/permittedInterfaces/0/operations/1/requestShape", shape(path=path_shape)), witness)
    assert verdict(document, strict=False) == expected


def test_s12_2_a_foreign_channel_and_an_unknown_operation_are_abstained_from() -> None:
    foreign = cli_binding(argument={"id": captures("lend/response-body/loanId")})
    document = library(put("/oracles", []), put("/interactionPlan/1/inputBinding", foreign))
    assert verdict(document, strict=False) == "ok"
    lost = library(put("/oracles", []), put("/interactionPlan/1/operationId", "burn-book"))
    assert verdict(lost) == "ok"


def test_s12_captures_are_enumerated_by_channel_then_key() -> None:
    bound = api_binding(
        query={"z": captures("nowhere/stdout"), "b": captures("nowhere/stdout")}, body={"a": captures("nowhere/stdout")}
    )
    document = library(put("/oracles", []), put("/interactionPlan/0/inputBinding", bound))
    assert verdict(document) == (
        'unreachable-check-evidence @ EvalContract.interactionPlan[stepId=lend].inputBinding.query["b"]'
    )


@pytest.mark.parametrize(
    "pointer", ["lend/response-status", "lend/response-headers/location", "lend/stdout", "lend/call-inputs/body/copyId"]
)
def test_s12_3_a_capture_reads_the_described_channel(pointer: str) -> None:
    error = error_of(capturing(pointer))
    assert error is not None
    assert f"{error.code} @ {error.artifact_path}" == f"captured-channel-undeclared @ {READ_ID}"
    assert pointer.split("/")[1] in error.detail


def test_s12_3_another_artifact_is_another_channel() -> None:
    option = keys({"n": "number"})
    bound = cli_binding(option={"n": captures("run/artifact/log/count")})
    document = command_contract(
        put("/permittedInterfaces/0/operations/0/descriptorChannel", {"kind": "artifact", "artifactId": "report"}),
        put("/permittedInterfaces/0/operations/0/requestShape/option", option),
        put("/oracles", []),
        add("/interactionPlan/-", step("again", "lint", None, "linter", inputBinding=bound)),
    )
    assert verdict(document, strict=False).startswith("captured-channel-undeclared")
    described = captures("run/artifact/report/count")
    document["interactionPlan"][1]["inputBinding"]["option"]["n"] = described
    assert verdict(document, strict=False) == "ok"


def cyclic(*edges: tuple[str, str, str]) -> Any:
    """Steps of one operation that captures a string from itself; edges are (step, `after` or `body`, other step)."""
    echo = api_operation(
        "echo",
        "POST",
        "/echo",
        requestShape=shape(body=keys({}, {"a": "string", "b": "string"})),
        responseDescriptor=response({"a": "string"}),
    )
    names = list(dict.fromkeys(name for edge in edges for name in (edge[0], edge[2]) if name != "nowhere"))
    steps = {name: step(name, "echo", inputBinding=api_binding(body={})) for name in names}
    for name, how, other in edges:
        if how == "after":
            steps[name]["after"] = other
        else:
            steps[name]["inputBinding"]["body"][how] = captures(f"{other}/response-body/a")
    for each in steps.values():
        each["inputBinding"]["body"] = each["inputBinding"]["body"] or None
    return contract(
        permittedInterfaces=[{"logicalId": "library", "kind": "api", "operations": [echo]}],
        interactionPlan=[*steps.values()],
    )


def cycle_at(name: str, key: str) -> str:
    return f'binding-cycle @ EvalContract.interactionPlan[stepId={name}].inputBinding.body["{key}"]'


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([("x", "a", "y")], "ok"),
        ([("x", "a", "x")], cycle_at("x", "a")),
        ([("x", "a", "y"), ("y", "a", "x")], cycle_at("x", "a")),
        ([("x", "a", "y"), ("y", "a", "z"), ("z", "b", "x")], cycle_at("x", "a")),
        ([("x", "a", "z"), ("x", "b", "y"), ("y", "b", "x")], cycle_at("x", "b")),
        ([("x", "a", "y"), ("y", "after", "x")], cycle_at("x", "a")),
        ([("x", "after", "y"), ("y", "b", "x")], cycle_at("y", "b")),
        ([("w", "a", "x"), ("x", "a", "y"), ("y", "a", "x")], cycle_at("x", "a")),
        ([("x", "a", "y"), ("x", "b", "z"), ("y", "a", "z")], "ok"),
    ],
)
def test_s12_1_no_capture_waits_for_itself(edges: list[tuple[str, str, str]], expected: str) -> None:
    # The relaxed mode keeps the missing witness of the made-up operation out of the way.
    assert verdict(cyclic(*edges), strict=False) == expected


def test_s12_1_an_unknown_end_is_dropped() -> None:
    from eval_quality.core.compile.capture import binding_cycle, captured_channel

    survey = Survey(read_contract(cyclic(("x", "a", "nowhere"), ("x", "after", "nowhere"))))
    assert binding_cycle(survey) is None
    assert captured_channel(survey) is None
    elsewhere = cyclic(("x", "a", "y"))
    elsewhere["interactionPlan"][0]["inputBinding"]["body"]["a"] = captures("nowhere/stdout")
    failure = captured_channel(Survey(read_contract(elsewhere)))
    assert failure is not None
    assert failure.code == "captured-channel-undeclared"


def test_s12_1_a_cycle_of_after_clauses_is_not_a_binding_cycle() -> None:
    assert verdict(planned(("a", "b"), ("b", "a"))) == NESTED.format("a")


def test_s12_1_duplicated_step_ids_share_one_node() -> None:
    from eval_quality.core.compile.capture import binding_cycle

    document = cyclic(("x", "a", "y"), ("z", "a", "x"))
    twin = step("y", "echo", inputBinding=api_binding(body={"a": captures("x/response-body/a")}))
    document["interactionPlan"].append(twin)
    failure = binding_cycle(Survey(read_contract(document)))
    assert failure is not None
    assert failure.artifact_path.endswith('[stepId=x].inputBinding.body["a"]')


def test_s10_2_an_oracle_without_direction_is_left_to_the_check_before() -> None:
    from eval_quality.core.compile.oracles import oracle_alignment

    assert oracle_alignment(Survey(read_contract(library(put("/oracles/0/direction", None))))) is None
