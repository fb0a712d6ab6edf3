"""Random contracts, observations and expression trees for the evaluator differential, cheap and seeded."""

import json
import random
from typing import Any

from support.documents import minimal

IDS = ("s", "t", "u")
KEYS = ("a", "b", "", "x/y", "m~n", "0")
SCALARS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -0.0,
    1.0,
    2.5,
    "1",
    "",
    "ab",
    "a\n",
    "\U0001f600",
    "\ufffd",
    2**53 - 1,
)
OUTSIDE: tuple[Any, ...] = (2**53, 1e300, -(2**60), "\ud800", "a\udc00")
PATTERNS = (
    "^a$",
    "^a.*$",
    "^(?:a|b)+$",
    "^(?:a+)+$",
    "^(a*)?$",
    "^[*+]?1$",
    r"^\(a*\)+$",
    "^a{1,2}b{0,}$",
    "^..$",
    "^($",
    "^(?=a)(?:b{2})*$",
)
CHANNELS = ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")
OPERATORS = (
    "equality",
    "deep-equality",
    "containment",
    "existence",
    "absence",
    "regex",
    "set-membership",
    "ordering",
    "count-tolerance",
    "shape",
    "covers-by-key",
)
SETS = ("one", "two", "none", "nobody", "keyless")
TYPES = ("string", "number", "boolean", "object", "array", "null", None)


