"""Revisions of one artifact as a chain (spec 09 §5).

A chain has one root (revision 0, no parent) and every other member names its parent by digest and is one revision
further. Findings, in rank order:

    1  a member breaks the root rule       4  more than one root          7  two revisions of one parent differ
    2  members share a digest              5  a parent is not in the set  8  the length is not what was declared
    3  no root                             6  a parent is not one before  9  more revisions than the cap

The order of the presented list never matters. No stage of the pipeline calls this; it is a service to callers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from eval_quality.core.contract.text import display
from eval_quality.errors import RuntimeFault
from eval_quality.model.decode import to_value
from eval_quality.model.primitives import SAFE
from eval_quality.model.record import Record
from eval_quality.value.digest import digest_value
from eval_quality.value.freeze import thaw
from eval_quality.value.kind import is_object
from eval_quality.value.text import utf16_key

LINEAGE_FINDINGS: Final[dict[str, str | None]] = {
    "lineage-root-invalid": "no_gap",
    "lineage-duplicate-artifact": "no_repeated_digest",
    "lineage-no-root": "no_gap",
    "lineage-multiple-roots": "no_gap",
    "lineage-parent-absent": "no_gap",
    "lineage-revision-not-successor": "no_gap",
    "lineage-revision-conflict": "no_gap",
    "lineage-length-inconsistent": "length_consistent",
    "lineage-remediation-cap-exceeded": None,
}
"""Every finding in rank order, with the check it clears (spec 09 §5.2)."""

_RANK: Final = {code: rank for rank, code in enumerate(LINEAGE_FINDINGS)}


class LineageFinding(Record):
    """One thing wrong with a chain, and where."""

    code: str
    artifact_path: str
    detail: str


class LineageChecks(Record):
    """The three summary booleans: true unless some finding clears them."""

    length_consistent: bool
    no_repeated_digest: bool
    no_gap: bool


class LineageChainReport(Record):
    """What chain validation found. `passed` is true without any finding; a cap exceeded leaves the checks true."""

    artifact_path: str
    findings: tuple[LineageFinding, ...]
    checks: LineageChecks
    passed: bool


class _Member(NamedTuple):
    digest: str
    parent: str | None
    revision: int
    path: str


def validate_lineage_chain(
    artifacts: Sequence[Any],
    *,
    artifact_path: str,
    accepted_schema_version: int,
    declared_revision_count: int,
    remediation_cap: int | None,
) -> LineageChainReport:
    """Validate whole parsed artifacts of one type, plain values or records (spec 09 §5.2).

    Raises `TypeError` for a count or cap that is no non-negative safe integer and for a member that is no artifact,
    and the runtime faults `schema-version-mismatch` at `artifact_path` and `non-canonicalizable-value`.
    """
    # 1
    _require_count(declared_revision_count, "declared_revision_count")
    if remediation_cap is not None:
        _require_count(remediation_cap, "remediation_cap")
    # 2
    members = [_member(artifact, artifact_path, accepted_schema_version) for artifact in artifacts]
    # 3, 4
    found = [
        *_per_member(members),
        *_duplicates(members),
        *_roots(members, artifact_path),
        *_parents(members),
        *_conflicts(members, artifact_path),
        *_counts(members, artifact_path, declared_revision_count, remediation_cap),
    ]
    found.sort(key=lambda finding: (_RANK[finding.code], utf16_key(finding.artifact_path)))
    # 5
    cleared = {LINEAGE_FINDINGS[finding.code] for finding in found}
    return LineageChainReport(
        artifact_path=artifact_path,
        findings=tuple(found),
        checks=LineageChecks(
            length_consistent="length_consistent" not in cleared,
            no_repeated_digest="no_repeated_digest" not in cleared,
            no_gap="no_gap" not in cleared,
        ),
        passed=not found,
    )


def mint_revision(parent: Mapping[str, Any], body: Mapping[str, Any], artifact_path: str) -> dict[str, Any]:
    """The next revision of `parent`: a deep copy of `body` with the two lineage members filled in (spec 09 §5.3).

    `parent` and `body` are plain JSON values. Raises `TypeError` when the parent breaks the root rule, its revision
    count cannot be counted on, the stamps differ, or the body brings a lineage member of its own.
    """
    revision = parent.get("revisionCount")
    _require_count(revision, "the parent's revisionCount")
    assert isinstance(revision, int)
    if (parent.get("parentDigest") is None) != (revision == 0):
        raise TypeError("the parent breaks the root rule: parentDigest is null exactly when revisionCount is 0")
    if revision >= SAFE:
        raise TypeError("the parent's revisionCount cannot be incremented safely")
    if body.get("schemaVersion") != parent.get("schemaVersion"):
        raise TypeError("the body's schemaVersion differs from the parent's")
    if "parentDigest" in body or "revisionCount" in body:
        raise TypeError("the body carries a lineage member that minting owns")
    return {**thaw(body), "parentDigest": digest_value(parent, artifact_path), "revisionCount": revision + 1}


def _require_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= SAFE:
        raise TypeError(f"{name} must be a non-negative safe integer")


def _member(artifact: Any, path: str, accepted: int) -> _Member:
    value: Any = to_value(artifact)
    if not is_object(value) or not {"schemaVersion", "parentDigest", "revisionCount"} <= value.keys():
        raise TypeError("a chain member must be an artifact with its three lineage members")
    stamp = value["schemaVersion"]
    if isinstance(stamp, bool) or stamp != accepted:
        raise RuntimeFault(
            "schema-version-mismatch",
            path,
            f'a chain member carries "schemaVersion" {display(stamp)} where this build reads {accepted}; '
            "its digest would name another document",
        )
    digest = digest_value(value, path)
    return _Member(digest, value["parentDigest"], value["revisionCount"], f"{path}[digest={digest}]")


def _per_member(members: Sequence[_Member]) -> Iterator[LineageFinding]:
    for member in members:
        if (member.parent is None) != (member.revision == 0):
            side = "names a parent" if member.parent is not None else "names no parent"
            yield LineageFinding(
                code="lineage-root-invalid",
                artifact_path=member.path,
                detail=f"revision {member.revision} {side}; exactly revision 0 has none",
            )


def _duplicates(members: Sequence[_Member]) -> Iterator[LineageFinding]:
    shared = Counter(member.path for member in members)
    for path, count in shared.items():
        if count > 1:
            yield LineageFinding(
                code="lineage-duplicate-artifact", artifact_path=path, detail=f"{count} members share this digest"
            )


def _roots(members: Sequence[_Member], path: str) -> Iterator[LineageFinding]:
    roots = sum(member.revision == 0 for member in members)
    if roots == 0:
        yield LineageFinding(
            code="lineage-no-root", artifact_path=path, detail=f"none of {len(members)} members is revision 0"
        )
    elif roots > 1:
        yield LineageFinding(
            code="lineage-multiple-roots", artifact_path=path, detail=f"{roots} members are revision 0"
        )


def _parents(members: Sequence[_Member]) -> Iterator[LineageFinding]:
    by_digest = {member.digest: member for member in members}
    for member in members:
        if member.parent is None:
            continue
        parent = by_digest.get(member.parent)
        if parent is None:
            yield LineageFinding(
                code="lineage-parent-absent",
                artifact_path=member.path,
                detail=f"parent {member.parent} is not among the members",
            )
        elif member.revision != parent.revision + 1:
            yield LineageFinding(
                code="lineage-revision-not-successor",
                artifact_path=member.path,
                detail=f"revision {member.revision} follows a parent of revision {parent.revision}",
            )


def _conflicts(members: Sequence[_Member], path: str) -> Iterator[LineageFinding]:
    places: dict[tuple[str, int], set[str]] = {}
    for member in members:
        if member.parent is not None:
            places.setdefault((member.parent, member.revision), set()).add(member.digest)
    for (parent, revision), digests in places.items():
        if len(digests) > 1:
            yield LineageFinding(
                code="lineage-revision-conflict",
                artifact_path=f"{path}[parent={parent},revision={revision}]",
                detail=f"several members are this revision: {', '.join(sorted(digests))}",
            )


def _counts(members: Sequence[_Member], path: str, declared: int, cap: int | None) -> Iterator[LineageFinding]:
    if len(members) != declared + 1:
        yield LineageFinding(
            code="lineage-length-inconsistent",
            artifact_path=path,
            detail=f"{len(members)} members presented, {declared} revisions declared",
        )
    if cap is not None and declared > cap:
        yield LineageFinding(
            code="lineage-remediation-cap-exceeded",
            artifact_path=path,
            detail=f"{declared} revisions declared, the cap is {cap}",
        )
