"""The corpus, file-system and clock adapters (spec 07 §7.6)."""

import re
from pathlib import Path
from typing import Any

import pytest

from eval_quality.errors import RuntimeFault
from eval_quality.probe.local import (
    create_local_corpus_adapter,
    create_node_file_system_adapter,
    create_system_clock_adapter,
)
from eval_quality.probe.signals import AbortSignal


def fault(work: Any) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        work()
    return caught.value


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "a").mkdir(parents=True)
    (folder / "b").write_bytes(b"\x00b")
    (folder / "a" / "link").symlink_to("/etc/passwd")
    (folder / "a" / "inside").symlink_to("../b")
    (folder / "..b").write_bytes(b"dots")
    (tmp_path / "corpus-next-door").write_bytes(b"next door")
    (folder / "sibling").symlink_to("../corpus-next-door")
    return folder


@pytest.mark.parametrize(
    ("reference", "data"),
    [
        ("b", b"\x00b"),
        ("a/../b", b"\x00b"),
        ("./b", b"\x00b"),
        ("a//../b", b"\x00b"),
        ("a/inside", b"\x00b"),
        ("..b", b"dots"),
    ],
)
def test_s7_6_1_references_below_the_root(reference: str, data: bytes, root: Path) -> None:
    answer = create_local_corpus_adapter(str(root)).resolve({"privateRef": reference}, AbortSignal())
    assert (answer.private_ref, answer.bytes) == (reference, data)


@pytest.mark.parametrize("reference", ["../x", "/etc/passwd", "a/../../x", "..", "//etc/passwd", "a/../.."])
def test_s7_6_1_lexical_escapes_are_refused_before_any_read(reference: str, root: Path) -> None:
    def never(path: str) -> bytes:
        raise AssertionError(path)

    found = fault(
        lambda: create_local_corpus_adapter(str(root), never).resolve({"privateRef": reference}, AbortSignal())
    )
    assert (found.code, found.artifact_path, found.reason) == ("port-failure", "CorpusResolveRequest", None)
    assert reference in found.detail


@pytest.mark.parametrize("reference", ["a/link", "sibling"])
def test_s7_6_1_a_link_out_of_the_root_is_refused_after_the_read(reference: str, root: Path) -> None:
    found = fault(lambda: create_local_corpus_adapter(str(root)).resolve({"privateRef": reference}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-failure", "CorpusResolveRequest")


def test_s7_6_1_a_path_that_vanished_after_the_read_is_refused(root: Path) -> None:
    adapter = create_local_corpus_adapter(str(root), lambda path: b"read from nowhere")
    found = fault(lambda: adapter.resolve({"privateRef": "gone"}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-failure", "CorpusResolveRequest")


def test_s7_6_1_a_missing_file_is_a_failure_of_the_read(root: Path) -> None:
    found = fault(lambda: create_local_corpus_adapter(str(root)).resolve({"privateRef": "gone"}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-failure", "CorpusResolveResponse")
    assert isinstance(found.cause, FileNotFoundError)


def test_s7_6_1_a_result_that_is_no_bytes(root: Path) -> None:
    adapter = create_local_corpus_adapter(str(root), lambda path: "text")
    found = fault(lambda: adapter.resolve({"privateRef": "b"}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-contract-violation", "CorpusResolveResponse")


def test_s7_6_1_a_root_of_slash_works(root: Path) -> None:
    reference = str(root / "b").lstrip("/")
    answer = create_local_corpus_adapter("/").resolve({"privateRef": reference}, AbortSignal())
    assert answer.bytes == b"\x00b"


def test_s7_6_1_an_empty_reference_is_no_request(root: Path) -> None:
    found = fault(lambda: create_local_corpus_adapter(str(root)).resolve({"privateRef": ""}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "CorpusResolveRequest")


def test_s7_6_2_files(tmp_path: Path) -> None:
    files = create_node_file_system_adapter()
    path = str(tmp_path / "file")
    written = files.write_file({"path": path, "bytes": b"\xffdata"}, AbortSignal())
    assert (written.path, written.byte_length) == (path, 5)
    assert files.read_file({"path": path}, AbortSignal()).bytes == b"\xffdata"
    found = fault(lambda: files.read_file({"path": str(tmp_path)}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-failure", "FileReadResponse")
    found = fault(lambda: files.write_file({"path": str(tmp_path / "no" / "x"), "bytes": b""}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-failure", "FileWriteResponse")
    found = fault(lambda: files.write_file({"path": path, "bytes": "text"}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("schema-parse-failure", "FileWriteRequest")


def test_s7_6_3_the_clock_tells_utc_with_milliseconds() -> None:
    now = create_system_clock_adapter().read({}, AbortSignal()).now
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now)


@pytest.mark.parametrize("now", ["2026-01-01T00:00:00+01:00", "2026-02-30T00:00:00Z", 0, None])
def test_s7_1_2_a_clock_that_tells_anything_else_breaks_its_contract(now: Any) -> None:
    found = fault(lambda: create_system_clock_adapter(lambda: now).read({}, AbortSignal()))
    assert (found.code, found.artifact_path) == ("port-contract-violation", "ClockReadResponse")
