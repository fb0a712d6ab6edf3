"""Target policies and targets from files (spec 07 §7.3)."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_quality.app.files import PathError
from eval_quality.app.policies import read_policies, read_targets
from eval_quality.errors import RuntimeFault
from support.subjects import api_entry, command_policy, tool_policy

COMMANDS = """\
# A comment, a bare word that YAML 1.1 would read as a boolean, and a quoted number.
authorizations:
  - interfaceId: shop
    executable: "no"
    target: /bin/true
    permittedSubcommandPaths: [[], [on]]
    permittedEnvironmentKeys: [MODE]
    cwd: .
    artifacts: {report: "0755"}
    maxElapsedMs: 1000
    maxOutputBytes: 0x10
"""
MCP_HTTP = {
    "interfaceId": "tools",
    "url": "https://tools.test/mcp",
    "addresses": ["203.0.113.7"],
    "tools": ["add"],
    "headers": {},
    "maxElapsedMs": 1,
    "maxOutputBytes": 1,
}


def write(folder: Path, name: str, content: Any) -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def refused(*paths: str) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        read_policies(list(paths))
    assert caught.value.code == "schema-parse-failure"
    return caught.value


def test_s7_3_a_policy_in_yaml_1_2(tmp_path: Path) -> None:
    policies = read_policies([write(tmp_path, "policy.yaml", COMMANDS)])
    assert policies.command is not None
    (entry,) = policies.command.authorizations
    assert (entry.executable, entry.permitted_subcommand_paths) == ("no", ((), ("on",)))
    assert (entry.artifacts["report"], entry.max_output_bytes) == ("0755", 16)
    assert policies[1:] == (None, None, None)


def test_s7_3_one_policy_of_each_kind_is_told_apart(tmp_path: Path) -> None:
    policies = read_policies(
        [
            write(tmp_path, "a.json", command_policy(tmp_path)),
            write(tmp_path, "b.JSON", tool_policy(tmp_path)),
            write(tmp_path, "c.json", {"authorizations": [api_entry(80)]}),
            write(tmp_path, "d.yaml", {"authorizations": [MCP_HTTP]}),
        ]
    )
    assert [type(policy).__name__ for policy in policies] == [
        "CommandTargetPolicy",
        "McpTargetPolicy",
        "ProbeTargetPolicy",
        "McpHttpTargetPolicy",
    ]


@pytest.mark.parametrize(
    "content", [[], {}, "text", {"authorizations": []}, {"authorizations": [1]}, {"authorizations": [{}]}]
)
def test_s7_3_a_file_of_no_kind_is_refused(content: Any, tmp_path: Path) -> None:
    found = refused(write(tmp_path, "policy.yaml", content))
    assert found.artifact_path == "TargetPolicy"
    assert "policy.yaml" in found.detail


def test_s7_3_two_policies_of_one_kind_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "policy.yaml", COMMANDS)
    assert "two command policies" in refused(path, path).detail


@pytest.mark.parametrize(
    ("change", "artifact_path"),
    [
        (("maxElapsedMs: 1000", "maxElapsedMs: 0"), "CommandTargetPolicy"),
        (("[MODE]", "[Path]"), "CommandTargetPolicy"),
        (("    cwd: .\n", ""), "CommandTargetPolicy"),
        (("    cwd: .\n", "    cwd: .\n    extra: 1\n"), "CommandTargetPolicy"),
        (("    cwd: .\n", "    cwd: .\n    cwd: /\n"), "TargetPolicy"),
        (("    cwd: .\n", "    cwd: *alias\n"), "TargetPolicy"),
        (("    cwd: .\n", "    cwd: !!python/name:os.system x\n"), "TargetPolicy"),
        (("authorizations:", "authorizations: ["), "TargetPolicy"),
        (("cwd: .", "cwd: 2026-01-01"), None),
    ],
)
def test_s7_3_5_what_yaml_may_not_say(change: tuple[str, str], artifact_path: str | None, tmp_path: Path) -> None:
    path = write(tmp_path, "policy.yaml", COMMANDS.replace(*change))
    if artifact_path is None:
        policies = read_policies([path])
        assert policies.command is not None
        assert policies.command.authorizations[0].cwd == "2026-01-01"
    else:
        assert refused(path).artifact_path == artifact_path


def test_s7_3_5_an_alias_bomb_is_refused_before_it_has_a_value(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    assert "alias" in refused(write(tmp_path, "policy.yaml", "\n".join(lines))).detail


def test_s7_3_5_json_is_read_strictly(tmp_path: Path) -> None:
    text = json.dumps(command_policy(tmp_path))
    repeated = write(tmp_path, "policy.json", text.replace('"cwd"', '"target": "x", "cwd"', 1))
    with pytest.raises(RuntimeFault) as caught:
        read_policies([repeated])
    assert (caught.value.code, caught.value.artifact_path) == ("non-canonicalizable-value", "TargetPolicy")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xff")
    assert "UTF-8" in refused(str(tmp_path / "latin.yaml")).detail
    with pytest.raises(PathError):
        read_policies([str(tmp_path / "missing.yaml")])


def test_targets_take_credentials_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTES_TOKEN", "t-1")
    text = 'notes:\n  url: http://x.test/v1\n  headers: {Authorization: "Bearer ${NOTES_TOKEN}", X: "$NOTES_TOKEN"}\n'
    assert read_targets(write(tmp_path, "targets.yaml", text)) == {
        "notes": ("http://x.test/v1", {"Authorization": "Bearer t-1", "X": "$NOTES_TOKEN"})
    }
    assert read_targets(write(tmp_path, "plain.yaml", "notes: {url: http://x.test}")) == {
        "notes": ("http://x.test", {})
    }
    monkeypatch.delenv("NOTES_TOKEN")
    with pytest.raises(RuntimeFault, match="NOTES_TOKEN is not set"):
        read_targets(write(tmp_path, "targets.yaml", text))


@pytest.mark.parametrize(
    "content",
    ["[]", "notes: 1", "notes: {}", "notes: {url: ''}", "notes: {url: x, more: y}", "notes: {url: shop.test}"],
)
def test_targets_that_cannot_be_used(content: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeFault) as caught:
        read_targets(write(tmp_path, "targets.yaml", content))
    assert caught.value.code == "schema-parse-failure"
    assert caught.value.artifact_path.startswith("Targets")
