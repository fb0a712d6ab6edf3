"""Spec 04 §6, §8 and §10: sealing."""

import copy
from typing import Any

import pytest

from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.direction.precondition import PreconditionError
from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.failures import STRUCTURAL_FAILURES
from eval_quality.core.explain.patch import add, put
from eval_quality.core.seal.brief import assemble_brief, seal_contract
from eval_quality.core.seal.entry import seal_value
from eval_quality.errors import CodedError, RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.value.canonical import canonicalize
from eval_quality.value.digest import digest_value
from support.contracts import (
    Edit,
    api_operation,
    apply,
    behavior,
    contract,
    eq,
    error_of,
    exists,
    library,
    lit,
    oracle,
    p,
    step,
)
from support.program import call


def refusal(document: Any, strict: bool = True) -> CodedError:
    with pytest.raises(CodedError) as caught:
        seal_value(document, strict)
    return caught.value


@pytest.mark.parametrize(
    "entry", [each for each in STRUCTURAL_FAILURES if each.subject == "contract"], ids=lambda e: e.code
)
def test_s6_whatever_compile_raises_propagates_unchanged(entry: Any) -> None:
    document = apply(base_contract(), entry.failing)
    error = error_of(document)
    assert error is not None
    sealed = refusal(document)
    assert (type(sealed), str(sealed)) == (type(error), str(error))


def test_s6_strict_inputs_are_passed_on() -> None:
    document = library(add("/interactionPlan/0/inputBinding/body/colour", lit("red")))
    assert refusal(document).code == "undeclared-mandatory-input"
    assert seal_value(document, strict=False).schema_version == 2


def test_s6_sealing_a_compiled_contract_compiles_it_again() -> None:
    compiled = compile_value(library())
    assert seal_contract(compiled) == seal_value(library())
    assert seal_value(compiled) == seal_value(library())


def test_s6_the_brief_is_immutable_and_shares_nothing() -> None:
    document = library()
    brief = seal_value(document)
    before = to_value(brief)
    document["behaviors"][0]["description"] = "changed"
    document["behaviors"][0]["oracles"].append("O-777")
    assert to_value(brief) == before
    with pytest.raises(AttributeError):
        brief.directions = ()  # type: ignore[misc]


def test_s6_the_command_writes_the_brief(tmp_path: Any) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(canonicalize(library(), "x"))
    expected = canonicalize(to_value(seal_value(library())), "x").decode() + "\n"
    assert call("seal", "--in", path) == (0, expected, "")
    assert call("seal", "--in", path, "--out", tmp_path / "out") == (0, "", "")
    assert (tmp_path / "out" / "sealed-evaluator-brief.json").read_text(encoding="utf-8") == expected
    path.write_bytes(canonicalize(library(put("/oracles", [])), "x"))
    assert call("seal", "--in", path)[0] == 5
    path.write_bytes(canonicalize(library(put("/oracles/0/check", None)), "x"))
    assert call("seal", "--in", path)[0] == 4


def rich(*edits: Edit) -> Any:
    """The contract of spec 04 §11.3, and something in every place that is permuted."""
    base = library(
        put("/permittedInterfaces/0/logicalId", "alpha"),
        put("/interactionPlan/0/interfaceId", "alpha"),
        put("/interactionPlan/1/interfaceId", "alpha"),
        add("/permittedInterfaces/0", {"logicalId": "zeta", "kind": "cli", "operations": []}),
        put(
            "/oracles",
            [
                oracle(2, eq(p("read/response-body/loanId"), p("lend/response-body/loanId"))),
                oracle(1, exists("read/response-status")),
            ],
        ),
        put("/behaviors", [behavior("O-001"), behavior("O-002", id="B-002", severity="low")]),
        put("/safetyLimits", ["no writes", "no network", "no writes"]),
        put("/testData/principals", {"bob": {"kind": "reader"}, "alice": {"kind": "clerk"}}),
        put("/probeStepBound", 3),
    )
    return apply(base, edits)


