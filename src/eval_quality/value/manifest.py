"""Comparison of a private-artifact manifest with the bytes that were resolved (spec 01 §7).

Pure: resolving the bytes and hashing them is the caller's business.

1. The entries are visited in order.
2. An entry agrees when the mapping holds exactly its declared digest under its private reference.
3. The first one that does not, a missing mapping included, is the fault. Extra mapping keys are ignored, and two
   entries may share a reference: each is checked by itself.
"""

from collections.abc import Iterable, Mapping

from eval_quality.errors import RuntimeFault


def compare_manifest(entries: Iterable[tuple[str, str]], resolved: Mapping[str, str]) -> None:
    """Hold each entry `(private reference, declared digest)` against the digest of its resolved bytes.

    Raises `RuntimeFault("digest-mismatch")` at `PrivateArtifactManifest.entries[i]` for the first disagreement.
    """
    for index, (private_ref, declared) in enumerate(entries):
        obtained = resolved.get(private_ref)
        if obtained == declared:
            continue
        found = "no resolved digest was supplied for it" if obtained is None else f"the resolved bytes have {obtained}"
        raise RuntimeFault(
            "digest-mismatch",
            f"PrivateArtifactManifest.entries[{index}]",
            f"private reference {private_ref} declares {declared}, but {found}",
        )
