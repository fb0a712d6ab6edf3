"""The wheel: built, opened, installed, run from outside the checkout."""

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from eval_quality import INTERCHANGE_ARTIFACT_KEYS, VERSION

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_the_schemas_and_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources - set(names) == set()
    assert {f"eval_quality/_schemas/{kind}.schema.json" for kind in INTERCHANGE_ARTIFACT_KEYS} <= set(names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert all(name.startswith(("eval_quality/", f"eval_quality-{VERSION}.dist-info/")) for name in names)


def test_the_wheel_says_who_it_is(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    metadata = Parser().parsestr(archive.read(f"eval_quality-{VERSION}.dist-info/METADATA").decode())
    assert (metadata["Name"], metadata["Version"]) == ("eval-quality", VERSION)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "# eval-quality" in str(metadata.get_payload())
    entry_points = archive.read(f"eval_quality-{VERSION}.dist-info/entry_points.txt").decode()
    assert "eval-quality = eval_quality.cli.main:entry" in entry_points


def test_the_installed_package_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "import eval_quality.schemas, pathlib\n"
        "assert pathlib.Path(eval_quality.__file__).is_relative_to(sys.path[0])\n"
        "assert eval_quality.schemas.load('probe')['title'] == 'Probe'\n"
        "from eval_quality.cli.main import entry\n"
        "entry()\n"
    )
    contract = ROOT / "examples" / "notes-api" / "contract.json"
    finished = subprocess.run(
        [sys.executable, "-c", code, site, "compile", "--in", contract], cwd=tmp_path, capture_output=True, check=False
    )
    assert (finished.returncode, finished.stderr) == (0, b"")
    assert finished.stdout.startswith(b'{"behaviors":')
