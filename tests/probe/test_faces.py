"""The public faces of this part: what is exported, and that it can be imported."""

import subprocess
import sys

import pytest

from eval_quality import adapters, conformance

FACTORIES = [
    "create_command_line_adapter",
    "create_http_adapter",
    "create_local_corpus_adapter",
    "create_mcp_adapter",
    "create_mcp_http_adapter",
    "create_node_file_system_adapter",
    "create_system_clock_adapter",
]


def test_every_exported_name_is_there_and_has_one_home() -> None:
    homes = [name for names in adapters._HOMES.values() for name in names]
    assert sorted(homes) == sorted(adapters.__all__) == dir(adapters)
    for name in adapters.__all__:
        assert getattr(adapters, name).__name__ == name
    assert [name for name in adapters.__all__ if name.startswith("create_")] == FACTORIES


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="create_web_adapter"):
        adapters.create_web_adapter  # type: ignore[attr-defined]  # noqa: B018


def test_the_conformance_face() -> None:
    for name in conformance.__all__:
        assert getattr(conformance, name) is not None
    assert {"run", "cases", "tests_for", "Subject", "Report"} <= set(conformance.__all__)


def test_running_commands_imports_no_http_client() -> None:
    code = (
        "import sys\nfrom eval_quality.adapters import create_command_line_adapter, create_mcp_adapter\n"
        "print(sorted({'asyncio', 'ssl', 'mcp', 'httpx2', 'httpcore2', 'anyio', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
