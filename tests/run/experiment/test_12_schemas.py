"""The published schemas of experiment documents: spec 12 §12.5, issue "published schema"."""

import tomllib
from typing import Any

import jsonschema_rs
import pytest

from eval_quality import schemas
from eval_quality.run.experiment.publish import DOCUMENTS, document
from support.experiments import CLEAN_DRAFT, FORGETS, defect_draft, experiment_toml

KINDS = ("cli", "mcp", "api", "python")


def validator(name: str) -> Any:
    return jsonschema_rs.Draft202012Validator(schemas.load(name))


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_s12_5_committed_schemas_are_what_the_documents_say(name: str) -> None:
    assert schemas.text(name) == document(name)
    assert name in schemas.names()


@pytest.mark.parametrize("kind", KINDS)
def test_s12_5_documents_that_run_are_valid(kind: str) -> None:
    assert list(validator("run/experiment").iter_errors(tomllib.loads(experiment_toml(kind, "../subject")))) == []
    assert list(validator("run/probe-draft").iter_errors(defect_draft(kind))) == []
    assert list(validator("run/probe-draft").iter_errors(CLEAN_DRAFT)) == []
    assert list(validator("run/mutation").iter_errors(tomllib.loads(FORGETS))) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"id": "Not Kebab"}, ["id"]),
        ({"judge": {}}, []),
        ({"run": {"trials": 0}}, ["run", "trials"]),
        ({"label": "x" * 65}, ["label"]),
        ({"subject": {"system_id": "s", "max_bytes": "12 parsecs"}}, ["subject", "max_bytes"]),
        ({"limits": {"trials": 2000}}, ["limits", "trials"]),
    ],
)
def test_s12_5_what_an_editor_can_see_is_wrong(change: dict[str, Any], path: list[str]) -> None:
    value = tomllib.loads(experiment_toml("cli", "../subject")) | change
    found = [list(error.instance_path) for error in validator("run/experiment").iter_errors(value)]
    assert path in found
