"""Explain one code, or list them all."""

from eval_quality.core.explain.catalogue import CATALOGUE, nearest
from eval_quality.core.explain.render import catalogue_text, explanation_text, run_code_text
from eval_quality.core.explain.twin_run import RUN_CODES


class UnknownCode(Exception):
    """A word that is no code of the catalogue; `nearest` holds the codes that look most like it."""

    def __init__(self, word: str) -> None:
        self.nearest = nearest(word)
        super().__init__(word)


def explain(code: str | None) -> str:
    """The explanation of a code, or every code by family. Raises `UnknownCode`."""
    if code is None:
        return catalogue_text()
    if code in RUN_CODES:
        return run_code_text(RUN_CODES[code])
    if code not in CATALOGUE:
        raise UnknownCode(code)
    return explanation_text(CATALOGUE[code])
