"""The qualification gate (spec 08 §1)."""

from itertools import product
from typing import Any

import pytest

from eval_quality.core.contract.operation import AnyOperation
from eval_quality.core.qualify import (
    QUALIFICATION_FAILURES,
    QualificationResult,
    qualify_probe,
    resolve_home_operation,
    seal_probes,
)
from eval_quality.core.qualify.channel import FOREIGN_CHANNELS, RESPONSE_SIDE
from eval_quality.core.qualify.home import signature_of
from eval_quality.core.qualify.route import admissible_routes
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.primitives import EVIDENCE_CHANNELS
from eval_quality.model.probe import Probe
from support import judgment as j
from support.judgment import OBSERVED, equality, existence, literal, pointer
from support.reference import load, present

AT = "Probe[probeId=P-001]"
PREDICATE = f"{AT}.defectSignature.condition.predicate"


def a_probe(**over: Any) -> Probe:
    return decode(Probe, j.probe(**over), "Probe")


def operation(kind: str = "cli") -> AnyOperation:
    declared = {"cli": j.command(), "api": j.http(), "mcp": j.tool()}[kind]
    contract = decode(
        EvalContract, j.contract(permittedInterfaces=[j.interface(kind, "agent", declared)]), "EvalContract"
    )
    return contract.permitted_interfaces[0].operations[0]


def found(result: QualificationResult) -> list[tuple[str, str]]:
    return [(failure.code, failure.artifact_path) for failure in result.failures]


def api_signature(**over: Any) -> dict[str, Any]:
    base = j.signature(observableChannel="response-status")
    del base["invocation"]
    selector = j.selector(path={"noteId": literal("n-1")})
    predicate = equality(pointer(f"{OBSERVED}/response-status"), literal(200))
    return {
        **base,
        "interfaceKind": "api",
        "method": "GET",
        "pathTemplate": "/notes/{id}",
        "condition": {"selector": selector, "predicate": predicate},
        **over,
    }


def tool_signature(**over: Any) -> dict[str, Any]:
    base = j.signature(observableChannel="response-body")
    del base["invocation"]
    selector = j.selector(arguments={"q": literal("x")})
    predicate = existence(f"{OBSERVED}/response-body/message")
    return {
        **base,
        "interfaceKind": "mcp",
        "toolName": "search",
        "condition": {"selector": selector, "predicate": predicate},
        **over,
    }


def test_s1_1_a_sound_probe_qualifies() -> None:
    result = qualify_probe(a_probe(), operation())
    assert result == QualificationResult(qualified=True, failures=(), declaration_checks_ran=True)


@pytest.mark.parametrize(
    ("probe", "home", "ran"),
    [
        (j.probe(), False, False),
        (j.probe(), True, True),
        (j.clean_probe(), False, True),
        (j.canary(), False, True),
        (j.probe(defectSignature=None), False, True),
    ],
)
def test_s1_1_whether_declaration_checks_ran(probe: Any, home: bool, ran: bool) -> None:
    result = qualify_probe(decode(Probe, probe, "Probe"), operation() if home else None)
    assert result.declaration_checks_ran is ran


def test_s1_2_the_closed_set_in_registry_order() -> None:
    assert len(QUALIFICATION_FAILURES) == 20
    assert QUALIFICATION_FAILURES[0] == "qualification-route-incompatible"
    assert QUALIFICATION_FAILURES[12] == "condition-artifact-channel-contract-local"
    assert QUALIFICATION_FAILURES[-1] == "condition-bound-element-outside-quantifier"
    assert len(set(QUALIFICATION_FAILURES)) == 20


# --- home operation ----------------------------------------------------------------------------------------------


def interfaces(*declared: dict[str, Any]) -> Any:
    return decode(EvalContract, j.contract(permittedInterfaces=list(declared)), "EvalContract").permitted_interfaces


def signature_record(value: dict[str, Any]) -> Any:
    return signature_of(a_probe(defectSignature=value))


def test_s16_6_home_resolution_erases_parameter_names() -> None:
    home = resolve_home_operation(
        signature_record(api_signature()), interfaces(j.interface("api", "notes-api", j.http()))
    )
    assert home is not None
    assert home.pair == ("notes-api", "get-note")


