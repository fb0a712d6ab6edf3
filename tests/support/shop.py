"""The contract of spec 06 §6.9: an item to read, an item to write, a reset, and one seeded defect."""

from typing import Any

from support.preflight import (
    NO_INPUTS,
    api,
    api_answer,
    bodies_differ,
    body_of,
    contract,
    interface,
    manifestation,
    probe,
    required,
    witness,
)

READ_LEGS = ("w-a", "w-b", "preflight-control-observe", "preflight-control-observe-2", "f-1")
ONE = {**NO_INPUTS, "path": {"id": "1"}}
TWO = {**NO_INPUTS, "path": {"id": "2"}}
BROKEN: dict[str, Any] = {"op": "equality", "operands": [body_of("f-1", "/broken"), {"literal": True}]}
RESET = {"legId": "reset-leg", "interfaceId": "shop", "operationId": "reset", "inputs": NO_INPUTS}


def shop(volatile: tuple[str, ...] = ("/servedAt",), **members: Any) -> dict[str, Any]:
    get_item = api(
        "get-item",
        path="/items/{id}",
        path_keys=required("id"),
        witness=witness(("w-a", ONE), ("w-b", TWO), relation=bodies_differ("w-a", "w-b")),
        volatile=list(volatile),
    )
    put_item = api(
        "put-item",
        path="/items/{id}/put",
        path_keys=required("id"),
        changes=True,
        witness=witness(("p-a", ONE), ("p-b", TWO)),
    )
    reset = api("reset", path="/reset", changes=True)
    return contract(interface("api", "shop", get_item, put_item, reset), **{"fixtureReset": RESET, **members})


def shop_probe(operation: str = "get-item", inputs: Any = ONE) -> dict[str, Any]:
    return probe(manifestation("f-1", "shop", operation, inputs, BROKEN))


def shop_answers(one: Any, two: Any, **changes: Any) -> list[dict[str, Any]]:
    """Item one's and item two's answers on the legs that read them; `changes` replaces an answer, None drops it."""
    answers: dict[str, Any] = {leg: api_answer(leg, two if leg == "w-b" else one) for leg in READ_LEGS}
    answers |= {
        "p-a": api_answer("p-a", {"put": 1}, operationId="put-item"),
        "p-b": api_answer("p-b", {"put": 2}, operationId="put-item"),
        "preflight-control-mutate": api_answer("preflight-control-mutate", {"put": 1}, operationId="put-item"),
        "reset-leg": api_answer("reset-leg", None, operationId="reset"),
    }
    answers |= {leg.replace("_", "-"): answer for leg, answer in changes.items()}
    return [answer for answer in answers.values() if answer is not None]