def test_s8_1_and_s11_3_fields_and_orders() -> None:
    document = rich()
    brief = to_value(seal_value(document))
    texts = {each["oracleId"]: each["text"] for each in brief["directions"]}
    assert brief == {
        "schemaVersion": 2,
        "parentDigest": None,
        "revisionCount": 0,
        "contractDigest": digest_value(document, "EvalContract"),
        "behaviors": document["behaviors"],
        "directions": [{"oracleId": "O-001", "text": texts["O-001"]}, {"oracleId": "O-002", "text": texts["O-002"]}],
        "permittedInterfaces": [{"logicalId": "alpha", "kind": "api"}, {"logicalId": "zeta", "kind": "cli"}],
        "scopedResources": [],
        "principals": ["alice", "bob"],
        "budgets": document["budgets"],
        "safetyLimits": ["no network", "no writes", "no writes"],
        "probeStepBound": 3,
    }
    assert all(texts.values())


def test_s8_1_no_principals_is_an_empty_list_and_lineage_is_not_inherited() -> None:
    document = rich(
        put("/testData/principals", None), put("/parentDigest", "sha256:" + "b" * 64), put("/revisionCount", 3)
    )
    brief = seal_value(document)
    assert (brief.principals, brief.parent_digest, brief.revision_count) == ((), None, 0)


def test_s8_1_limits_are_sorted_by_utf16_units() -> None:
    brief = seal_value(rich(put("/safetyLimits", ["\uff5e", "\U0001f600", "a"])))
    assert brief.safety_limits == ("a", "\U0001f600", "\uff5e")


def without_digest(document: Any) -> Any:
    value = to_value(seal_value(document))
    del value["contractDigest"]
    return value


PERMUTED: dict[str, Edit] = {
    "oracles": put("/oracles", list(reversed(rich()["oracles"]))),
    "plan": put("/interactionPlan", list(reversed(rich()["interactionPlan"]))),
    "interfaces": put("/permittedInterfaces", list(reversed(rich()["permittedInterfaces"]))),
    "limits": put("/safetyLimits", list(reversed(rich()["safetyLimits"]))),
    "targets": put(
        "/oracles/0/direction/evidenceTargets", list(reversed(rich()["oracles"][0]["direction"]["evidenceTargets"]))
    ),
    "maps": put("/testData/principals", dict(reversed(rich()["testData"]["principals"].items()))),
}


@pytest.mark.parametrize("name", PERMUTED)
def test_s6_permutations_do_not_show(name: str) -> None:
    changed = rich(PERMUTED[name])
    assert without_digest(changed) == without_digest(rich())


def test_s6_and_s11_3_the_order_of_behaviours_shows() -> None:
    turned = rich(put("/behaviors", list(reversed(rich()["behaviors"]))))
    assert [each["id"] for each in without_digest(turned)["behaviors"]] == ["B-002", "B-001"]


def test_s8_2_nothing_private_is_copied() -> None:
    secret = "zzqq"
    check = {"op": "any", "operands": [exists("read/response-status"), eq(p("read/response-status"), lit(secret))]}
    document = rich(
        put("/oracles/1/check", check),
        put("/oracles/1/direction/relation", "any"),
        put("/oracles/1/commentary", secret),
        put("/referenceSets", {secret: {"keys": [secret], "members": [{secret: secret}], "commentary": secret}}),
        put("/testData/setup", secret),
        put("/testData/principals/alice/kind", secret),
        put("/requiredEvidence", [secret]),
        put("/siblingGroups/parameters", [[secret, "x"]]),
        put(
            "/waivers",
            [
                {
                    "id": "W-001",
                    "rule": secret,
                    "rationale": secret,
                    "condition": secret,
                    "approval": secret,
                    "expiresAt": "2030-01-01T00:00:00Z",
                }
            ],
        ),
        put("/interactionPlan/0/inputBinding/body/copyId", lit(secret)),
    )
    text = canonicalize(to_value(seal_value(document)), "x").decode()
    assert secret not in text
    for word in ("lend-book", "/loans", "POST", "stepId", "leg-a", "pathTemplate", "interactionPlan", "copyId:"):
        assert word not in text


PRECONDITIONS: dict[str, tuple[Any, str]] = {
    "no oracle": (library(put("/oracles", [])), "1 schema issue(s), the first at directions"),
    "two oracles of one id": (library(add("/oracles/-", library()["oracles"][0])), 'oracle "O-001" is declared more'),
    "two steps of one id": (
        library(*(add("/interactionPlan/-", step("spare", "get-loan")) for _ in range(2))),
        'step "spare" more than once',
    ),
    "one operation twice": (
        library(
            add("/permittedInterfaces/0/operations/-", api_operation("spare", "GET", "/a")),
            add("/permittedInterfaces/0/operations/-", api_operation("spare", "GET", "/b")),
        ),
        'operation "spare" more than once',
    ),
    "no target": (library(put("/oracles/0/direction/evidenceTargets", [])), "no evidence target"),
}


