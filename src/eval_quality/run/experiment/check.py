"""Holding an experiment's documents against each other (spec 12 §12.5-12.8). Nothing is started here.

1. Evaluators: distinct names, every reference declared, `deterministic` reserved.
2. Bindings and principals (`bindings`).
3. Mutations, replies and drafts (`corpus`).
4. Values name steps and operations of the contract.
5. The contract has no rubric, since this build has no judge; its budgets leave room to act.
"""

from collections.abc import Iterator

from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.run.experiment.bindings import check_bindings, unresolved
from eval_quality.run.experiment.corpus import check_corpus
from eval_quality.run.experiment.folder import path_problem
from eval_quality.run.experiment.load import Documents


def check(documents: Documents) -> None:
    """Raise `ExperimentFailure` with every problem the documents have together."""
    problems = [
        *_evaluators(documents),
        *check_bindings(documents.experiment, documents.contract),
        *check_corpus(documents),
        *_values(documents),
        *_feasible(documents),
    ]
    if problems:
        raise ExperimentFailure(problems)


def _evaluators(documents: Documents) -> Iterator[AuthoringProblem]:
    experiment = documents.experiment
    declared = ["deterministic"]
    for index, evaluator in enumerate(experiment.record.evaluator):
        path = ("evaluator", index, "id")
        if evaluator.id == "deterministic":
            detail = '"deterministic" is the built-in evaluator; choose another name'
            yield experiment.problem("author-reserved-prefix", path, detail, f"Experiment.evaluator[{index}]")
        elif evaluator.id in declared:
            detail = f'evaluator "{evaluator.id}" is declared twice'
            yield experiment.problem("author-id-collision", path, detail, f"Experiment.evaluator[{index}]")
        declared.append(evaluator.id)
        if evaluator.workspace is not None and path_problem(evaluator.workspace):
            yield experiment.problem(
                "experiment-path-escape",
                ("evaluator", index, "workspace"),
                path_problem(evaluator.workspace),
                f"Experiment.evaluator[{index}]",
            )
    chosen = experiment.record.run.evaluators
    for index, name in enumerate(chosen):
        path = ("run", "evaluators", index)
        if name not in declared:
            detail = unresolved("evaluator", name, declared)
            yield experiment.problem("experiment-reference-unresolved", path, detail)
        elif name in chosen[:index]:
            yield experiment.problem("author-id-collision", path, f'evaluator "{name}" is listed twice')


def _values(documents: Documents) -> Iterator[AuthoringProblem]:
    values = documents.experiment.record.values
    if values is None:
        return
    steps = [step.step_id for step in documents.contract.interaction_plan]
    operations = [
        f"{interface.logical_id}/{operation.operation_id}"
        for interface in documents.contract.permitted_interfaces
        for operation in interface.operations
    ]
    for table, what, named, declared in (
        ("step", "step", values.step, steps),
        ("operation", "operation", values.operation, operations),
    ):
        for name in named:
            if name not in declared:
                detail = unresolved(what, name, declared)
                path = ("values", table, name)
                yield documents.experiment.problem("experiment-reference-unresolved", path, detail, "PlanValues")


def _feasible(documents: Documents) -> Iterator[AuthoringProblem]:
    contract = documents.contract
    if contract.rubrics:
        names = ", ".join(rubric.id for rubric in contract.rubrics)
        detail = (
            f"the contract scores rubrics ({names}) and `run` has no judge; leave them to `score` with judged records"
        )
        yield AuthoringProblem("judge-missing", "EvalContract.rubrics", detail)
    budgets = contract.budgets
    if budgets.max_tool_calls < max(1, len(contract.interaction_plan)) or budgets.max_wall_clock_minutes == 0:
        detail = (
            f"the plan makes {len(contract.interaction_plan)} calls, the contract's budgets allow "
            f"{budgets.max_tool_calls} calls in {budgets.max_wall_clock_minutes} minutes"
        )
        yield AuthoringProblem("budget-forbids-action", "EvalContract.budgets", detail)
