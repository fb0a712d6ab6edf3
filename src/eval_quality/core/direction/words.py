"""Small pieces of English (spec 04 §7.1, §7.2, §7.5)."""

import re
from collections.abc import Sequence
from typing import Final

from eval_quality.core.contract.pointer import ParsedPointer
from eval_quality.core.contract.text import js_trim

_FIRST_LETTER: Final = re.compile("[A-Za-z]")
_TERMINATORS: Final = (".", "!", "?")

_WITH_FIELD: Final = {
    "response-body": "its {field} field",
    "response-headers": "its {field} header",
    "stdout": "the {field} field of its standard output",
    "stderr": "the {field} field of its standard error",
    "artifact": "the {field} field of the {artifact} it wrote",
    "call-inputs": "the {input} {field} value you sent",
}
_WITHOUT_FIELD: Final = {
    "response-body": "the response body you obtained",
    "response-headers": "the response headers you obtained",
    "response-status": "its transport status",
    "exit-code": "its exit code",
    "stdout": "the standard output you obtained",
    "stderr": "the standard error you obtained",
    "artifact": "the {artifact} it wrote",
    "call-inputs": "the {input} you sent",
}


def and_(phrases: Sequence[str]) -> str:
    """Phrases joined with `and`, a serial comma from three on; nothing joins to nothing (§7.2)."""
    if len(phrases) < 3:
        return " and ".join(phrases)
    return f"{', '.join(phrases[:-1])}, and {phrases[-1]}"


def sentence(text: str) -> str:
    """Trimmed, the first ASCII letter anywhere upper-cased, and ended unless it ends already (§7.1)."""
    trimmed = _FIRST_LETTER.sub(lambda letter: letter[0].upper(), js_trim(text), count=1)
    return trimmed if trimmed.endswith(_TERMINATORS) else f"{trimmed}."


def target_phrase(target: ParsedPointer) -> str:
    """What a pointer looks at, without saying in which step (§7.5)."""
    field = ".".join(token for token in target.tail if token)
    # Author text goes in as an argument, never as a template: a field may be called `{input}`.
    template = (_WITH_FIELD if field else _WITHOUT_FIELD)[target.channel]
    return template.format(field=field, artifact=target.artifact_id, input=target.input_channel)
