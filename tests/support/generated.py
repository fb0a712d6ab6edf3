"""Whole contracts that compile and seal, generated: `generated(seed)`.

A contract has one interface of a random kind with a write and some reads, a plan of a few steps that can be told
apart, and oracles over what those steps declare. Names, types, values, texts and sizes are random.
"""

import random
from typing import Any

from support.contracts import (
    api_binding,
    api_inputs,
    api_operation,
    behavior,
    cli_binding,
    cli_inputs,
    command_operation,
    contract,
    eq,
    exists,
    keys,
    lit,
    negated,
    oracle,
    p,
    refset,
    response,
    shape,
    step,
    tool_operation,
    witness,
)

Json = Any
WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "knoll", "larch"),
    *("maple", "north", "ocean", "prism", "quartz", "river", "stone", "thorn", "umber", "vale", "willow", "yarrow"),
)
SCALARS = ("string", "number", "boolean")
KIND_OF_INTERFACE = {"api": "response-body", "cli": "stdout", "mcp": "response-body"}
INPUT = {"api": "body", "cli": "option", "mcp": "arguments"}


def value_of(kind: str, chance: random.Random) -> Json:
    if kind == "string":
        return " ".join(chance.sample(WORDS, chance.randint(1, 3)))
    return chance.randint(-1000, 1000) if kind == "number" else chance.choice((True, False))


def phrase(chance: random.Random) -> str | None:
    return None if chance.random() < 0.3 else " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))


