"""Spec 03 §6 and §7: behaviours and the interface inventory."""

from typing import Any

import pytest

from eval_quality.core.compile.interfaces import SUPPORTED_INTERFACE_KINDS
from eval_quality.core.compile.interfaces import _listed as listed  # pyright: ignore[reportPrivateUsage]
from eval_quality.core.explain.patch import add, put
from support.contracts import (
    api_binding,
    api_operation,
    behavior,
    cli_binding,
    command_contract,
    command_operation,
    contract,
    eq,
    error_of,
    exists,
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
    tool_operation,
    verdict,
)


def test_s6_1_one_link_of_either_kind_is_enough() -> None:
    link = [{"scheme": "x", "id": "y"}]
    for requirement, risk, expected in (
        ([], [], "missing-requirement-linkage @ EvalContract.behaviors[id=B-001]"),
        (link, [], "ok"),
        ([], link, "ok"),
    ):
        document = library(put("/behaviors/0/requirementLinks", requirement), put("/behaviors/0/riskLinks", risk))
        assert verdict(document) == expected


def test_s6_2_null_fails_and_the_empty_text_passes() -> None:
    path = "/behaviors/0/observableSuccessCriterion"
    assert verdict(library(put(path, ""))) == "ok"
    assert verdict(library(put(path, None))) == (
        "no-observable-success-criterion @ EvalContract.behaviors[id=B-001].observableSuccessCriterion"
    )
    assert verdict(library(put("/behaviors/0/oracles", []))) == "ok"


def test_s6_2_all_linkage_comes_before_any_criterion() -> None:
    second = behavior(id="B-002", requirementLinks=[], riskLinks=[])
    document = library(put("/behaviors/0/observableSuccessCriterion", None), add("/behaviors/-", second))
    assert verdict(document) == "missing-requirement-linkage @ EvalContract.behaviors[id=B-002]"


def empty(logical_id: str, kind: str = "api") -> Any:
    return {"logicalId": logical_id, "kind": kind, "operations": []}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b", "a"], (0, 2)),
        (["a", "a", "a"], (0, 1)),
        (["a", "b", "b", "a"], (1, 2)),
    ],
)
def test_s7_1_the_first_repeat_is_reported_with_both_positions(names: list[str], expected: tuple[int, int]) -> None:
    kinds = ("api", "mcp", "cli", "web")
    document = contract(permittedInterfaces=[empty(name, kinds[at]) for at, name in enumerate(names)])
    error = error_of(document)
    assert error is not None
    assert error.artifact_path == f"EvalContract.permittedInterfaces[{expected[1]}].logicalId"
    assert f"position {expected[0]} and again at position {expected[1]}" in error.detail


def test_s7_2_the_supported_kinds_are_listed_from_the_constant() -> None:
    assert SUPPORTED_INTERFACE_KINDS == ("api", "cli", "mcp")
    document = contract(permittedInterfaces=[empty("a"), empty("b", "web"), empty("c", "web")])
    error = error_of(document)
    assert error is not None
    assert (error.code, error.artifact_path) == (
        "unsupported-interface-kind",
        "EvalContract.permittedInterfaces[logicalId=b].kind",
    )
    assert error.detail == 'interface kind "web" is not supported: "api", "cli" and "mcp" are supported'
    assert listed(("api",)) == '"api" is'
    assert listed(("api", "cli")) == '"api" and "cli" are'
    assert verdict(contract(permittedInterfaces=[empty("a"), empty("b", "cli"), empty("c", "mcp")])) == "ok"


def with_operations(*interfaces: tuple[str, str, list[Any]]) -> Any:
    return contract(
        permittedInterfaces=[
            {"logicalId": name, "kind": kind, "operations": operations} for name, kind, operations in interfaces
        ]
    )


def test_s7_3_the_later_operation_is_reported_and_the_earlier_named() -> None:
    document = with_operations(
        ("a", "api", [api_operation("x", "GET", "/loans/{id}"), api_operation("y", "POST", "/loans/{id}")]),
        ("b", "api", [api_operation("z", "GET", "/loans/{loan_id}")]),
    )
    error = error_of(document)
    assert error is not None
    assert error.artifact_path == "EvalContract.permittedInterfaces[logicalId=b].operations[operationId=z]"
    assert error.detail == (
        'operation "x" of interface "a" already has the api signature "GET /loans/{}", parameter names erased'
    )


def test_s7_3_commands_and_tools_compare_words_and_names() -> None:
    words = {"executable": "git", "subcommandPath": ["remote", "add"]}
    document = with_operations(
        ("a", "cli", [command_operation("x", invocation=words)]),
        ("b", "cli", [command_operation("y", invocation=words)]),
    )
    error = error_of(document)
    assert error is not None
    assert error.detail == 'operation "x" of interface "a" already has the cli signature "git remote add"'
    document = with_operations(("a", "mcp", [tool_operation("x", toolName="t"), tool_operation("y", toolName="t")]))
    assert verdict(document) == (
        "duplicate-operation-signature @ EvalContract.permittedInterfaces[logicalId=a].operations[operationId=y]"
    )


