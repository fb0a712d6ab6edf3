"""Lineage validation and minting (spec 09 §5)."""

import random
from typing import Any

import pytest

from eval_quality.core.lineage import LINEAGE_FINDINGS, LineageChainReport, mint_revision, validate_lineage_chain
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import decode, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.value.digest import digest_value
from support import judgment as j

ROOT = j.policy()


def revision(parent: dict[str, Any], count: int | None = None, **over: Any) -> dict[str, Any]:
    number = parent["revisionCount"] + 1 if count is None else count
    return j.policy(parentDigest=digest_value(parent, "x"), revisionCount=number, **over)


def validate(artifacts: list[Any], declared: int, cap: int | None = None, accepted: int = 2) -> LineageChainReport:
    return validate_lineage_chain(
        artifacts,
        artifact_path="ScoringPolicy",
        accepted_schema_version=accepted,
        declared_revision_count=declared,
        remediation_cap=cap,
    )


def codes(report: LineageChainReport) -> list[str]:
    return [finding.code for finding in report.findings]


def member(artifact: dict[str, Any]) -> str:
    return f"ScoringPolicy[digest={digest_value(artifact, 'x')}]"


def test_s5_2_a_sound_chain_passes_in_any_order() -> None:
    second = revision(ROOT)
    chain = [ROOT, second, revision(second)]
    report = validate(chain, 2, 3)
    assert (report.findings, report.passed) == ((), True)
    assert to_value(report.checks) == {"lengthConsistent": True, "noRepeatedDigest": True, "noGap": True}
    assert validate(chain[::-1], 2, 3) == report


def test_s7_9_a_revision_that_skips_one() -> None:
    child = revision(ROOT, 2)
    report = validate([ROOT, child], 1, 0)
    assert [(finding.code, finding.artifact_path) for finding in report.findings] == [
        ("lineage-revision-not-successor", member(child)),
        ("lineage-remediation-cap-exceeded", "ScoringPolicy"),
    ]
    assert to_value(report.checks) == {"lengthConsistent": True, "noRepeatedDigest": True, "noGap": False}
    assert not report.passed


def test_s5_2_an_empty_list() -> None:
    report = validate([], 0)
    assert codes(report) == ["lineage-no-root", "lineage-length-inconsistent"]
    assert to_value(report.checks) == {"lengthConsistent": False, "noRepeatedDigest": True, "noGap": False}


def test_s5_2_exceeding_the_cap_alone_leaves_every_check_true() -> None:
    report = validate([ROOT, revision(ROOT)], 1, 0)
    assert codes(report) == ["lineage-remediation-cap-exceeded"]
    assert to_value(report.checks) == {"lengthConsistent": True, "noRepeatedDigest": True, "noGap": True}
    assert not report.passed


def test_s5_2_each_finding_with_the_check_it_clears() -> None:
    rootless = j.policy(parentDigest=None, revisionCount=1)
    adopted = j.policy(parentDigest=digest_value(ROOT, "x"), revisionCount=0)
    other_root = j.policy(policyId="other")
    twins = [revision(ROOT, policyId="one"), revision(ROOT, policyId="two")]
    cases = {
        "lineage-root-invalid": ([ROOT, rootless], 1),
        "lineage-duplicate-artifact": ([ROOT, ROOT], 1),
        "lineage-no-root": ([rootless], 0),
        "lineage-multiple-roots": ([ROOT, other_root], 1),
        "lineage-parent-absent": ([other_root, revision(ROOT)], 1),
        "lineage-revision-not-successor": ([ROOT, adopted], 1),
        "lineage-revision-conflict": ([ROOT, *twins], 2),
        "lineage-length-inconsistent": ([ROOT], 1),
        "lineage-remediation-cap-exceeded": ([ROOT, revision(ROOT)], 1),
    }
    assert list(cases) == list(LINEAGE_FINDINGS)
    for code, (artifacts, declared) in cases.items():
        report = validate(artifacts, declared, 0 if code == "lineage-remediation-cap-exceeded" else None)
        assert code in codes(report), code
        cleared = {name for name, value in to_value(report.checks).items() if not value}
        expected = {
            {"no_gap": "noGap", "no_repeated_digest": "noRepeatedDigest", "length_consistent": "lengthConsistent"}[name]
            for name in (LINEAGE_FINDINGS[found] for found in codes(report))
            if name is not None
        }
        assert cleared == expected


