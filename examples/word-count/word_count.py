#!/usr/bin/env python3
"""Counts what is in a text.

    echo '{"text": "one two"}' | ./word_count.py count --unit words

Reads a JSON object with a `text` from standard input, prints `{"unit": ..., "count": ...}`, and writes the same as a
sentence to report.txt. An unknown unit is an error: exit 2, and the reason as JSON on standard error.
"""

import argparse
import json
import sys

COUNT = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "lines": lambda text: len(text.splitlines()),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["count"])
    parser.add_argument("--unit", required=True)
    unit = parser.parse_args().unit
    if unit not in COUNT:
        print(json.dumps({"error": f"unknown unit {unit}"}), file=sys.stderr)
        return 2
    count = COUNT[unit](json.load(sys.stdin)["text"])
    with open("report.txt", "w", encoding="utf-8") as report:
        report.write(f"{count} {unit}\n")
    print(json.dumps({"unit": unit, "count": count}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
