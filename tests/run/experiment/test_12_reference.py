"""The generated reference page of experiment documents."""

from eval_quality.run.experiment.reference import page
from support.docs import ROOT


def test_s12_5_the_committed_page_is_what_the_documents_say() -> None:
    assert (ROOT / "docs" / "reference" / "experiment.md").read_text(encoding="utf-8") == page()
