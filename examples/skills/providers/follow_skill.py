"""A provider that reads the skill and follows it: one request on standard input, one response on standard output.

It knows no skill. It finds the decision table in the instruction it is given, takes the first row whose situation
agrees with the facts, and looks for that row's words among the offered names. What is said in the surroundings it does
not heed.
"""

import json
import re
import sys

COLUMNS = ("situation", "step", "result", "gates", "owner")
FILLERS = {"a", "an", "the", "in", "on", "to", "of"}


def rules(instruction):
    """The rows of the decision table, each as a mapping from column to text."""
    for line in instruction.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.strip().startswith("|") and len(cells) == len(COLUMNS) and not set(cells[0]) <= {"-"}:
            row = dict(zip(COLUMNS, cells, strict=True))
            if row["situation"] != "Situation":
                yield row


def applies(row, given):
    """Whether a row's situation, such as "`backup` is `none`", agrees with the facts."""
    if row["situation"] == "otherwise":
        return True
    conditions = re.findall(r"`([^`]+)` is `([^`]+)`", row["situation"])
    return bool(conditions) and all(given.get(name) == value for name, value in conditions)


def words(text):
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in FILLERS}


def named(text, offered):
    """The offered name with the same words as `text`, or None."""
    return next((name for name in offered if words(name) == words(text)), None)


def answer(request):
    """The response to one request; a skill without a fitting row leads to a question."""
    given = request["given"]
    options = given.get("answerOptions", {})
    row = next((row for row in rules(request["instruction"]) if applies(row, given)), None)
    action = row and named(row["step"], request["actionVocabulary"])
    if not action:
        return {"action": "ask-for-clarification"}
    response = {"action": action}
    if (result := named(row["result"], options.get("produces", []))) is not None:
        response["produces"] = result
    if "gates" in options:
        found = (named(part, options["gates"]) for part in row["gates"].split(","))
        response["gates"] = [gate for gate in found if gate is not None]
    if row["owner"] in options.get("selectedSkill", []):
        response["selectedSkill"] = row["owner"]
    return response


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
