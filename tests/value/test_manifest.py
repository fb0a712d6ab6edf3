"""Private-artifact manifest comparison (spec 01 §7, §10.7)."""

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.value.manifest import compare_manifest

Z1, Z2, Z9 = (f"sha256:{number:064x}" for number in (1, 2, 9))
ENTRIES = [("t-1", Z1), ("t-2", Z2)]


def fault_of(entries: list[tuple[str, str]], resolved: dict[str, str]) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as raised:
        compare_manifest(entries, resolved)
    assert raised.value.code == "digest-mismatch"
    return raised.value


def test_s10_7_agreement_passes() -> None:
    assert compare_manifest(ENTRIES, {"t-1": Z1, "t-2": Z2}) is None
    assert compare_manifest([], {}) is None


def test_s10_7_another_digest() -> None:
    fault = fault_of(ENTRIES, {"t-1": Z1, "t-2": Z9})
    assert fault.artifact_path == "PrivateArtifactManifest.entries[1]"
    assert all(part in fault.detail for part in ("t-2", Z2, Z9))


def test_s10_7_nothing_resolved() -> None:
    fault = fault_of(ENTRIES, {"t-2": Z2})
    assert fault.artifact_path == "PrivateArtifactManifest.entries[0]"
    assert fault.detail == f"private reference t-1 declares {Z1}, but no resolved digest was supplied for it"


def test_s7_only_the_first_disagreement_and_extra_keys_are_ignored() -> None:
    assert fault_of(ENTRIES, {"t-9": Z9}).artifact_path == "PrivateArtifactManifest.entries[0]"
    compare_manifest(ENTRIES, {"t-1": Z1, "t-2": Z2, "t-9": Z9})


def test_s7_a_shared_reference_is_checked_for_each_entry() -> None:
    assert fault_of([("t", Z1), ("t", Z2)], {"t": Z1}).artifact_path == "PrivateArtifactManifest.entries[1]"
