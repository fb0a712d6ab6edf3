"""The subject tree and its copies: spec 12 §12.5.3, §12.11.2."""

import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.run.errors import RunFault
from eval_quality.run.glob import matcher, pruner
from eval_quality.run.tree import (
    CHANGED_INSTANT,
    FIXED_INSTANT,
    Tree,
    TreeRules,
    copy_tree,
    materialise,
    purge,
    read_tree,
    scan_tree,
    settle,
    write_file,
)

RULES = TreeRules(exclude=(".git/**",), volatile=("**/__pycache__/**", "**/*.pyc"))


@pytest.fixture
def subject(tmp_path: Path) -> Path:
    root = tmp_path / "subject"
    (root / "pkg" / "__pycache__").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "app.py").write_bytes(b"print('hi')\r\n")
    (root / "pkg" / "tool").write_bytes(b"\xff\xfe no newline")
    (root / "pkg" / "tool").chmod(0o4755)
    (root / "pkg" / "__pycache__" / "x.pyc").write_bytes(b"stale")
    (root / ".git" / "HEAD").write_text("ref")
    (root / "link").symlink_to("pkg/tool")
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {entry.path: data for entry, data in read_tree(str(root), RULES)}


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**", "a/b/c", True),
        ("*", "a/b", False),
        ("*.py", "a.py", True),
        ("**/*.pyc", "a.pyc", True),
        ("**/*.pyc", "a/b/c.pyc", True),
        ("**/__pycache__/**", "__pycache__/x", True),
        ("**/__pycache__/**", "a/__pycache__/b/x", True),
        ("**/__pycache__/**", "a/__pycache__x", False),
        (".git/**", ".git/HEAD", True),
        (".git/**", "a/.git/HEAD", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("**/x/**/y", "x/y", True),
        ("probes/*", "probes/line\nbreak", True),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    assert matcher((pattern,))(path) is matches


def test_no_pattern_matches_nothing() -> None:
    assert not matcher(())("a")
    assert pruner(("*.py",))("a.py") is False
    assert pruner((".git/**",))(".git") is True


def test_s12_5_3_the_tree_is_files_and_links_without_the_left_out(subject: Path) -> None:
    tree = scan_tree(str(subject), RULES)
    assert [(e.path, oct(e.mode), e.link) for e in tree.entries] == [
        ("app.py", oct((subject / "app.py").stat().st_mode & 0o777), ""),
        ("link", "0o777", "pkg/tool"),
        ("pkg/tool", "0o755", ""),
    ]
    assert tree.entry("app.py") is not None
    assert tree.entry("absent") is None


def test_s12_5_3_the_digest_covers_content_mode_and_links_and_nothing_volatile(subject: Path) -> None:
    before = scan_tree(str(subject), RULES).digest
    (subject / "pkg" / "__pycache__" / "x.pyc").write_bytes(b"other")
    (subject / ".git" / "HEAD").write_text("moved")
    os.utime(subject / "app.py", (1, 1))
    assert scan_tree(str(subject), RULES).digest == before
    (subject / "app.py").chmod(0o600)
    by_mode = scan_tree(str(subject), RULES).digest
    (subject / "app.py").write_bytes(b"print('ho')\r\n")
    by_content = scan_tree(str(subject), RULES).digest
    (subject / "link").unlink()
    (subject / "link").symlink_to("app.py")
    by_link = scan_tree(str(subject), RULES).digest
    assert len({before, by_mode, by_content, by_link}) == 4


def test_s12_5_3_a_workspace_is_the_tree_with_one_instant_and_no_special_bits(subject: Path, tmp_path: Path) -> None:
    tree = scan_tree(str(subject), RULES)
    by_digest = {e.digest: data for e, data in read_tree(str(subject), RULES)}
    target = tmp_path / "work"
    materialise(tree, by_digest.__getitem__, str(target))
    assert contents(target) == contents(subject)
    assert scan_tree(str(target), RULES).digest == tree.digest
    assert stat.S_IMODE((target / "pkg" / "tool").stat().st_mode) == 0o755
    for path in (target, target / "pkg", target / "app.py", target / "link"):
        assert path.lstat().st_mtime == FIXED_INSTANT


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "pkg/../../outside"])
def test_s12_5_3_a_link_may_not_leave_the_tree(subject: Path, target: str) -> None:
    (subject / "bad").symlink_to(target)
    with pytest.raises(RunFault) as caught:
        scan_tree(str(subject), RULES)
    assert caught.value.problems[0].code == "workspace-link-escape"
    assert caught.value.problems[0].artifact_path == "SubjectTree/bad"


