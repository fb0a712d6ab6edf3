"""Manifest, path policy, front matter, authoring rules, drafts (spec 11 §1, §17.1)."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.core.behavior.authoring import (
    depth_findings,
    duplicate_findings,
    headings,
    is_deep,
    option_findings,
    polarity_findings,
)
from eval_quality.core.behavior.drafting import MAX_DRAFTS, draft_scenarios
from eval_quality.core.behavior.findings import ERROR, WARN
from eval_quality.core.behavior.package import (
    CATEGORIES,
    agent_file_problem,
    check_front_matter,
    eval_file_problem,
    migrate_manifest,
    path_problem,
    read_manifest,
    split_front_matter,
)
from eval_quality.core.behavior.scenario import read_scenarios
from support.skills_corpus import scenario

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "get-fable"


@pytest.mark.parametrize(
    "path",
    [
        *("../x", "./x", "/x", "C:\\x", "a\\..\\x", "references/%2e%2e/x", "references//x", "", "a/", "a/./b"),
        *("a\0b", "a%00b", "%2fx", "a%", "a%zz", "\\\\server\\share", "c:x", "a\\b", "1/2/3/4/5/6/7/8/9", ".", ".."),
        *("a/%2e%2e/%2e%2e/b", "a%5c..%5cb"),
    ],
)
def test_s1_3_paths_that_are_refused(path: str) -> None:
    assert path_problem(path) is not None


def test_s1_3_plain_nested_paths_are_accepted() -> None:
    for number in range(200):
        assert path_problem("/".join(f"d{number}-{step}" for step in range(number % 8 + 1))) is None
    assert path_problem("references/a%20b.md") is None


def manifest(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = {"schemaVersion": 2, "id": "s", "entry": "SKILL.md", "scriptPolicy": "data-only"}
    return {**value, **{name: [] for name in CATEGORIES}, **changes}


def test_s1_2_a_manifest() -> None:
    read, wrong = read_manifest(manifest(evals=["evals/b.json", "evals/a.yaml"], agents=["agents/x.yml"]), "s")
    assert not wrong
    assert read is not None
    assert read.paths() == [
        ("entry", "SKILL.md"),
        ("agents", "agents/x.yml"),
        ("evals", "evals/b.json"),
        ("evals", "evals/a.yaml"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"schemaVersion": 1},
        {"schemaVersion": True},
        {"id": "Upper"},
        {"id": "other"},
        {"entry": "README.md"},
        {"scriptPolicy": "run"},
        {"extra": 1},
        {"evals": ["evals/a.txt"]},
        {"evals": ["evals/a b.json"]},
        {"evals": [""]},
        {"evals": ["evals/../x.json"]},
        {"evals": ["evals/a.json\n"]},
        {"evals": ["evals/a.json", "evals/a.json"]},
        {"evals": "evals/a.json"},
        {"references": [f"references/{number}.md" for number in range(128)]},
    ],
)
def test_s1_2_manifests_that_are_refused(changes: dict[str, Any]) -> None:
    read, wrong = read_manifest(manifest(**changes), "s")
    assert read is None
    assert wrong


def test_s1_2_migration_is_explicit() -> None:
    old = {key: value for key, value in manifest(schemaVersion=1).items() if key != "scriptPolicy"}
    assert read_manifest(old, "s")[0] is None
    assert read_manifest(migrate_manifest(old), "s")[0] is not None
    assert migrate_manifest({"schemaVersion": True}) == {"schemaVersion": True}
    assert migrate_manifest(None) == {}


def test_reference_manifests_load() -> None:
    folders = sorted((REFERENCE / "skills").glob("*/skill.package.json"))
    if not folders:
        pytest.skip("reference data absent: ../shared/reference/get-fable")
    for path in folders:
        read, wrong = read_manifest(json.loads(path.read_bytes()), path.parent.name)
        assert not wrong
        assert read is not None


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("---\nname: x\n---\nbody", "name: x\n"),
        ("---\r\nname: x\r\n---\r\nbody", "name: x\r\n"),
        ("---\nname: x\nbody", None),
        ("name: x", None),
        (" ---\nname: x\n---\n", None),
    ],
)
def test_s17_1_front_matter_is_split_off(text: str, header: str | None) -> None:
    assert split_front_matter(text)[0] == header


GOOD: dict[str, Any] = {"name": "my-skill", "description": "Does it."}


def front(value: Any, folder: str = "my-skill", *, plain: bool = True, body: str = "") -> list[tuple[str, str]]:
    _matter, findings = check_front_matter(value, folder, body, plain=plain)
    return [(finding.level, finding.code) for finding in findings]


def test_s17_1_sound_front_matter() -> None:
    full = {**GOOD, "license": "MIT", "compatibility": "any", "metadata": {"a": "b"}, "allowed-tools": "Read Write"}
    assert front(full) == []
    matter, _ = check_front_matter(full, "my-skill", "", plain=True)
    assert (matter.name, matter.description, matter.valid) == ("my-skill", "Does it.", True)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": None},
        {"name": "My"},
        {"name": "-a"},
        {"name": "a--b"},
        {"name": "a" * 65},
        {"name": "a\n"},
        {"description": " "},
        {"description": "x" * 1025},
        {"compatibility": ""},
        {"compatibility": "x" * 501},
        {"license": 3},
        {"allowed-tools": []},
        {"metadata": []},
        {"metadata": {"a": 1}},
    ],
)
def test_s17_1_front_matter_rules(changes: dict[str, Any]) -> None:
    found = front({**GOOD, **changes}, plain=True)
    assert (ERROR, "front-matter") in found
    assert (WARN, "front-matter") in front({**GOOD, **changes}, plain=False)
    assert not check_front_matter({**GOOD, **changes}, "my-skill", "", plain=True)[0].valid


def test_s17_1_front_matter_warnings() -> None:
    assert front({**GOOD, "colour": "red"}) == [(WARN, "front-matter-key")]
    assert front(GOOD, folder="elsewhere") == [(WARN, "front-matter-name")]
    assert front(GOOD, body="\n" * 501) == [(WARN, "body-length")]
    assert [level for level, _code in front(None)] == [ERROR, ERROR]


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("default_prompt: do it", False),
        ("name: x", False),
        ("default_prompt: [a]", True),
        ("  default_prompt: {a: b}", True),
        ("default_prompt:\n  - a", True),
        ("default_prompt:\n", False),
        ("default_prompt:\n\nname: x", False),
        ("default_prompt:\nname: x", False),
    ],
)
def test_s1_4_agent_files(text: str, bad: bool) -> None:
    assert (agent_file_problem(text) is not None) is bad


@pytest.mark.parametrize(
    ("document", "bad"),
    [
        ([{"id": "a"}], False),
        ({"scenarios": [{"id": "a"}]}, False),
        ([], True),
        ({}, True),
        (3, True),
        ([{"id": 1}], True),
        ([None], True),
    ],
)
def test_s1_4_eval_files(document: Any, bad: bool) -> None:
    assert (eval_file_problem(document) is not None) is bad


# -- authoring --

DEEP = "\n".join(
    f"## {name}"
    for name in (
        *("Mission", "Activation Contract", "Risk classification", "Upgrade protocol", "Decision Rules", "Invariants"),
        *("Failure taxonomy", "Anti-Patterns", "Completion Criteria", "Progressive Resources"),
    )
)


def test_s1_5_headings_outside_fences() -> None:
    text = "# One\n## Two ##\n### Three\n```\n## Not\n~~~\n## Nor\n```\n##  Four\n~~~\n## No\n~~~\n##\n"
    assert headings(text) == ["Two", "Four"]
    assert is_deep(["MISSION", "invariants", "Anti-patterns"])
    assert not is_deep(["Mission"])


def test_s1_5_a_deep_playbook() -> None:
    assert depth_findings("s", DEEP, 6, [1000]) == []
    found = depth_findings("s", DEEP.replace("## Mission", "## mission").replace("## Decision Rules", ""), 5, [999])
    assert [(finding.level, finding.code) for finding in found] == [
        (WARN, "missing-section"),
        (ERROR, "too-few-scenarios"),
        (ERROR, "shallow-references"),
    ]


def test_s1_5_a_short_form() -> None:
    found = depth_findings("s", "## Purpose\n## Outputs\n## procedure\n", 0, [])
    assert len(found) == 8
    assert {finding.level for finding in found} == {WARN}


def read(*rows: dict[str, Any]) -> Any:
    scenarios, _ = read_scenarios(list(rows), "s", "f.json")
    return scenarios


def test_w4_names_that_tell_their_side() -> None:
    found = polarity_findings("s", read(scenario(0, forbidden={"action": "ignore-the-wrong-thing"})))
    assert [(finding.code, finding.where) for finding in found] == [
        ("judging-name", "ignore-the-wrong-thing"),
        ("one-sided-names", "scenarios"),
    ]
    assert "ignore, wrong" in found[0].message
    both = read(
        scenario(0, expected={"action": "a"}, forbidden={"action": "b"}),
        scenario(1, expected={"action": "b"}, forbidden={"produces": "x"}),
    )
    assert polarity_findings("s", both) == []
    assert polarity_findings("s", read(scenario(0, forbidden=None))) == []


def test_s17_12_near_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"intent": "one two three four five six seven eight nine ten"}
    near = {"intent": "one two three four five six seven eight nine ten eleven"}
    rows = [
        scenario(0, given=words),
        scenario(1, given=near),
        scenario(2),
        scenario(3, given={}),
        scenario(4, given={}),
    ]
    found = duplicate_findings("s", read(*rows, scenario(5, given=words, family="x", condition="known")))
    assert [(finding.code, finding.where) for finding in found] == [("near-duplicate", "family-001")]
    monkeypatch.setattr("eval_quality.core.behavior.authoring.MAX_PAIRS", 1)
    assert [finding.code for finding in duplicate_findings("s", read(*rows))] == [
        "near-duplicate",
        "near-duplicate-cap",
    ]


def test_s17_4_7_values_that_no_request_offers() -> None:
    rows = read(
        scenario(0, expected={"action": "a", "selectedSkill": "nobody", "gates": ["g"]}),
        scenario(1, forbidden={"action": "z", "produces": "p", "gates": ["g"]}),
        scenario(2, expected={"action": "a", "selectedSkill": "s"}),
    )
    found = option_findings("s", rows, ["s"])
    assert [(finding.code, finding.where) for finding in found] == [
        ("unknown-skill", "family-000"),
        ("forbidden-not-offered", "family-001"),
    ]


def test_init_drafts_every_list_item_and_fills_nothing() -> None:
    text = (
        "---\nname: s\n---\n- without any heading here\n## When NOT to Use\n- A request to read data\n- short\n"
        "```\n- inside a fence, no item\n```\n## Notes\n1. The first step is to look\n"
    )
    found = draft_scenarios("s", text)["scenarios"]
    assert [item["id"] for item in found] == [
        "s-without-any-heading-here",
        "s-a-request-to-read-data",
        "s-the-first-step-is-to-look",
    ]
    assert {item["expected"]["action"] for item in found} == {""}
    assert "decline" in found[1]["given"]["intent"]
    assert found[1]["description"] == "When NOT to Use: A request to read data"
    # A draft is refused as it is: nothing is scored before a person filled it.
    scenarios, findings = read_scenarios({"scenarios": found}, "s", "f.json")
    assert not scenarios
    assert findings
    many = "".join(f"- item number {number} of a long list\n" for number in range(100))
    assert len(draft_scenarios("s", many)["scenarios"]) == MAX_DRAFTS
