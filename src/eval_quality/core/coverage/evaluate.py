"""Coverage of one contract (spec 04 §1).

A pure function of the contract: no run record, probe, policy or clock. It never raises for a parsed contract and
never blocks anything. Waivers are not consulted: a waived rule still yields its record.
"""

from typing import NamedTuple

from eval_quality.core.coverage.rules import DISCIPLINE_RULES, Rule
from eval_quality.core.coverage.site import Site
from eval_quality.core.coverage.view import CoverageView
from eval_quality.model.artifact import CoverageGap
from eval_quality.model.contract import EvalContract
from eval_quality.model.primitives import SEVERITY_LEVELS, Severity


class Assessment(NamedTuple):
    """One rule over one contract, with the sites it was decided on."""

    rule: Rule
    sites: tuple[Site, ...]

    @property
    def relevant(self) -> bool:
        """Whether some declaration, or the absence of one, makes the rule applicable."""
        return bool(self.sites)

    @property
    def satisfied(self) -> bool:
        """Whether every site has a witness; a rule without a site is satisfied vacuously."""
        return all(site.witness is not None for site in self.sites)


def assess(contract: EvalContract) -> tuple[Assessment, ...]:
    """All seven rules, in order, with reasons."""
    view = CoverageView(contract)
    return tuple(Assessment(rule, tuple(rule.sites(view))) for rule in DISCIPLINE_RULES)


def gap_severity(contract: EvalContract) -> Severity:
    """The one severity of every gap of a contract: its most severe behaviour's (§1.3)."""
    return max((behavior.severity for behavior in contract.behaviors), key=lambda each: SEVERITY_LEVELS.index(each))


def coverage_gaps(contract: EvalContract) -> tuple[CoverageGap, ...]:
    """One record per relevant and unsatisfied rule, in rule order (§1.2)."""
    severity = gap_severity(contract)
    return tuple(
        CoverageGap(
            rule=assessment.rule.id,
            relevance_predicate=assessment.rule.relevance_predicate,
            satisfaction_predicate=assessment.rule.satisfaction_predicate,
            satisfied=False,
            severity=severity,
        )
        for assessment in assess(contract)
        if not assessment.satisfied
    )
