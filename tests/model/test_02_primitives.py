"""Spec 02 §2, §7, §9, §30.1 to §30.7: strings, pointers, templates, vocabularies."""

import re
import typing
from typing import Any

import msgspec
import pytest

from eval_quality.model import primitives as p


def accepts(kind: Any, text: str) -> bool:
    try:
        return msgspec.convert(text, kind) == text
    except msgspec.ValidationError:
        return False


def rows(kind: Any, yes: list[str], no: list[str]) -> list[Any]:
    return [(kind, text, True) for text in yes] + [(kind, text, False) for text in no]


DECIMALS = {
    "0": (True, True, False),
    "0.50": (True, True, True),
    "0.0": (True, True, False),
    "-0": (True, False, False),
    "-1.5": (True, False, False),
    "1.00": (True, True, True),
    **dict.fromkeys(("01", "12.", ".5", "+1", "1e3", "", "1\n", "١"), (False, False, False)),
}
READ = "/interactions/read"


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        # §30.1
        *rows(p.Identifier, ["a", "a-b", "1", "observed"], ["", "A", "a_b", "a--b", "-a", "a-", "a\n", "a.b"]),
        *rows(p.BehaviorId, ["B-001", "B-0001"], ["B-01", "b-001", "B-001 ", "B-001\n", "O-001"]),
        *rows(p.RubricCriterionId, ["RC-123"], ["R-123", "RC-12"]),
        *rows(p.RubricId, ["R-001"], ["RC-001"]),
        *rows(p.OracleId, ["O-001"], ["O-1"]),
        *rows(p.ProbeId, ["P-001"], ["P-\u0661\u0662\u0663"]),
        *rows(p.WaiverId, ["W-001"], ["W001"]),
        *rows(p.DefectId, ["D-001"], ["D-"]),
        *rows(p.FindingId, ["F-001"], ["F-00"]),
        *rows(
            p.Digest,
            ["sha256:" + "0a" * 32],
            ["sha256:" + "0A" * 32, "sha256:" + "0" * 63, "sha256:" + "0" * 64 + "\n"],
        ),
        *rows(p.ToolName, ["a", "A_b-9"], ["", "a.b", "a/b", "a:b", "a\n"]),
        *rows(p.EnvironmentKeyName, ["PATH", "_x9"], ["", "1BAD", "A=B", "HAS SPACE"]),
        *rows(p.KeyName, [" ", "a/b"], [""]),
        *rows(p.Text, ["x"], [""]),
        # §30.2
        *[(p.DecimalString, text, answers[0]) for text, answers in DECIMALS.items()],
        *[(p.UnsignedDecimalString, text, answers[1]) for text, answers in DECIMALS.items()],
        *[(p.PositiveDecimalString, text, answers[2]) for text, answers in DECIMALS.items()],
        # §30.3
        *rows(
            p.Rfc3339Utc,
            [
                "2026-01-01T00:00:00Z",
                "2026-01-01T00:00Z",
                "2026-01-01T00:00:00.123456Z",
                "2024-02-29T23:59:59Z",
                "2000-02-29T00:00Z",
            ],
            [
                "2026-02-29T00:00:00Z",
                "1900-02-29T00:00Z",
                "2026-01-01T00:00:00+00:00",
                "2026-01-01t00:00:00z",
                "2026-01-01T24:00:00Z",
                "2026-01-01T23:59:60Z",
                "2026-01-01",
                "2026-01-01T00:00:00Z\n",
                "\u0662026-01-01T00:00:00Z",
            ],
        ),
        # §30.4
        *rows(
            p.InteractionPointer,
            [
                f"{READ}/response-body",
                f"{READ}/response-body/",
                f"{READ}/response-body/a~1b/~0",
                f"{READ}/response-body/*x",
                f"{READ}/response-body/*\n",
                f"{READ}/response-body/a\nb",
                f"{READ}/response-status",
                f"{READ}/call-inputs/body",
                f"{READ}/call-inputs/arguments/q",
                f"{READ}/artifact/report/items/0",
                f"{READ}/stderr/0",
                f"{READ}/exit-code",
            ],
            [
                f"{READ}/response-body/a~2",
                f"{READ}/response-body/*",
                f"{READ}/response-body/*/id",
                f"{READ}/response-status/x",
                f"{READ}/response-status\n",
                f"{READ}/call-inputs",
                f"{READ}/call-inputs/argumentsx",
                f"{READ}/artifact",
                f"{READ}/artifact/Report",
                "/interactions/Read/stdout",
                f"{READ}/request-body",
                "@/id",
                "",
            ],
        ),
        *rows(p.BoundElementPointer, ["@/", "@/id", "@/a/b", "@//"], ["@", "@a", "@/~", "@/*", "@/*/a"]),
        *rows(
            p.EvidencePointer,
            ["@/id", f"{READ}/stdout"],
            ["@", "/items", "", f"{READ}/stdoutx", f"{READ}/stdout\n@/a~"],
        ),
        *rows(p.DescriptorPointer, ["", "/", "/a", "/a/", "/~1", "/items/0", "/items/*", "/a\n"], ["a", "/~", "/~2"]),
        # §30.5
        *rows(
            p.PathTemplate,
            ["/", "/notes", "/notes/{id}", "/notes/{noteId}.json", "//", "/a{b}{c}", "/notes?x=1"],
            ["", "notes", "/notes/:id", "/notes/{}", "/notes/{a b}", "/{id", "http://h/x"],
        ),
        # §30.6
        *rows(p.Base64, ["", "Zg==", "eyI=", "AAAA"], ["Zg", "Zh==", "eyJ=", "A-_=", "Zg==\n", "AAAAA"]),
        *rows(
            p.ContentType,
            ["application/json", "text/plain; charset=utf-8", "a/b;c"],
            ["", "json", "text/plain;", "text/plain ;x=1", "a/b;c\r", "a/b;c\n", "a/b;c\nd"],
        ),
        # §30.7
        *rows(p.RegexPattern, ["^$", "^a|b$", r"^a\$", "^a\nb$"], ["^", "a$", "^a", "(^a$)", "^a$\n"]),
    ],
)
def test_s30_strings(kind: Any, text: str, expected: bool) -> None:
    assert accepts(kind, text) is expected


