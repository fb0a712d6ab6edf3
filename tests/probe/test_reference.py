"""The reference page of target policies lists exactly the fields and reasons there are."""

import re

import pytest

from eval_quality.errors import FORBIDDEN_TARGET_REASONS
from eval_quality.model.record import Record, wire_names
from eval_quality.model.target import (
    CommandTargetAuthorization,
    McpTargetAuthorization,
    ProbeTargetAuthorization,
)
from eval_quality.probe.mcp_http import McpHttpAuthorization
from support.docs import ROOT

PAGE = (ROOT / "docs" / "reference" / "target-policies.md").read_text(encoding="utf-8")


def listed(heading: str) -> list[str]:
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Commands", CommandTargetAuthorization),
        ("MCP servers over stdio", McpTargetAuthorization),
        ("MCP servers over HTTP", McpHttpAuthorization),
        ("HTTP services", ProbeTargetAuthorization),
    ],
)
def test_s7_3_every_field_is_listed_in_its_order(heading: str, kind: type[Record]) -> None:
    assert listed(heading) == [name for _, name in wire_names(kind)]


def test_s7_2_every_reason_is_listed() -> None:
    assert listed("Why something is denied") == list(FORBIDDEN_TARGET_REASONS)
