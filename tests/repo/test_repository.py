"""What the repository promises about itself."""

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<target>[^)#\s]+)?(?:#(?P<anchor>[^)\s]+))?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LONGEST_MODULE = 450


def tracked() -> list[Path]:
    """Every file under version control that exists, or every file but the ignored ones outside a checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    paths = [ROOT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        ".ci/run",
    ],
)
def test_the_usual_files_are_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 200


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_continuous_integration_runs_the_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test")


def test_the_test_command_runs_every_gate() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\ntest: lint types layers fast slow network\n" in makefile
    for gate in (
        "ruff format --check .",
        "ruff check .",
        "$(BIN)/basedpyright",
        "lint-imports",
        '-m "not slow and not network" -n 2 --dist worksteal --cov',
        '-m "slow and not network"',
        "-m network",
    ):
        assert gate in makefile
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert settings["pytest"]["ini_options"]["filterwarnings"] == ["error"]
    assert settings["pytest"]["ini_options"]["xfail_strict"] is True
    assert settings["pyright"]["typeCheckingMode"] == "strict"
    assert settings["coverage"]["run"]["branch"] is True
    assert settings["coverage"]["report"]["fail_under"] == 100
    assert {"value", "model", "core"} == {name.split(".")[1] for name in settings["coverage"]["run"]["source"]}


def test_no_module_is_longer_than_a_module_may_be() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in (ROOT / "src").rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE
    }
    assert long == {}


def test_nothing_is_left_for_later_in_the_sources() -> None:
    words = re.compile(r"\b(?:TODO|FIXME|XXX|HACK|NotImplementedError)\b")
    found = [path.name for path in (ROOT / "src").rglob("*.py") if words.search(path.read_text(encoding="utf-8"))]
    assert found == []


HOME = "/home/"
MACHINE_PATHS = re.compile(r"(?<![\w.~/])(?:/work/|/ro" r"ot/|/ho" r"me/(?!x\b)\w|/Users/|/farm/|[A-Z]:\\Users)")
"""Paths of somebody's own; /home/x stands for anybody's."""


REGISTRY_HOSTS = re.compile(r"\b(?:py" r"pi\.org|python" r"hosted\.org|npm" r"js\.(?:org|com)|proxy\.go" r"lang\.org)")


def test_no_file_names_a_package_registry() -> None:
    texts = {path.relative_to(ROOT).as_posix(): text_of(path) or "" for path in tracked()}
    assert [name for name, text in texts.items() if REGISTRY_HOSTS.search(text)] == []


def test_no_file_names_somebodys_machine() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): match[0]
        for path in tracked()
        if path != Path(__file__) and (text := text_of(path)) is not None and (match := MACHINE_PATHS.search(text))
    }
    assert found == {}


def test_every_link_of_every_page_leads_somewhere() -> None:
    pages = [path for path in tracked() if path.suffix == ".md"]
    broken = [
        f"{page.relative_to(ROOT)}: {match[0]}" for page in pages for match in links(page) if is_broken(page, match)
    ]
    assert broken == []


def links(page: Path) -> Iterator[re.Match[str]]:
    yield from LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8")))


def is_broken(page: Path, match: re.Match[str]) -> bool:
    target = page if match["target"] is None else page.parent / unquote(match["target"])
    if not target.exists():
        return True
    return bool(match["anchor"]) and target.suffix == ".md" and match["anchor"] not in anchors(target)


def anchors(page: Path) -> set[str]:
    """The anchors that headings of a page get on the usual hosts."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_of_the_documentation_can_be_reached() -> None:
    start = ROOT / "docs" / "README.md"
    seen: set[Path] = set()
    pending = [start]
    while pending:
        page = pending.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        pending += [(page.parent / unquote(match["target"])).resolve() for match in links(page) if match["target"]]
    unreached = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md") if path not in seen)
    assert unreached == []


def test_every_test_directory_mirrors_the_sources_or_is_named_here() -> None:
    own = {"docs", "golden", "hostile", "laws", "oracle", "repo", "support", "benchmarks"}
    layers = {path.name for path in (ROOT / "src" / "eval_quality").iterdir() if path.is_dir()}
    found = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert found - own - layers == set()