@pytest.mark.parametrize(
    ("vocabulary", "members"),
    [
        (p.JsonTypeName, p.JSON_TYPE_NAMES),
        (p.Severity, p.SEVERITY_LEVELS),
        (p.RunMode, p.RUN_MODES),
        (p.Verdict, p.VERDICTS),
        (p.EvaluatorRecommendation, p.EVALUATOR_RECOMMENDATIONS),
        (p.HttpMethod, p.HTTP_METHODS),
        (p.InterfaceKind, p.INTERFACE_KINDS),
        (p.ForbiddenInput, p.FORBIDDEN_INPUTS),
        (p.EvidenceChannel, p.EVIDENCE_CHANNELS),
        (p.InputChannel, p.INPUT_CHANNELS),
        (p.WitnessChannel, p.WITNESS_CHANNELS),
        (p.OutcomeState, p.OUTCOME_STATES),
        (p.ScoringVersionInputName, p.SCORING_VERSION_INPUT_NAMES),
        (p.Relation, p.RELATIONS),
    ],
)
def test_s2_published_tuples_are_the_vocabularies_in_order(vocabulary: Any, members: tuple[str, ...]) -> None:
    assert typing.get_args(vocabulary) == members


def test_s6_1_channel_classes_partition_the_evidence_channels() -> None:
    classes = (*p.TAIL_BEARING_CHANNELS, *p.SCALAR_CHANNELS, "call-inputs", "artifact")
    assert sorted(classes) == sorted(p.EVIDENCE_CHANNELS)
    assert set(p.API_RESPONSE_CHANNELS) | set(p.COMMAND_RESPONSE_CHANNELS) | {"call-inputs"} == set(p.EVIDENCE_CHANNELS)
    assert set(p.INPUT_CHANNELS) - {"header"} == set(p.WITNESS_CHANNELS)


def test_s1_3_translation_keeps_escapes_and_classes_and_anchors_the_very_end() -> None:
    pattern = p.whole(r"^\$[$\d]\d$").pattern
    assert pattern == r"^\$[$\d][0-9]\Z"
    assert re.search(pattern, "$$7")
    assert not re.search(pattern, "$$7\n")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (p.Base64, "AAAA" * 200_000, True),
        (p.Base64, "AAAA" * 200_000 + "A", False),
        (p.DescriptorPointer, "/" + "a" * 500_000, True),
        (p.DescriptorPointer, "/a" * 200_000 + "~", False),
        (p.InteractionPointer, f"{READ}/response-body" + "/~0" * 100_000 + "~", False),
    ],
)
def test_s1_3_long_strings_are_decided(kind: Any, text: str, expected: bool) -> None:
    assert accepts(kind, text) is expected
