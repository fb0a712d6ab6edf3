"""Evidence pointers taken apart (spec 03 §5.1, §5.6).

    /interactions/<step>/<channel...>   rooted at a plan step or a witness leg
    @/<tokens>                          relative to the element a quantifier is bound to

The schema has already refused every other text, so a pointer that does not match here is a caller's mistake
(`ValueError`), never a finding.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from eval_quality.model.primitives import INPUT_CHANNELS
from eval_quality.value.pointer import split

_POINTER_CACHE: Final = 8192
"""Parsed pointers kept. A contract names the same few pointers in its checks, its directions and its plan."""

_ID = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_TAIL = r"(?P<{name}>(?:/(?!\*(?:/|\Z))(?:[^/~]|~[01])*)*)"
_INTERACTION: Final = re.compile(
    rf"/interactions/(?P<step>{_ID})/(?:"
    rf"(?P<tailed>response-body|response-headers|stdout|stderr){_TAIL.format(name='channel_tail')}"
    r"|(?P<scalar>response-status|exit-code)"
    rf"|call-inputs/(?P<input>{'|'.join(INPUT_CHANNELS)}){_TAIL.format(name='input_tail')}"
    rf"|artifact/(?P<artifact>{_ID}){_TAIL.format(name='artifact_tail')}"
    r")"
)


class ParsedPointer(NamedTuple):
    """An interaction-rooted pointer in parts.

    `input_channel` is set exactly for `call-inputs`, `artifact_id` exactly for `artifact`; `tail` holds decoded
    tokens and is empty for a scalar channel.
    """

    step_id: str
    channel: str
    input_channel: str | None
    artifact_id: str | None
    tail: tuple[str, ...]


def is_bound(text: str) -> bool:
    """Whether a pointer is relative to a quantifier's element (`@/...`)."""
    return text.startswith("@")


@lru_cache(maxsize=_POINTER_CACHE)
def parse_pointer(text: str) -> ParsedPointer:
    """Take an interaction-rooted pointer apart (spec 03 §5.1)."""
    match = _INTERACTION.fullmatch(text)
    if match is None:
        raise ValueError("not an interaction-rooted pointer; the schema admits no such text here")
    step = match["step"]
    if match["tailed"] is not None:
        return ParsedPointer(step, match["tailed"], None, None, split(match["channel_tail"]))
    if match["scalar"] is not None:
        return ParsedPointer(step, match["scalar"], None, None, ())
    if match["input"] is not None:
        return ParsedPointer(step, "call-inputs", match["input"], None, split(match["input_tail"]))
    return ParsedPointer(step, "artifact", None, match["artifact"], split(match["artifact_tail"]))


def substitute(pointer: str, root: str | None) -> str:
    """Root a bound-element pointer in the collection its quantifier runs over (spec 03 §5.6).

    Anything that is not bound, and everything where `root` is absent, is returned unchanged. `@/` alone is the
    element itself, hence `root`.
    """
    if root is None or not is_bound(pointer):
        return pointer
    remainder = pointer[1:]
    return root if remainder == "/" else root + remainder
