"""Rule 3, `malformed-input` (spec 04 §3.3).

Whoever declares what may be sent also says what happens when it is wrong. Raw bytes bind no keyed value, so a raw
body never witnesses this rule.
"""

from collections.abc import Iterator

from eval_quality.core.contract.binding import bound_values
from eval_quality.core.contract.operation import declares_no_request_keys
from eval_quality.core.coverage.site import NO_OPERATION, Site, place_of
from eval_quality.core.coverage.view import CoverageView, step_root


def sites(view: CoverageView) -> Iterator[Site]:
    """One site per operation that declares any request key."""
    if not view.operations:
        yield NO_OPERATION
    for declared in view.operations:
        if declares_no_request_keys(declared.operation):
            continue
        witness = None
        for step in view.steps(declared):
            readers = view.in_check(step_root(step.step_id))
            if readers and any(bound.value.matcher == "type-violating" for bound in bound_values(step)):
                witness = f"oracle {view.oracles[min(readers)].oracle.id} at step {step.step_id}"
                break
        yield Site(
            place_of(declared),
            "it declares request keys",
            witness,
            'add a step that binds one key to {"matcher": "type-violating"} and an oracle whose check reads that step',
        )
