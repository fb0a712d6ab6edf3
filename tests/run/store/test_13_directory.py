"""Blobs, views, workspaces, locks and stores on real disks (spec 13 §13.2-§13.4, §13.7.1)."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.run.errors import RunFault
from eval_quality.run.store import checks, files
from eval_quality.run.store.blobs import Blobs
from eval_quality.run.store.directory import Run, read_header
from eval_quality.run.store.journal import Item
from eval_quality.run.store.layout import Store
from eval_quality.run.store.lock import Lock
from eval_quality.run.store.verify import repair_views, verify_run
from eval_quality.value.digest import digest_bytes
from support.sandbox import PYTHON, needs_sandbox, run_inside, specification

PLAN = "sha256:" + "3" * 64


@pytest.fixture
def run(tmp_path: Path) -> Generator[Run]:
    with Run.create(tmp_path / "run", {"label": "x"}, lambda: 1_700_000_000_000) as run:
        run.journal.plan([Item("trial/a/P-001/1", "trial")], PLAN)
        yield run


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# -- blobs --


def test_s13_4_1_content_by_digest(run: Run) -> None:
    digest = run.blobs.put(b"abc")
    assert digest == digest_bytes(b"abc")
    key = digest.removeprefix("sha256:")
    path = run.directory / "blobs" / key[:2] / key[2:]
    assert path.read_bytes() == b"abc"
    assert mode(path) == 0o444
    assert run.blobs.put(b"abc") == digest
    assert run.blobs.get(digest) == b"abc"
    assert list((run.directory / "tmp").iterdir()) == []


def test_s13_2_private_content_is_the_owners(run: Run) -> None:
    digest = run.blobs.put(b"transcript", private=True)
    path = run.blobs.path(digest)
    assert path is not None
    assert path.is_relative_to(run.directory / "private")
    assert mode(path) == 0o400
    for folder in ("private", "work", "tmp"):
        assert mode(run.directory / folder) == 0o700
    assert mode(run.directory / "journal.sqlite3") == 0o600
    assert run.blobs.get(digest) == b"transcript"


def test_s13_2_the_callers_umask_loosens_nothing(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Run.create(tmp_path / "run", {}) as run:
            digest = run.blobs.put(b"x", private=True)
            path = run.blobs.path(digest)
            assert path is not None
            assert mode(path) == 0o400
            assert mode(path.parent) == 0o700
            assert mode(run.directory) == 0o755
    finally:
        os.umask(before)


def test_s13_4_1_a_changed_blob_is_corrupt(run: Run) -> None:
    digest = run.blobs.put(b"abc")
    path = run.blobs.path(digest)
    assert path is not None
    path.chmod(0o644)
    path.write_bytes(b"abd")
    with pytest.raises(RunFault, match=r"store-corrupt in Blob.*: its content has another digest"):
        run.blobs.get(digest)
    path.write_bytes(b"abcd")
    with pytest.raises(RunFault, match="it has 4 bytes instead of 3"):
        run.blobs.put(b"abc")
    path.unlink()
    with pytest.raises(RunFault, match="it is missing"):
        run.blobs.get(digest)
    with pytest.raises(ValueError, match="not a digest"):
        run.blobs.path("sha256:x")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=20), st.booleans()), max_size=12))
def test_s13_4_1_every_key_hashes_to_itself(contents: list[tuple[bytes, bool]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("blobs", "tmp", "private", "private/blobs"):
            (Path(folder) / name).mkdir()
        blobs = Blobs(Path(folder))
        digests = {blobs.put(data, private) for data, private in contents}
        assert digests == {digest_bytes(data) for data, _ in contents}
        for digest, path in blobs.all():
            assert digest_bytes(path.read_bytes()) == digest
        assert {digest for digest, _ in blobs.all()} == digests


# -- views --


def test_s13_6_1_a_view_is_a_copy_of_its_blob(run: Run) -> None:
    digest = run.publish("cells/a/P-001/record-1.json", b"{}\n", "SealedRunRecord", "measured", PLAN)
    view = run.directory / "cells/a/P-001/record-1.json"
    assert view.read_bytes() == run.blobs.get(digest) == run.read("cells/a/P-001/record-1.json") == b"{}\n"
    [artifact] = run.journal.artifacts()
    assert artifact.artifact_digest == PLAN
    assert (artifact.kind, artifact.artifact_class, artifact.byte_digest) == ("SealedRunRecord", "measured", digest)
    before = view.stat().st_mtime_ns, view.stat().st_ino
    run.publish("cells/a/P-001/record-1.json", b"{}\n", "SealedRunRecord", "measured", PLAN)
    assert (view.stat().st_mtime_ns, view.stat().st_ino) == before
    with pytest.raises(KeyError):
        run.read("nothing.json")


def test_s13_4_2_two_digests_of_one_file(run: Run) -> None:
    artifact_digest = run.publish_json("brief.json", {"b": 1, "a": 2}, "SealedEvaluatorBrief")
    assert (run.directory / "brief.json").read_bytes() == b'{"a":2,"b":1}\n'
    assert artifact_digest == digest_bytes(b'{"a":2,"b":1}')
    assert run.journal.artifacts()[0].byte_digest == digest_bytes(b'{"a":2,"b":1}\n')


def test_private_views_are_the_owners(run: Run) -> None:
    run.publish("trace.txt", b"secret", "trace", "private")
    assert mode(run.directory / "trace.txt") == 0o600
    path = run.blobs.path(digest_bytes(b"secret"))
    assert path is not None
    assert path.is_relative_to(run.directory / "private")


@pytest.mark.parametrize(
    "name", ["", ".", "/etc/x", "../x", "a/../b", "a//b", "a/", "./a", "run.json", "lock", "blobs/x", "work/x", "a\0b"]
)
def test_a_view_has_a_plain_relative_name(run: Run, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a view"):
        run.publish(name, b"", "x")


def test_s13_6_1_lost_and_changed_views_are_repaired(run: Run) -> None:
    for name in ("one.json", "deep/two.json", "three.json"):
        run.publish_json(name, {"name": name}, "Thing")
    (run.directory / "one.json").write_text("changed")
    (run.directory / "deep/two.json").unlink()
    (run.directory / "deep").rmdir()
    assert repair_views(run) == ("deep/two.json", "one.json")
    assert (run.directory / "deep/two.json").read_bytes() == b'{"name":"deep/two.json"}\n'
    assert repair_views(run) == ()


# -- workspaces --


def test_workspaces_are_new_and_go_whatever_is_in_them(run: Run) -> None:
    one, other = run.workspace("trial/a/P-001/1"), run.workspace("trial/a/P-001/1")
    assert one != other
    assert mode(one) == 0o700
    (one / "closed" / "inner").mkdir(parents=True)
    (one / "closed" / "file").write_text("x")
    (one / "link").symlink_to("/etc")
    (one / "closed").chmod(0)
    os.mkfifo(one / "pipe")
    run.discard_workspace(one)
    assert not one.exists()
    assert Path("/etc").is_dir()
    run.discard_workspace(one)
    with pytest.raises(ValueError, match="not a workspace"):
        run.discard_workspace(run.directory / "blobs")
    (other / "x").write_text("y")
    run.clear_work()
    assert list((run.directory / "work").iterdir()) == []


# -- opening --


def test_s13_2_the_header(run: Run) -> None:
    header = read_header(run.directory)
    assert header == run.header
    assert header["label"] == "x"
    assert header["createdMs"] == 1_700_000_000_000
    assert len(header["runDirectoryId"]) == 32


def test_s13_6_2_opening_empties_scratch_folders(run: Run) -> None:
    (run.workspace("old") / "file").write_text("x")
    (run.directory / "tmp" / "half").write_text("half a blob")
    run.close("killed")
    run.close()
    with Run.open(run.directory) as again:
        assert list((again.directory / "work").iterdir()) == list((again.directory / "tmp").iterdir()) == []


def test_s13_7_1_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFault, match=r"resume-refused in Run.nothing.: .* is no run directory"):
        Run.open(tmp_path / "nothing")
    Run.create(tmp_path / "unplanned", {}).close()
    with pytest.raises(RunFault, match=r"resume-refused.*never planned"):
        Run.open(tmp_path / "unplanned")
    with Run.create(tmp_path / "invalid", {}) as run:
        run.journal.plan([], PLAN)
        run.journal.enter("qualifying")
        run.journal.enter("invalid")
    with pytest.raises(RunFault, match=r"resume-refused.*the run is invalid"):
        Run.open(tmp_path / "invalid")
    with pytest.raises(RunFault, match=r"store-unsupported.*not empty"):
        Run.create(tmp_path / "invalid", {})
    (tmp_path / "unplanned" / "run.json").write_text('{"schemaVersion": 2, "kind": "run"}')
    with pytest.raises(RunFault, match=r"run.json has version 2, this program knows version 1"):
        Run.open(tmp_path / "unplanned")
    (tmp_path / "folder" / "run.json").mkdir(parents=True)
    with pytest.raises(RunFault, match=r"store-unsupported in Run.folder."):
        Run.open(tmp_path / "folder")


def test_a_finished_run_keeps_its_scratch_untouched(run: Run) -> None:
    for state in ("qualifying", "measuring", "sealing", "done"):
        run.journal.enter(state)
    run.close()
    with Run.open(run.directory) as again:
        assert again.journal.state() == "done"


def test_the_error_that_ended_a_run_is_what_its_caller_sees(tmp_path: Path) -> None:
    def broken() -> None:
        with Run.create(tmp_path / "run", {}) as run:
            run.journal._writer.close()
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    # The lock went with it.
    Lock.take(tmp_path / "run" / "lock", 0).release()


# -- locks --


def test_s13_7_1_the_lock_names_its_holder(run: Run) -> None:
    with pytest.raises(RunFault) as raised:
        Run.open(run.directory)
    [problem] = raised.value.problems
    assert problem.code == "store-locked"
    assert f"process {os.getpid()} on " in problem.detail
    assert "started at 1700000000000 ms" in problem.detail
    run.close()
    (run.directory / "lock").write_text("nonsense")
    held = Lock.look(run.directory / "lock")
    with pytest.raises(RunFault, match="another process"):
        Lock.take(run.directory / "lock", 0)
    held.release()
    held.release()


def test_s13_14_a_directory_removed_under_a_waiting_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    path = tmp_path / "lock"
    real = fcntl.flock

    def removed_meanwhile(descriptor: int, kind: int) -> None:
        path.unlink()
        real(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", removed_meanwhile)
    with pytest.raises(RunFault, match=r"resume-refused.*has been removed"):
        Lock.take(path, 0)


# -- stores --


def test_s13_2_a_store_and_its_runs(tmp_path: Path) -> None:
    root = tmp_path / "store"
    store = Store.open(root)
    first = (root / "store.json").read_bytes()
    assert Store.open(root).root == root
    assert (root / "store.json").read_bytes() == first
    assert {path.name for path in root.iterdir()} == {"store.json"}
    now = 1_700_000_000_123
    runs = [store.create_run("notes", {"label": str(number)}, lambda: now) for number in range(3)]
    for run in runs:
        run.close()
        assert run.directory.parent == root / "runs" / "notes"
        assert run.directory.name.startswith("20231114T221320Z-")
    assert len({run.directory for run in runs}) == 3
    (root / "runs" / "notes" / "broken").mkdir()
    (root / "runs" / "file").write_text("x")
    listed = store.runs()
    assert [found.experiment_id for found in listed] == ["notes"] * 4
    assert [found.header is None for found in listed] == [False, False, False, True]
    header = listed[0].header
    assert header is not None
    assert header["experimentId"] == "notes"


def test_s13_3_a_place_where_anybody_may_write(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(RunFault, match="store-unsupported in Store: check ownership"):
        Store.open(tmp_path / "open" / "store")
    (tmp_path / "open").chmod(0o1777)
    Store.open(tmp_path / "open" / "store")


def test_s13_3_a_network_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_quality.run.confine.mounts import HostMount

    there = HostMount(str(tmp_path), "/", "0:99", False, "nfs4")
    monkeypatch.setattr(checks, "host_mounts", lambda: (HostMount("/", "/", "8:1", False, "ext4"), there))
    with pytest.raises(RunFault, match="check file-system: nfs4 does not keep locks"):
        Store.open(tmp_path / "store")
    Store.open(tmp_path / "store", unsafe=True)


@pytest.mark.parametrize("check", [name for name, _ in checks._CHECKS])
def test_s13_3_a_failing_check_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    def fails(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    listed = tuple((name, fails if name == check else test) for name, test in checks._CHECKS)
    monkeypatch.setattr(checks, "_CHECKS", listed)
    with pytest.raises(RunFault, match=f"store-unsupported in Store: check {check}: .*Input/output error"):
        checks.check_working(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_s13_3_little_space_is_said_and_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "free_bytes", lambda _: 600 * 1024 * 1024)
    assert checks.check_space(tmp_path) == f"629145600 bytes are left in {tmp_path}"
    monkeypatch.setattr(checks, "free_bytes", lambda _: 5 * 1024**3)
    assert checks.check_space(tmp_path) is None
    monkeypatch.setattr(checks, "free_bytes", lambda _: 1024)
    with pytest.raises(RunFault, match="store-full in Store: 1024 bytes are left"):
        checks.check_space(tmp_path)


# -- disks that fail, for real --

FILL = """
import sys
sys.path.insert(0, '/box/src')
from pathlib import Path
from eval_quality.run.errors import RunFault
from eval_quality.run.store.directory import Run
from eval_quality.run.store.journal import Item
root = Path('/tmp/run')
run = Run.create(root, {})
run.journal.plan([Item(f't/{n}', 't') for n in range(10000)], 'sha256:' + '1' * 64)
done = 0
try:
    for n in range(10000):
        token = run.journal.begin(f't/{n}')
        blob = run.blobs.put(str(n).encode() * 4000)
        run.journal.capture(token, {'n': n}, {}, {'blob': blob})
        done += 1
