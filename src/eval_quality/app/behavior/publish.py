"""Writes `schemas/behavior/`: `python -m eval_quality.app.behavior.publish` (spec 11 §5.1, §6, §8, §13.2)."""

import json
from pathlib import Path

from eval_quality.core.behavior.documents import PUBLISHED


def schema_text(name: str) -> str:
    """The text of one published schema: two-space indent, one final newline."""
    return json.dumps(PUBLISHED[name], indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write every schema into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PUBLISHED:
        (folder / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(__file__).resolve().parents[4] / "schemas" / "behavior")