def test_s1_3_families_never_collide() -> None:
    odd = j.tool("odd", "agent")
    assert resolve_home_operation(signature_record(j.signature()), interfaces(j.interface("mcp", "m", odd))) is None


def test_s1_3_web_shares_the_api_family() -> None:
    home = resolve_home_operation(
        signature_record(api_signature(interfaceKind="web")), interfaces(j.interface("api", "a", j.http()))
    )
    assert home is not None


def test_s1_3_the_first_match_in_declaration_order() -> None:
    declared = interfaces(
        j.interface("cli", "one", j.command("other", invocation={"executable": "agent", "subcommandPath": ["x"]})),
        j.interface("cli", "two", j.command("first"), j.command("second")),
        j.interface("cli", "three", j.command()),
    )
    home = resolve_home_operation(signature_record(j.signature()), declared)
    assert home is not None
    assert home.pair == ("two", "first")


def test_s1_3_method_and_words_are_compared_literally() -> None:
    declared = interfaces(j.interface("api", "a", j.http(method="HEAD")), j.interface("mcp", "m", j.tool()))
    assert resolve_home_operation(signature_record(api_signature()), declared) is None
    home = resolve_home_operation(signature_record(tool_signature()), declared)
    assert home is not None
    assert home.interface_id == "m"


# --- routes --------------------------------------------------------------------------------------------------------

SOURCES = {
    "none": [],
    "natural": [j.defect("natural")],
    "mutation": [j.defect()],
    "mixed": [j.defect("natural"), j.defect()],
}


def expected_routes(expected_clean: bool, probe_class: str, sources: str) -> tuple[str, ...]:
    """The table of spec 08 §1.5."""
    if expected_clean:
        return ("clean-control",) if probe_class == "zero-action" else ()
    if probe_class in ("gameability", "canary"):
        return (probe_class,)
    return {
        "none": (),
        "natural": ("historical",),
        "mutation": ("controlled-mutation",),
        "mixed": (),
    }[sources]


@pytest.mark.parametrize("probe_class", ["defect", "gameability", "zero-action", "canary"])
@pytest.mark.parametrize("expected_clean", [True, False])
def test_s1_5_admissible_routes_over_the_whole_table(expected_clean: bool, probe_class: str) -> None:
    for sources, route in product(["none"] if expected_clean else SOURCES, j.ROUTES):
        probe = decode(
            Probe,
            j.probe(
                expectedClean=expected_clean,
                probeClass=probe_class,
                defects=SOURCES[sources],
                qualification=j.route(route),
                defectSignature=None if probe_class == "canary" else j.signature(),
            ),
            "Probe",
        )
        admitted = expected_routes(expected_clean, probe_class, sources)
        assert admissible_routes(probe) == admitted
        failures = found(qualify_probe(probe, None))
        incompatible = ("qualification-route-incompatible", f"{AT}.qualification.route")
        mixed = ("qualification-defect-sources-mixed", f"{AT}.defects")
        assert (incompatible in failures) == (route not in admitted)
        assert (mixed in failures) == (sources == "mixed" and probe_class in ("defect", "zero-action"))


def detail(probe: dict[str, Any], code: str = "qualification-route-incompatible") -> str:
    result = qualify_probe(decode(Probe, probe, "Probe"), None)
    return next(failure.detail for failure in result.failures if failure.code == code)


@pytest.mark.parametrize(
    ("probe", "says"),
    [
        (
            j.probe(qualification=j.route("historical")),
            'route "historical" is none of "controlled-mutation", which probeClass "defect" with expectedClean false',
        ),
        (
            j.probe(defects=SOURCES["natural"], probeClass="zero-action"),
            'is none of "historical"',
        ),
        (j.probe(defects=SOURCES["mixed"]), "mixed sources admit no single route"),
        (
            j.clean_probe(probeClass="canary"),
            'probeClass "canary" with expectedClean true admits no route',
        ),
        (
            j.probe(defects=[]),
            'probeClass "defect" seeds a defect and this probe\'s defects array is empty, so no AD-9 route has a '
            "seeded defect to qualify (AD-9)",
        ),
    ],
)
def test_s1_5_what_the_detail_names(probe: dict[str, Any], says: str) -> None:
    assert says in detail(probe)