except RunFault as fault:
    print(fault.problems[0].code)
try:
    run.close()
except RunFault as fault:
    print('close', fault.problems[0].code)
# Space returns, and the run goes on.
import shutil
for path in sorted(Path('/tmp').glob('ballast')): path.unlink()
with Run.open(root) as again:
    kept = [c.item_id for c in again.journal.captures()]
    print(done in (len(kept), len(kept) - 1), kept == [f't/{n}' for n in range(len(kept))])
    token = again.journal.begin(f't/{len(kept)}')
    again.journal.capture(token, {'n': len(kept)}, {})
from eval_quality.run.store.verify import verify_run
print(verify_run(root).damage)
"""


def package_copy(tmp_path: Path) -> None:
    """The package beside the workspace's scripts, for an interpreter that sees nothing else."""
    import shutil

    import msgspec

    import eval_quality

    source = Path(eval_quality.__file__).parent
    shutil.copytree(source, tmp_path / "src" / "eval_quality", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(msgspec.__file__).parent, tmp_path / "src" / "msgspec")


@needs_sandbox
def test_t13_09_a_full_disk_is_a_fault_and_the_run_goes_on_when_space_returns(tmp_path: Path) -> None:
    from eval_quality.run.confine.specification import Limits

    package_copy(tmp_path)
    script = "open('/tmp/ballast','wb').write(b'x' * (3 << 20))\n" + FILL
    spec = specification(tmp_path, limits=Limits(tmp_bytes=8 << 20))
    completed, _ = run_inside(spec, PYTHON, "-I", "-c", script)
    lines = completed.stdout.decode().splitlines()
    assert lines[0] == "store-full", completed.stderr
    assert lines[-2:] == ["True True", "()"], completed.stderr


