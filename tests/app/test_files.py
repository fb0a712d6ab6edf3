"""Reading inputs and writing outputs (spec 10 §2.4, §3, §4)."""

import errno
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from eval_quality.app import files
from eval_quality.app.files import PathError, read_bytes, read_input, write_atomic
from eval_quality.errors import RuntimeFault


def path_error(path: Path | str) -> str:
    with pytest.raises(PathError) as caught:
        read_bytes(str(path), "--in", "EvalContract")
    return str(caught.value)


def test_s2_4_path_errors_name_the_call_the_path_and_the_code(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert path_error(missing) == f'open "{missing}": ENOENT'
    assert path_error(tmp_path) == f'read "{tmp_path}": EISDIR'
    (tmp_path / "file").write_text("{}")
    assert path_error(tmp_path / "file" / "x") == f'open "{tmp_path}/file/x": ENOTDIR'
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert path_error(tmp_path / "loop") == f'open "{tmp_path}/loop": ELOOP'
    long = "x" * 300
    assert path_error(tmp_path / long) == f'open "{tmp_path}/{long}": ENAMETOOLONG'
    assert path_error("a\0b") == 'open "a\\u0000b": ENOENT'


def test_s2_4_an_unreadable_file_is_a_path_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.json").write_text("{}")

    def closed(path: str, _flags: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    # The superuser may read everything, so the refusal is played.
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "open", closed)
        assert path_error("secret.json") == 'open "secret.json": EACCES'


def fault(path: Path | str, **options: bool) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        read_input(str(path), "--in", "EvalContract", **options)
    return caught.value


def test_s3_3_a_long_regular_file_is_refused_unread(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse.json"
    with sparse.open("wb") as file:
        file.truncate(files.MAX_INPUT_BYTES + 1)
    raised = fault(sparse)
    assert (raised.code, raised.artifact_path) == ("schema-parse-failure", "EvalContract")
    assert raised.detail == "--in: the document is longer than 256 MiB"


def test_s3_3_an_endless_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_INPUT_BYTES", 3 << 20)
    assert fault("/dev/zero").detail == "--in: the document is longer than 3 MiB"


def test_s3_a_document_of_exactly_the_limit_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "MAX_INPUT_BYTES", 8)
    (tmp_path / "a.json").write_text("12345678")
    assert read_input(str(tmp_path / "a.json"), "--in", "X") == 12345678
    (tmp_path / "a.json").write_text("123456789")
    assert "longer than" in fault(tmp_path / "a.json").detail


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "schema-parse-failure"),
        (b"{", "schema-parse-failure"),
        (b"\xef\xbb\xbf{}", "schema-parse-failure"),
        (b'"\xff"', "schema-parse-failure"),
        (b"{'a':1}", "schema-parse-failure"),
        (b'{"a":1,"a":2}', "non-canonicalizable-value"),
        (b'"\\ud800"', "non-canonicalizable-value"),
        (b"1e400", "non-canonicalizable-value"),
        (b"9007199254740993", "non-canonicalizable-value"),
    ],
)
def test_s3_2_the_scanner_decides(text: bytes, code: str, tmp_path: Path) -> None:
    document = tmp_path / "a.json"
    document.write_bytes(text)
    plain, shown = fault(document), fault(document, show_path=True)
    assert (plain.code, plain.artifact_path) == (code, "EvalContract")
    assert plain.detail.startswith("--in: ")
    assert shown.detail == plain.detail.replace("--in: ", f'--in "{document}": ', 1)


def test_a_named_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = b'{"a":"' + b"x" * 3_000_000 + b'"}'
    writer = threading.Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    value = read_input(str(pipe), "--in", "X")
    writer.join()
    assert len(value["a"]) == 3_000_000


def test_a_pipe_that_nobody_writes_to_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "PIPE_OPEN_SECONDS", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    raised = fault(pipe)
    assert raised.code == "schema-parse-failure"
    assert "delivered nothing" in raised.detail


def test_a_pipe_whose_writer_stays_silent_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "PIPE_OPEN_SECONDS", 0.05)
    monkeypatch.setattr(files, "PIPE_SILENCE_SECONDS", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR)
    try:
        os.write(descriptor, b"{")
        assert "delivered nothing" in fault(pipe).detail
    finally:
        os.close(descriptor)


def test_a_pipe_is_capped_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "MAX_INPUT_BYTES", 4)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR)
    try:
        os.write(descriptor, b"123456")
        assert "longer than" in fault(pipe).detail
    finally:
        os.close(descriptor)


def test_a_closed_standard_input_is_a_path_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert path_error("-") == 'read "-": EBADF'


# Writing.


def refused(path: Path | str) -> PathError:
    with pytest.raises(PathError) as caught:
        write_atomic(str(path), b"new")
    return caught.value


def test_s4_4_parents_are_created_and_targets_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "out.json"
    write_atomic(str(target), b"one")
    write_atomic(str(target), b"two")
    assert target.read_bytes() == b"two"
    assert os.listdir(target.parent) == ["out.json"]


def test_a_new_file_has_the_mode_the_user_asked_for(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_atomic(str(tmp_path / "out.json"), b"")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_bytes(b"old")
    target.chmod(0o600)
    write_atomic(str(target), b"new")
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o600)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    link = tmp_path / "out.json"
    link.symlink_to(tmp_path / "data" / "real.json")
    write_atomic(str(link), b"new")
    assert link.is_symlink()
    assert (tmp_path / "data" / "real.json").read_bytes() == b"new"


def test_unwritable_targets_are_usage_errors(tmp_path: Path) -> None:
    (tmp_path / "dir.json").mkdir()
    (tmp_path / "file").write_text("")
    assert str(refused(tmp_path / "dir.json")) == f'open "{tmp_path}/dir.json": EISDIR'
    assert str(refused(tmp_path / "file" / "out.json")) == f'mkdir "{tmp_path}/file": ENOTDIR'
    assert str(refused(tmp_path / "file" / "x" / "out.json")) == f'mkdir "{tmp_path}/file/x": ENOTDIR'
    assert str(refused("a\0b.json")) == 'open "a\\u0000b.json": ENOENT'
    assert all(refused(tmp_path / name / "o.json").is_usage for name in ("file", "x" * 300))


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.json"
    target.write_bytes(b"old")

    def full(_descriptor: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    raised = refused(target)
    assert str(raised) == f'write "{target}": ENOSPC'
    assert not raised.is_usage
    assert (os.listdir(tmp_path), target.read_bytes()) == (["out.json"], b"old")


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_source: str, _target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(str(tmp_path / "out.json"), b"new")
    assert os.listdir(tmp_path) == []


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(files.os, "write", lambda descriptor, data: write(descriptor, data[:2]))
    write_atomic(str(tmp_path / "out.json"), b"abcdefg")
    assert (tmp_path / "out.json").read_bytes() == b"abcdefg"