def test_s12_5_3_a_link_may_not_leave_the_tree_through_another_link(subject: Path) -> None:
    (subject / "pkg" / "up").symlink_to("..")
    (subject / "pkg" / "bad").symlink_to("up/../outside")
    with pytest.raises(RunFault, match="workspace-link-escape"):
        scan_tree(str(subject), RULES)


def test_s12_5_3_a_link_that_only_climbs_and_returns_is_refused_too(subject: Path) -> None:
    (subject / "bad").symlink_to(f"../{subject.name}/app.py")
    with pytest.raises(RunFault, match="workspace-link-escape"):
        scan_tree(str(subject), RULES)


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_s12_5_3_devices_sockets_and_pipes_are_refused(subject: Path, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(subject / "odd")
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(subject / "odd"))
    with pytest.raises(RunFault, match="workspace-unsupported-entry"):
        scan_tree(str(subject), RULES)


@pytest.mark.parametrize("rules", [RULES._replace(max_files=2), RULES._replace(max_bytes=20)])
def test_s12_5_3_a_tree_that_is_too_large_is_refused(subject: Path, rules: TreeRules) -> None:
    with pytest.raises(RunFault, match="workspace-too-large"):
        scan_tree(str(subject), rules)


def test_s12_11_2_a_copy_leaves_out_what_is_volatile_and_keeps_the_rest(subject: Path, tmp_path: Path) -> None:
    settle(str(subject), frozenset(("app.py",)))
    copy = tmp_path / "copy"
    copy_tree(str(subject), str(copy), matcher((*RULES.exclude, *RULES.volatile)))
    assert not (copy / "pkg" / "__pycache__").exists()
    assert (copy / "app.py").stat().st_mtime == CHANGED_INSTANT
    assert (copy / "link").readlink() == Path("pkg/tool")
    assert scan_tree(str(copy), RULES).digest == scan_tree(str(subject), RULES).digest


def test_s12_11_2_a_copy_refuses_what_preparation_left_behind(subject: Path, tmp_path: Path) -> None:
    os.mkfifo(subject / "odd")
    with pytest.raises(RunFault, match="workspace-unsupported-entry"):
        copy_tree(str(subject), str(tmp_path / "copy"), matcher(()))


def test_s12_11_2_purging_removes_volatile_files_and_empty_folders(subject: Path) -> None:
    purge(str(subject), matcher(RULES.volatile))
    assert not (subject / "pkg" / "__pycache__").exists()
    assert (subject / "pkg" / "tool").exists()


@given(data=st.binary(max_size=200), mode=st.sampled_from([0o600, 0o644, 0o755, 0o400]))
@settings(max_examples=40, deadline=None)
def test_s12_11_1_restoring_bytes_and_mode_leaves_no_trace(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, mode: int
) -> None:
    root = tmp_path_factory.mktemp("restore")
    path = str(root / "file")
    write_file(path, data, mode, FIXED_INSTANT)
    before = scan_tree(str(root), TreeRules())
    write_file(path, data + b"!", 0o777, CHANGED_INSTANT)
    assert scan_tree(str(root), TreeRules()).digest != before.digest
    write_file(path, data, mode, FIXED_INSTANT)
    assert scan_tree(str(root), TreeRules()) == before
    assert os.listdir(root) == ["file"]


def test_an_empty_tree_has_a_digest_of_its_own() -> None:
    assert Tree(()).digest.startswith("sha256:")
