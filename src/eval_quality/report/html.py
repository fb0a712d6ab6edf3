"""A run's story as one self-contained HTML file: no script, no request, nothing but this document (spec 16 §26).

Every text is escaped; characters that steer a terminal or the direction of writing are made visible first. The file
carries a content security policy that lets a browser load nothing and run nothing, whatever a subject managed to say.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from eval_quality.report.visible import visible
from eval_quality.value.kind import is_array, is_object


def html_page(story: Mapping[str, Any]) -> str:
    """The report."""
    return _template().render(story=_harmless(dict(story)))


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    text = files("eval_quality.report").joinpath("run.html.j2").read_text(encoding="utf-8")
    return environment.from_string(text)


def _harmless(value: Any) -> Any:
    """The story with every text made visible, line by line."""
    if isinstance(value, str):
        return "\n".join(visible(line) for line in value.split("\n"))
    if is_object(value):
        return {key: _harmless(member) for key, member in value.items()}
    return [_harmless(item) for item in value] if is_array(value) else value
