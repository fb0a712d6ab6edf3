"""From a registry key to its record class, and the reading of a stamped document (spec 02 §4.1, §4.3)."""

from importlib import import_module
from typing import Any

from eval_quality.model.decode import decode
from eval_quality.model.kinds import INTERCHANGE_ARTIFACT_KEYS as INTERCHANGE_ARTIFACT_KEYS
from eval_quality.model.kinds import RECORDS
from eval_quality.model.stamp import NATIVE_SCHEMA_VERSIONS, check_stamp


def schema_name(registry_key: str) -> str:
    """The schema name of a registry key; it is also the artifact path of its faults."""
    return RECORDS[registry_key][1]


def kind_of(registry_key: str) -> Any:
    """The record class (for `artifact-reference` the union) of a registry key; imports its module."""
    module, name = RECORDS[registry_key]
    return getattr(import_module(f"eval_quality.model.{module}"), name)


def read(registry_key: str, value: Any, artifact_path: str | None = None) -> Any:
    """The record of a document: its stamp is checked first, then its shape (spec 02 §4.3).

    Both faults are raised at `artifact_path`, by default the schema name, the stamp's at its `.schemaVersion`.
    """
    path = artifact_path or schema_name(registry_key)
    if registry_key in NATIVE_SCHEMA_VERSIONS:
        check_stamp(registry_key, value, path)
    return decode(kind_of(registry_key), value, path)
