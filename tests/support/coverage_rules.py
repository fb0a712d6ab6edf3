"""What the tests of the coverage rules share: pointers, edits and `open_rules`."""

from typing import Any

from eval_quality.core.explain.patch import add, put
from support.contracts import (
    Edit,
    apply,
    desk,
    every,
    gaps,
    oracle,
    p,
    refset,
)

OPERATION = "/permittedInterfaces/0/operations/0"
DESCRIPTOR = f"{OPERATION}/responseDescriptor"


def open_rules(document: Any, *edits: Edit) -> list[int]:
    return gaps(apply(document, edits))


STATUS, LOAN = "read/response-body/status", "read/response-body/loanId"


MEMBER = {"op": "set-membership", "operands": [p("@/id"), refset("books")]}
ITEMS = "read/response-body/items"


def located(mode: str = "at-most", named: str | None = "books", pointer: str = "/items") -> Edit:
    size = {"mode": mode, "count" if mode == "exact" else "max": 5}
    return put(
        f"{DESCRIPTOR}/collectionLocations",
        [{"pointer": pointer, "expectedCardinality": size, "referenceSet": named}],
    )


def reconciled(check: Any, *edits: Edit) -> list[int]:
    third = {**oracle(3, check), "direction": None}
    return open_rules(desk(), add("/oracles/-", third), *(edits or (located(),)))


def covers(collection: str = ITEMS, named: str = "books") -> Any:
    return {"op": "covers-by-key", "operands": [refset(named), p(collection)], "expectedKey": "id", "actualKey": "id"}


PAGE = every(ITEMS, MEMBER)


def pair(*names: str) -> Any:
    return [{"interfaceId": "library", "operationId": name} for name in names]


def grouped(operations: Any = (), parameters: Any = ()) -> Edit:
    return put("/siblingGroups", {"operations": [*operations], "parameters": [*parameters]})


SENT, OBSERVED = "lend/call-inputs/body/copyId", "read/response-body/loanId"
