"""The seven rules as data, in their order (spec 04 §1.1, §3, §3.8).

Everything that is said about a rule, in a gap record, on the command line and in the reference table, is read here.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from eval_quality.core.coverage import (
    malformed_input,
    read_back,
    records,
    siblings,
    success_indicator,
    whole_body,
)
from eval_quality.core.coverage.site import Site
from eval_quality.core.coverage.view import CoverageView


class Rule(NamedTuple):
    """One discipline rule.

    `site`, `relevant_when`, `satisfied_when` and `empty_answer` word the predicates for readers; `direction`, `check`
    and `behavior_link` say what a witness needs (§3.8); `sites` decides.
    """

    id: str
    site: str
    relevant_when: str
    satisfied_when: str
    absent: str
    empty_answer: str
    direction: bool
    check: str
    behavior_link: bool
    sites: Callable[[CoverageView], Iterator[Site]]

    @property
    def relevance_predicate(self) -> str:
        return f"{self.id}-relevance"

    @property
    def satisfaction_predicate(self) -> str:
        return f"{self.id}-satisfaction"


DISCIPLINE_RULES: Final = (
    Rule(
        id="success-indicator-separation",
        site="operation",
        relevant_when="an operation nominates a success indicator and gives a role to some other answer channel",
        satisfied_when="one oracle that a behaviour lists reads the indicator and one other channel at one step, in "
        "its direction and in its check; for a command that prints one plain text, one listed oracle asserts exit "
        "code 0 and the exact text together",
        absent="`successIndicator` null, or `channelRoles` null",
        empty_answer="`channelRoles` {}",
        direction=True,
        check="yes",
        behavior_link=True,
        sites=success_indicator.sites,
    ),
    Rule(
        id="whole-body",
        site="operation",
        relevant_when="an operation's answer requires two distinct keys or more",
        satisfied_when="one oracle reads every required key at one step, in its direction and in its check",
        absent="no operation declared",
        empty_answer="at most one distinct key in `requiredKeys`",
        direction=True,
        check="yes",
        behavior_link=False,
        sites=whole_body.sites,
    ),
    Rule(
        id="malformed-input",
        site="operation",
        relevant_when="an operation declares any request key",
        satisfied_when="a step binds a key to a type-violating value and some check reads that step",
        absent="no operation declared",
        empty_answer="every request shape without keys",
        direction=False,
        check="yes",
        behavior_link=False,
        sites=malformed_input.sites,
    ),
    Rule(
        id="per-record",
        site="collection location",
        relevant_when="an operation declares a collection in its answer",
        satisfied_when="some check runs a quantifier over exactly that collection",
        absent="`collectionLocations` null",
        empty_answer="`collectionLocations` []",
        direction=False,
        check="yes (quantifier)",
        behavior_link=False,
        sites=records.per_record,
    ),
    Rule(
        id="sibling-cross-check",
        site="sibling group",
        relevant_when="a group of operations or of parameters is declared",
        satisfied_when="one oracle reads two distinct members of the group, in its direction and in its check",
        absent="`siblingGroups` null",
        empty_answer="`siblingGroups` with both lists empty",
        direction=True,
        check="yes",
        behavior_link=False,
        sites=siblings.sites,
    ),
    Rule(
        id="omission-and-completeness",
        site="collection location with a set",
        relevant_when="a declared collection names a reference set",
        satisfied_when="an exact collection is the actual side of a `covers-by-key` with that set; a page is the "
        "collection of a `for-all` whose predicate is the membership in that set",
        absent="`collectionLocations` null",
        empty_answer="no location names a `referenceSet`",
        direction=False,
        check="yes (form)",
        behavior_link=False,
        sites=records.completeness,
    ),
    Rule(
        id="state-change-read-back",
        site="state-changing operation",
        relevant_when="an operation is marked as changing state",
        satisfied_when="one comparison relates what the step sent with what a harmless step directly after it observed",
        absent="no operation declared",
        empty_answer="no `stateChangeMarker` true",
        direction=False,
        check="yes (one node)",
        behavior_link=False,
        sites=read_back.sites,
    ),
)
"""Order of evaluation and of the published records."""

DISCIPLINE_RULE_IDS: Final = tuple(rule.id for rule in DISCIPLINE_RULES)
