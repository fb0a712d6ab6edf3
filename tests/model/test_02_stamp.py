"""Spec 02 §4.1, §4.3, §29.1 and spec 10 §8.8: stamps and the registry."""

from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.model import stamp
from eval_quality.model.decode import decode
from eval_quality.model.registry import INTERCHANGE_ARTIFACT_KEYS, kind_of, read, schema_name
from eval_quality.model.stamp import (
    MIGRATABLE_SCHEMA_VERSIONS,
    NATIVE_SCHEMA_VERSIONS,
    check_stamp,
    probe_path,
    record_path,
    stamp_of,
)
from support.documents import minimal


def test_s4_1_the_registry_in_order() -> None:
    assert INTERCHANGE_ARTIFACT_KEYS == (
        "eval-contract",
        "rubric",
        "sealed-evaluator-brief",
        "sealed-run-record",
        "isolation-manifest",
        "evaluator-configuration",
        "probe",
        "artifact-reference",
        "private-artifact-manifest",
        "preflight-verdict",
        "scoring-policy",
        "evidence-artifact",
        "strength-aggregate",
    )
    assert [key for key in INTERCHANGE_ARTIFACT_KEYS if key not in NATIVE_SCHEMA_VERSIONS] == ["artifact-reference"]


def test_s29_1_the_numbers() -> None:
    assert NATIVE_SCHEMA_VERSIONS == {
        "eval-contract": (7,),
        "rubric": (1,),
        "sealed-evaluator-brief": (2,),
        "sealed-run-record": (7, 8),
        "isolation-manifest": (1,),
        "evaluator-configuration": (1,),
        "probe": (6,),
        "private-artifact-manifest": (1,),
        "preflight-verdict": (2,),
        "scoring-policy": (2,),
        "evidence-artifact": (4,),
        "strength-aggregate": (1,),
    }
    assert MIGRATABLE_SCHEMA_VERSIONS == {"eval-contract": (4, 5, 6), "probe": (4, 5), "sealed-run-record": (5, 6)}
    assert stamp.SEALED_RUN_RECORD_SCHEMA_VERSION == 8
    assert stamp.EVAL_CONTRACT_SCHEMA_VERSION == 7


@pytest.mark.parametrize("kind", NATIVE_SCHEMA_VERSIONS)
@pytest.mark.parametrize("number", [0, -1, 3, 99, 7.5, 1e300])
def test_s4_3_a_stamp_outside_the_native_set(kind: str, number: float) -> None:
    value = minimal(kind) | {"schemaVersion": number}
    with pytest.raises(RuntimeFault) as caught:
        read(kind, value)
    fault = caught.value
    assert (fault.code, fault.artifact_path) == ("schema-version-mismatch", f"{schema_name(kind)}.schemaVersion")
    accepted = "7 or 8" if kind == "sealed-run-record" else str(NATIVE_SCHEMA_VERSIONS[kind][0])
    shown = {7.5: "7.5", 1e300: "1e+300"}.get(number, str(number))
    assert f'carries "schemaVersion" {shown} where this build reads {accepted}; ' in fault.detail
    assert ("migrate" in fault.detail) is (number in MIGRATABLE_SCHEMA_VERSIONS.get(kind, ()))


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, number) for kind, numbers in MIGRATABLE_SCHEMA_VERSIONS.items() for number in numbers]
)
def test_s4_3_a_stamp_that_migrate_reads_says_so(kind: str, number: int) -> None:
    with pytest.raises(RuntimeFault, match=r"; run migrate to convert it$"):
        check_stamp(kind, {"schemaVersion": number}, "Here")


def test_s4_3_the_probe_s_consequence_names_what_changed() -> None:
    with pytest.raises(RuntimeFault) as caught:
        check_stamp("probe", {"schemaVersion": 5}, "Probe")
    for named in ("qualification record", "witness legs", "defect-signature grammar", "raw HTTP body bytes"):
        assert named in caught.value.detail


@pytest.mark.parametrize(
    "value", [{}, {"schemaVersion": "7"}, {"schemaVersion": True}, {"schemaVersion": None}, [], None, 7]
)
def test_s4_3_silent_without_a_number(value: Any) -> None:
    check_stamp("eval-contract", value, "EvalContract")
    assert stamp_of(value) is None
    with pytest.raises(RuntimeFault, match=r"^schema-parse-failure in EvalContract: "):
        read("eval-contract", value)


def test_s4_3_records_are_checked_too() -> None:
    contract = decode(kind_of("eval-contract"), minimal("eval-contract") | {"schemaVersion": 6}, "EvalContract")
    assert stamp_of(contract) == 6
    with pytest.raises(RuntimeFault, match=r"^schema-version-mismatch in Here\.schemaVersion"):
        read("eval-contract", contract, "Here")


@pytest.mark.parametrize("kind", INTERCHANGE_ARTIFACT_KEYS)
def test_s4_1_read_gives_the_record_of_its_kind(kind: str) -> None:
    record = read(kind, minimal(kind))
    assert isinstance(record, kind_of(kind))
    assert read(kind, record) is record


def test_s7_6_paths() -> None:
    probe = read("probe", minimal("probe"))
    record = read("sealed-run-record", minimal("sealed-run-record"))
    assert probe_path(probe) == probe_path(minimal("probe")) == "Probe[probeId=P-001]"
    assert record_path(record, 4) == record_path(minimal("sealed-run-record"), 4) == "SealedRunRecord[trialIndex=1]"
    assert [probe_path(value) for value in ({}, {"probeId": 3}, None)] == ["Probe"] * 3
    assert record_path({"trialIndex": 2.5}, 0) == "SealedRunRecord[trialIndex=2.5]"
    for value in ({}, {"trialIndex": "1"}, {"trialIndex": True}, None, probe):
        assert record_path(value, 4) == "SealedRunRecord[index=4]"
