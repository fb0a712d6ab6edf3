"""A release-notes agent: reads a unified diff and writes what changed, file by file, as JSON.

    release-notes summarize --input fixtures/alpha.diff --out notes.json

A diff it cannot read is refused with exit code 2 and a reason on standard error, and no notes are written.
"""

import json
import sys
from pathlib import Path


def changes(text):
    """One entry per changed file: its name, and how many lines were added and removed."""
    entries = []
    for line in text.splitlines():
        if line.startswith("+++ b/"):
            entries.append({"file": line[len("+++ b/") :], "added": 0, "removed": 0})
        elif line.startswith(("--- a/", "@@ ", " ")):
            continue
        elif entries and line.startswith("+"):
            entries[-1]["added"] += 1
        elif entries and line.startswith("-"):
            entries[-1]["removed"] += 1
        else:
            raise ValueError(f"not a unified diff: {line!r}")
    return entries


def notes(entries):
    """The document the agent writes."""
    lines = sum(entry["added"] + entry["removed"] for entry in entries)
    return {"summary": f"{len(entries)} files changed, {lines} lines", "entries": entries}


def main(arguments):
    words = iter(arguments)
    if next(words, None) != "summarize":
        print("release-notes: the only command is summarize", file=sys.stderr)
        return 2
    options = {name.removeprefix("--"): value for name, value in zip(words, words, strict=False)}
    try:
        text = Path(options["input"]).read_text(encoding="utf-8")
        document = notes(changes(text))
    except (KeyError, OSError, ValueError) as error:
        print(f"release-notes: {error}", file=sys.stderr)
        return 2
    Path(options["out"]).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
