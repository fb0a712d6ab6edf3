"""A second evaluator, written from the tables of spec 05 alone, to disagree with the real one.

It works on plain JSON in the wire's names, looks everything up again at every node, compares by SHA-256 over the bytes
of an independent RFC 8785 writer, and knows nothing of the package it judges. Slow and literal on purpose.
"""

import hashlib
import re
from typing import Any

import rfc8785

NOTHING = object()
"""The distinguished value ABSENT (§5.1.1)."""

TRUE, FALSE, OPEN = "true", "false", "insufficient-evidence"


class Fault(Exception):
    """A typed fault; the only argument is its code (§5.8)."""


class Internal(Exception):
    """What §5.8 calls a plain internal error."""


class Naive:
    """One evidence: a plain contract, observations by step id, and a regex budget."""

    def __init__(self, contract: dict[str, Any], observations: dict[str, Any], budget: int) -> None:
        self.contract = contract
        self.observations = observations
        self.budget = budget

    # §5.5, §5.6: one node at a time.

    def node(self, expression: dict[str, Any], element: Any = NOTHING) -> dict[str, Any]:
        op = expression["op"]
        if op in ("not", "all", "any"):
            children = [self.node(child, element) for child in expression["operands"]]
            answers = [child["resolution"] for child in children]
            if op == "not":
                return result({TRUE: FALSE, FALSE: TRUE, OPEN: OPEN}[answers[0]], None, children)
            return result(fold(op, answers), None, children)
        if op in ("for-all", "for-any"):
            collection = self.resolve(expression["collection"], element)
            if collection is NOTHING or kind(collection) != "array" or len(collection) == 0:
                return result(OPEN, "empty-collection", [])
            children = [self.node(expression["predicate"], member) for member in collection]
            how = {"for-all": "all", "for-any": "any"}[op]
            return result(fold(how, [child["resolution"] for child in children]), None, children)
        values = [self.resolve(operand, element) for operand in expression["operands"]]
        if op == "covers-by-key":
            return self.covers_by_key(expression, values)
        if op == "set-membership" and "referenceSet" in expression["operands"][1]:
            values[1] = self.project(expression["operands"][1]["referenceSet"], values[1])
        for operand, value in zip(expression["operands"], values, strict=True):
            if self.trips(op, operand, value):
                return result(OPEN, "empty-collection", [])
        return result(TRUE if self.operator(op, expression, values) else FALSE, None, [])

    def trips(self, op: str, operand: dict[str, Any], value: Any) -> bool:
        """§5.6.1, the table."""
        if value is NOTHING:
            return "pointer" in operand and self.denotes_collection(operand["pointer"])
        total = op in ("existence", "absence", "count-tolerance")
        return not total and kind(value) == "array" and len(value) == 0

    # §5.3: operands and pointers.

    def resolve(self, operand: dict[str, Any], element: Any) -> Any:
        ((form, what),) = operand.items()
        if form == "literal":
            return what
        if form == "referenceSet":
            declared = self.contract["referenceSets"] or {}
            return declared[what]["members"] if what in declared else NOTHING
        if what[0] == "@":
            if element is NOTHING:
                return NOTHING
            rest = what[1:]
            return element if rest == "/" else walk(element, tokens(rest))
        parts = what.split("/")
        step, channel, rest = parts[2], parts[3], parts[4:]
        if step not in self.observations:
            return NOTHING
        seen = self.observations[step]
        if channel == "call-inputs":
            if rest[0] not in seen["callInputs"]:
                return NOTHING
            return walk(seen["callInputs"][rest[0]], [decoded(t) for t in rest[1:]])
        if channel == "artifact":
            body = seen["artifacts"].get(rest[0], {"kind": "absent"})
            if body["kind"] == "absent":
                return NOTHING
            return walk(body["value"], [decoded(t) for t in rest[1:]])
        if channel in ("stdout", "stderr"):
            return walk(seen[channel].get("value"), [decoded(t) for t in rest])
        member = {
            "response-body": "responseBody",
            "response-headers": "responseHeaders",
            "response-status": "responseStatus",
            "exit-code": "exitCode",
        }[channel]
        return walk(seen[member], [decoded(t) for t in rest])

    def denotes_collection(self, pointer: str) -> bool:
        """§5.4.1, step by step."""
        if pointer.startswith("@"):
            return False
        parts = pointer.split("/")
        if parts[3] != "response-body":
            return False
        steps = [step for step in self.contract["interactionPlan"] if step["stepId"] == parts[2]]
        for step in steps:
            for interface in self.contract["permittedInterfaces"]:
                for operation in interface["operations"]:
                    if (interface["logicalId"], operation["operationId"]) == (step["interfaceId"], step["operationId"]):
                        locations = operation["responseDescriptor"]["collectionLocations"] or []
                        return any(tokens(where["pointer"]) == [decoded(t) for t in parts[4:]] for where in locations)
        return False

    def project(self, name: str, members: Any) -> Any:
        """§5.6.4, projection for set-membership."""
        declared = self.contract["referenceSets"] or {}
        if name not in declared or members is NOTHING:
            return members
        if len(declared[name]["keys"]) != 1:
            raise Internal
        key = declared[name]["keys"][0]
        if any(key not in member for member in members):
            raise Internal
        return [member[key] for member in members]

    # §5.7: the operators.

    def operator(self, op: str, node: dict[str, Any], values: list[Any]) -> bool:
        first = values[0]
        if op == "existence":
            return first is not NOTHING
        if op == "absence":
            return first is NOTHING
        if op == "equality":
            return self.equality(first, values[1])
        if op == "deep-equality":
            return NOTHING not in identities(values) and digest(first) == digest(values[1])
        if op == "containment":
            if "referenceSet" in node["operands"][1] and (values[1] is NOTHING or kind(values[1]) != "array"):
                raise Internal
            return self.containment(first, values[1])
        if op == "regex":
            return first is not NOTHING and kind(first) == "string" and self.regex(node["pattern"], first)
        if op == "set-membership":
            if first is NOTHING:
                return False
            if values[1] is NOTHING:
                raise Internal
            return any(digest(member) == digest(first) for member in values[1])
        if op == "ordering":
            return first is not NOTHING and kind(first) == "array" and self.ordering(first, node["key"], node["order"])
        if op == "count-tolerance":
            if first is NOTHING or kind(first) != "array":
                return False
            expected, tolerance = node["expected"], node["tolerance"]
            allowed = (expected * tolerance) / 100 if node["relative"] else tolerance
            return -allowed <= len(first) - expected <= allowed
        if op == "shape":
            return first is not NOTHING and kind(first) == "object" and self.shape(first, node["descriptor"])
        raise Internal

    def equality(self, left: Any, right: Any) -> bool:
        if left is NOTHING or right is NOTHING or kind(left) != kind(right):
            return False
        if kind(left) in ("array", "object"):
            return digest(left) == digest(right)
        return as_double(left) == as_double(right) if kind(left) == "number" else left == right

    def containment(self, container: Any, candidate: Any) -> bool:
        if container is NOTHING:
            return False
        if candidate is not NOTHING and kind(candidate) == "array":
            if kind(container) != "array":
                return False
            return all(any(digest(held) == digest(wanted) for held in container) for wanted in candidate)
        if candidate is NOTHING:
            return False
        if kind(container) == "string":
            return kind(candidate) == "string" and code_units(candidate) in code_units(container)
        if kind(container) == "array":
            return any(digest(held) == digest(candidate) for held in container)
        return False

    def regex(self, pattern: str, text: str) -> bool:
        """The differential only uses patterns that mean the same to Python once `$` is the very end."""
        try:
            compiled = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
        except re.error:
            raise Fault("operator-cannot-accept-operand") from None
        stripped = strip(pattern)
        if nested(stripped):
            raise Fault("budget-exhausted")
        if (1 + quantifiers(stripped)) * (len(code_units(text)) // 4) > self.budget:
            raise Fault("budget-exhausted")
        one_a_unit = "".join(character if ord(character) < 0x10000 else "\ue000\ue001" for character in text)
        return compiled.search(one_a_unit) is not None

    def ordering(self, rows: list[Any], key: str, order: str) -> bool:
        for number in range(1, len(rows)):
            left, right = rows[number - 1], rows[number]
            if kind(left) != "object" or kind(right) != "object" or key not in left or key not in right:
                return False
            one, other = left[key], right[key]
            if kind(one) != kind(other) or kind(one) not in ("number", "string"):
                return False
            if kind(one) == "string":
                one, other = units(one), units(other)
            else:
                one, other = as_double(one), as_double(other)
            if (order == "ascending" and one > other) or (order == "descending" and one < other):
                return False
        return True

    def shape(self, value: dict[str, Any], descriptor: dict[str, Any]) -> bool:
        return (
            set(descriptor["requiredKeys"]) <= set(value)
            and set(value) <= set(descriptor["permittedKeys"])
            and not [k for k, t in descriptor["types"].items() if t is not None and k in value and kind(value[k]) != t]
        )

    def covers_by_key(self, node: dict[str, Any], values: list[Any]) -> dict[str, Any]:
        """§5.7.11, both halves."""
        expected, actual = values
        if expected is not NOTHING and kind(expected) != "array":
            raise Internal
        arrays = [value for value in values if value is not NOTHING and kind(value) == "array"]
        if len(arrays) == 2 and min(len(value) for value in arrays) == 0:
            return result(OPEN, "empty-collection", [])
        if len(arrays) < 2:
            return result(FALSE, None, [])
        slots: dict[Any, None] = {}
        for number, row in enumerate(actual):
            held = kind(row) == "object" and node["actualKey"] in row
            slot = digest(row[node["actualKey"]]) if held else number
            if slot in slots:
                return result(FALSE, None, [])
            slots[slot] = None
        for member in expected:
            if kind(member) != "object" or node["expectedKey"] not in member:
                return result(FALSE, None, [])
            slot = digest(member[node["expectedKey"]])
            if slot not in slots:
                return result(FALSE, None, [])
            del slots[slot]
        return result(FALSE if slots else TRUE, None, [])


def result(resolution: str, condition: str | None, children: list[Any]) -> dict[str, Any]:
    return {"resolution": resolution, "introductionCondition": condition, "children": children}


def fold(how: str, answers: list[str]) -> str:
    """§5.6.2, in the order tested."""
    for answer in (FALSE, OPEN) if how == "all" else (OPEN, TRUE):
        if answer in answers:
            return answer
    return TRUE if how == "all" else FALSE


def kind(value: Any) -> str:
    """§5.1.2."""
    if value is True or value is False:
        return "boolean"
    for host, name in ((type(None), "null"), (list, "array"), (dict, "object"), (str, "string")):
        if isinstance(value, host):
            return name
    return "number"


def as_double(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def digest(value: Any) -> str:
    """§5.1.3, with somebody else's canonical writer."""
    check_domain(value)
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def check_domain(value: Any) -> None:
    what = kind(value)
    if what == "number" and not -(2**53) < value < 2**53:
        raise Fault("non-canonicalizable-value")
    if what == "string" and any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise Fault("non-canonicalizable-value")
    if what == "object":
        for key in value:
            check_domain(key)
    if what in ("array", "object"):
        for member in value.values() if what == "object" else value:
            check_domain(member)


def walk(current: Any, path: list[str]) -> Any:
    """§5.3.3."""
    for token in path:
        if kind(current) == "object":
            if token not in current:
                return NOTHING
            current = current[token]
        elif kind(current) == "array":
            if token not in [str(index) for index in range(len(current))]:
                return NOTHING
            current = current[int(token)]
        else:
            return NOTHING
    return current


def tokens(tail: str) -> list[str]:
    return [decoded(token) for token in tail.split("/")[1:]]


def decoded(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def identities(values: list[Any]) -> list[Any]:
    return [value if value is NOTHING else None for value in values]


def units(text: str) -> list[int]:
    raw = text.encode("utf-16-be", "surrogatepass")
    return [raw[at] * 256 + raw[at + 1] for at in range(0, len(raw), 2)]


def code_units(text: str) -> str:
    """Four hexadecimal digits a code unit, behind a separator that keeps a search aligned."""
    return "".join(chr(0x2460 + unit // 4096) + f"{unit % 4096:03x}" for unit in units(text))


def strip(pattern: str) -> str:
    """§5.7.6 step 3, by hand."""
    out, at = "", 0
    while at < len(pattern):
        if pattern[at] == "\\" and at + 1 < len(pattern) and pattern[at + 1] not in "\n\r\u2028\u2029":
            out, at = out + "_", at + 2
        else:
            out, at = out + pattern[at], at + 1
    result_text, at = "", 0
    while at < len(out):
        if out[at] == "[" and "]" in out[at + 1 :]:
            result_text, at = result_text + "[]", out.index("]", at + 1) + 1
        else:
            result_text, at = result_text + out[at], at + 1
    return result_text


def quantifier_at(text: str, at: int) -> int:
    """The length of the quantifier written at `at`, 0 for none."""
    if at < len(text) and text[at] in "*+?":
        return 1
    if at < len(text) and text[at] == "{" and "}" in text[at:]:
        inside = text[at + 1 : text.index("}", at)]
        low, comma, high = inside.partition(",")
        if low.isdecimal() and (not high or high.isdecimal()) and (comma or not high):
            return len(inside) + 2
    return 0


def quantifiers(stripped: str) -> int:
    count, at = 0, 0
    while at < len(stripped):
        length = quantifier_at(stripped, at)
        count, at = count + (length > 0), at + max(length, 1)
    return count


def nested(stripped: str) -> bool:
    stack: list[int] = []
    for at, character in enumerate(stripped):
        if character == "(":
            stack.append(at)
        if character == ")" and stack:
            inside = stripped[stack.pop() + 1 : at]
            for marker in ("?:", "?=", "?!", "?<=", "?<!"):
                if inside.startswith(marker):
                    inside = inside[len(marker) :]
                    break
            if any(sign in inside for sign in "*+?{") and quantifier_at(stripped, at + 1):
                return True
    return False
