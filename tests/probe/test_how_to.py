"""The how-to pages about live targets print what they show."""

from pathlib import Path

import pytest

from support.docs import ROOT, check_page

PAGES = ["evaluate-a-command", "evaluate-an-mcp-server", "evaluate-an-http-service", "prove-an-adapter"]


@pytest.mark.parametrize("page", PAGES)
def test_shows_what_it_prints(page: str, tmp_path: Path) -> None:
    assert check_page(ROOT / "docs" / "how-to" / f"{page}.md", tmp_path) >= 4