@needs_sandbox
def test_a_read_only_store_is_named_and_can_still_be_verified(tmp_path: Path) -> None:
    package_copy(tmp_path)
    with Run.create(tmp_path / "finished", {}) as run:
        run.journal.plan([Item("t/1", "t")], PLAN)
        run.journal.capture(run.journal.begin("t/1"), {"a": 1}, {})
        run.publish_json("summary.json", {"a": 1}, "Summary")
    bridge = tmp_path / "finished"
    script = """
import sys
sys.path.insert(0, '/box/src')
from pathlib import Path
from eval_quality.run.errors import RunFault
from eval_quality.run.store.directory import Run
from eval_quality.run.store.layout import Store
from eval_quality.run.store.verify import verify_run
found = verify_run(Path('/eq'))
print(found.captures, found.artifacts, found.damage)
for attempt in (lambda: Run.open(Path('/eq')), lambda: Store.open(Path('/eq/store')), lambda: Store.open(Path('/eq'))):
    try:
        attempt()
    except RunFault as fault:
        print(fault.problems[0].code)
"""
    (tmp_path / "box").mkdir()
    (tmp_path / "src").rename(tmp_path / "box" / "src")
    completed, _ = run_inside(specification(tmp_path / "box", bridge=bridge), PYTHON, "-I", "-c", script)
    expected = ["1 1 ()", *["store-unsupported"] * 3]
    assert completed.stdout.decode().splitlines() == expected, completed.stderr


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("call", ["write", "fsync", "rename", "open"])
def test_t13_09_every_failing_write_is_a_fault_and_leaves_nothing_half(
    run: Run, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    kept = run.blobs.put(b"before")

    def fails(*_arguments: object, **_options: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, call, fails)
        with pytest.raises(RunFault) as raised:
            run.blobs.put(b"during")
    full = number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    assert raised.value.problems[0].code == ("store-full" if full else "store-unsupported")
    assert ("of 6 bytes" in raised.value.problems[0].detail) is full
    assert list((run.directory / "tmp").iterdir()) == []
    assert run.blobs.path(digest_bytes(b"during")) is None
    assert run.blobs.get(kept) == b"before"
    assert run.blobs.put(b"during") == digest_bytes(b"during")


def test_a_run_directory_moves(run: Run, tmp_path: Path) -> None:
    run.publish_json("summary.json", {"a": 1}, "Summary")
    run.close()
    (tmp_path / "elsewhere").mkdir()
    run.directory.rename(tmp_path / "elsewhere" / "run")
    assert verify_run(tmp_path / "elsewhere" / "run").damage == ()


def test_no_import_of_the_store_costs_the_pipeline_commands() -> None:
    code = "import sys, eval_quality.cli.compile; print([n for n in sys.modules if n.startswith('eval_quality.run')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_closed_folders_go_for_an_ordinary_user_too(tmp_path: Path) -> None:
    """The administrator is stopped by no mode, so a child gives that up first."""
    root = tmp_path / "tree"
    (root / "closed" / "inner").mkdir(parents=True)
    (root / "closed" / "file").write_text("x")
    (root / "read-only").mkdir()
    (root / "read-only" / "file").write_text("x")
    (root / "read-only").chmod(0o500)
    (root / "closed").chmod(0)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.chown(tmp_path, 65534, 65534)
                for place, folders, names in os.walk(root):
                    for name in (place, *(os.path.join(place, each) for each in (*folders, *names))):
                        os.chown(name, 65534, 65534)
                for folder in tmp_path.parents:
                    if folder.stat().st_uid == 0 and str(folder) != "/" and not folder.stat().st_mode & 0o001:
                        folder.chmod(folder.stat().st_mode | 0o011)
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            files.remove_tree(root)
            code = 0 if not root.exists() else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not root.exists()
