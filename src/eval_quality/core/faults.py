"""Runtime faults that core raises itself, outside a decoder (spec 02 §1.7, §26)."""

from eval_quality.errors import Problem, RuntimeFault, SchemaIssues


def parse_failure(artifact_path: str, *problems: Problem) -> RuntimeFault:
    """A `schema-parse-failure` whose cause lists `problems`, for `raise`."""
    issues = SchemaIssues(problems)
    fault = RuntimeFault("schema-parse-failure", artifact_path, str(issues))
    fault.__cause__ = issues
    return fault


def problems_of(fault: RuntimeFault, prefix: tuple[str | int, ...] = ()) -> list[Problem]:
    """The schema problems behind a fault, their paths under `prefix`; none where it has another cause."""
    issues = fault.cause.issues if isinstance(fault.cause, SchemaIssues) else ()
    return [problem._replace(path=(*prefix, *problem.path)) for problem in issues]
