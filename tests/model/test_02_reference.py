"""Every public reference document decodes, keeps its artifact digest, and parses as the record it is."""

from typing import Any

import pytest

from eval_quality.model import expression, interface, probe
from eval_quality.model.contract import Oracle
from eval_quality.model.decode import decode, issues, to_value
from eval_quality.model.registry import read
from eval_quality.value.digest import digest_value
from support import reference

DIGESTS = {
    "worked/skill-defect/eval-contract.json": "5eb9a97ec666c68dfb12e9c512422b9cb50a57c407257a0287332d30bfcc6989",
    "worked/skill-defect/brief.json": "43c013d51600453c810000c71f50b3edfdc4269f82354dbd2c4c825c4e291b63",
    "worked/skill-defect/probe.json": "74c2fa4eb696da946f47891a1ec8905de0f5744c244b8e4e8594a28eef38e411",
    "worked/skill-defect/preflight-verdict.json": "5107cccb89c368ad2c6870ad7f289fe9707c778dcc494df08a9480d5db9b0095",
    "worked/skill-defect/sealed-run-record.json": "5421edfc0772a407d272d1c3b0343b256833c0947839ce077c9de208ec4dce66",
    "worked/skill-defect/evidence-artifact.json": "8c0726c1af97a356a24f2d306a2e04e9045eef826cc8dd79be330936afb35c8f",
    "worked/spike-worked-example/eval-contract.json": (
        "8a70b8ae952a57dd755617892244860644cd8807f920f273cb69c122383d4864"
    ),
    "worked/spike-worked-example/brief.json": "1f1eb9b223e5e97f38c342d3448bca1cabde39134803d32f8643ba15610d3057",
    "worked/spike-worked-example/probe.json": "60ee39a31d3f98d9adde51e69ee4ee44dd3d4047f7242a9ea79121d2683c5fea",
    "worked/spike-worked-example/sealed-run-record.json": (
        "f734c72665fb38fee30cbf407660d9fdf7baca0862910513db4d93778a00b632"
    ),
    "worked/spike-worked-example/evidence-artifact.json": (
        "a92974306fd73718d8f34c37211c9da10cb79a9502373b955fc2abf387498825"
    ),
    "derived/default-scoring-policy.json": "cc9e09a64f2ed19a6a204f72244e43e51b742f078fab859329601146fdf47bb7",
}
PRODUCT_EXAMPLES: dict[str, Any] = {
    "exclusion.oracle.json": Oracle,
    "exit-code.signature.json": probe.DefectSignature,
    "inclusion.check.json": expression.Expression,
    "manifest-empty-on-malformed.witness.json": probe.ManifestationWitness,
    "release-notes-agent.interface.json": interface.PermittedInterface,
    "skill-runner.interface.json": interface.PermittedInterface,
}


@reference.present
@pytest.mark.parametrize(("name", "kind"), reference.documents().items())
def test_reference_documents_keep_their_digest(name: str, kind: str) -> None:
    document = reference.load(name)
    value = to_value(read(kind, document))
    assert value == document
    digest = digest_value(value, kind)
    assert digest == digest_value(document, kind)
    assert digest == "sha256:" + DIGESTS.get(name, digest.removeprefix("sha256:"))


@reference.present
def test_the_known_documents_are_all_there() -> None:
    assert DIGESTS.keys() <= reference.documents().keys()


@reference.present
@pytest.mark.parametrize("name", PRODUCT_EXAMPLES)
def test_the_blocks_of_the_product_documents_parse(name: str) -> None:
    document = reference.load(f"product-examples/{name}")
    assert issues(PRODUCT_EXAMPLES[name], document) == ()
    assert to_value(decode(PRODUCT_EXAMPLES[name], document, name)) == document
