"""Path patterns of an experiment: `*` and `?` stay inside one segment, `**` stands for any number of segments."""

import re
from collections.abc import Callable, Iterable


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A test whether a relative POSIX path matches one of `patterns`; no pattern matches nothing."""
    tests = [re.compile(_regex(pattern), re.DOTALL) for pattern in patterns]
    return lambda path: any(test.fullmatch(path) for test in tests)


def pruner(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A test whether everything below a folder is matched, so that the folder need not be entered."""
    return matcher(pattern.removesuffix("/**") for pattern in patterns if pattern.endswith("/**"))


def _regex(pattern: str) -> str:
    parts: list[str] = []
    segments = pattern.split("/")
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "**":
            parts.append(".*" if last else "(?:[^/]+/)*")
            continue
        text = "".join({"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character)) for character in segment)
        parts.append(text if last else text + "/")
    return "".join(parts)
