"""What this host can do for a run: the report of spec 13 §13.18, the place of the store included."""

from pathlib import Path
from typing import Any

from eval_quality.run.confine.capability import Capability, report
from eval_quality.run.errors import RunFault
from eval_quality.run.store import checks


def host_capabilities(store: str) -> tuple[Capability, ...]:
    """Every line of the report. The store's place is tried in the nearest folder that exists; nothing is left there."""
    return (*report(), _store_line(Path(store)))


def _store_line(root: Path) -> Capability:
    folder = next((place for place in (root, *root.absolute().parents) if place.is_dir()), Path("/"))
    try:
        checks.check_place(folder.absolute())
        checks.check_file_system(folder)
        checks.check_working(folder)
        warning = checks.check_space(folder)
    except RunFault as fault:
        return Capability("store", "unavailable", fault.problems[0].detail)
    if warning is not None:
        return Capability("store", "degraded", warning)
    return Capability("store", "available", f"{checks.free_bytes(folder)} bytes are free in {folder}")


def capabilities_document(lines: tuple[Capability, ...]) -> dict[str, Any]:
    """The report as a JSON document."""
    return {"schemaVersion": 1, "kind": "capabilities", "lines": [line._asdict() for line in lines]}
