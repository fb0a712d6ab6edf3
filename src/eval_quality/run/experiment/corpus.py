"""Do the drafts, mutations and replies fit each other and the contract? (spec 12 §12.6, §12.7)"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from eval_quality.errors import RuntimeFault, SchemaIssues
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode
from eval_quality.model.ports import ApiObservation, CommandObservation, ToolObservation
from eval_quality.run.errors import AuthoringProblem
from eval_quality.run.experiment.bindings import unresolved
from eval_quality.run.experiment.document import Mutation, ProbeDraft, Reply
from eval_quality.run.experiment.folder import path_problem
from eval_quality.run.experiment.load import Authored, Documents
from eval_quality.run.source import pointer

ARM_CLASSES: Final = {
    "clean": ("zero-action",),
    "mutation": ("defect", "zero-action", "canary"),
    "reply": ("gameability",),
}
"""Which probe classes an arm can carry (12.6); any other pair is `probe-arm-mismatch`."""

ARM_NEEDS: Final = {
    "clean": ("no_known_defect",),
    "mutation": ("expected_failure",),
    "reply": ("degenerate_response", "naive"),
}
"""What a draft must say for its arm."""

MUTATION_FIELDS: Final = {
    "replace": ("file", "find", "replace"),
    "fixture": ("file", "with_"),
    "environment": ("interface",),
    "argument": ("interface",),
}
"""What a mutation of each kind must say."""

MUTATION_OPTIONAL: Final = {
    "replace": ("encoding",),
    "fixture": (),
    "environment": ("set", "unset"),
    "argument": ("remove", "append", "swap"),
}
"""What a mutation of each kind may say besides."""

OBSERVATIONS: Final = {"api": ApiObservation, "cli": CommandObservation, "mcp": ToolObservation}


def check_corpus(documents: Documents) -> Iterator[AuthoringProblem]:
    """Every problem of mutations, replies and drafts, document by document in file order."""
    yield from _unique(documents.mutations, "mutation", "id")
    yield from _unique(documents.replies, "reply", "id")
    yield from _unique(documents.drafts, "probe", "probe_id")
    for mutation in documents.mutations:
        yield from _mutation(documents, mutation)
    for reply in documents.replies:
        yield from _reply(documents.contract, reply)
    for draft in documents.drafts:
        yield from _draft(documents, draft)


def arm_of(draft: ProbeDraft) -> tuple[str, str]:
    """The arm kind (`clean`, `mutation`, `reply`) of a checked draft, and the reference it names."""
    if draft.arm.mutation is not None:
        return "mutation", draft.arm.mutation
    if draft.arm.reply is not None:
        return "reply", draft.arm.reply
    return "clean", ""


def _unique(documents: Sequence[Authored[Any]], what: str, field: str) -> Iterator[AuthoringProblem]:
    seen: dict[str, str] = {}
    for document in documents:
        key: str = getattr(document.record, field)
        if key in seen:
            detail = f'{what} "{key}" is already declared in {seen[key]}'
            yield document.problem("author-id-collision", (field,), detail)
        seen.setdefault(key, document.source.name)


def _mutation(documents: Documents, mutation: Authored[Mutation]) -> Iterator[AuthoringProblem]:
    record = mutation.record
    where = f"Mutation[{record.id}]"
    needed, optional = MUTATION_FIELDS[record.kind], MUTATION_OPTIONAL[record.kind]
    wire = {"with_": "with"}
    for field in needed:
        if getattr(record, field) is None:
            name = wire.get(field, field)
            yield mutation.problem("author-missing-key", (), f'a mutation of kind {record.kind} needs "{name}"', where)
    every = {name for names in (*MUTATION_FIELDS.values(), *MUTATION_OPTIONAL.values()) for name in names}
    for field in sorted(every - set(needed) - set(optional)):
        if wire.get(field, field) in mutation.source.value:
            name = wire.get(field, field)
            detail = f'a mutation of kind {record.kind} has no "{name}"'
            yield mutation.problem("author-unknown-key", (name,), detail, where)
    if record.kind in ("replace", "fixture") and documents.experiment.record.subject.source is None:
        detail = "a file can only be changed in a subject tree; say where it is in [subject] source"
        yield mutation.problem("mutation-target-mismatch", ("file",), detail, where)
    for name, path in (("file", record.file), ("with", record.with_)):
        if path is not None and path_problem(path):
            yield mutation.problem("experiment-path-escape", (name,), path_problem(path), where)
    if record.interface is not None:
        yield from _launch_target(documents, mutation, record.interface, where)
    if record.kind == "environment":
        if not record.set and not record.unset:
            yield mutation.problem("author-missing-key", (), "an environment mutation needs `set` or `unset`", where)
        if any(key.upper() == "PATH" for key in (*(record.set or {}), *(record.unset or ()))):
            yield mutation.problem("author-pattern-mismatch", (), "PATH cannot be changed by a mutation", where)
    if record.kind == "argument" and sum(x is not None for x in (record.remove, record.append, record.swap)) != 1:
        detail = "an argument mutation has exactly one of `remove`, `append` and `swap`"
        yield mutation.problem("author-missing-key", (), detail, where)


def _launch_target(
    documents: Documents, mutation: Authored[Mutation], name: str, where: str
) -> Iterator[AuthoringProblem]:
    bindings = documents.experiment.record.interface
    if name not in bindings:
        detail = unresolved("interface", name, bindings)
        yield mutation.problem("experiment-reference-unresolved", ("interface",), detail, where)
        return
    binding = bindings[name]
    if binding.address is not None:
        detail = f'interface "{name}" is a system that already runs; its launch cannot be changed'
        yield mutation.problem("mutation-target-mismatch", ("interface",), detail, where)
    if binding.executable is not None and len(binding.executable) != 1:
        detail = f'interface "{name}" has {len(binding.executable)} executables; a launch change needs exactly one'
        yield mutation.problem("mutation-target-mismatch", ("interface",), detail, where)


def _reply(contract: EvalContract, reply: Authored[Reply]) -> Iterator[AuthoringProblem]:
    interfaces = {interface.logical_id: interface for interface in contract.permitted_interfaces}
    where = f"GameabilityReply[{reply.record.id}]"
    for index, answer in enumerate(reply.record.answers):
        interface = interfaces.get(answer.interface_id)
        path = ("answers", index)
        if interface is None:
            detail = unresolved("interface", answer.interface_id, interfaces)
            yield reply.problem("experiment-reference-unresolved", (*path, "interface_id"), detail, where)
            continue
        operations = [operation.operation_id for operation in interface.operations]
        if answer.operation_id not in operations:
            detail = unresolved("operation", answer.operation_id, operations)
            yield reply.problem("experiment-reference-unresolved", (*path, "operation_id"), detail, where)
        try:
            decode(OBSERVATIONS[interface.kind], observation_value(answer, interface.kind), "ProbeObservation")
        except RuntimeFault as fault:
            issues = fault.cause.issues if isinstance(fault.cause, SchemaIssues) else ()
            for issue in issues:
                inside = (*path, "observation", *issue.path)
                yield reply.problem("author-type-mismatch", inside, f"{pointer(issue.path)}: {issue.message}", where)


def observation_value(answer: Any, kind: str, correlation: str = "reply") -> dict[str, Any]:
    """The port observation that a committed answer stands for, as a plain value."""
    return {
        "probeId": correlation,
        "interfaceId": answer.interface_id,
        "operationId": answer.operation_id,
        "kind": kind,
        **answer.observation,
    }


def _draft(documents: Documents, draft: Authored[ProbeDraft]) -> Iterator[AuthoringProblem]:
    record = draft.record
    where = f"Probe[probeId={record.probe_id}]"
    arms = [name for name in ("mutation", "reply", "clean") if getattr(record.arm, name) is not None]
    if len(arms) != 1:
        detail = "an arm is exactly one of `mutation`, `reply` and `clean = true`"
        yield draft.problem("probe-arm-mismatch", ("arm",), detail, where)
        return
    kind, reference = arm_of(record)
    if record.class_ not in ARM_CLASSES[kind]:
        fits = " or ".join(ARM_CLASSES[kind])
        detail = f'class "{record.class_}" does not fit the arm "{kind}"; this arm carries {fits}'
        yield draft.problem("probe-arm-mismatch", ("class",), detail, where)
    if documents.experiment.record.run.mode == "production" and kind != "clean":
        detail = "production mode judges the system itself and admits clean controls only"
        yield draft.problem("probe-arm-mismatch", ("arm",), detail, where)
    declared = {
        "mutation": [item.record.id for item in documents.mutations],
        "reply": [item.record.id for item in documents.replies],
    }
    if kind in declared and reference not in declared[kind]:
        detail = unresolved(kind, reference, declared[kind])
        yield draft.problem("experiment-reference-unresolved", ("arm", kind), detail, where)
    needs = (*ARM_NEEDS[kind], *(("indicts",) if record.class_ == "canary" else ()))
    for field in needs:
        if getattr(record, field) is None:
            yield draft.problem("author-missing-key", (), f'a probe on the arm "{kind}" needs "{field}"', where)
    if kind == "clean" and (record.signature is not None or record.defects):
        detail = "a clean control seeds nothing: it has neither `defects` nor a `signature`"
        yield draft.problem("probe-arm-mismatch", (), detail, where)
    if kind == "reply" and record.defects:
        yield draft.problem("probe-arm-mismatch", ("defects",), "a gameability probe seeds no defect", where)
    if record.naive is not None and (record.naive.oracle is None) == (record.naive.expression is None):
        detail = "`naive` is exactly one of `oracle` and `expression`"
        yield draft.problem("author-missing-key", ("naive",), detail, where)
    if not documents.contract.interaction_plan and (record.covers or not record.checks):
        detail = "a contract without plan steps has no plan pass: `covers` must be empty and `checks` must not"
        yield draft.problem("probe-arm-mismatch", ("covers",), detail, where)
    yield from _references(documents.contract, draft, where)


def _references(contract: EvalContract, draft: Authored[ProbeDraft], where: str) -> Iterator[AuthoringProblem]:
    record = draft.record
    behaviors = [behavior.id for behavior in contract.behaviors]
    oracles = [oracle.id for oracle in contract.oracles]
    named: list[tuple[tuple[str | int, ...], str, str, list[str]]] = [
        (("behavior_id",), "behavior", record.behavior_id, behaviors)
    ]
    named += [
        (("defects", i, "behavior_id"), "behavior", defect.behavior_id, behaviors)
        for i, defect in enumerate(record.defects)
        if defect.behavior_id is not None
    ]
    named += [(("covers", i), "oracle", oracle, oracles) for i, oracle in enumerate(record.covers or ())]
    if record.designated_oracle is not None:
        named.append((("designated_oracle",), "oracle", record.designated_oracle, oracles))
    if record.naive is not None and record.naive.oracle is not None:
        named.append((("naive", "oracle"), "oracle", record.naive.oracle, oracles))
    for path, what, name, declared in named:
        if name not in declared:
            detail = unresolved(what, name, declared)
            yield draft.problem("experiment-reference-unresolved", path, detail, where)
