"""One parsed document below a folder: JSON through the scanner, YAML through our reader (spec 01 §3.8, spec 11 §2)."""

from typing import Any

from eval_quality.app.behavior.reading import Unreadable, read_below
from eval_quality.app.behavior.yaml_source import SourceRefused, read_yaml
from eval_quality.core.behavior.package import MAX_RESOURCE_BYTES
from eval_quality.errors import RuntimeFault
from eval_quality.value.scan import scan


def parse_document(data: bytes, name: str) -> Any:
    """The value of a `.json`, `.yaml` or `.yml` file. Raises `SourceRefused`."""
    if name.lower().endswith((".yaml", ".yml")):
        try:
            return read_yaml(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise SourceRefused("the file is not UTF-8") from error
    try:
        return scan(data, "BehaviorCorpus")
    except RuntimeFault as fault:
        raise SourceRefused(fault.detail) from fault


def read_document(folder: str, relative: str, limit: int = MAX_RESOURCE_BYTES) -> Any:
    """The value of a file below a folder. Raises `Unreadable` or `SourceRefused`."""
    return parse_document(read_below(folder, relative, limit), relative)


def optional_document(folder: str, relative: str, limit: int = MAX_RESOURCE_BYTES) -> tuple[Any, str | None]:
    """(value, problem): (None, None) for an absent file."""
    try:
        return read_document(folder, relative, limit), None
    except Unreadable as error:
        return None, None if error.absent else str(error)
    except SourceRefused as error:
        return None, str(error)