def test_s16_1_an_empty_seeded_class() -> None:
    probe = a_probe(probeId="P-010", defects=[], qualification=j.route("historical"), defectSignature=None)
    result = qualify_probe(probe, None)
    assert found(result) == [
        ("qualification-route-incompatible", "Probe[probeId=P-010].qualification.route"),
        ("signature-absent", "Probe[probeId=P-010].defectSignature"),
    ]
    assert result.declaration_checks_ran


def test_s16_2_a_clean_canary() -> None:
    probe = decode(Probe, j.clean_probe(probeClass="canary"), "Probe")
    assert found(qualify_probe(probe, None)) == [("qualification-route-incompatible", f"{AT}.qualification.route")]


def test_s16_3_mixed_sources_and_an_unverified_rollback() -> None:
    probe = a_probe(defects=SOURCES["mixed"], qualification=j.route("controlled-mutation", rollbackVerified=False))
    assert found(qualify_probe(probe, operation())) == [
        ("qualification-defect-sources-mixed", f"{AT}.defects"),
        ("qualification-route-incompatible", f"{AT}.qualification.route"),
        ("qualification-evidence-unverified", f"{AT}.qualification.rollbackVerified"),
    ]


def test_s1_6_an_unstable_oracle_is_reported_whether_or_not_the_route_is_admitted() -> None:
    probe = a_probe(defects=SOURCES["natural"], qualification=j.route("historical", oracleStableAcrossRevisions=False))
    at = ("qualification-evidence-unverified", f"{AT}.qualification.oracleStableAcrossRevisions")
    assert found(qualify_probe(probe, operation())) == [at]
    foreign = a_probe(qualification=j.route("historical", oracleStableAcrossRevisions=False))
    assert at in found(qualify_probe(foreign, operation()))


def test_s1_7_presence_of_the_signature() -> None:
    absent = ("signature-absent", f"{AT}.defectSignature")
    present_on_canary = ("signature-present-on-canary", f"{AT}.defectSignature")
    assert found(qualify_probe(a_probe(defectSignature=None), None)) == [absent]
    assert found(qualify_probe(decode(Probe, j.canary(), "Probe"), None)) == []
    signed = decode(Probe, j.canary(defectSignature=j.signature()), "Probe")
    assert found(qualify_probe(signed, operation())) == [present_on_canary]
    assert found(qualify_probe(decode(Probe, j.clean_probe(), "Probe"), None)) == []


def test_s1_7_a_canary_with_a_signature_is_still_checked() -> None:
    signature = j.signature(observableChannel="call-inputs")
    result = qualify_probe(decode(Probe, j.canary(defectSignature=signature), "Probe"), operation())
    assert [code for code, _ in found(result)] == [
        "signature-present-on-canary",
        "signature-observable-channel-not-response-side",
        "condition-channels-underspecified",
    ]


# --- channels ------------------------------------------------------------------------------------------------------


def test_s1_8_web_has_no_probe_semantics_and_checking_goes_on() -> None:
    result = qualify_probe(
        a_probe(defectSignature=api_signature(interfaceKind="web", observableChannel="stdout")), None
    )
    assert found(result) == [
        ("signature-interface-kind-unsupported", f"{AT}.defectSignature.interfaceKind"),
        ("condition-text-channel-on-api", f"{AT}.defectSignature.observableChannel"),
        ("condition-channels-underspecified", PREDICATE),
    ]
    assert 'interface kind "web"' in result.failures[0].detail
    assert "api, cli, mcp" in result.failures[0].detail


FOREIGN = {
    "api": {"stdout", "stderr", "exit-code", "artifact"},
    "web": {"stdout", "stderr", "exit-code", "artifact"},
    "cli": {"response-body", "response-headers", "response-status"},
    "mcp": {"stdout", "stderr", "artifact", "response-headers"},
}


