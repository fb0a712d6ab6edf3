"""The documents of an experiment folder, as immutable records (spec 12 §12.5-12.8).

Only what this build does is a field here: whatever the chapter plans beyond it (releases, agents, judges, held-out
probes, baselines, caches, egress lists) is refused as an unknown key, so that nobody believes it works. Keys are the
wire's own names; times say their unit; a size is a number of bytes or a text such as `8MiB`.
"""

from typing import Annotated, Any, Final, Literal

import msgspec

from eval_quality.model.binding import ProbeInputBinding
from eval_quality.model.expression import Expression
from eval_quality.model.primitives import BehaviorId, DefectId, Identifier, OracleId, ProbeId, Severity
from eval_quality.model.probe import DefectSignature, ManifestationWitness
from eval_quality.model.record import Record

EXPERIMENT_HEADER: Final = "experiment/1"

Count = Annotated[int, msgspec.Meta(ge=1)]
Natural = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)]
NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
Size = (
    Annotated[int, msgspec.Meta(ge=1)] | Annotated[str, msgspec.Meta(pattern=r"^[1-9][0-9]{0,9}(?:KiB|MiB|GiB)(?!\n)$")]
)
Argv = Annotated[tuple[NonEmpty, ...], msgspec.Meta(min_length=1)]
Strings = tuple[NonEmpty, ...]
Variables = dict[Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(?!\n)$")], str]

_UNITS = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


def size_in_bytes(size: int | str) -> int:
    """A size field as bytes."""
    return size if isinstance(size, int) else int(size[:-3]) * _UNITS[size[-3:]]


def _as_written(name: str) -> str:
    return name


class Table(Record, rename=_as_written):
    """Base of every authored table: strict, immutable, keys spelled as written."""


# --- the experiment file ------------------------------------------------------------------------------------------


class RunTable(Table):
    """`[run]` (12.5.2)."""

    mode: Literal["production", "contract-scoring"] = "contract-scoring"
    evaluators: Annotated[tuple[Identifier, ...], msgspec.Meta(min_length=1)] = ("deterministic",)
    trials: Count | Literal["policy"] = "policy"
    seed: int = 0
    on_unqualified: Literal["stop", "set-aside"] = "stop"
    reset: Literal["auto", "always", "never"] = "auto"
    wall_clock: Literal["measured", "omitted"] = "measured"
    floor_gate: Literal["fail", "report"] = "fail"


class SubjectTable(Table):
    """`[subject]` (12.5.3). `source` is *outer*: it may leave the folder."""

    system_id: NonEmpty
    source: NonEmpty | None = None
    revision: str = ""
    include: Strings = ("**",)
    exclude: Strings = (".git/**", ".hg/**", ".svn/**")
    volatile: Strings = ("**/__pycache__/**", "**/*.pyc")
    prepare: tuple[Argv, ...] = ()
    prepare_max_ms: Annotated[int, msgspec.Meta(ge=1, le=3_600_000)] = 600_000
    max_bytes: Size = "512MiB"
    max_files: Count = 50_000


class Executable(Table):
    """`[interface.<id>.executable.<logical>]` of a command binding (12.8.2)."""

    target: NonEmpty
    target_args: tuple[str, ...] = ()
    artifacts: dict[Identifier, NonEmpty] = {}
    keep_artifacts: bool = False
    stdin_form: Literal["auto", "json", "text"] = "auto"


class Ready(Table):
    """How a started server shows that it is ready (12.8.4)."""

    kind: Literal["http", "tcp", "line"] = "http"
    path: Annotated[str, msgspec.Meta(pattern=r"^/")] = "/"
    status: tuple[Annotated[int, msgspec.Meta(ge=100, le=599)], ...] = ()
    pattern: NonEmpty | None = None
    timeout_ms: Milliseconds = 30_000
    interval_ms: Milliseconds = 50


class Start(Table):
    """A server that the run starts itself (12.8.4)."""

    command: Argv
    port: Literal["auto"] | Annotated[int, msgspec.Meta(ge=1, le=65535)] = "auto"
    port_env: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(?!\n)$")] = "PORT"
    ready: Ready = Ready()
    stop_ms: Milliseconds = 2000


class Address(Table):
    """A system that already runs (12.8.4)."""

    url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^/?#\s]+/?(?!\n)$")]
    addresses: Annotated[tuple[NonEmpty, ...], msgspec.Meta(min_length=1)]
    allow_class: tuple[Literal["loopback", "private", "link-local"], ...] = ("loopback",)


class Interface(Table):
    """`[interface.<logicalId>]`: how a logical interface is driven (12.8). A kind has no fields of another kind."""

    kind: Literal["cli", "mcp", "api", "python"]
    lifetime: Literal["call", "trial"] | None = None
    environment: Variables = {}
    cwd: NonEmpty = "."
    max_elapsed_ms: Milliseconds | None = None
    max_output_bytes: Size = "8MiB"
    # cli
    executable: dict[Identifier, Executable] | None = None
    # mcp
    command: Argv | None = None
    # api
    start: Start | None = None
    address: Address | None = None
    base_path: Annotated[str, msgspec.Meta(pattern=r"^(?:/[^?#\s]*)?(?!\n)$")] = ""
    headers: dict[str, str] = {}
    safe_methods: tuple[str, ...] | None = None
    max_redirects: Natural = 0
    max_request_bytes: Size = "1MiB"
    # python
    target: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*(?!\n)$")] | None = None
    path: Strings = (".",)
    interpreter: NonEmpty | None = None


class Principal(Table):
    """What is injected for a principal on one interface (12.5.5)."""

    header: dict[str, str] = {}
    query: dict[str, str] = {}
    environment: Variables = {}
    option: dict[str, str] = {}
    arguments: dict[str, str] = {}


class Evaluator(Table):
    """`[[evaluator]]` of kind `command` (12.5.6)."""

    id: Identifier
    kind: Literal["command"]
    command: Argv
    environment: Variables = {}
    workspace: NonEmpty | None = None
    read: Strings = ()
    seed: int | None = None
    max_wall_s: Annotated[int, msgspec.Meta(ge=1, le=86400)] | None = None
    max_output_bytes: Size = "8MiB"
    submission: Literal["stdout", "bridge", "either"] = "either"


class QualifyTable(Table):
    """`[qualify]` (12.5.7)."""

    repeats: Annotated[int, msgspec.Meta(ge=1, le=25)] = 1
    clean_min_pass: Share = 1.0
    mutated_min_fail: Share = 1.0
    require_contract_oracle: bool = False
    max_elapsed_s: Count = 900
    max_calls: Count = 500


class PreflightTable(Table):
    """`[preflight]` (12.5.8)."""

    arm_checks: Literal["fault", "all"] = "fault"
    scoping: Literal["arm", "twin"] = "arm"
    max_elapsed_s: Count = 300


class BudgetTable(Table):
    """`[budget]` (12.5.9); nothing in this build spends money."""

    max_calls: Count = 100_000
    max_wall_s: Count = 86_400


class LimitsTable(Table):
    """`[limits]` (12.5.9)."""

    trials: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None
    interface: dict[Identifier, Count] = {}
    stop_grace_s: Annotated[int, msgspec.Meta(ge=0, le=600)] = 30


class RetryTable(Table):
    """`[retry]` (12.5.9): repeats of what infrastructure broke, never of what a subject or evaluator did."""

    launch: Annotated[int, msgspec.Meta(ge=0, le=10)] = 2
    connect: Annotated[int, msgspec.Meta(ge=0, le=10)] = 2
    trial: Annotated[int, msgspec.Meta(ge=0, le=5)] = 2
    base_ms: Count = 250
    max_ms: Count = 60_000


class ConfineSide(Table):
    """`[confine.subject]` and `[confine.evaluator]` (12.5.11); an absent profile is the side's own default."""

    backend: Literal["auto", "bwrap", "none"] = "auto"
    profile: Literal["host-ro", "minimal"] | None = None
    read: Strings = ()
    tmp_bytes: Size = "256MiB"
    max_processes: Count = 256
    max_memory: Size | None = None
    max_file_bytes: Size = "1GiB"
    max_open_files: Count = 1024


class ConfineTable(Table):
    """`[confine]`."""

    subject: ConfineSide = ConfineSide()
    evaluator: ConfineSide = ConfineSide()


class SecretsTable(Table):
    """`[secrets]` (12.5.12): the only bridge from the host's environment."""

    env: tuple[Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(?!\n)$")], ...] = ()
    redact_names: Strings = ()


Channels = dict[str, dict[str, Any]]


class ValuesTable(Table):
    """Input values of plan steps (12.13.2): by step, then by `<interfaceId>/<operationId>`."""

    step: dict[Identifier, Channels] = {}
    operation: dict[str, Channels] = {}


class Experiment(Table):
    """The experiment file (12.5.1)."""

    evalQuality: Literal["experiment/1"]
    id: Identifier
    subject: SubjectTable
    interface: dict[Identifier, Interface]
    title: str = ""
    label: Annotated[str, msgspec.Meta(max_length=64)] = ""
    contract: NonEmpty | None = None
    policy: NonEmpty | None = None
    floors: NonEmpty | None = None
    probes: NonEmpty = "probes/*"
    mutations: NonEmpty = "mutations/*"
    replies: NonEmpty = "replies/*"
    run: RunTable = RunTable()
    principals: dict[Identifier, dict[Identifier, Principal]] = {}
    evaluator: tuple[Evaluator, ...] = ()
    qualify: QualifyTable = QualifyTable()
    preflight: PreflightTable = PreflightTable()
    budget: BudgetTable = BudgetTable()
    limits: LimitsTable = LimitsTable()
    retry: RetryTable = RetryTable()
    confine: ConfineTable = ConfineTable()
    secrets: SecretsTable = SecretsTable()
    values: ValuesTable | None = None


# --- mutations, replies, drafts -----------------------------------------------------------------------------------


class Swap(Table):
    """Another value for one element of the launch vector."""

    index: Natural
    value: str


class Mutation(Table):
    """One change in one place (12.7.1)."""

    id: Identifier
    kind: Literal["replace", "environment", "argument", "fixture"]
    evalQuality: Literal["mutation/1"] | None = None
    operator: NonEmpty | None = None
    file: NonEmpty | None = None
    find: NonEmpty | None = None
    replace: str | None = None
    encoding: Literal["utf-8", "base64"] = "utf-8"
    with_: NonEmpty | None = msgspec.field(default=None, name="with")
    interface: Identifier | None = None
    set: Variables | None = None
    unset: tuple[str, ...] | None = None
    remove: tuple[Natural, ...] | None = None
    append: tuple[str, ...] | None = None
    swap: Swap | None = None


class Answer(Table):
    """One committed answer of a reply (12.7.3)."""

    interface_id: Identifier
    operation_id: Identifier
    observation: dict[str, Any]
    when: ProbeInputBinding | None = None


class Reply(Table):
    """A committed degenerate answer to the whole plan (12.7.3)."""

    id: Identifier
    answers: Annotated[tuple[Answer, ...], msgspec.Meta(min_length=1)]
    evalQuality: Literal["reply/1"] | None = None
    note: str = ""


class ArmRef(Table):
    """Which arm a probe measures: exactly one member."""

    mutation: Identifier | None = None
    reply: Identifier | None = None
    clean: Literal[True] | None = None


class DraftDefect(Table):
    """A seeded defect as its author knows it before anything ran."""

    defect_id: DefectId
    summary: NonEmpty
    severity: Severity
    behavior_id: BehaviorId | None = None
    manifestation_witness: ManifestationWitness | None = None


class DraftCheck(Table):
    """A check that the probe owns; never part of the contract, never shown."""

    id: Identifier
    expression: Expression


class Naive(Table):
    """The weak check a degenerate reply must satisfy: exactly one member."""

    oracle: OracleId | None = None
    expression: Expression | None = None


class ProbeDraft(Table):
    """A probe before qualification (12.6)."""

    probe_id: ProbeId
    class_: Literal["defect", "gameability", "zero-action", "canary"] = msgspec.field(name="class")
    behavior_id: BehaviorId
    rationale: NonEmpty
    arm: ArmRef
    evalQuality: Literal["probe-draft/1"] | None = None
    designated_oracle: OracleId | None = None
    defects: tuple[DraftDefect, ...] = ()
    signature: DefectSignature | None = None
    covers: tuple[OracleId, ...] | None = None
    checks: tuple[DraftCheck, ...] = ()
    expected_failure: NonEmpty | None = None
    degenerate_response: NonEmpty | None = None
    naive: Naive | None = None
    no_known_defect: NonEmpty | None = None
    indicts: Literal["corpus", "fixture"] | None = None
    pending: bool = False