def test_s7_3_families_never_collide_and_web_is_one_family_with_api() -> None:
    notes = {"executable": "notes", "subcommandPath": []}
    apart = with_operations(
        ("a", "mcp", [tool_operation("notes", toolName="notes")]),
        ("b", "cli", [command_operation("notes", invocation=notes)]),
    )
    assert verdict(apart) == "ok"
    together = with_operations(
        ("a", "api", [api_operation("x", "GET", "/a")]), ("b", "web", [api_operation("y", "GET", "/a")])
    )
    assert verdict(together).startswith("duplicate-operation-signature")


def test_s7_3_segments_may_hold_braces_and_text() -> None:
    document = with_operations(
        ("a", "api", [api_operation("x", "GET", "/a-{id}"), api_operation("y", "GET", "/a-{id}/{n}")])
    )
    assert verdict(document) == "ok"


STEP = "EvalContract.interactionPlan[stepId=lend].inputBinding"
UNDECLARED = "undeclared-mandatory-input"


@pytest.mark.parametrize(
    ("binding", "expected"),
    [
        (api_binding(), "ok"),
        (api_binding(body={"note": lit("x")}), "ok"),
        (api_binding(body={"copyId": lit(1), "x": lit(1)}), f'{UNDECLARED} @ {STEP}.body["x"]'),
        (api_binding(body={"b": lit(1), "a": lit(1)}), f'{UNDECLARED} @ {STEP}.body["b"]'),
        (api_binding(body={"b": lit(1), "1": lit(1)}), f'{UNDECLARED} @ {STEP}.body["1"]'),
        (api_binding(body={'q"': lit(1)}), f'{UNDECLARED} @ {STEP}.body["q\\""]'),
        (api_binding(query={"x": lit(1)}, body={"y": lit(1)}), f'{UNDECLARED} @ {STEP}.query["x"]'),
        (cli_binding(), "ok"),
        (cli_binding(option={"x": lit(1)}), f'{UNDECLARED} @ {STEP}.option["x"]'),
        ({"arguments": {"copyId": lit(1)}}, f'{UNDECLARED} @ {STEP}.arguments["copyId"]'),
        (api_binding(body={"note": {"principal": "alice"}}), "ok"),
        (api_binding(body={"note": {"principal": "bob"}}), f'{UNDECLARED} @ {STEP}.body["note"]'),
        (api_binding(body={"note": {"principal": "constructor"}}), f'{UNDECLARED} @ {STEP}.body["note"]'),
        (api_binding(body=raw_body()), "ok"),
        (api_binding(header={"Content-TYPE": lit("a/b")}, body=raw_body()), f"{UNDECLARED} @ {STEP}.header"),
        (
            api_binding(header={" content-type": lit("a/b")}, body=raw_body()),
            f'{UNDECLARED} @ {STEP}.header[" content-type"]',
        ),
        (
            api_binding(header={"\u212aontent-type": lit("a/b")}, body=raw_body()),
            f'{UNDECLARED} @ {STEP}.header["\u212aontent-type"]',
        ),
        (
            api_binding(header={"Content-Type": lit("a/b")}, body={"note": lit("x")}),
            f'{UNDECLARED} @ {STEP}.header["Content-Type"]',
        ),
    ],
)
def test_s7_4_a_step_binds_declared_keys_and_principals(binding: Any, expected: str) -> None:
    document = library(
        put("/oracles", [oracle(1, exists("lend/response-status"))]), put("/interactionPlan/0/inputBinding", binding)
    )
    assert verdict(document) == expected
    assert verdict(document, strict=False) == "ok"


def test_s7_4_no_principals_means_none() -> None:
    document = library(
        put("/testData/principals", None),
        put("/interactionPlan/0/inputBinding", api_binding(body={"note": {"principal": "alice"}})),
    )
    error = error_of(document)
    assert error is not None
    assert 'no principal "alice"' in error.detail


def test_s7_4_a_step_without_an_operation_is_skipped_and_required_keys_may_be_missing() -> None:
    unknown = step("other", "nowhere", inputBinding=api_binding(body={"x": lit(1)}))
    assert verdict(library(add("/interactionPlan/-", unknown))) == "ok"


def test_s7_4_the_details_say_what_is_undeclared() -> None:
    error = error_of(library(put("/interactionPlan/0/inputBinding", api_binding(body={"x": lit(1)}))))
    assert error is not None
    assert error.detail == 'operation "lend-book" declares no key "x" on its body channel'
    raw = api_binding(header={"content-type": lit("a/b")}, body=raw_body())
    error = error_of(library(put("/oracles", []), put("/interactionPlan/0/inputBinding", raw)))
    assert error is not None
    assert error.detail == "the raw body already declares its content type"