def test_s5_2_paths_and_details() -> None:
    twins = [revision(ROOT, policyId="one"), revision(ROOT, policyId="two")]
    report = validate([*twins, ROOT], 2)
    (conflict,) = report.findings
    assert conflict.artifact_path == f"ScoringPolicy[parent={digest_value(ROOT, 'x')},revision=1]"
    assert conflict.detail.endswith(", ".join(sorted(digest_value(twin, "x") for twin in twins)))
    report = validate([ROOT, ROOT, ROOT], 2)
    assert [(finding.code, finding.artifact_path) for finding in report.findings] == [
        ("lineage-duplicate-artifact", member(ROOT)),
        ("lineage-multiple-roots", "ScoringPolicy"),
    ]
    assert "3 members" in report.findings[0].detail


def test_s5_2_4_findings_are_sorted_by_rank_then_path() -> None:
    orphans = [revision(j.policy(policyId=name)) for name in ("x", "y", "z")]
    broken = [j.policy(policyId=name, revisionCount=3) for name in ("p", "q")]
    report = validate([*orphans, *broken], 0, 0)
    ranks = [list(LINEAGE_FINDINGS).index(code) for code in codes(report)]
    assert ranks == sorted(ranks)
    for code in ("lineage-parent-absent", "lineage-root-invalid"):
        paths = [finding.artifact_path for finding in report.findings if finding.code == code]
        assert paths == sorted(paths)


def test_s5_2_the_order_of_the_list_never_matters() -> None:
    members = [
        ROOT,
        ROOT,
        revision(ROOT),
        revision(ROOT, 2, policyId="other"),
        j.policy(revisionCount=4),
        revision(j.policy(policyId="ghost")),
    ]
    expected = validate(members, 3, 1)
    for seed in range(20):
        shuffled = list(members)
        random.Random(seed).shuffle(shuffled)
        assert validate(shuffled, 3, 1) == expected


def test_s5_2_own_records_are_accepted() -> None:
    own = [decode(ScoringPolicy, value, "x") for value in (ROOT, revision(ROOT))]
    assert validate(own, 1) == validate([ROOT, revision(ROOT)], 1)


@pytest.mark.parametrize("count", [-1, True, 1.5, "1", None, 2**53])
def test_s5_2_1_counts_are_non_negative_safe_integers(count: Any) -> None:
    with pytest.raises(TypeError, match="declared_revision_count"):
        validate([ROOT], count)
    if count is not None:
        with pytest.raises(TypeError, match="remediation_cap"):
            validate([ROOT], 0, count)


@pytest.mark.parametrize("stamp", [1, True, "2"])
def test_s5_2_2_every_member_carries_the_accepted_stamp(stamp: Any) -> None:
    with pytest.raises(RuntimeFault) as raised:
        validate([ROOT, j.policy(schemaVersion=stamp)], 1, accepted=2)
    assert (raised.value.code, raised.value.artifact_path) == ("schema-version-mismatch", "ScoringPolicy")


def test_s5_2_2_a_member_outside_the_canonical_domain_is_a_fault() -> None:
    with pytest.raises(RuntimeFault) as raised:
        validate([{**ROOT, "extra": 2**60}], 0)
    assert raised.value.code == "non-canonicalizable-value"


@pytest.mark.parametrize("artifact", [17, [], {"schemaVersion": 2}, {"schemaVersion": 2, "parentDigest": None}])
def test_s5_2_a_member_that_is_no_artifact_is_a_programming_error(artifact: Any) -> None:
    with pytest.raises(TypeError, match="lineage members"):
        validate([artifact], 0)


# --- minting (§5.3) -------------------------------------------------------------------------------------------------


def body(**over: Any) -> dict[str, Any]:
    found = j.policy(**over)
    del found["parentDigest"], found["revisionCount"]
    return found


def test_s5_3_a_minted_revision_follows_its_parent() -> None:
    given = body(policyId="next")
    minted = mint_revision(ROOT, given, "ScoringPolicy")
    assert minted == {**given, "parentDigest": digest_value(ROOT, "x"), "revisionCount": 1}
    assert "parentDigest" not in given
    again = mint_revision(minted, body(), "ScoringPolicy")
    assert validate([ROOT, minted, again], 2).passed


@pytest.mark.parametrize(
    ("parent", "given", "says"),
    [
        (j.policy(revisionCount=1), body(), "root rule"),
        (j.policy(parentDigest=j.digest(1)), body(), "root rule"),
        (j.policy(revisionCount=-1), body(), "safe integer"),
        (j.policy(revisionCount="0"), body(), "safe integer"),
        (j.policy(revisionCount=2**53 - 1, parentDigest=j.digest(1)), body(), "incremented"),
        (ROOT, body(schemaVersion=3), "schemaVersion"),
        (ROOT, {**body(), "parentDigest": None}, "lineage member"),
        (ROOT, {**body(), "revisionCount": 1}, "lineage member"),
    ],
)
def test_s5_3_what_cannot_be_minted(parent: dict[str, Any], given: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        mint_revision(parent, given, "ScoringPolicy")