@pytest.mark.parametrize("channel", EVIDENCE_CHANNELS)
@pytest.mark.parametrize("kind", ["api", "web", "cli", "mcp"])
def test_s1_9_the_observable_channel_over_every_kind(kind: str, channel: str) -> None:
    assert set(FOREIGN_CHANNELS[kind]) == FOREIGN[kind]
    base = {"cli": j.signature(), "mcp": tool_signature()}.get(kind) or api_signature(interfaceKind=kind)
    result = qualify_probe(a_probe(defectSignature={**base, "observableChannel": channel}), None)
    codes = [code for code, path in found(result) if path == f"{AT}.defectSignature.observableChannel"]
    if channel == "call-inputs":
        assert codes == ["signature-observable-channel-not-response-side"]
    else:
        assert codes == (["condition-text-channel-on-api"] if channel in FOREIGN[kind] else [])
    assert set(RESPONSE_SIDE) == set(EVIDENCE_CHANNELS) - {"call-inputs"}


TWICE_SENT = equality(pointer(f"{OBSERVED}/call-inputs/stdin/prompt"), pointer(f"{OBSERVED}/call-inputs/option/case"))
LITERALS = equality(literal(1), literal(1))


def names_in_set(name: str) -> dict[str, Any]:
    return {"op": "set-membership", "operands": [pointer(f"{OBSERVED}/stdout/selected"), {"referenceSet": name}]}


# --- operands and pointers ------------------------------------------------------------------------------------------


def predicate_failures(predicate: dict[str, Any], home: bool = True, **over: Any) -> list[tuple[str, str]]:
    probe = a_probe(defectSignature=j.with_predicate(predicate, **over))
    return [
        (code, path.removeprefix(PREDICATE))
        for code, path in found(qualify_probe(probe, operation() if home else None))
    ]


STATUS = equality(pointer(f"{OBSERVED}/exit-code"), literal(0))
SELECTED = f"{OBSERVED}/stdout/selected"


def test_s1_10_reference_sets_are_reported_everywhere_before_pointers() -> None:
    member = {"op": "set-membership", "operands": [pointer("/interactions/other/stdout"), {"referenceSet": "rs"}]}
    covers = {
        "op": "covers-by-key",
        "operands": [{"referenceSet": "rs"}, pointer(SELECTED)],
        "expectedKey": "id",
        "actualKey": "id",
    }
    quantifier = {"op": "for-all", "collection": {"referenceSet": "rs"}, "predicate": member}
    failures = predicate_failures({"op": "all", "operands": [covers, quantifier]})
    assert failures[:4] == [
        ("condition-reference-set-operand", ".operands[0].operands[0]"),
        ("condition-reference-set-operand", ".operands[1].collection"),
        ("condition-reference-set-operand", ".operands[1].predicate.operands[1]"),
        ("condition-pointer-not-observation-rooted", ".operands[1].predicate.operands[0]"),
    ]


def test_s1_10_covers_by_key_can_never_qualify() -> None:
    covers = {
        "op": "covers-by-key",
        "operands": [pointer(SELECTED), pointer(SELECTED)],
        "expectedKey": "id",
        "actualKey": "id",
    }
    assert predicate_failures(covers) == [("condition-operand-illegal", ".operands[0]")]


def test_s1_10_a_foreign_step_does_not_name_a_channel() -> None:
    foreign = equality(pointer("/interactions/other/stdout/selected"), literal(1))
    assert predicate_failures(foreign) == [
        ("condition-pointer-not-observation-rooted", ".operands[0]"),
        ("condition-channels-underspecified", ""),
    ]


def test_s1_10_an_artifact_pointer_is_local_to_its_contract() -> None:
    failures = predicate_failures(existence(f"{OBSERVED}/artifact/log/0"), observableChannel="artifact")
    assert failures[0] == ("condition-artifact-channel-contract-local", ".operands[0]")
    assert ("condition-channels-underspecified", "") not in failures