@pytest.mark.parametrize("name", PRECONDITIONS)
def test_s8_4_a_contract_may_compile_and_not_seal(name: str) -> None:
    document, reason = PRECONDITIONS[name]
    assert error_of(document) is None
    error = refusal(document)
    assert isinstance(error, RuntimeFault)
    assert (error.code, error.artifact_path) == ("schema-parse-failure", "EvalContract")
    assert error.detail.startswith("the contract compiles but cannot be sealed: ")
    assert reason in error.detail
    assert isinstance(error.cause, PreconditionError)


def test_s8_3_the_plan_is_looked_at_first_and_directions_before_sorting() -> None:
    document = copy.deepcopy(PRECONDITIONS["two steps of one id"][0])
    document["oracles"] = []
    assert "more than once" in refusal(document).detail
    doubled = copy.deepcopy(PRECONDITIONS["two oracles of one id"][0])
    doubled["oracles"][1]["direction"]["evidenceTargets"] = []
    assert "no evidence target" in refusal(doubled).detail


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ((put("/oracles/0/direction", None),), "declares no direction"),
        ((put("/oracles/0/direction/evidenceTargets", ["/interactions/nowhere/stdout"]),), "nowhere"),
        (
            (add("/permittedInterfaces/-", {"logicalId": "library", "kind": "cli", "operations": []}),),
            'interface "library"',
        ),
        ((put("/scopedResources", [{"reference": "r", "kind": "k"}] * 2),), 'scoped resource "r"'),
    ],
)
def test_s8_4_what_cannot_survive_compile_is_refused_all_the_same(edits: tuple[Edit, ...], reason: str) -> None:
    with pytest.raises(PreconditionError) as caught:
        assemble_brief(read_contract(library(*edits)))
    assert reason in str(caught.value)


def test_s8_4_scoped_resources_would_be_sorted_by_reference() -> None:
    resources = [{"reference": "b", "kind": "k"}, {"reference": "a", "kind": "k"}]
    brief = assemble_brief(read_contract(library(put("/scopedResources", resources))))
    assert [each.reference for each in brief.scoped_resources] == ["a", "b"]


def test_s8_4_a_value_the_canonicalizer_refuses_is_its_own_fault() -> None:
    document = library(put("/referenceSets", {"s": {"keys": ["k"], "members": [{"k": 1e300}], "commentary": None}}))
    assert error_of(document) is None
    error = refusal(document)
    assert (error.code, error.artifact_path) == ("non-canonicalizable-value", "EvalContract")


def test_s10_any_change_of_the_contract_changes_the_briefs_digest() -> None:
    plain, changed = seal_value(library()), seal_value(library(put("/oracles/0/commentary", "a note")))
    assert plain.contract_digest != changed.contract_digest
    assert without_digest(library()) == without_digest(library(put("/oracles/0/commentary", "a note")))


def test_s6_a_contract_of_nothing_but_oracles_seals() -> None:
    document = contract(
        oracles=[oracle(1, exists("s/response-status"))],
        permittedInterfaces=[{"logicalId": "library", "kind": "api", "operations": [api_operation("x", "GET", "/x")]}],
        interactionPlan=[step("s", "x")],
    )
    assert seal_value(document).directions[0].text.startswith("Its transport status from the x endpoint is")


def test_s6_strict_is_the_default_of_both_entries() -> None:
    document = library(add("/interactionPlan/0/inputBinding/body/colour", lit("red")))
    with pytest.raises(CodedError):
        seal_contract(read_contract(document))
    with pytest.raises(CodedError):
        seal_value(document)
    assert seal_contract(read_contract(document), strict=False).directions


def test_s8_4_the_first_issue_is_spelled_with_dots_and_positions() -> None:
    from eval_quality.core.seal.brief import _dotted  # pyright: ignore[reportPrivateUsage]
    from eval_quality.errors import Problem

    assert _dotted(Problem(("behaviors", 2, "id"), "invalid_type", "x")) == "behaviors[2].id"
    assert _dotted(Problem((), "invalid_type", "x")) == "(root)"
