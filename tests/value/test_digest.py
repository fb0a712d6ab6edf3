"""Digests (spec 01 §6, §10.1, §10.5)."""

from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.value.digest import (
    COMPOSITE_PROTOCOL,
    DIRECTORY_PROTOCOL,
    digest_bytes,
    digest_composite,
    digest_directory,
    digest_json_text,
    digest_value,
    is_digest,
)
from eval_quality.value.frozen import FrozenDict, FrozenList


def z(number: int) -> str:
    return f"sha256:{number:064x}"


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        ("[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
        ("null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"),
        ('""', "12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126"),
        ('{"b":1,"a":[true,null,"\\u00e9"]}', "17c8c6f7f948ee1c9b93b1bc35f6edc29cbaf3022bff7d076d1c4831dd8a44a2"),
        (
            "[0,-0,1.0,10.50,1e-6,1e-7,0.000001234,123456789.125,9007199254740991,-9007199254740991,"
            "1.5e-10,4.9e-324,0.1,333333333.3333333,1e15,2e-3,5e-324,1e-400]",
            "7c5f0d6805a169aca5adbac424e9b4be5db15abfbbdef20560394152b5035263",
        ),
        (
            '{"\U0001f600":1,"\ufb33":2,"a":3,"":4,"A":5,"\xe9":6,"10":7,"9":8}',
            "93de7761a5133f0a2b3049098874ba50a22df6069a55b5b54481a95ee7a75655",
        ),
        (
            '{"s":"\\u0000\\u0001\\b\\t\\n\\u000B\\f\\r\\u001F\\"\\\\\\/\\u007f\\u2028"}',
            "205ef0ceceff58ac6eff84ea734106da5fa4aa3e906170b7c98db77ec1dd7eeb",
        ),
    ],
)
def test_s10_digest_of_a_text(text: str, digest: str) -> None:
    assert digest_json_text(text, "Thing") == "sha256:" + digest
    assert digest_json_text(text.encode(), "Thing") == "sha256:" + digest


def test_s10_1_byte_digests() -> None:
    assert digest_bytes(b"abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_bytes(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_s6_2_white_space_changes_the_byte_digest_only() -> None:
    compact, spread = b'{"a":1}', b'{ "a": 1 }\n'
    assert digest_bytes(compact) != digest_bytes(spread)
    assert digest_json_text(compact, "Thing") == digest_json_text(spread, "Thing") == digest_bytes(compact)


def test_s6_2_frozen_and_plain_values_agree() -> None:
    assert digest_value(FrozenDict(a=FrozenList([1])), "Thing") == digest_value({"a": [1]}, "Thing")


def test_s6_2_faults_carry_the_artifact_path() -> None:
    with pytest.raises(RuntimeFault, match="non-canonicalizable-value in Policy: integer outside"):
        digest_value(2**53, "Policy")
    with pytest.raises(RuntimeFault, match="schema-parse-failure in Policy: unexpected end"):
        digest_json_text("", "Policy")


def test_s10_5_composite() -> None:
    assert COMPOSITE_PROTOCOL == "eval-quality/composite/v1"
    found = digest_composite({"left": "x", "right": 2}, "Thing")
    assert found == "sha256:bfd740a5e2f4ba8109d5649ac990ce4563dd92ef0e17255a9b2d7fe9e3155633"


def test_s10_5_directory() -> None:
    assert DIRECTORY_PROTOCOL == "eval-quality/directory/v1"
    found = digest_directory({"b.txt": z(2), "a/c.txt": z(1)}, "Thing")
    assert found == "sha256:78871e6c72b3199a10e31fa73775e492b5b5a02aa46617cb3e964c1df7d5445b"


def test_s10_5_plain_artifact_digests() -> None:
    scoring = {
        "contractSchemaVersion": 7,
        "corpusDigest": z(1),
        "fixtureDigest": z(2),
        "evaluatorConfigurationDigest": z(3),
        "scoringPolicyDigest": z(4),
        "mode": "contract-scoring",
    }
    found = digest_value(scoring, "ScoringVersionInputs")
    assert found == "sha256:80a0f6441327bc06d817389870caa7ab210c0eda5c1144926be5ad69a71fec56"
    comparability = {"scoringPolicyDigest": z(4), "probeIds": ["P-001", "P-002"]}
    found = digest_value(comparability, "ComparabilityKey")
    assert found == "sha256:e2bebac4b4e1ebf8b8293cfb55d9097bb8aad22143ce1f979a239009e70b67c6"


@pytest.mark.parametrize("fields", [{}, {"protocol": "x"}, {"a": 1, "protocol": 2}])
def test_s6_3_composite_programming_errors(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        digest_composite(fields, "Thing")


def test_s6_3_composite_faults() -> None:
    with pytest.raises(RuntimeFault, match="non-canonicalizable-value in Thing: set is not"):
        digest_composite({"a": set[int]()}, "Thing")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "at least one"),
        ({"": z(1)}, "empty path"),
        ({"a\\b": z(1)}, "backslash"),
        ({"/a": z(1)}, "not relative"),
        ({"./a": z(1)}, "segment"),
        ({"a//b": z(1)}, "segment"),
        ({"a/": z(1)}, "segment"),
        ({"a/../b": z(1)}, "segment"),
        ({"a": "sha256:ABC"}, "no digest"),
        ({"a": z(1), "b": None}, "no digest"),
        # Within one member, then member by member.
        ({"/a\\b": "x"}, "backslash"),
        ({"/a/../b": "x"}, "not relative"),
        ({"a": "x", "": z(1)}, "no digest"),
    ],
)
def test_s6_4_directory_programming_errors(members: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        digest_directory(members, "Thing")


def test_s6_4_paths_are_not_normalized() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert digest_directory({composed: z(1)}, "Thing") != digest_directory({decomposed: z(1)}, "Thing")


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (z(1), True),
        ("sha256:" + "f" * 64, True),
        ("sha256:" + "F" * 64, False),
        (z(1) + "\n", False),
        (z(1)[:-1], False),
        ("SHA256:" + "0" * 64, False),
        ("sha256:" + "\u0661" * 64, False),
        (None, False),
        (b"sha256:" + b"0" * 64, False),
    ],
)
def test_s6_1_spelling(text: object, valid: bool) -> None:
    assert is_digest(text) is valid