def test_s16_5_an_artifact_pointer_on_a_tool_call() -> None:
    signature = j.with_predicate(existence(f"{OBSERVED}/artifact/log/0"), tool_signature())
    result = qualify_probe(a_probe(defectSignature=signature), None)
    assert found(result) == [
        ("condition-artifact-channel-contract-local", f"{PREDICATE}.operands[0]"),
        ("condition-text-channel-on-api", f"{PREDICATE}.operands[0]"),
        ("condition-channels-underspecified", PREDICATE),
    ]
    assert f"{OBSERVED}/artifact/log/0" in result.failures[0].detail
    assert '"log"' in result.failures[0].detail


# --- sufficiency and disjuncts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicate", "observable", "passes"),
    [
        (STATUS, "exit-code", True),
        (STATUS, "stdout", False),
        (existence(f"{OBSERVED}/call-inputs/stdin/prompt"), "stdout", False),
        (equality(pointer(f"{OBSERVED}/call-inputs/stdin/prompt"), pointer(f"{OBSERVED}/stderr")), "stdout", True),
        (equality(pointer(f"{OBSERVED}/exit-code"), pointer(f"{OBSERVED}/stderr")), "stdout", True),
        (equality(literal(1), literal(1)), "stdout", False),
        (equality(literal(1), literal(1)), "call-inputs", False),
        (existence(f"{OBSERVED}/call-inputs/stdin/prompt"), "call-inputs", False),
    ],
)
def test_s1_11_channel_sufficiency(predicate: dict[str, Any], observable: str, passes: bool) -> None:
    codes = [code for code, _ in predicate_failures(predicate, observableChannel=observable)]
    assert ("condition-channels-underspecified" not in codes) is passes


def test_s1_11_the_detail_is_the_published_one() -> None:
    probe = j.probe(defectSignature=j.with_predicate(existence(f"{OBSERVED}/call-inputs/stdin/prompt")))
    assert detail(probe, "condition-channels-underspecified") == (
        'names "call-inputs", which is neither the declared observableChannel "stdout" nor two channels with a '
        "response-side member (AD-40)"
    )
    nothing = j.probe(defectSignature=j.with_predicate(equality(literal(1), literal(1))))
    assert detail(nothing, "condition-channels-underspecified").startswith("names no channel, which is neither")


def test_s16_4_an_echo_condition() -> None:
    echo = equality(pointer(f"{OBSERVED}/call-inputs/body/title"), literal("x"))
    result = qualify_probe(a_probe(defectSignature=j.with_predicate(echo, api_signature())), operation("api"))
    assert found(result) == [("condition-channels-underspecified", PREDICATE)]
    either = {
        "op": "any",
        "operands": [existence(f"{OBSERVED}/call-inputs/body/title"), existence(f"{OBSERVED}/response-body/message")],
    }
    result = qualify_probe(a_probe(defectSignature=j.with_predicate(either, api_signature())), operation("api"))
    assert found(result) == [("condition-disjunct-without-response-channel", f"{PREDICATE}.operands[0]")]


SENT = existence(f"{OBSERVED}/call-inputs/stdin/prompt")
ELEMENT = equality(pointer("@/"), literal("x"))


def disjuncts(predicate: dict[str, Any]) -> list[str]:
    failures = predicate_failures({"op": "all", "operands": [STATUS, existence(SELECTED), predicate]})
    return [
        path.removeprefix(".operands[2]")
        for code, path in failures
        if code == "condition-disjunct-without-response-channel"
    ]


