"""Do the interface bindings fit the contract? (spec 12 §12.5.4, §12.5.5, §12.8)

1. One binding per interface of the contract, none besides.
2. The binding's kind is the contract's kind, or `python`.
3. Only the fields of its kind, and all that kind needs.
4. Templates hold `{workspace}`, `{port}`, `{{` and `}}`; `{secret:NAME}` only where nobody else can read it.
5. Every principal that a plan step binds is mapped for the step's interface.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from eval_quality.model.address import classify_address
from eval_quality.model.contract import EvalContract
from eval_quality.run.errors import AuthoringProblem
from eval_quality.run.experiment.document import Experiment, Interface
from eval_quality.run.experiment.folder import path_problem
from eval_quality.run.experiment.load import Authored
from eval_quality.value.kind import is_object

Path = tuple[str | int, ...]

COMMON_FIELDS: Final = ("kind", "lifetime", "environment", "cwd", "max_elapsed_ms", "max_output_bytes")
KIND_FIELDS: Final = {
    "cli": ("executable",),
    "mcp": ("command",),
    "api": ("start", "address", "base_path", "headers", "safe_methods", "max_redirects", "max_request_bytes"),
    "python": ("target", "path", "interpreter"),
}
"""The fields of each binding kind besides the common ones; a table that carries another kind's field is refused."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]")
_SECRET = re.compile(r"\{secret:([A-Za-z_][A-Za-z0-9_]*)\}")


def check_bindings(experiment: Authored[Experiment], contract: EvalContract) -> Iterator[AuthoringProblem]:
    """Every problem of the bindings and principals, in file order."""
    bound = experiment.record.interface
    declared = {interface.logical_id: interface for interface in contract.permitted_interfaces}
    for name, interface in declared.items():
        if name not in bound:
            detail = f'the contract declares interface "{name}"; add a table [interface.{name}]'
            yield experiment.problem("binding-missing", ("interface",), detail, f"Experiment.interface.{name}")
        elif bound[name].kind not in (interface.kind, "python"):
            detail = f'the contract says kind "{interface.kind}", the binding says "{bound[name].kind}"'
            yield experiment.problem(
                "binding-kind-mismatch", ("interface", name, "kind"), detail, f"Experiment.interface.{name}"
            )
    for name, binding in bound.items():
        path: Path = ("interface", name)
        where = f"Experiment.interface.{name}"
        if name not in declared:
            yield experiment.problem(
                "experiment-reference-unresolved", path, unresolved("interface", name, declared), where
            )
            continue
        for field, code, detail in _fields(experiment, name, binding):
            yield experiment.problem(
                code, (*path, field) if field else path, detail, f"{where}.{field}" if field else where
            )
        if binding.kind == "cli" and declared[name].kind == "cli":
            for field_path, detail in _executables(binding, declared[name]):
                yield experiment.problem("binding-missing", (*path, *field_path), detail, where)
        yield from _templates(experiment, path, binding)
    yield from _principals(experiment, contract)


def unresolved(what: str, name: str, declared: Iterable[str]) -> str:
    """The sentence of an unresolved reference."""
    known = list(declared)
    listed = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return f'no {what} is called "{name}"; declared: {listed or "none"}'


def _fields(experiment: Authored[Experiment], name: str, binding: Interface) -> Iterator[tuple[str, str, str]]:
    """Fields of another kind, missing fields, and values the kind does not admit: (field, code, detail)."""
    source = experiment.source.value
    written: dict[str, Any] = source["interface"][name]
    allowed = (*COMMON_FIELDS, *KIND_FIELDS[binding.kind])
    for field, value in written.items():
        if field not in allowed and value is not None:
            yield field, "author-unknown-key", f'a binding of kind "{binding.kind}" has no field "{field}"'
    if binding.lifetime == "trial" and binding.kind == "cli":
        yield "lifetime", "author-type-mismatch", 'a command is launched per call; its lifetime is "call"'
    if binding.lifetime == "call" and binding.kind == "api":
        yield "lifetime", "author-type-mismatch", 'a service lives as long as its trial; its lifetime is "trial"'
    if binding.cwd != "." and path_problem(binding.cwd):
        yield "cwd", "experiment-path-escape", path_problem(binding.cwd)
    if any(key.upper() == "PATH" for key in binding.environment):
        yield "environment", "author-pattern-mismatch", "PATH cannot be set; name the program by its path instead"
    needs = {"cli": ("executable",), "mcp": ("command",), "python": ("target",)}.get(binding.kind, ())
    for field in needs:
        if getattr(binding, field) is None:
            yield field, "author-missing-key", f'a binding of kind "{binding.kind}" needs "{field}"'
    if binding.kind == "api" and (binding.start is None) == (binding.address is None):
        yield "", "author-missing-key", "a service needs exactly one of `start` and `address`"
    for text in binding.address.addresses if binding.address else ():
        found = classify_address(text)
        admitted = ("public", *binding.address.allow_class) if binding.address else ()
        if found not in admitted:
            detail = f"{text} is a {found} address; admitted here: {', '.join(admitted)}"
            yield "address", "target-class-refused", detail
    if binding.start and binding.start.ready.kind == "line" and not binding.start.ready.pattern:
        yield "start", "author-missing-key", "readiness by `line` needs a `pattern`"