class World:
    """One generator with everything it draws from."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.chance = self.random.random

    # Values.

    def value(self, depth: int = 2) -> Any:
        roll = self.chance()
        if depth == 0 or roll < 0.4:
            return self.pick(OUTSIDE) if self.chance() < 0.03 else self.pick(SCALARS)
        if roll < 0.75:
            return self.rows(depth)
        return {key: self.value(depth - 1) for key in self.random.sample(KEYS, self.random.randrange(4))}

    def rows(self, depth: int) -> list[Any]:
        """An array; often of records with one key, which ordering and coverage need."""
        size = self.pick((0, 1, 1, 2, 2, 3))
        if self.chance() < 0.5:
            key, one_kind = self.pick(("a", "b")), self.pick(((0, 1, 1.0, 2.5), ("1", "ab", "\U0001f600", "\ufffd")))
            return [{key: self.pick(one_kind) if self.chance() < 0.9 else self.value(0)} for _ in range(size)]
        return [self.value(depth - 1) for _ in range(size)]

    def record(self) -> dict[str, Any]:
        return {key: self.value(1) for key in self.random.sample(KEYS, self.random.randrange(3))}

    def tail(self, value: Any) -> str:
        """A tail into a value: usually along what is there, sometimes past it."""
        text = ""
        while self.chance() < 0.7:
            if isinstance(value, dict) and value and self.chance() < 0.85:
                token = self.pick(tuple(value))
                value = value[token]
            elif isinstance(value, list) and value and self.chance() < 0.85:
                token = str(self.random.randrange(len(value)))
                value = value[int(token)]
            else:
                token, value = self.pick((*KEYS, "-", "01", "7", "zz")), None
            text += "/" + token.replace("~", "~0").replace("/", "~1")
        return text

    # The contract and the evidence.

    def contract(self) -> dict[str, Any]:
        """A minimal contract whose plan, collection locations and reference sets are random."""
        contract = minimal("eval-contract")
        contract["permittedInterfaces"] = [
            {"logicalId": "api", "kind": "mcp", "operations": [self.operation("one"), self.operation("two")]}
        ]
        contract["interactionPlan"] = [
            {
                "stepId": step,
                "interfaceId": "api",
                "operationId": self.pick(("one", "two", "gone")),
                "inputBinding": {"arguments": None},
                "after": None,
                "cardinality": "any",
            }
            for step in IDS[:2]
        ]
        contract["referenceSets"] = None if self.chance() < 0.1 else self.reference_sets()
        return contract

    def operation(self, name: str) -> dict[str, Any]:
        places = ("", "/a", "/b", "/a/b", "/a/0", "/x~1y", "/")
        locations = [
            {"pointer": place, "expectedCardinality": {"mode": "exact", "count": 1}, "referenceSet": None}
            for place in self.random.sample(places, self.random.randrange(5))
        ]
        shape: dict[str, Any] = {"requiredKeys": [], "permittedKeys": [], "types": {}}
        return {
            "operationId": name,
            "toolName": name,
            "stateChangeMarker": False,
            "requestShape": {"arguments": shape},
            "descriptorChannel": {"kind": "structured-result"},
            "responseDescriptor": {
                **shape,
                "successIndicator": None,
                "channelRoles": None,
                "collectionLocations": self.pick((None, locations, locations, locations)),
            },
            "volatilePointers": [],
            "sensitivityWitness": None,
        }

    def reference_sets(self) -> dict[str, Any]:
        def declared(keys: list[str], members: list[Any]) -> dict[str, Any]:
            return {"keys": keys, "members": members, "commentary": None}

        return {
            "one": declared(["a"], [{"a": self.value(1), **self.record()} for _ in range(self.random.randrange(1, 4))]),
            "two": declared(["a", "b"], [self.record()]),
            "none": declared(["a"], []),
            "keyless": declared(["a"], [{"b": 1}, {"a": 1}]),
        }

    def observations(self) -> dict[str, Any]:
        return {step: self.observation() for step in IDS if self.chance() < 0.8}

    def observation(self) -> dict[str, Any]:
        sent: dict[str, Any] = {name: self.record() if self.chance() < 0.3 else None for name in CHANNELS}
        return {
            "observationId": "o",
            "sequence": 1,
            "interfaceId": "api",
            "operationId": "one",
            "provenance": "baseline",
            "principal": None,
            "callInputs": {**sent, "bodyEncoding": None},
            "responseBody": self.value(3),
            "responseHeaders": None if self.chance() < 0.3 else self.record(),
            "responseStatus": self.pick((None, 0, 1, 200)),
            "stdout": self.body(),
            "stderr": self.body(),
            "exitCode": self.pick((None, 0, -9)),
            "artifacts": {"file": self.body()} if self.chance() < 0.7 else {},
        }

    def body(self) -> dict[str, Any]:
        roll = self.chance()
        if roll < 0.5:
            return {"kind": "json", "value": self.value(2)}
        return {"kind": "text", "value": self.pick(("", "ab", "\U0001f600"))} if roll < 0.75 else {"kind": "absent"}

    # Expressions.

    def expression(self, observations: dict[str, Any], depth: int, bound: bool = False) -> dict[str, Any]:
        roll = self.chance()
        if depth > 0 and roll < 0.4:
            if roll < 0.08:
                return {"op": "not", "operands": [self.expression(observations, depth - 1, bound)]}
            if roll < 0.25:
                children = [self.expression(observations, depth - 1, bound) for _ in range(self.pick((2, 2, 3)))]
                return {"op": self.pick(("all", "any")), "operands": children}
            return {
                "op": self.pick(("for-all", "for-any")),
                "collection": self.operand(observations, bound),
                "predicate": self.expression(observations, depth - 1, bound=True),
            }
        return self.leaf(observations, bound)

    def leaf(self, observations: dict[str, Any], bound: bool) -> dict[str, Any]:
        op = self.pick(OPERATORS)
        count = 2 if op in ("equality", "deep-equality", "containment", "set-membership", "covers-by-key") else 1
        node: dict[str, Any] = {"op": op, "operands": [self.operand(observations, bound) for _ in range(count)]}
        if op == "set-membership":
            literal = {"literal": [self.value(1) for _ in range(self.random.randrange(1, 4))]}
            node["operands"][1] = self.pick((literal, {"referenceSet": self.pick(SETS)}))
        elif op == "covers-by-key":
            if self.chance() < 0.8:
                node["operands"][0] = {"referenceSet": self.pick(SETS)}
            node |= {"expectedKey": self.pick(("a", "b")), "actualKey": self.pick(("a", "b"))}
        elif op == "regex":
            node["pattern"] = self.pick(PATTERNS)
        elif op == "ordering":
            node |= {"key": self.pick(("a", "b")), "order": self.pick(("ascending", "descending"))}
        elif op == "count-tolerance":
            node |= {
                "expected": self.random.randrange(4),
                "tolerance": self.pick((0, 1, 33, 50)),
                "relative": self.chance() < 0.5,
            }
        elif op == "shape":
            keys = [key for key in KEYS if key]
            node["descriptor"] = {
                "requiredKeys": self.random.sample(keys, self.pick((0, 0, 1))),
                "permittedKeys": self.random.sample(keys, self.pick((1, 3, 5))),
                "types": {self.pick(keys): self.pick(TYPES)},
            }
        return node

    def operand(self, observations: dict[str, Any], bound: bool) -> dict[str, Any]:
        roll = self.chance()
        if roll < 0.2:
            return {"literal": self.value(2)}
        if roll < 0.25:
            return {"referenceSet": self.pick(SETS)}
        if bound and roll < 0.7:
            return {"pointer": self.pick(("@/", "@/a", "@/b", "@/0", "@//", "@/a/b", "@/x~1y"))}
        return {"pointer": self.interaction(observations)}

    def interaction(self, observations: dict[str, Any]) -> str:
        step = self.pick(IDS)
        seen = observations.get(step)
        channel = self.pick(
            ("response-body",) * 5 + ("response-headers", "stdout", "stderr", "artifact", "call", "scalar")
        )
        root: Any = None
        if channel == "scalar":
            return f"/interactions/{step}/{self.pick(('response-status', 'exit-code'))}"
        if channel == "call":
            name = self.pick(CHANNELS)
            channel, root = f"call-inputs/{name}", seen and seen["callInputs"][name]
        elif channel == "artifact":
            channel, root = "artifact/file", seen and seen["artifacts"].get("file", {}).get("value")
        elif channel in ("stdout", "stderr"):
            root = seen and seen[channel].get("value")
        else:
            root = seen and seen[{"response-body": "responseBody", "response-headers": "responseHeaders"}[channel]]
        return f"/interactions/{step}/{channel}{self.tail(root)}"


def copy(value: Any) -> Any:
    """An independent copy of a plain value."""
    return json.loads(json.dumps(value))
