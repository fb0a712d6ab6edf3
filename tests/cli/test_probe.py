"""`eval-quality probe` and `eval-quality conformance` as a user types them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import pytest

from support.http_service import Service, serve
from support.program import call, spawn
from support.subjects import api_entry

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("word-count", "adder-server", "notes-api"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    return tmp_path / "word-count"


class Done(NamedTuple):
    """What a run left behind, by the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *arguments: str) -> Done:
    """The program inside this process, in `folder`."""
    with chdir(folder):
        return Done(*call(*arguments))


def start(folder: Path, *arguments: str) -> Done:
    """The program as a process of its own."""
    return Done(*spawn(*arguments, cwd=folder))


def probe(folder: Path, *arguments: str) -> Done:
    return run(folder, "probe", "--contract", "contract.json", "--policy", "policy.yaml", *arguments)


def test_one_operation_prints_the_observation(folder: Path) -> None:
    done = probe(folder, "--operation", "count")
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads(done.stdout)
    assert (seen["kind"], seen["exitCode"], seen["stdout"]["value"]) == ("cli", 0, {"unit": "words", "count": 2})


def test_the_observation_can_go_to_a_file(folder: Path) -> None:
    done = probe(folder, "--operation", "count", "--out", "seen.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads((folder / "seen.json").read_text())["operationId"] == "count"


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--pointer", "stdout/count"], "2\n"),
        (["--pointer", "/stdout/unit", "--pointer", "exit-code"], '"words"\n0\n'),
        (["--pointer", "/interactions/any-step/artifact/report"], '"2 words\\n"\n'),
        (["--pointer", "stderr"], '""\n'),
        (["--set", "stdin.text=a\nb\nc", "--set", "option.unit=lines", "--pointer", "stdout/count"], "3\n"),
        (["--set", 'stdin={"text":"a b c d"}', "--pointer", "stdout/count"], "4\n"),
    ],
)
def test_pointers_show_what_a_check_would_read(arguments: list[str], printed: str, folder: Path) -> None:
    done = probe(folder, "--operation", "count", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_a_pointer_to_nothing_says_so(folder: Path) -> None:
    done = probe(folder, "--operation", "count", "--pointer", "stdout/count", "--pointer", "stdout/total")
    assert (done.returncode, done.stdout) == (1, "2\n")
    assert done.stderr == "eval-quality: probe: stdout/total addresses nothing in this answer\n"


def test_inputs_from_a_file_or_standard_input(folder: Path) -> None:
    inputs = {"option": {"unit": "characters"}, "stdin": {"kind": "json", "value": {"text": "abc"}}}
    (folder / "inputs.json").write_text(json.dumps(inputs))
    assert probe(folder, "--operation", "count", "--inputs", "inputs.json", "--pointer", "stdout/count").stdout == "3\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "probe requires --operation"),
        (["--operation", "nope"], "no operation nope"),
        (["--operation", "count", "--interface", "nope"], "no operation count of interface nope"),
        (["--operation", "count", "--probes", "probes.json"], "--probes belongs to --plan"),
        (["--plan"], "requires --probes"),
        (["--plan", "--probes", "probes.json", "--operation", "count"], "--operation belong to a single operation"),
        (["--operation", "count", "--set", "nonsense"], "expected channel.key=value"),
        (["--operation", "count", "--set", "path.id=1"], "expected channel.key=value"),
        (["--operation", "count", "--set", "option=1"], "expected channel.key=value"),
        (["--operation", "count", "--pointer", "nowhere/x"], "no evidence pointer"),
        (["--operation", "count", "--pointer", "call-inputs/option/unit"], "call inputs are what you sent"),
        (["--operation", "count", "--out", "contract.json"], "--out would overwrite"),
    ],
)
def test_usage_errors_name_what_is_wrong(arguments: list[str], message: str, folder: Path) -> None:
    done = probe(folder, *arguments)
    assert done.returncode == 64
    assert done.stdout == ""
    assert done.stderr.startswith("eval-quality: usage: ")
    assert message in done.stderr


def test_faults_exit_5_and_start_nothing(folder: Path) -> None:
    policy = (folder / "policy.yaml").read_text()
    (folder / "policy.yaml").write_text(policy.replace("[count]", "[other]"))
    done = probe(folder, "--operation", "count")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("eval-quality: forbidden-target: ProbeRequest: ")
    assert not (folder / "report.txt").exists()


def test_an_interface_without_a_policy_of_its_kind_is_forbidden(folder: Path) -> None:
    shutil.copy(folder.parent / "adder-server" / "policy.yaml", folder / "policy.yaml")
    done = probe(folder, "--operation", "count")
    assert done.returncode == 5
    assert "no target policy was given for cli interfaces" in done.stderr


