"""Our own adapters pass the conformance suite, with the published number of assertions (spec 07 §7.7)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_quality import conformance
from support import subjects
from support.http_service import serve
from support.mcp_plain_service import APPLICATION


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serve() as service:
        yield service.port


@pytest.mark.parametrize(("kind", "count"), [("corpus", 6), ("clock", 6), ("file_system", 12)])
def test_s7_7_2_local_adapters_conform(kind: str, count: int, tmp_path: Path) -> None:
    make = getattr(subjects, kind)
    report = conformance.run(make() if kind == "clock" else make(tmp_path))
    assert report.passed, report.text()
    assert len(report.outcomes) == count == conformance.PUBLISHED_COUNTS[report.port]


def test_s7_7_2_the_http_adapter_conforms(port: int) -> None:
    report = conformance.run(subjects.api(port))
    assert report.passed, report.text()
    assert len(report.outcomes) == 19


def test_s7_7_2_the_command_adapter_conforms(tmp_path: Path) -> None:
    report = conformance.run(subjects.command(tmp_path))
    assert report.passed, report.text()
    assert len(report.outcomes) == 16
    assert not (tmp_path / "owned").exists()


def test_s7_7_2_the_tool_adapter_conforms(tmp_path: Path) -> None:
    report = conformance.run(subjects.tool(tmp_path))
    assert report.passed, report.text()
    assert len(report.outcomes) == 14


def test_s7_7_2_the_tool_adapter_over_http_conforms() -> None:
    with serve(APPLICATION) as service:
        report = conformance.run(subjects.tool_over_http(service.port))
    assert report.passed, report.text()
    assert len(report.outcomes) == 14