ARTIFACT = "unresolved-artifact-reference"


def test_s7_5_the_nominated_artifact_is_declared() -> None:
    path = "/permittedInterfaces/0/operations/0/descriptorChannel"
    assert verdict(command_contract(put(path, {"kind": "artifact", "artifactId": "other"}))) == (
        f"{ARTIFACT} @ EvalContract.permittedInterfaces[logicalId=linter].operations[operationId=lint]"
        ".descriptorChannel.artifactId"
    )


def artifact_sites() -> dict[str, tuple[Any, str]]:
    other = "/interactions/run/artifact/other"
    rubric = {
        "id": "R-001",
        "scaleLevels": None,
        "failureModePenalties": None,
        "maxLength": None,
        "criteria": [{"id": "RC-001", "text": "x", "evidence": other}],
    }
    relation = negated(eq(p("leg-a/artifact/other"), p("leg-b/stdout/count")))
    return {
        "check": (
            command_contract(put("/oracles/0/check", negated(exists(other)))),
            "EvalContract.oracles[id=O-001].check.operands[0].operands[0]",
        ),
        "direction": (
            command_contract(put("/oracles/0/direction/evidenceTargets", ["/interactions/run/stdout", other])),
            "EvalContract.oracles[id=O-001].direction.evidenceTargets[1]",
        ),
        "criterion": (
            command_contract(put("/rubrics", [rubric])),
            "EvalContract.rubrics[id=R-001].criteria[id=RC-001].evidence",
        ),
        "witness": (
            command_contract(
                put(
                    "/permittedInterfaces/0/operations/0/sensitivityWitness",
                    {
                        "witnessId": "w",
                        "channel": "option",
                        "legs": [{"legId": leg, "inputs": command_inputs()} for leg in ("leg-a", "leg-b")],
                        "relation": relation,
                    },
                )
            ),
            "EvalContract.permittedInterfaces[0].operations[0].sensitivityWitness.relation.operands[0].operands[0]",
        ),
    }


def command_inputs() -> Any:
    return {"argument": {}, "option": {}, "environment": {}, "stdin": {"kind": "absent"}}


@pytest.mark.parametrize("site", ["check", "direction", "criterion", "witness"])
def test_s7_5_every_site_is_looked_at(site: str) -> None:
    document, path = artifact_sites()[site]
    assert verdict(document) == f"{ARTIFACT} @ {path}"
    error = error_of(document)
    assert error is not None
    assert error.detail == (
        f'"/interactions/{"leg-a" if site == "witness" else "run"}/artifact/other" addresses artifact "other", '
        'which operation "lint" does not declare'
    )


def test_s7_5_an_oracle_is_finished_before_the_next_and_before_rubrics() -> None:
    other = "/interactions/run/artifact/other"
    document = command_contract(
        put("/oracles/0/direction/evidenceTargets", [other]),
        add("/oracles/-", oracle(2, exists(other))),
        put("/rubrics", artifact_sites()["criterion"][0]["rubrics"]),
    )
    assert verdict(document) == f"{ARTIFACT} @ EvalContract.oracles[id=O-001].direction.evidenceTargets[0]"


def test_s7_5_what_does_not_resolve_is_abstained_from() -> None:
    elsewhere = exists("nowhere/artifact/other")
    assert verdict(command_contract(put("/oracles/0/check", elsewhere))).startswith("unreachable-check-evidence")
    lost = command_contract(
        put("/interactionPlan/0/operationId", "nowhere"), put("/oracles/0/check", exists("run/artifact/other"))
    )
    assert verdict(lost).startswith("unreachable-check-evidence")
    stranger = artifact_sites()["witness"][0]
    stranger["permittedInterfaces"][0]["operations"][0]["sensitivityWitness"]["relation"] = exists("run/artifact/other")
    assert not verdict(stranger).startswith(ARTIFACT)


def test_s7_5_a_bound_element_names_no_artifact() -> None:
    check = {"op": "for-all", "collection": p("run/stdout/findings"), "predicate": exists("@/artifact/other")}
    assert verdict(command_contract(put("/oracles", [oracle(1, check)]))) == "ok"
    assert verdict(tool_contract(put("/oracles", [oracle(1, exists("ask/artifact/x"))]))).startswith(ARTIFACT)


def test_s7_4_shapes_of_both_lists_declare() -> None:
    body = shape(body=keys({"copyId": "number"}, {"note": "string", "x": ""}))
    document = library(
        put("/permittedInterfaces/0/operations/0/requestShape", body),
        put("/interactionPlan/0/inputBinding", api_binding(body={"x": lit(1)})),
    )
    assert verdict(document) == "ok"
