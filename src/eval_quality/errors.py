"""Everything this package raises for bad data.

    EvalQualityError
    ├── StructuralFailure        a contract that cannot prove anything (spec 03 §3); exit 4
    ├── AggregationRefusal       evidence artifacts that cannot be added up (spec 09 §4); exit 4
    ├── RuntimeFault             a typed fault (spec 02 §26), never a verdict; exit 5
    └── DesignatedOracleRefusal  a designation the contract does not admit (spec 08 §5); exit 64

A programming error of the caller is a plain `TypeError` or `ValueError` (spec 10 §8.6).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

RUNTIME_FAULT_CODES: Final = (
    "schema-parse-failure",
    "schema-version-mismatch",
    "non-canonicalizable-value",
    "digest-mismatch",
    "budget-exhausted",
    "port-failure",
    "port-contract-violation",
    "forbidden-target",
    "aborted",
    "operator-cannot-accept-operand",
)
"""The closed fault registry, in its normative order (spec 02 §26)."""

FORBIDDEN_TARGET_REASONS: Final = (
    "interface-not-authorized",
    "scheme-not-authorized",
    "host-not-authorized",
    "port-not-authorized",
    "address-not-authorized",
    "address-unparseable",
    "method-not-authorized",
    "executable-not-authorized",
    "subcommand-not-authorized",
    "environment-key-not-authorized",
    "tool-not-authorized",
)
"""Why a target policy denied (spec 02 §26)."""

PORT_FAILURE_REASONS: Final = ("launch-too-large",)
"""Why a launch itself failed, where that is known (spec 02 §26)."""

AGGREGATION_REFUSAL_CODES: Final = ("strength-inputs-disagree", "strength-input-inconsistent")
"""Why aggregation refused its inputs (spec 09 §4)."""


class Problem(NamedTuple):
    """One located problem in a document, as data; the sentence is made where it is printed.

    `path` holds keys and indexes in the wire's own names, `kind` is an issue kind of spec 02 §1.7, `message`
    states the expectation and never the offending value.
    """

    path: tuple[str | int, ...]
    kind: str
    message: str


class SchemaIssues(Exception):
    """The complete list of structural problems of one document: the cause of a `schema-parse-failure`."""

    def __init__(self, issues: Iterable[Problem]) -> None:
        self.issues: tuple[Problem, ...] = tuple(issues)
        super().__init__(f"{len(self.issues)} structural problem(s)")


class EvalQualityError(Exception):
    """Base of every error that bad data can raise."""


class CodedError(EvalQualityError):
    """An error with a registry code, the artifact path it is about and a free detail text.

    The message is `<code> in <artifactPath>: <detail>`.
    """

    def __init__(self, code: str, artifact_path: str, detail: str) -> None:
        self.code = code
        self.artifact_path = artifact_path
        self.detail = detail
        super().__init__(f"{code} in {artifact_path}: {detail}")


class StructuralFailure(CodedError):
    """A contract refused by compile or seal; `code` is a member of `FAILURE_CODES` (spec 03 §3)."""


class AggregationRefusal(CodedError):
    """A set of evidence artifacts that may not be aggregated (spec 09 §4)."""


class RuntimeFault(CodedError):
    """A typed fault (spec 02 §26). Raise it `from` its cause where there is one.

    `reason` is set only for `forbidden-target` and `port-failure`; a value outside that code's own vocabulary
    is dropped. `cause` is the exception it was raised from, or None.
    """

    def __init__(self, code: str, artifact_path: str, detail: str, reason: str | None = None) -> None:
        super().__init__(code, artifact_path, detail)
        allowed = {"forbidden-target": FORBIDDEN_TARGET_REASONS, "port-failure": PORT_FAILURE_REASONS}.get(code, ())
        self.reason: str | None = reason if reason in allowed else None

    @property
    def port_failure_reason(self) -> str | None:
        """The same as `reason`, for a `port-failure` only (spec 07 §7.2)."""
        return self.reason if self.code == "port-failure" else None

    @property
    def cause(self) -> BaseException | None:
        """The exception this fault was raised from."""
        return self.__cause__


class DesignatedOracleRefusal(EvalQualityError):
    """The caller designated an oracle that the contract does not admit for the probe (spec 08 §5)."""