@pytest.mark.parametrize(
    ("predicate", "paths"),
    [
        ({"op": "all", "operands": [SENT, STATUS]}, []),
        ({"op": "any", "operands": [STATUS, SENT]}, [".operands[1]"]),
        ({"op": "any", "operands": [equality(literal(1), literal(1)), SENT]}, [".operands[0]", ".operands[1]"]),
        # All direct operands of one `any` come before what is inside them.
        (
            {"op": "any", "operands": [{"op": "any", "operands": [SENT, STATUS]}, SENT]},
            [".operands[1]", ".operands[0].operands[0]"],
        ),
        # A bound element stands for the enclosing quantifier's channel ...
        (
            {"op": "for-any", "collection": pointer(SELECTED), "predicate": {"op": "any", "operands": [ELEMENT, SENT]}},
            [".predicate.operands[1]"],
        ),
        # ... which is none when the collection is sent, not a pointer, or itself bound.
        (
            {
                "op": "for-any",
                "collection": pointer(f"{OBSERVED}/call-inputs/stdin/prompt"),
                "predicate": {"op": "any", "operands": [ELEMENT, STATUS]},
            },
            [".predicate.operands[0]"],
        ),
        (
            {"op": "for-any", "collection": literal([1]), "predicate": {"op": "any", "operands": [ELEMENT, STATUS]}},
            [".predicate.operands[0]"],
        ),
        (
            {"op": "for-any", "collection": pointer("@/x"), "predicate": {"op": "any", "operands": [ELEMENT, STATUS]}},
            [".predicate.operands[0]"],
        ),
        # A nested quantifier inside a disjunct counts by its own collection; its elements by the enclosing walk.
        (
            {"op": "any", "operands": [j.names_any(SELECTED, ["x"]), STATUS]},
            [],
        ),
        (
            {
                "op": "any",
                "operands": [
                    {"op": "for-any", "collection": literal([1]), "predicate": ELEMENT},
                    {"op": "not", "operands": [SENT]},
                ],
            },
            [".operands[0]", ".operands[1]"],
        ),
    ],
)
def test_s1_12_each_disjunct_reads_the_response(predicate: dict[str, Any], paths: list[str]) -> None:
    assert disjuncts(predicate) == paths


# --- selector ------------------------------------------------------------------------------------------------------

SELECTOR_AT = f"{AT}.defectSignature.condition.selector.inputBinding"


def selector_failures(kind: str = "cli", **channels: Any) -> list[tuple[str, str]]:
    base = {"cli": j.signature(), "api": api_signature()}[kind]
    condition = {**base["condition"], "selector": j.selector(**channels)}
    result = qualify_probe(a_probe(defectSignature={**base, "condition": condition}), operation(kind))
    assert all(failure.code == "condition-selector-key-undeclared" for failure in result.failures)
    return [(failure.artifact_path, failure.detail) for failure in result.failures]


def test_s1_13_an_undeclared_key_is_named_in_the_published_words() -> None:
    ((path, says),) = selector_failures(option={"skil": literal("x")})
    assert path == f'{SELECTOR_AT}.option["skil"]'
    assert says == (
        'operation "run-skill" declares "skil" in neither requiredKeys nor permittedKeys of its option channel, so '
        "this selector matches no observation and the probe can never be triggered (AD-4, AD-40)"
    )


def test_s1_13_channels_in_order_keys_as_an_object_enumerates_them() -> None:
    failures = selector_failures(
        stdin={"b": literal(1)},
        option={"z": literal(1), "10": literal(1), 'a"b': literal(1), "9": literal(1)},
        arguments={"q": literal(1)},
    )
    assert [path.removeprefix(SELECTOR_AT) for path, _ in failures] == [
        '.option["9"]',
        '.option["10"]',
        '.option["z"]',
        '.option["a\\"b"]',
        '.stdin["b"]',
        '.arguments["q"]',
    ]


def test_s1_13_a_type_to_violate_must_be_stated() -> None:
    violating = {"matcher": "type-violating"}
    assert selector_failures(option={"case": violating, "level": {"matcher": "any"}}) == []
    ((path, says),) = selector_failures(option={"level": violating})
    assert path == f'{SELECTOR_AT}.option["level"]'
    assert "indeterminate" in says
    untyped = j.command(requestShape={**j.command()["requestShape"], "option": j.shape(["case"])})
    contract = decode(EvalContract, j.contract(permittedInterfaces=[j.interface("cli", "a", untyped)]), "EvalContract")
    signature = j.signature()
    signature["condition"]["selector"] = j.selector(option={"case": violating})
    result = qualify_probe(a_probe(defectSignature=signature), contract.permitted_interfaces[0].operations[0])
    assert "declares no type" in result.failures[0].detail


def test_s1_13_a_raw_body_binds_no_key() -> None:
    raw = {"kind": "raw", "base64": "", "contentType": "text/plain"}
    assert selector_failures("api", body=raw, path={"noteId": {"matcher": "type-violating"}}) == []


