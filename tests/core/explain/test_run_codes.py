"""Every code that a twin run can end with is explained, with the exit code that it leads to."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import eval_quality
from eval_quality.app.explain import explain
from eval_quality.core.explain.catalogue import CATALOGUE, nearest
from eval_quality.core.explain.render import catalogue_text
from eval_quality.core.explain.twin_run import RUN_CODES
from eval_quality.run import errors

PACKAGE = Path(eval_quality.__file__).parent
FAMILIES = ("ExperimentFailure", "RunInvalid", "RunStopped", "RunFault")
EXITS = {name: getattr(errors, name).exit_code for name in FAMILIES} | {"Finding": 3}


def trees() -> Iterator[ast.AST]:
    for folder in ("run", "app/run"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


def raised(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(class, code) of every `RunFault.of("code", ...)`, `Finding("code", ...)` and `AuthoringProblem("code", ...)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), "of"), [first, *_]) if name in FAMILIES:
                pass
            case ast.Call(ast.Name(("Finding" | "AuthoringProblem") as name), [first, *_]):
                pass
            case _:
                continue
        options = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
        yield from ((name, option.value) for option in options if isinstance(option, ast.Constant))  # type: ignore


RAISED = sorted({found for tree in trees() for found in raised(tree)})
WORDS = {node.value for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize(("name", "code"), RAISED)
def test_what_is_raised_is_explained_with_its_exit_code(name: str, code: str) -> None:
    assert code in RUN_CODES
    assert EXITS.get(name, RUN_CODES[code].exit_code) == RUN_CODES[code].exit_code


def test_nothing_is_explained_that_cannot_happen() -> None:
    assert [code for code in RUN_CODES if code not in WORDS] == []
    assert len(RAISED) > 40


def test_the_families_are_disjoint() -> None:
    assert set(RUN_CODES) & set(CATALOGUE) == set()


@pytest.mark.parametrize("code", RUN_CODES)
def test_an_explanation_says_what_and_what_to_do(code: str) -> None:
    entry = RUN_CODES[code]
    text = explain(code)
    assert text.startswith(f"{code} (twin run, exit code {entry.exit_code})\n\n")
    assert " ".join(text.split()).endswith(f"{entry.means} {entry.remedy}")
    assert code in catalogue_text().split("twin run:\n")[1].split()


def test_a_slip_of_the_pen_is_met_with_the_code_that_was_meant() -> None:
    assert nearest("mutation-target-missing")[0] == "mutation-target-mismatch"
