"""An agent that is handed a skill's rules and one case, and prints the items it selects.

    selector --skill checklist-selection --case frontend < prompt.json

Standard input is JSON, `{"prompt": "<the skill's rules>"}`; the answer is `{"selected": [...]}` on standard output.
A case no rule knows is refused with exit code 2.
"""

import json
import sys


def rules(prompt):
    """(words before the colon, items after it) of every rule of the prompt, in order."""
    for line in prompt.splitlines():
        if line.startswith("- ") and ":" in line:
            scope, _, items = line[2:].partition(":")
            yield scope.strip(), [item.strip() for item in items.split(",")]


def select(prompt, case):
    """The items the rules give this case, in the order they were given."""
    selected = []
    known = False
    for scope, items in rules(prompt):
        if scope == "every case":
            selected += items
        elif scope == f"for {case}":
            known = True
            selected += items
        elif scope == f"never for {case}":
            selected = [item for item in selected if item not in items]
    if not known:
        raise ValueError(f"no rule knows the case {case!r}")
    return selected


def main(arguments):
    options = {name.removeprefix("--"): value for name, value in zip(arguments[::2], arguments[1::2], strict=False)}
    try:
        prompt = json.load(sys.stdin)["prompt"]
        print(json.dumps({"selected": select(prompt, options["case"])}))
    except (KeyError, TypeError, ValueError) as error:
        print(f"selector: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