def test_s1_13_is_skipped_without_a_home_operation() -> None:
    signature = j.signature()
    signature["condition"]["selector"] = j.selector(option={"skil": literal(1)})
    assert found(qualify_probe(a_probe(defectSignature=signature), None)) == []


# --- legality -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicate", "code", "path"),
    [
        (
            {"op": "all", "operands": [existence(SELECTED), existence("@/x")]},
            "condition-bound-element-outside-quantifier",
            ".operands[1].operands[0]",
        ),
        (
            {"op": "all", "operands": [existence(SELECTED), {"op": "existence", "operands": [literal(1)]}]},
            "condition-operand-illegal",
            ".operands[1].operands[0]",
        ),
        (
            {
                "op": "all",
                "operands": [
                    existence(SELECTED),
                    {
                        "op": "ordering",
                        "operands": [pointer(f"{OBSERVED}/call-inputs/stdin/prompt")],
                        "key": "k",
                        "order": "ascending",
                    },
                ],
            },
            "condition-operand-illegal",
            ".operands[1].operands[0]",
        ),
        (
            {"op": "regex", "operands": [pointer(f"{OBSERVED}/stdout/selected")], "pattern": "^a|b$"},
            "condition-regex-illegal",
            ".pattern",
        ),
        (
            {"op": "for-any", "collection": pointer(SELECTED), "predicate": j.names_any("@/x", ["y"])},
            "condition-quantifier-nesting",
            ".predicate",
        ),
        (
            j.names_any(f"{OBSERVED}/stdout/count", ["x"]),
            "condition-quantifier-over-non-collection",
            ".collection",
        ),
        (existence(f"{OBSERVED}/stdout/nothing"), "condition-pointer-unwritable", ".operands[0]"),
    ],
)
def test_s1_14_each_legality_row(predicate: dict[str, Any], code: str, path: str) -> None:
    probe = a_probe(defectSignature=j.with_predicate(predicate))
    result = qualify_probe(probe, operation())
    assert found(result) == [(code, PREDICATE + path)]
    assert f" in {PREDICATE}{path}: " in result.failures[0].detail


def test_s1_14_a_row_stops_at_its_first_violation_and_the_last_two_need_a_home() -> None:
    both = {
        "op": "all",
        "operands": [existence(f"{OBSERVED}/stdout/nothing"), j.names_any(f"{OBSERVED}/stdout/count", ["x"])],
    }
    assert predicate_failures(both, home=False) == []
    assert predicate_failures(both) == [
        ("condition-quantifier-over-non-collection", ".operands[1].collection"),
        ("condition-pointer-unwritable", ".operands[0].operands[0]"),
    ]


def test_s1_14_the_unwritable_row_ignores_the_step() -> None:
    elsewhere = equality(pointer("/interactions/other/stdout/nothing"), pointer(SELECTED))
    assert predicate_failures(elsewhere) == [
        ("condition-pointer-not-observation-rooted", ".operands[0]"),
        ("condition-pointer-unwritable", ".operands[0]"),
    ]


def test_s1_14_the_collection_row_resolves_the_observed_step_alone() -> None:
    elsewhere = j.names_any("/interactions/other/stdout/count", ["x"])
    codes = [code for code, _ in predicate_failures({"op": "all", "operands": [elsewhere, existence(SELECTED)]})]
    assert "condition-quantifier-over-non-collection" not in codes


# --- details: what each names beyond its code and path ---


