"""Phases 1 to 3 of a run: everything that follows from the documents and the subject's tree alone (spec 12 §12.10).

Nothing here starts a process, and doing it again gives the same: a resumed run prepares from its snapshot.

1. The documents are read and held against each other.
2. The contract compiles strictly, is sealed, and the brief passes the scripting audit.
3. Every plan step knows what it sends; every reply answers the plan; every mutation fits its target; the pre-flight
   planner accepts each probe; the items of the run are listed.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from eval_quality.core.compile.sequence import compile_contract
from eval_quality.core.contract.plan import PlanIndex
from eval_quality.core.preflight.plan import plan_preflight
from eval_quality.core.qualify import HomeOperation, resolve_home_operation
from eval_quality.core.seal.audit import audit_brief_scripting
from eval_quality.core.seal.brief import seal_contract
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, to_value
from eval_quality.model.policy import ScoringPolicy
from eval_quality.model.probe import Probe
from eval_quality.run.arm import Arm, clean_arm, mutated_arm, reply_arm
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.evaluators.external.view import SealedView
from eval_quality.run.experiment.check import check
from eval_quality.run.experiment.corpus import arm_of
from eval_quality.run.experiment.document import Evaluator, Experiment, ProbeDraft
from eval_quality.run.experiment.folder import Folder
from eval_quality.run.experiment.load import Documents, load
from eval_quality.run.mint import Facts, mint
from eval_quality.run.mutation import is_file_change
from eval_quality.run.plan.execute import execution_order
from eval_quality.run.plan.judge import Judge
from eval_quality.run.plan.values import PlannedStep, plan_steps
from eval_quality.run.reply import check_complete
from eval_quality.run.surface import sealed_view
from eval_quality.run.tree import Tree
from eval_quality.value.digest import digest_value

NO_TREE = "sha256:" + "0" * 64
"""Stands for the tree digest of a subject without a source, wherever a probe needs a commit digest."""


class Selection(NamedTuple):
    """What the command line restricts; recorded in the summary. Empty means everything."""

    evaluators: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    trials: int | None = None
    label: str | None = None


class ProbePlan(NamedTuple):
    """One probe of the run: its draft, its arm, and what it is judged with."""

    draft: ProbeDraft
    arm: Arm
    home: HomeOperation | None
    provisional: Probe

    @property
    def probe_id(self) -> str:
        return self.draft.probe_id

    @property
    def needs_arm_preflight(self) -> bool:
        """Clean controls and replies have no arm of their own (12.12.1)."""
        return self.arm.mutation is not None


class Item(NamedTuple):
    """One unit of work the journal accounts for exactly once (spec 13 §13.4.4)."""

    item_id: str
    kind: str
    probe_id: str | None = None
    evaluator_id: str | None = None
    trial_index: int | None = None


class Prepared(NamedTuple):
    """Everything known before the first process is started."""

    folder: Folder
    documents: Documents
    contract: EvalContract
    brief: SealedEvaluatorBrief
    view: SealedView
    policy: ScoringPolicy
    lookup: PlanIndex
    order: tuple[PlannedStep, ...]
    judge: Judge
    clean: Arm
    probes: tuple[ProbePlan, ...]
    evaluators: tuple[Evaluator | None, ...]
    """In report order; None is the deterministic evaluator."""
    trials: int
    label: str
    items: tuple[Item, ...]

    @property
    def experiment(self) -> Experiment:
        return self.documents.experiment.record

    @property
    def contract_digest(self) -> str:
        return digest_value(to_value(self.contract), "EvalContract")

    @property
    def brief_digest(self) -> str:
        return digest_value(to_value(self.brief), "SealedEvaluatorBrief")

    @property
    def tree_digest(self) -> str:
        return NO_TREE if self.clean.tree is None else self.clean.tree.digest

    def probe(self, probe_id: str) -> ProbePlan:
        """One probe of the run."""
        return next(plan for plan in self.probes if plan.probe_id == probe_id)

    def evaluator_ids(self) -> tuple[str, ...]:
        """The evaluators in report order."""
        return tuple("deterministic" if each is None else each.id for each in self.evaluators)


def prepare(
    folder: Folder, tree: Tree | None, content: Callable[[str], bytes], selection: Selection, chosen: str = ""
) -> Prepared:
    """Phases 1 to 3.

    `content` gives the bytes of a digest of the tree. Raises `ExperimentFailure`, `StructuralFailure`, `RuntimeFault`.
    """
    documents = load(folder, chosen)
    check(documents)
    experiment = documents.experiment.record
    contract = compile_contract(documents.contract, True)
    brief = seal_contract(contract, True)
    audit_brief_scripting(brief)
    index = PlanIndex(contract)
    order = execution_order(plan_steps(contract, experiment.values))
    clean = clean_arm(experiment, tree)
    probes = _probes(documents, folder, clean, content, selection)
    problems = list(_incomplete(documents, index, order))
    if problems:
        raise ExperimentFailure(problems)
    for plan in probes:
        plan_preflight(contract, (plan.provisional,))
    evaluators = _evaluators(experiment, selection)
    trials = selection.trials or (
        documents.policy.minimum_trial_count if experiment.run.trials == "policy" else experiment.run.trials
    )
    return Prepared(
        folder,
        documents,
        contract,
        brief,
        sealed_view(contract, brief),
        documents.policy,
        index,
        order,
        Judge(contract, documents.policy.regex_match_step_budget),
        clean,
        probes,
        evaluators,
        trials,
        experiment.label if selection.label is None else selection.label,
        tuple(_items(probes, evaluators, trials)),
    )


def _probes(
    documents: Documents, folder: Folder, clean: Arm, content: Callable[[str], bytes], selection: Selection
) -> tuple[ProbePlan, ...]:
    mutations = {document.record.id: document for document in documents.mutations}
    replies = {document.record.id: document.record for document in documents.replies}
    arms: dict[str, Arm] = {}
    problems: list[AuthoringProblem] = []
    for name, document in mutations.items():
        mutation = document.record
        entry = clean.tree.entry(mutation.file or "") if clean.tree and is_file_change(mutation) else None
        original = content(entry.digest) if entry is not None and not entry.link else None
        try:
            replacement = folder.read(mutation.with_) if mutation.with_ is not None else None
            arms[name] = mutated_arm(clean, mutation, original, replacement)
        except ExperimentFailure as failure:
            problems.extend(
                document.problem(
                    problem.code, ("find",) if mutation.find else (), problem.detail, problem.artifact_path
                )
                for problem in failure.problems
            )
    if problems:
        raise ExperimentFailure(problems)
    chosen = [document.record for document in documents.drafts]
    known = [draft.probe_id for draft in chosen]
    for name in selection.probes:
        if name not in known:
            detail = f'no probe is called "{name}"; declared: {", ".join(known)}'
            raise ExperimentFailure.of("experiment-reference-unresolved", f"Probe[probeId={name}]", detail)
    plans: list[ProbePlan] = []
    for draft in chosen:
        if selection.probes and draft.probe_id not in selection.probes:
            continue
        kind, reference = arm_of(draft)
        if kind == "reply":
            arm = reply_arm(replies[reference])
        else:
            arm = arms[reference] if kind == "mutation" else clean
        plans.append(_plan(documents, draft, arm, clean))
    return tuple(plans)


def _plan(documents: Documents, draft: ProbeDraft, arm: Arm, clean: Arm) -> ProbePlan:
    experiment = documents.experiment.record
    target: Mapping[str, Any] = {"storage": "public", "path": "pending", "privateRef": None, "digest": NO_TREE}
    facts = Facts(
        experiment.id,
        experiment.subject.system_id,
        experiment.subject.revision,
        NO_TREE if clean.tree is None else clean.tree.digest,
        {},
        rollback_verified=True,
        target=target,
    )
    provisional = decode(Probe, mint(draft, arm, facts), "Probe")
    home = (
        None
        if draft.signature is None
        else resolve_home_operation(draft.signature, documents.contract.permitted_interfaces)
    )
    return ProbePlan(draft, arm, home, provisional)


def _incomplete(documents: Documents, index: PlanIndex, order: tuple[PlannedStep, ...]) -> list[AuthoringProblem]:
    found: list[AuthoringProblem] = []
    for document in documents.replies:
        try:
            check_complete(document.record, index, order)
        except ExperimentFailure as failure:
            found.extend(
                document.problem(problem.code, ("answers",), problem.detail, problem.artifact_path)
                for problem in failure.problems
            )
    return found


def _evaluators(experiment: Experiment, selection: Selection) -> tuple[Evaluator | None, ...]:
    declared: dict[str, Evaluator | None] = {"deterministic": None}
    declared.update({evaluator.id: evaluator for evaluator in experiment.evaluator})
    for name in selection.evaluators:
        if name not in experiment.run.evaluators:
            listed = ", ".join(experiment.run.evaluators)
            detail = f'the run has no evaluator "{name}"; it has: {listed}'
            raise ExperimentFailure.of("experiment-reference-unresolved", "Experiment.run.evaluators", detail)
    chosen = selection.evaluators or experiment.run.evaluators
    return tuple(declared[name] for name in experiment.run.evaluators if name in chosen)


def _items(probes: tuple[ProbePlan, ...], evaluators: tuple[Evaluator | None, ...], trials: int) -> list[Item]:
    items = [Item("fixture", "fixture")]
    items += [Item(f"qualify/{plan.probe_id}", "qualify", plan.probe_id) for plan in probes]
    items += [Item(f"arm/{plan.probe_id}", "arm", plan.probe_id) for plan in probes if plan.needs_arm_preflight]
    for evaluator in evaluators:
        name = "deterministic" if evaluator is None else evaluator.id
        for plan in probes:
            items += [
                Item(f"trial/{name}/{plan.probe_id}/{k}", "trial", plan.probe_id, name, k) for k in range(1, trials + 1)
            ]
    return items
