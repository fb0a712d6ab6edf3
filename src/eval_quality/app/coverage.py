"""Show which coverage rules a contract owes, what satisfies them, and how to close what is open (spec 04)."""

from collections.abc import Iterator
from typing import Any

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input
from eval_quality.core.compile.entry import read_contract
from eval_quality.core.coverage.evaluate import Assessment, assess, coverage_gaps, gap_severity
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import to_value
from eval_quality.report.visible import visible
from eval_quality.value.depth import room


def coverage_report(path: str, *, as_json: bool) -> str:
    """The report on the contract at `path`, as text or as one canonical JSON document.

    The contract is read, not compiled: coverage is defined for a contract that does not compile as well.
    """
    document = read_input(path, "contract", "EvalContract")
    with room():
        contract = read_contract(document)
        assessments = assess(contract)
        if as_json:
            return serialize_artifact(_document(contract, assessments), "CoverageReport")
        return "".join(f"{visible(line)}\n" for line in _lines(contract, assessments))


def _document(contract: EvalContract, assessments: tuple[Assessment, ...]) -> dict[str, Any]:
    return {
        "contractId": contract.contract_id,
        "severity": gap_severity(contract),
        "rules": [
            {
                "rule": each.rule.id,
                "relevant": each.relevant,
                "satisfied": each.satisfied,
                "sites": [site._asdict() for site in each.sites],
            }
            for each in assessments
        ],
        "coverageGaps": [to_value(gap) for gap in coverage_gaps(contract)],
    }


def _lines(contract: EvalContract, assessments: tuple[Assessment, ...]) -> Iterator[str]:
    gaps = sum(not each.satisfied for each in assessments)
    yield f"{contract.contract_id}: {gaps} of {len(assessments)} rules open, each at severity {gap_severity(contract)}"
    for each in assessments:
        state = "gap" if not each.satisfied else "satisfied" if each.relevant else "not relevant"
        yield ""
        yield f"{each.rule.id}: {state}"
        if not each.relevant:
            yield f"  nothing makes it relevant; it would be relevant when {each.rule.relevant_when}"
        for site in each.sites:
            yield f"  {site.place}"
            yield f"    relevant because {site.because}"
            yield f"    close it: {site.close}" if site.witness is None else f"    satisfied by {site.witness}"
