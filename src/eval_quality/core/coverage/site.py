"""What a coverage rule finds in a contract: the sites it applies to, and what proves each (spec 04 §1.4).

A rule is relevant when it has a site, and satisfied when every site has a witness. An absent declaration is a site
without a witness: absence is no answer. An explicitly empty declaration is an answer, and yields no site.
"""

from typing import NamedTuple

from eval_quality.core.contract.operation import DeclaredOperation


class Site(NamedTuple):
    """One place where a rule applies.

    `because` says why it applies, `witness` what proves it, or None, and `close` how to prove it.
    """

    place: str
    because: str
    witness: str | None
    close: str


def place_of(declared: DeclaredOperation) -> str:
    """How diagnostics name an operation."""
    return f"operation {declared.interface.logical_id}/{declared.operation.operation_id}"


NO_OPERATION = Site(
    "contract",
    "it declares no operation, so nothing says that the rule does not apply",
    None,
    "declare the operations under test in permittedInterfaces",
)
"""The one site of a contract without operations, for every rule that reads operations."""