def test_a_plan_writes_what_preflight_reads(folder: Path) -> None:
    done = probe(folder, "--plan", "--probes", "probes.json", "--out", "run")
    assert done.returncode == 0
    assert done.stderr.count("planned") == done.stderr.count("observed") == 4
    observations = folder / "run" / "probe-observations.json"
    assert len(json.loads(observations.read_text())) == 4
    verdict = run(
        folder,
        *("preflight", "--contract", "contract.json", "--probes", "probes.json", "--run-id", "r"),
        *("--observations", str(observations)),
    )
    assert verdict.returncode == 0


def test_a_plan_that_faults_writes_nothing(folder: Path) -> None:
    policy = (folder / "policy.yaml").read_text()
    (folder / "policy.yaml").write_text(policy.replace("./word_count.py", "./missing.py"))
    done = probe(folder, "--plan", "--probes", "probes.json", "--out", "run")
    assert done.returncode == 5
    assert "port-failure" in done.stderr
    assert not (folder / "run").exists()


@pytest.mark.parametrize(("revision", "shown"), [(None, "2025-06-18"), ("2024-11-05", "2024-11-05")])
def test_a_tool_call_reports_the_revision(revision: str | None, shown: str, folder: Path) -> None:
    more = [] if revision is None else ["--revision", revision]
    done = probe(folder.parent / "adder-server", "--operation", "add", "--pointer", "response-body/sum", *more)
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert done.stderr == f"eval-quality: probe: MCP revision {shown}, server adder 1.0\n"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve() as running:
        yield running


def test_an_http_interface_with_a_targets_file(service: Service, folder: Path) -> None:
    notes = folder.parent / "notes-api"
    entry = api_entry(service.port, "notes-api", "127.0.0.1", maxElapsedMs=5000)
    (notes / "policy.json").write_text(json.dumps({"authorizations": [entry]}))
    url = f"http://127.0.0.1:{service.port}/v1"
    (notes / "targets.yaml").write_text(f"notes-api: {{url: '{url}', headers: {{X-Key: secret}}}}")
    done = run(
        notes,
        *("probe", "--contract", "contract.json", "--policy", "policy.json", "--targets", "targets.yaml"),
        *("--operation", "get-note", "--set", "path.id=a/b", "--set", "query.q=[1,2]", "--set", "header.X-Mine=1"),
        *("--pointer", "response-body/path", "--pointer", "response-body/query"),
        *("--pointer", "response-body/headers/x-key", "--pointer", "response-body/headers/x-mine"),
        *("--pointer", "response-status", "--pointer", "response-headers/content-type"),
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        *('"/v1/notes/a%2Fb"', '"q=1&q=2"', '"secret"', '"1"', "200", '"application/json"'),
    ]


def test_only_what_a_kind_needs_is_imported(folder: Path) -> None:
    arguments = ["probe", "--contract", "contract.json", "--policy", "policy.yaml", "--operation", "count"]
    heavy = {"asyncio", "mcp", "httpx2", "httpcore2", "ssl", "anyio", "pydantic", "rich", "jinja2"}
    code = (
        "import sys\nfrom eval_quality.cli.dispatch import main\n"
        f"main({[*arguments, '--pointer', 'exit-code']})\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n[]\n", done.stderr


# --- conformance -----------------------------------------------------------------------------------------------------

SUBJECTS = """
import sys
sys.path.insert(0, {tests!r})
from support.subjects import clock
from support.broken import local
from pathlib import Path

def one():
    return clock()

def several():
    return [clock(), local("clock", "typed-fault", Path("."))]

def none():
    return []

def raising():
    raise RuntimeError("no")

def unknown():
    return object()
"""


@pytest.fixture
def adapters(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SUBJECTS.format(tests=str(ROOT / "tests")))
    return tmp_path


def test_conformance_prints_a_report_for_each_subject(adapters: Path) -> None:
    done = start(adapters, "conformance", "--adapter", "mine:one")
    assert done.returncode == 0
    assert done.stdout.startswith('PASS clock conformance for "system clock": 6/6 assertions passed\npass read/')
    both = start(adapters, "conformance", "--adapter", "mine:several")
    assert both.returncode == 2
    assert 'FAIL clock conformance for "system clock": ' in both.stdout
    assert "FAIL read/typed-fault: " in both.stdout


def test_conformance_as_json(adapters: Path) -> None:
    done = start(adapters, "conformance", "--adapter", "mine:one", "--format", "json")
    (report,) = json.loads(done.stdout)
    assert (report["passed"], report["port"], len(report["outcomes"])) == (True, "clock", 6)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("mine", "not of the form"),
        ("absent:x", "cannot be imported"),
        ("mine:nope", "cannot be imported"),
        ("mine:none", "no subject"),
        ("mine:raising", "the factory raised RuntimeError: no"),
        ("mine:unknown", "conforms_to"),
    ],
)
def test_a_factory_that_cannot_be_used_is_a_usage_error(path: str, message: str, adapters: Path) -> None:
    done = start(adapters, "conformance", "--adapter", path)
    assert done.returncode == 64
    assert message in done.stderr
