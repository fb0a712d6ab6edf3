"""Prints its arguments as JSON and writes an artifact; `fail` exits 3."""

import json
import sys

with open("report.txt", "w") as report:
    report.write("written by the tool\n")
print(json.dumps({"argv": sys.argv[1:]}))
sys.exit(3 if sys.argv[1:] == ["fail"] else 0)