def _executables(binding: Interface, interface: Any) -> Iterator[tuple[Path, str]]:
    bound = binding.executable or {}
    named = dict.fromkeys(operation.invocation.executable for operation in interface.operations)
    for logical in named:
        if logical not in bound:
            yield ("executable",), f'the contract names executable "{logical}"; add its table with a `target`'
    for operation in interface.operations:
        logical = operation.invocation.executable
        if logical not in bound:
            continue
        for artifact in operation.artifacts:
            if artifact not in bound[logical].artifacts:
                detail = f'operation "{operation.operation_id}" declares artifact "{artifact}"; say which file it is'
                yield ("executable", logical, "artifacts"), detail
    for logical, executable in bound.items():
        for artifact, file in executable.artifacts.items():
            if path_problem(file):
                yield ("executable", logical, "artifacts", artifact), path_problem(file)


def _templates(experiment: Authored[Experiment], path: Path, binding: Interface) -> Iterator[AuthoringProblem]:
    public: list[tuple[Path, str]] = []
    for logical, executable in (binding.executable or {}).items():
        base = (*path, "executable", logical)
        public.append(((*base, "target"), executable.target))
        public += [((*base, "target_args", i), text) for i, text in enumerate(executable.target_args)]
    public += [((*path, "command", i), text) for i, text in enumerate(binding.command or ())]
    if binding.start:
        public += [((*path, "start", "command", i), text) for i, text in enumerate(binding.start.command)]
    private = [((*path, "environment", key), text) for key, text in binding.environment.items()]
    private += [((*path, "headers", key), text) for key, text in binding.headers.items()]
    yield from _placeholders(experiment, public, secrets=False)
    yield from _placeholders(experiment, private, secrets=True)


def _placeholders(
    experiment: Authored[Experiment], texts: Iterable[tuple[Path, str]], *, secrets: bool, expand: bool = True
) -> Iterator[AuthoringProblem]:
    allowed = ("{workspace}", "{port}", "{{", "}}") if expand else ("{{", "}}")
    for path, text in texts:
        where = "Experiment." + ".".join(map(str, path))
        for token in _PLACEHOLDER.findall(text):
            secret = _SECRET.fullmatch(token)
            if token in allowed:
                continue
            if not secret:
                detail = f"{token!r} is no placeholder; known: {', '.join(allowed)}; double a brace to write it"
                yield experiment.problem("author-pattern-mismatch", path, detail, where)
            elif not secrets:
                detail = "a secret may not stand in a command line or address, where process lists and logs show it"
                yield experiment.problem("author-pattern-mismatch", path, detail, where)
            elif secret[1] not in experiment.record.secrets.env:
                detail = unresolved("secret", secret[1], experiment.record.secrets.env)
                yield experiment.problem("experiment-reference-unresolved", path, detail, where)


def _principals(experiment: Authored[Experiment], contract: EvalContract) -> Iterator[AuthoringProblem]:
    mapped = experiment.record.principals
    declared = contract.test_data.principals or {}
    interfaces = {interface.logical_id for interface in contract.permitted_interfaces}
    for name, per_interface in mapped.items():
        if name not in declared:
            detail = unresolved("principal", name, declared)
            yield experiment.problem("experiment-reference-unresolved", ("principals", name), detail)
        for interface, entry in per_interface.items():
            path: Path = ("principals", name, interface)
            if interface not in interfaces:
                detail = unresolved("interface", interface, sorted(interfaces))
                yield experiment.problem("experiment-reference-unresolved", path, detail)
            for channel in ("header", "environment", "arguments", "query", "option"):
                texts = [((*path, channel, key), text) for key, text in getattr(entry, channel).items()]
                yield from _placeholders(experiment, texts, secrets=channel not in ("query", "option"), expand=False)
    for step in contract.interaction_plan:
        for name in sorted(step_principals(step.input_binding)):
            if step.interface_id not in mapped.get(name, {}):
                detail = (
                    f'step "{step.step_id}" acts as "{name}" on "{step.interface_id}"; '
                    f"add a table [principals.{name}.{step.interface_id}]"
                )
                yield experiment.problem("binding-missing", ("principals",), detail, f"Experiment.principals.{name}")


def step_principals(binding: Any) -> set[str]:
    """The principals that an input binding names."""
    found: set[str] = set()
    for _, channel in binding.channels():
        values: Any = channel.values() if is_object(channel) else ()
        found |= {str(value.principal) for value in values if value.form == "principal"}
    return found