@pytest.mark.parametrize(
    ("probe", "detail"),
    [
        (
            j.probe(defects=SOURCES["mixed"]),
            "natural and controlled-mutation defects are both seeded, and no single route covers both",
        ),
        (
            j.probe(defects=SOURCES["mixed"]),
            "defects of mixed sources admit no single route; split the probe by source",
        ),
        (
            j.probe(qualification=j.route("controlled-mutation", rollbackVerified=False)),
            'route "controlled-mutation" requires that rolling the mutation back was verified, and the record itself '
            "states false",
        ),
        (
            j.probe(defects=SOURCES["natural"], qualification=j.route("historical", oracleStableAcrossRevisions=False)),
            'route "historical" requires that the oracle was stable across the revisions, and the record itself states '
            "false",
        ),
        (
            j.probe(defectSignature=None),
            'a probe of class "defect" needs a signature to match findings against',
        ),
        (
            j.canary(defectSignature=j.signature()),
            "a canary is detected by any finding and carries no signature",
        ),
        (
            j.probe(defectSignature=j.signature(observableChannel="call-inputs")),
            '"call-inputs" is what was sent; a defect shows on a response-side channel',
        ),
        (
            j.probe(defectSignature=j.signature(observableChannel="response-body")),
            'an interface of kind "cli" produces no "response-body" channel',
        ),
        (
            j.probe(defectSignature=j.with_predicate(existence(f"{OBSERVED}/artifact/log"))),
            f'pointer "{OBSERVED}/artifact/log" names artifact "log", and a written file\'s identifier means something '
            "in one contract only",
        ),
        (
            j.probe(defectSignature=j.with_predicate(existence(f"{OBSERVED}/response-body"))),
            f'pointer "{OBSERVED}/response-body" reads "response-body", which an interface of kind "cli" '
            "cannot produce",
        ),
        (
            j.probe(defectSignature=j.with_predicate(existence("/interactions/other/stdout"))),
            'pointer "/interactions/other/stdout" names step "other"; a signature reads the step "observed" alone',
        ),
        (
            j.probe(defectSignature=j.with_predicate(names_in_set("rs"))),
            'reference set "rs": a corpus signature declares none',
        ),
        (
            j.probe(defectSignature=j.with_predicate({"op": "any", "operands": [STATUS, TWICE_SENT]})),
            'this disjunct names "call-inputs", so it can hold whatever came back',
        ),
        (
            j.probe(defectSignature=j.with_predicate({"op": "any", "operands": [STATUS, LITERALS]})),
            "this disjunct names no channel, so it can hold whatever came back",
        ),
    ],
)
def test_s1_4_what_each_detail_says(probe: dict[str, Any], detail: str) -> None:
    result = qualify_probe(decode(Probe, probe, "Probe"), None)
    assert detail in [failure.detail for failure in result.failures]


def test_s1_13_what_the_detail_of_an_untyped_key_says() -> None:
    ((_, says),) = selector_failures(option={"level": {"matcher": "type-violating"}})
    assert says == (
        'operation "run-skill" declares the type as indeterminate, so no value of "level" on its option channel can '
        "violate one"
    )


# --- the set --------------------------------------------------------------------------------------------------------


def test_s1_15_a_set_is_sorted_into_admitted_and_rejected_in_order() -> None:
    probes = [a_probe(probeId=f"P-00{n}", defectSignature=j.signature() if n % 2 else None) for n in (3, 2, 1, 3)]
    sealed = seal_probes(probes, lambda _: operation())
    assert [entry.probe.probe_id for entry in sealed.admitted] == ["P-003", "P-001", "P-003"]
    assert [entry.probe.probe_id for entry in sealed.rejected] == ["P-002"]
    assert not sealed.rejected[0].result.qualified


@present
def test_s16_14_the_product_signature_qualifies_and_an_artifact_pointer_does_not() -> None:
    declared = load("product-examples/release-notes-agent.interface.json")
    contract = decode(EvalContract, j.contract(permittedInterfaces=[declared]), "EvalContract")
    signature = load("product-examples/exit-code.signature.json")
    probe = a_probe(defectSignature=signature)
    home = resolve_home_operation(signature_record(signature), contract.permitted_interfaces)
    assert home is not None
    assert found(qualify_probe(probe, home.operation)) == []
    count = {
        "op": "count-tolerance",
        "operands": [pointer(f"{OBSERVED}/artifact/notes/entries")],
        "expected": 0,
        "tolerance": 0,
        "relative": False,
    }
    moved = a_probe(defectSignature=j.with_predicate(count, signature))
    assert [code for code, _ in found(qualify_probe(moved, home.operation))] == [
        "condition-artifact-channel-contract-local",
        "condition-channels-underspecified",
    ]