class Draft:
    """The choices that the parts of one contract share."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.kind = chance.choice(("api", "cli", "mcp"))
        self.words = chance.sample(WORDS, len(WORDS))
        self.inputs = {self.words.pop(): chance.choice(SCALARS) for _ in range(chance.randint(1, 3))}
        self.fields = {self.words.pop(): chance.choice(SCALARS) for _ in range(chance.randint(2, 4))}
        self.operations = [f"{self.words.pop()}-{verb}" for verb in ("write", "read", "list")][: chance.randint(2, 3)]

    def sent(self) -> Json:
        """Values for every input, as a leg sends them."""
        values = {key: value_of(kind, self.chance) for key, kind in self.inputs.items()}
        if self.kind == "api":
            return api_inputs(query=values)
        return cli_inputs(option=values) if self.kind == "cli" else {"arguments": values}

    def binding(self, values: Json) -> Json:
        if self.kind == "api":
            return api_binding(query=values)
        return cli_binding(option=values) if self.kind == "cli" else {"arguments": values}

    @property
    def channel(self) -> str:
        return {"api": "query", "cli": "option", "mcp": "arguments"}[self.kind]

    def operation(self, operation_id: str, number: int) -> Json:
        legs = (f"leg-{number}-a", f"leg-{number}-b")
        field = next(iter(self.fields))
        first, second = self.sent(), self.sent()
        key = next(iter(self.inputs))
        first[self.channel][key], second[self.channel][key] = 1, 2
        facts = {
            "responseDescriptor": response(
                {**self.fields, "list-of": "array"},
                collectionLocations=[
                    {
                        "pointer": "/list-of",
                        "expectedCardinality": {"mode": "at-most", "max": self.chance.randint(1, 9)},
                        "referenceSet": self.chance.choice((None, "known")),
                    }
                ],
            ),
            "volatilePointers": ["/elsewhere"],
            "sensitivityWitness": witness(self.channel, first, second, f"{KIND_OF_INTERFACE[self.kind]}/{field}", legs),
        }
        declared = keys({}, self.inputs)
        for key in self.inputs:
            declared["types"][key] = None
        if self.kind == "api":
            return api_operation(operation_id, "GET", f"/{operation_id}", requestShape=shape(query=declared), **facts)
        if self.kind == "cli":
            empty = keys()
            request = {"argument": empty, "option": declared, "environment": empty, "stdin": empty}
            return command_operation(operation_id, requestShape=request, **facts)
        return tool_operation(operation_id, requestShape={"arguments": declared}, **facts)

    def bound(self, number: int) -> Json:
        """A binding no other step has: the first key carries the step's number in one way or another."""
        values: Json = {}
        for key in self.inputs:
            values[key] = self.chance.choice(
                ({"matcher": "any"}, {"principal": "alice"}, lit(value_of("string", self.chance)), lit(number))
            )
        values[next(iter(self.inputs))] = lit(number)
        return self.binding(values)

    def steps(self) -> list[Json]:
        count = self.chance.randint(2, 6)
        found: list[Json] = []
        for number in range(count):
            operation_id = self.chance.choice(self.operations)
            parents = [each["stepId"] for each in found if each["after"] is None]
            used = [each["after"] for each in found]
            free = [name for name in parents if name not in used]
            after = self.chance.choice(free) if free and self.chance.random() < 0.5 else None
            made = step(f"s{number}", operation_id, after, "system", inputBinding=self.bound(number))
            found.append({**made, "cardinality": self.chance.choice(("exactly-one", "at-most-one", "any"))})
        return found

    def pointer(self, steps: list[Json]) -> str:
        name = self.chance.choice(steps)["stepId"]
        tail = self.chance.choice((*self.fields, "list-of"))
        tails = [f"{KIND_OF_INTERFACE[self.kind]}/{tail}", f"call-inputs/{self.channel}/{next(iter(self.inputs))}"]
        tails.append("exit-code" if self.kind != "api" else "response-status")
        return f"{name}/{self.chance.choice(tails)}"

    def leaf(self, pointer: str) -> Json:
        kind = self.chance.choice(SCALARS)
        return self.chance.choice(
            (
                exists(pointer),
                {"op": "absence", "operands": [p(pointer)]},
                eq(p(pointer), lit(value_of(kind, self.chance))),
                {"op": "deep-equality", "operands": [lit([value_of(kind, self.chance)]), p(pointer)]},
                {"op": "containment", "operands": [p(pointer), refset("known")]},
                {"op": "set-membership", "operands": [p(pointer), refset("known")]},
                {"op": "set-membership", "operands": [p(pointer), lit([value_of(kind, self.chance)])]},
                {"op": "regex", "operands": [p(pointer)], "pattern": f"^{self.chance.choice(WORDS)}$"},
            )
        )

    def oracle(self, number: int, steps: list[Json]) -> Json:
        pointers = list(dict.fromkeys(self.pointer(steps) for _ in range(self.chance.randint(1, 4))))
        leaves = [self.leaf(pointer) for pointer in pointers]
        check = leaves[0] if len(leaves) == 1 else {"op": self.chance.choice(("all", "any")), "operands": leaves}
        if self.chance.random() < 0.3:
            check = negated(check)
        targets = self.chance.sample(pointers, self.chance.randint(1, len(pointers)))
        made = oracle(number, check, targets, commentary=phrase(self.chance))
        made["direction"]["scope"] = phrase(self.chance)
        made["direction"]["negativeDomain"] = phrase(self.chance)
        made["polarity"] = made["direction"]["polarity"] = self.chance.choice(("expects-hold", "expects-violation"))
        return made


def generated(seed: int) -> Json:
    """One contract; the same seed gives the same contract."""
    chance = random.Random(f"contract/{seed}")
    draft = Draft(chance)
    steps = draft.steps()
    oracles = [draft.oracle(number, steps) for number in range(1, chance.randint(2, 6))]
    operations = [draft.operation(name, number) for number, name in enumerate(draft.operations)]
    known = {"keys": ["k"], "members": [{"k": value_of("string", chance)} for _ in range(3)], "commentary": None}
    listed = chance.sample([each["id"] for each in oracles], chance.randint(0, len(oracles)))
    return contract(
        contractId=draft.words.pop(),
        behaviors=[behavior(*listed, description=phrase(chance) or "", severity=chance.choice(("low", "critical")))],
        oracles=oracles,
        permittedInterfaces=[{"logicalId": "system", "kind": draft.kind, "operations": operations}],
        referenceSets={"known": known},
        interactionPlan=steps,
        testData={
            "setup": phrase(chance),
            "cleanup": phrase(chance),
            "principals": {"alice": {"kind": chance.choice(WORDS)}, "bob": {"kind": "reader"}},
            "resources": None,
        },
        safetyLimits=chance.sample(WORDS, chance.randint(0, 3)),
        probeStepBound=chance.choice((None, 3)),
        fixtureReset=None,
    )
