"""Rule 2, `whole-body` (spec 04 §3.2).

A bug that spoils one required field hides behind oracles that each read another one. One oracle reads them all.
"""

from collections.abc import Iterator

from eval_quality.core.coverage.site import NO_OPERATION, Site, place_of
from eval_quality.core.coverage.view import CoverageView, response_key


def sites(view: CoverageView) -> Iterator[Site]:
    """One site per operation that requires two distinct response keys or more."""
    if not view.operations:
        yield NO_OPERATION
    for declared in view.operations:
        keys = tuple(dict.fromkeys(declared.operation.response_descriptor.required_keys))
        if len(keys) < 2:
            continue
        witness = None
        for step in view.steps(declared):
            roots = [response_key(step.step_id, declared.operation, key) for key in keys]
            readers = set(view.in_both(roots[0])).intersection(*(view.in_both(root) for root in roots[1:]))
            if readers:
                witness = f"oracle {view.oracles[min(readers)].oracle.id} at step {step.step_id}"
                break
        yield Site(
            place_of(declared),
            f"its answer requires {len(keys)} keys",
            witness,
            f"let one oracle read all of {', '.join(keys)} at one step, in its direction and in its check",
        )
