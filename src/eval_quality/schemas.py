"""The published JSON Schema documents (spec 02 §28): `names()`, `text(kind)`, `load(kind)`.

They are data files of the package; in a source checkout they are read from `schemas/` at its root. Run as a program
(`python -m eval_quality.schemas`) this module writes the artifact schemas and those of experiments there again.
"""

import json
from pathlib import Path
from typing import Any, Final

from eval_quality.model.kinds import INTERCHANGE_ARTIFACT_KEYS

_SUFFIX: Final = ".schema.json"
_SHIPPED: Final = Path(__file__).with_name("_schemas")
_CHECKOUT: Final = Path(__file__).parents[2] / "schemas"


def names() -> tuple[str, ...]:
    """The kinds that have a schema: the thirteen artifacts in their normative order, then others sorted by name."""
    root = _directory()
    found = {path.relative_to(root).as_posix().removesuffix(_SUFFIX) for path in root.rglob(f"*{_SUFFIX}")}
    return (*INTERCHANGE_ARTIFACT_KEYS, *sorted(found.difference(INTERCHANGE_ARTIFACT_KEYS)))


def text(kind: str) -> str:
    """The schema document of a kind, as it is shipped. Raises `ValueError` for a kind without one."""
    if kind not in names():
        raise ValueError(f"no schema is published for {kind!r}; names() lists those that are")
    return (_directory() / f"{kind}{_SUFFIX}").read_text(encoding="utf-8")


def load(kind: str) -> dict[str, Any]:
    """The schema document of a kind, parsed. Raises as `text` does."""
    return json.loads(text(kind))


def _directory() -> Path:
    return _SHIPPED if _SHIPPED.is_dir() else _CHECKOUT


def _write() -> None:
    from eval_quality.model.publish import document
    from eval_quality.run.experiment import publish

    texts = {kind: document(kind) for kind in INTERCHANGE_ARTIFACT_KEYS}
    texts |= {name: publish.document(name) for name in publish.DOCUMENTS}
    for name, text_ in texts.items():
        path = _CHECKOUT / f"{name}{_SUFFIX}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    _write()
