"""The contracts of `examples/corpus`: a name, the edits of the base contract, and what it is an example of.

One contract per structural failure and one per state of each coverage rule; what compile, coverage and seal make of
them is measured, never written down here.
"""

from typing import Any, Final, NamedTuple

from eval_quality.core.compile.entry import compile_value, read_contract
from eval_quality.core.coverage.evaluate import coverage_gaps
from eval_quality.core.explain.base import base_contract
from eval_quality.core.explain.discipline import RULE_STATES, STATES
from eval_quality.core.explain.failures import STRUCTURAL_FAILURES
from eval_quality.core.explain.patch import Edit, apply
from eval_quality.core.seal.audit import audit_brief_scripting
from eval_quality.core.seal.brief import seal_contract
from eval_quality.errors import CodedError, StructuralFailure
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import to_value
from eval_quality.value.digest import digest_value


class CorpusContract(NamedTuple):
    """One document of the corpus. `shows` lists structural failure codes and `(rule, state)` cells as text."""

    name: str
    edits: tuple[Edit, ...]
    shows: tuple[str, ...]

    def document(self) -> Any:
        """The contract as a plain JSON value, its `contractId` being its name."""
        return {**apply(base_contract(), self.edits), "contractId": self.name}


def _contracts() -> tuple[CorpusContract, ...]:
    found: dict[str, CorpusContract] = {}
    for rule, examples in RULE_STATES.items():
        for state in STATES:
            example = examples[state]
            earlier = found.get(example.name, CorpusContract(example.name, example.edits, ()))
            found[example.name] = earlier._replace(shows=(*earlier.shows, f"{rule}: {state}"))
    for entry in STRUCTURAL_FAILURES:
        found[entry.code] = CorpusContract(entry.code, entry.failing, (entry.code,))
    return tuple(found[name] for name in sorted(found))


CORPUS: Final = _contracts()
"""Every contract, by name."""

STATE_CONTRACTS: Final = tuple(each for each in CORPUS if each.shows != (each.name,))
"""The contracts that put a coverage rule in some declaration state."""


def index_entry(contract: CorpusContract) -> dict[str, Any]:
    """What the index says of a document: its digest, what it shows, and what every stage makes of it."""
    document = contract.document()
    record = read_contract(document)
    brief = None
    compiled, audited = _outcome(document), None
    if compiled is None:
        sealed = _sealed(record)
        brief = None if sealed is None else digest_value(to_value(sealed), "SealedEvaluatorBrief")
        audited = None if sealed is None else _audit(sealed)
    return {
        "name": contract.name,
        "path": f"contracts/{contract.name}.json",
        "digest": digest_value(document, "EvalContract"),
        "shows": list(contract.shows),
        "compile": compiled,
        "coverageGaps": [gap.rule for gap in coverage_gaps(record)],
        "briefDigest": brief,
        "audit": audited,
    }


def _outcome(document: Any) -> dict[str, str] | None:
    try:
        compile_value(document)
    except CodedError as error:
        return {"code": error.code, "artifactPath": error.artifact_path}
    return None


def _sealed(record: EvalContract) -> Any:
    try:
        return seal_contract(record)
    except CodedError:
        return None


def _audit(brief: Any) -> dict[str, str] | None:
    try:
        audit_brief_scripting(brief)
    except StructuralFailure as failure:
        return {"code": failure.code, "artifactPath": failure.artifact_path}
    return None
