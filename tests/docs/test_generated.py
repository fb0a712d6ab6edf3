"""Pages that are made by a program are what the program makes today."""

from eval_quality.cli.reference import page
from eval_quality.cli.registry import REGISTRY
from support.docs import ROOT

CLI = ROOT / "docs" / "reference" / "cli.md"


def test_the_command_line_reference_is_up_to_date() -> None:
    assert CLI.read_text(encoding="utf-8") == page(), "run `make generate`"


def test_the_command_line_reference_names_every_command() -> None:
    text = page()
    assert [entry.name for entry in REGISTRY if f"\n### {entry.name}\n" not in text] == []
    assert not any(line.endswith(" ") for line in text.splitlines())
