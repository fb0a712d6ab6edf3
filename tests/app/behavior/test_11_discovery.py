"""Finding and reading skill folders that somebody else wrote (spec 11 §1.3, §1.4, §17.1, §17.2)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.app.behavior.discover import MAX_DEPTH, load_skill, load_skills, skill_folders
from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.root import RepositoryRefused, find_root, load_config, load_salt
from eval_quality.app.behavior.yaml_source import SourceRefused, parsed, plain_mapping, read_yaml
from eval_quality.core.behavior.config import DEFAULT_SKILL_ROOTS
from support.skills_corpus import scenario
from support.skills_repo import SKILL_MD, configure, opened, small_repository, write_skill


def test_s17_1_roots(tmp_path: Path) -> None:
    repository = small_repository(tmp_path)
    below = repository / "skills" / "skill-0"
    assert find_root(None, str(below)) == str(tmp_path.resolve())
    assert find_root(str(below), "/") == str(below.resolve())
    with pytest.raises(RepositoryRefused):
        find_root(str(tmp_path / "nowhere"), ".")
    lonely = tmp_path / "lonely"
    (lonely / ".git").mkdir(parents=True)
    assert find_root(None, str(lonely)) == str(lonely.resolve())


def test_s17_1_every_default_root_is_searched(tmp_path: Path) -> None:
    for folder in ("skills", ".claude/skills", ".agents/skills", "plugins/one/skills", "plugins/two/skills"):
        write_skill(tmp_path, folder.replace("/", "-").replace(".", ""), None, folder)
    (tmp_path / "skills/group/deep").mkdir(parents=True)
    write_skill(tmp_path, "nested", None, "skills/group/deep")
    found = skill_folders(str(tmp_path), DEFAULT_SKILL_ROOTS)
    assert found == [
        "skills/group/deep/nested",
        "skills/skills",
        ".claude/skills/claude-skills",
        ".agents/skills/agents-skills",
        "plugins/one/skills/plugins-one-skills",
        "plugins/two/skills/plugins-two-skills",
    ]


def test_s17_1_what_is_not_searched(tmp_path: Path) -> None:
    outer = write_skill(tmp_path, "outer", None)
    write_skill(outer, "inner", None, "sub")
    for folder in ("node_modules", ".hidden", "venv", "build"):
        write_skill(tmp_path, "x", None, f"skills/{folder}")
    deep = "skills/" + "/".join(["d"] * (MAX_DEPTH + 1))
    write_skill(tmp_path, "too-deep", None, deep)
    elsewhere = write_skill(tmp_path / "elsewhere", "linked", None)
    os.symlink(elsewhere, tmp_path / "skills" / "link")
    assert skill_folders(str(tmp_path), ("skills",)) == ["skills/outer"]


def test_s17_1_a_repository_can_be_one_skill(tmp_path: Path) -> None:
    root = tmp_path / "only"
    root.mkdir()
    (root / "SKILL.md").write_text(SKILL_MD.format(name="only"))
    assert list(opened(root).skills) == ["only"]
    assert opened(root).structures[0].runtime_integrated


def test_s17_1_two_folders_with_one_id_are_both_left_out(tmp_path: Path) -> None:
    write_skill(tmp_path, "same", None, "skills")
    write_skill(tmp_path, "same", None, ".claude/skills")
    write_skill(tmp_path, "other", None)
    skills, findings = load_skills(str(tmp_path), DEFAULT_SKILL_ROOTS)
    assert [skill.skill_id for skill in skills] == ["other"]
    assert [finding.code for finding in findings] == ["skill-id"]


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", "a%2f..%2f..%2foutside.txt", "a\\b", "a\0b"])
def test_s1_3_a_path_is_refused_before_any_file_is_touched(tmp_path: Path, path: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    with pytest.raises(Unreadable):
        read_below(str(tmp_path / "in"), path)


def test_s1_3_links_special_files_and_size(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "skill"
    (folder / "real").mkdir(parents=True)
    os.symlink(tmp_path / "secret", folder / "link")
    os.symlink(tmp_path, folder / "dir")
    os.mkfifo(folder / "pipe")
    (folder / "real" / "big").write_bytes(b"x" * 100)
    for name, words in (("link", "links"), ("dir/secret", "link"), ("pipe", "regular"), ("real", "regular")):
        with pytest.raises(Unreadable, match=words):
            read_below(str(folder), name)
    with pytest.raises(Unreadable, match="longer than 10"):
        read_below(str(folder), "real/big", 10)
    with pytest.raises(Unreadable) as missing:
        read_below(str(folder), "real/none")
    assert missing.value.absent
    assert read_below(str(folder), "real/big", 100) == b"x" * 100


MANIFEST: dict[str, Any] = {
    "schemaVersion": 2,
    "id": "pack",
    "entry": "SKILL.md",
    "agents": [],
    "references": [],
    "templates": [],
    "examples": [],
    "evals": ["evals/scenarios.json"],
    "scripts": [],
    "scriptPolicy": "data-only",
}


def package(root: Path, **changes: Any) -> Path:
    path = write_skill(root, "pack", [scenario(0)])
    (path / "skill.package.json").write_text(json.dumps({**MANIFEST, **changes}))
    return path


def test_s1_4_a_package(tmp_path: Path) -> None:
    package(tmp_path)
    skill = load_skill(str(tmp_path), "skills/pack")
    assert skill.valid
    assert (skill.profile, skill.structured, [item.path for item in skill.resources]) == (
        "package",
        True,
        ["SKILL.md", "evals/scenarios.json"],
    )
    record = skill.resources[1].value(skill.folder)
    assert record["path"] == record["relativePath"] == "evals/scenarios.json"
    assert record["byteSize"] == record["sizeBytes"] > 0


@pytest.mark.parametrize(
    ("changes", "file", "content", "words"),
    [
        ({"references": ["references/gone.md"]}, None, b"", "does not exist"),
        ({"references": ["references/empty.md"]}, "references/empty.md", b"", "not empty"),
        ({"references": ["references/big.md"]}, "references/big.md", b"x" * 1_048_577, "longer than 1048576"),
        ({"agents": ["agents/a.yaml"]}, "agents/a.yaml", b"default_prompt: [x]\n", "scalar"),
        ({"evals": ["evals/b.json"]}, "evals/b.json", b"{", "string object key"),
        ({"evals": ["evals/b.json"]}, "evals/b.json", b"\xef\xbb\xbf[]", "unexpected character"),
        ({"evals": ["evals/b.json"]}, "evals/b.json", b"[]", "non-empty list"),
        ({"evals": ["evals/b.yaml"]}, "evals/b.yaml", b"- a: &x 1\n- *x\n", "aliases"),
        ({"schemaVersion": 1}, None, b"", "schemaVersion"),
        ({"id": "another"}, None, b"", "folder's name"),
    ],
)
def test_s1_4_packages_that_do_not_validate(
    tmp_path: Path, changes: dict[str, Any], file: str | None, content: bytes, words: str
) -> None:
    path = package(tmp_path, **changes)
    if file is not None:
        (path / file).parent.mkdir(exist_ok=True)
        (path / file).write_bytes(content)
    skill = load_skill(str(tmp_path), "skills/pack")
    assert not skill.valid
    assert any(words in error for error in skill.errors), skill.errors


def test_s1_4_the_sum_of_all_resources_is_capped(tmp_path: Path) -> None:
    names = [f"references/{number}.md" for number in range(9)]
    path = package(tmp_path, references=names)
    (path / "references").mkdir()
    for name in names:
        (path / name).write_bytes(b"x" * 1_000_000)
    assert any("together" in error for error in load_skill(str(tmp_path), "skills/pack").errors)


def test_s1_2_a_manifest_that_is_too_long_or_a_link(tmp_path: Path) -> None:
    path = package(tmp_path)
    (path / "skill.package.json").write_bytes(b" " * 262_145)
    assert any("longer than 262144" in error for error in load_skill(str(tmp_path), "skills/pack").errors)
    (path / "skill.package.json").unlink()
    os.symlink("/etc/hostname", path / "skill.package.json")
    skill = load_skill(str(tmp_path), "skills/pack")
    assert (skill.profile, skill.valid) == ("package", False)


def test_s1_5_orphans_links_and_special_files(tmp_path: Path) -> None:
    path = package(tmp_path)
    (path / "scripts").mkdir()
    (path / "scripts" / "stray.sh").write_text("x")
    (path / "scripts" / ".hidden").write_text("x")
    os.symlink("/etc/passwd", path / "scripts" / "link.sh")
    os.mkfifo(path / "scripts" / "pipe")
    found = {(finding.code, finding.where) for finding in load_skill(str(tmp_path), "skills/pack").findings}
    assert {
        ("orphan-file", "scripts/stray.sh"),
        ("special-file", "scripts/link.sh"),
        ("special-file", "scripts/pipe"),
    } <= found
    assert not any(where.endswith(".hidden") for _code, where in found)


def test_s17_1_a_plain_folder_is_inferred(tmp_path: Path) -> None:
    path = write_skill(tmp_path, "plain", [scenario(0)])
    for name in ("reference/a.md", "assets/b.bin", "notes.txt", "evals/evals.json", "evals/more.scenarios.yaml"):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text("[]" if name.endswith("evals.json") else "- id: x\n")
    skill = load_skill(str(tmp_path), "skills/plain")
    assert skill.valid, skill.errors
    assert skill.manifest is not None
    assert skill.manifest.inferred
    assert [item.path for item in skill.scenario_files()] == ["evals/more.scenarios.yaml", "evals/scenarios.json"]
    os.symlink("/etc/passwd", path / "link")
    assert "link: links are not allowed" in load_skill(str(tmp_path), "skills/plain").errors
    (path / "huge.bin").write_bytes(b"x" * 1_048_577)
    assert any(error.startswith("huge.bin") for error in load_skill(str(tmp_path), "skills/plain").errors)


def test_s17_1_a_plain_folder_without_front_matter_has_no_structure(tmp_path: Path) -> None:
    path = tmp_path / "skills" / "bare"
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text("# Bare\n")
    skill = load_skill(str(tmp_path), "skills/bare")
    assert (skill.skill_id, skill.structured, skill.valid) == ("bare", False, False)
    (path / "SKILL.md").write_text("---\nname: [\n---\n")
    assert any("not readable" in finding.message for finding in load_skill(str(tmp_path), "skills/bare").findings)


def test_crlf_is_kept_and_changes_the_hash(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 1)
    before = opened(tmp_path).plan.whole.corpus
    entry = tmp_path / "skills/skill-0/SKILL.md"
    entry.write_bytes(entry.read_bytes().replace(b"\n", b"\r\n"))
    repository = opened(tmp_path)
    assert "\r\n" in repository.skills["skill-0"].instruction
    assert repository.skills["skill-0"].front_matter.valid
    assert repository.plan.whole.corpus != before


# -- YAML --


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: no\nb: 1\nc: 1.5\nd: true\ne: null\nf: ~\ng: 2026-05-01\nh: '1'", None),
        ("- 0x10\n- 0o17\n- -3\n- +4\n- 1_000\n- yes", [16, 15, -3, 4, 1000, "yes"]),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("{a: [1, {b: c}]}", {"a": [1, {"b": "c"}]}),
    ],
)
def test_yaml_is_the_core_schema(text: str, value: Any) -> None:
    if text.startswith("a: no"):
        value = {"a": "no", "b": 1, "c": 1.5, "d": True, "e": None, "f": None, "g": "2026-05-01", "h": "1"}
    assert read_yaml(text) == value


BOMB = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "line 2: aliases"),
        ("a: &x 1", "anchors"),
        ("a: 1\na: 2", "line 2: the key 'a' is repeated"),
        ("1: a", "key that is a string"),
        ("? [a]\n: b", "key that is a string"),
        ("a: !!python/object:os.system x", "not allowed"),
        ("a: !custom x", "tags"),
        ("<<: {a: 1}", "key that is a string"),
        ("a: .nan", "range"),
        ("a: 12345678901234567890", "range"),
        ("a: !!binary aGk=", "not allowed"),
        ("a: [", "line"),
        ("a: 1\n---\nb: 2", "line"),
        ("[" * 80 + "]" * 80, "nested deeper"),
        ("\x00", "not YAML|line|special"),
        ("x" * 1_048_577, "longer than"),
        ("- 1\n" * 500_000, "longer than|nodes"),
    ],
)
def test_hostile_yaml_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(SourceRefused, match=words):
        read_yaml(text)


LINES = st.lists(
    st.builds(
        "{}{}{}".format,
        st.text("abN-_ '#:.", min_size=0, max_size=5),
        st.sampled_from([": ", ":", " : ", ""]),
        st.sampled_from(
            ["a b", "true", "Null", "it's", "'q'", "1", "a: b", "a #b", "a#b", "- x", "b ", "x, (y); z/_-", "é"]
        ),
    ),
    max_size=3,
)


@settings(max_examples=400, deadline=None)
@given(LINES)
def test_the_short_way_through_front_matter_reads_what_the_parser_reads(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    short = plain_mapping(text)
    if short is not None:
        assert parsed(text) == short


# -- scenarios and configuration --


def test_w9_nothing_vanishes(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 1)
    (tmp_path / "skills/skill-0/evals/broken.scenarios.json").write_text("[{]")
    (tmp_path / "skills/skill-0/evals/more.scenarios.yaml").write_text("- {id: x}\n")
    codes = [finding.code for finding in opened(tmp_path).corpus_errors]
    assert codes == ["scenario-unreadable", "oracle"]
    with pytest.raises(RepositoryRefused, match="corpus-integrity"):
        opened(tmp_path).require_sound()


def test_s13_1_a_broken_package_stops_every_form(tmp_path: Path) -> None:
    package(tmp_path, references=["references/gone.md"])
    assert [finding.code for finding in opened(tmp_path).corpus_errors] == ["package-broken"]
    with pytest.raises(RepositoryRefused, match="package-broken"):
        opened(tmp_path).require_sound()


def test_w9_questions_without_a_text_do_not_vanish(tmp_path: Path) -> None:
    path = write_skill(tmp_path, "huge", [scenario(0)])
    (path / "SKILL.md").write_bytes(b"x" * 1_048_577)
    assert [finding.code for finding in opened(tmp_path).corpus_errors] == ["instruction"]


@pytest.mark.parametrize(
    "text",
    ['[{"id": "a", "id": "b"}]', '[{"id": "a", "given": {"n": 12345678901234567890}}]', '["\\ud800"]', "[NaN]"],
)
def test_s4_1_values_outside_the_domain_are_corpus_errors(tmp_path: Path, text: str) -> None:
    path = write_skill(tmp_path, "s", [])
    (path / "evals/scenarios.json").write_text(text)
    assert [finding.code for finding in opened(tmp_path).corpus_errors][:1] == ["scenario-unreadable"]


def test_s17_2_overlays_evaluate_a_repository_that_is_not_ours(tmp_path: Path) -> None:
    write_skill(tmp_path, "theirs", None)
    overlay = tmp_path / ".skill-evidence/scenarios"
    overlay.mkdir(parents=True)
    (overlay / "theirs.json").write_text(json.dumps([scenario(0)]))
    assert [item.source for item in opened(tmp_path).scenarios] == [".skill-evidence/scenarios/theirs.json"]
    os.symlink("/etc/passwd", overlay / "theirs.yaml")
    assert [finding.code for finding in opened(tmp_path).corpus_errors] == ["scenario-unreadable"]


def test_s4_2_formats_and_files_do_not_matter(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write_skill(one, "s", [scenario(0), scenario(1)])
    path = write_skill(other, "s", None)
    (path / "evals").mkdir()
    first, second = scenario(0), scenario(1)
    lines = ["scenarios:"]
    for row in (first, second):
        lines += [f"  - {json.dumps(row)}"]
    (path / "evals" / "scenarios.yaml").write_text("\n".join(lines))
    assert opened(one).plan.whole == opened(other).plan.whole


def test_configuration_and_salt_problems_are_refused(tmp_path: Path) -> None:
    small_repository(tmp_path, 1, 1)
    configure(tmp_path, thresholds={"known": 50})
    with pytest.raises(RepositoryRefused, match="only be raised"):
        load_config(str(tmp_path))
    (tmp_path / ".skill-evidence.json").write_text("{")
    with pytest.raises(RepositoryRefused):
        load_config(str(tmp_path))
    (tmp_path / ".skill-evidence.json").unlink()
    os.symlink("/etc/hostname", tmp_path / ".skill-evidence.json")
    with pytest.raises(RepositoryRefused, match="links"):
        load_config(str(tmp_path))
    assert load_salt(str(tmp_path)) is None
    (tmp_path / ".skill-evidence").mkdir()
    (tmp_path / ".skill-evidence/salt").write_text("short")
    with pytest.raises(RepositoryRefused, match="hex"):
        load_salt(str(tmp_path))
    (tmp_path / ".skill-evidence/salt").write_text("ab" * 32 + "\n")
    assert load_salt(str(tmp_path)) == b"\xab" * 32


def test_s17_1_a_registry_gives_the_order_and_the_routing_words(tmp_path: Path) -> None:
    small_repository(tmp_path, 2, 1)
    registry = {
        "schemaVersion": 1,
        "entrySkill": "skill-0",
        "skills": [
            {"id": "skill-1", "order": 1, "keywords": ["second_matter"], "next": ["skill-0"]},
            {"id": "skill-0", "order": 2, "fallback": "gone"},
        ],
    }
    (tmp_path / "skills/registry.json").write_text(json.dumps(registry))
    repository = opened(tmp_path)
    assert repository.ids == ["skill-1", "skill-0"]
    assert repository.registry.dangling(repository.ids) == ["skill-0 -> gone"]
    assert repository.registry.probes("skill-1") == ["second matter"]
    assert [item.runtime_integrated for item in repository.structures] == [True, True]
    (tmp_path / "skills/registry.json").write_text('{"schemaVersion": 1, "skills": [{}, {"id": "a"}, {"id": "a"}]}')
    assert len(opened(tmp_path).registry.problems) == 2
    (tmp_path / "skills/registry.json").write_text("{}")
    assert opened(tmp_path).registry.problems
    (tmp_path / "skills/registry.json").write_text("{")
    assert opened(tmp_path).registry.problems
