"""The degenerate agent: whatever the case, it names every item any rule mentions."""

import json
import sys


def main():
    prompt = json.load(sys.stdin)["prompt"]
    mentioned = {}
    for line in prompt.splitlines():
        if line.startswith("- ") and ":" in line:
            mentioned.update(dict.fromkeys(item.strip() for item in line.partition(":")[2].split(",")))
    print(json.dumps({"selected": list(mentioned)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
