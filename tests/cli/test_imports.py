"""What each command imports, and what it must not (design: start-up budget).

Counting modules instead of milliseconds keeps this true on every machine; `benchmarks/startup.py` measures.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from eval_quality.cli.registry import PIPELINE

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes-api"
DIGEST = "sha256:" + "0" * 64

FOREIGN = (
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "dataclasses",
    "email",
    "http",
    "httpx2",
    "importlib.metadata",
    "importlib.resources",
    "jinja2",
    "logging",
    "mcp",
    "multiprocessing",
    "pathlib",
    "random",
    "rich",
    "ruamel",
    "shutil",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "unittest",
    "urllib.request",
)
"""Modules a pipeline command never needs; each costs its users time on every run."""

OWN = ("eval_quality.probe", "eval_quality.run", "eval_quality.schemas", "eval_quality.model.publish")
"""Parts of this package that a pipeline command never needs."""

COMMANDS = {
    "compile": ["--in", "contract.json"],
    "seal": ["--in", "contract.json"],
    "preflight": [
        *("--contract", "contract.json", "--probes", "probes.json"),
        *("--observations", "observations.json", "--run-id", "r"),
    ],
    "score": [
        *("--record", "runs/P-001/record-1.json", "--isolation-manifest", "runs/P-001/isolation-manifest.json"),
        *("--evaluator-configuration", "evaluator-configuration.json", "--contract", "contract.json"),
        *("--probe", "probes/P-001.json", "--preflight-verdict", "expected/preflight-verdict.json"),
        *("--policy", "policy.json", "--corpus-digest", DIGEST),
    ],
    "aggregate-strength": ["--evidence", "expected/P-001.json", "--floors", "floors.json", "--policy", "policy.json"],
}


def imported(*words: str) -> set[str]:
    """The modules loaded once the program ran these words, beyond those of a bare interpreter."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from eval_quality.cli.main import entry\n"
        "sys.argv = ['eval-quality', *sys.argv[1:]]\n"
        "try:\n"
        "    entry()\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "print('', *sorted(set(sys.modules) - before), sep='\\n', file=sys.stderr)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-I", "-c", code, *words], cwd=EXAMPLE, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return set(finished.stderr.split("\n\n")[-1].split())


def under(modules: set[str], names: tuple[str, ...]) -> list[str]:
    return sorted(m for m in modules if any(m == name or m.startswith(f"{name}.") for name in names))


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_version_imports_a_constant_and_nothing_else(word: str) -> None:
    assert imported(word) == {
        "eval_quality",
        "eval_quality._version",
        "eval_quality.cli",
        "eval_quality.cli.main",
    }


def test_every_pipeline_command_is_measured() -> None:
    assert tuple(COMMANDS) == PIPELINE


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipeline_command_imports_only_what_it_uses(command: str) -> None:
    modules = imported(command, *COMMANDS[command])
    assert under(modules, FOREIGN) == []
    assert under(modules, OWN) == []
    others = {f"eval_quality.cli.{name.replace('-', '_')}" for name in PIPELINE} - {
        f"eval_quality.cli.{command.replace('-', '_')}"
    }
    assert sorted(others & modules) == []


def test_compile_does_not_load_the_other_stages() -> None:
    modules = imported("compile", *COMMANDS["compile"])
    stages = ("core.seal", "core.preflight", "core.score", "core.ingest", "core.aggregate", "core.behavior")
    assert under(modules, tuple(f"eval_quality.{stage}" for stage in stages)) == []


def test_a_contract_without_patterns_never_loads_the_regular_expression_engine() -> None:
    assert "regress" not in imported("compile", *COMMANDS["compile"])
