"""Older stamps to current ones: one document, or one chain relinked (spec 02 §29.3, spec 10 §7.8).

One document (`migrate_artifact`):

1. it carries a native stamp or one of `MIGRATABLE_SCHEMA_VERSIONS`, else `schema-version-mismatch`;
2. steps run one number at a time, each a function below; a step that cannot be taken is `schema-version-mismatch`
   whose detail names the step and the reason;
3. nothing else changes: no array is reordered, lineage stays;
4. the result parses under the target shape, else `schema-parse-failure`.

One chain (`migrate_chain`): every document is migrated, then in the order contract, brief, configuration, manifest,
records each digest member that points at another document of the set must equal that document's old digest and is
replaced by the new one. Nothing is returned when anything disagrees.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from eval_quality.errors import RuntimeFault
from eval_quality.model.brief import SealedEvaluatorBrief
from eval_quality.model.configuration import EvaluatorConfiguration
from eval_quality.model.contract import EvalContract
from eval_quality.model.decode import decode, normalise, to_value
from eval_quality.model.isolation import IsolationManifest
from eval_quality.model.primitives import Digest, Positive
from eval_quality.model.probe import Probe
from eval_quality.model.record import Record
from eval_quality.model.registry import kind_of, schema_name
from eval_quality.model.run_record import SealedRunRecord
from eval_quality.model.stamp import (
    MIGRATABLE_SCHEMA_VERSIONS,
    NATIVE_SCHEMA_VERSIONS,
    check_stamp,
    probe_path,
    record_path,
    stamp_of,
)
from eval_quality.value.canonical import canonicalize
from eval_quality.value.depth import room
from eval_quality.value.digest import digest_value
from eval_quality.value.freeze import thaw
from eval_quality.value.kind import is_array, is_object
from eval_quality.value.text import quoted


class _Refused(Exception):
    """A step that cannot be taken; the text is the reason."""


def migrate_artifact(kind: str, value: Any, contract: Any = None, to: int | None = None) -> Any:
    """The record of `value` at stamp `to`, by default the stamp this build writes.

    `kind` is a registry key, `value` a plain value or a record, `contract` the contract that run records stamped 6 or
    lower find their interfaces in. Raises `schema-version-mismatch`, `schema-parse-failure`; `ValueError` for a kind
    without stamps or a `to` that is not native.
    """
    native = NATIVE_SCHEMA_VERSIONS.get(kind)
    if native is None:
        raise ValueError(f"{kind!r} is no kind of stamped artifact")
    target = native[-1] if to is None else to
    if target not in native:
        raise ValueError(f"{schema_name(kind)} is never written at stamp {target}; {native} are read natively")
    with room():
        return _migrated(kind, value, contract, target)


def _migrated(kind: str, value: Any, contract: Any, target: int) -> Any:
    path = _path_of(kind, value)
    stamp = stamp_of(value)
    # 1. The stamp.
    if stamp not in MIGRATABLE_SCHEMA_VERSIONS.get(kind, ()):
        check_stamp(kind, value, path)
    if stamp is None or stamp == target:
        return decode(kind_of(kind), value, schema_name(kind))
    if stamp > target:
        raise RuntimeFault(
            "schema-version-mismatch", f"{path}.schemaVersion", f"no step leads from {stamp} to {target}"
        )
    # 2. The steps.
    frozen, problems = normalise(_plain(value), schema_name(kind))
    if problems:
        return decode(kind_of(kind), value, schema_name(kind))
    document = thaw(frozen)
    for number in range(int(stamp), target):
        try:
            _STEPS[kind][number](document, contract)
        except _Refused as refused:
            detail = f"cannot take the step from {number} to {number + 1} that migrate needs: {refused}"
            raise RuntimeFault("schema-version-mismatch", f"{path}.schemaVersion", detail) from None
        document["schemaVersion"] = number + 1
    # 4. The target shape.
    return decode(kind_of(kind), document, schema_name(kind))


def _path_of(kind: str, value: Any) -> str:
    if kind == "probe":
        return probe_path(value)
    return record_path(value, 0) if kind == "sealed-run-record" else schema_name(kind)


def _plain(value: Any) -> Any:
    return to_value(value) if isinstance(value, Record) else value


# --- the steps; each changes a plain document that may be wrong in any way, which the final parse reports -------------


def _stamp_only(document: dict[str, Any], contract: Any) -> None:
    """Only the number changes."""


def _contract_4(document: dict[str, Any], contract: Any) -> None:
    if any(interface.get("kind") == "mcp" for interface in _objects(document.get("permittedInterfaces"))):
        raise _Refused("an interface has kind mcp, and its operations have no tool name")


def _contract_5(document: dict[str, Any], contract: Any) -> None:
    interface_of = _interface_lookup(document)
    for step in _objects(document.get("interactionPlan")):
        _name_interface(step, interface_of)
    groups = document.get("siblingGroups")
    for group in _arrays(groups.get("operations") if is_object(groups) else None):
        group[:] = [
            {"interfaceId": interface_of(member), "operationId": member} if isinstance(member, str) else member
            for member in group
        ]
    reset = document.get("fixtureReset")
    if is_object(reset):
        _name_interface(reset, interface_of)


def _probe_4(document: dict[str, Any], contract: Any) -> None:
    signature = document.get("defectSignature")
    if not is_object(signature):
        return
    if signature.get("interfaceKind") == "mcp":
        raise _Refused("the signature has kind mcp, and no tool name")
    selector = _at(signature, "condition", "selector", "inputBinding")
    if selector is not None:
        selector["arguments"] = None


def _record_5(document: dict[str, Any], contract: Any) -> None:
    if document.pop("invalidReason", None) is not None:
        raise _Refused("invalidReason is not null")


def _record_6(document: dict[str, Any], contract: Any) -> None:
    if contract is None:
        raise _Refused("no contract was given to find the interface of an operation in")
    interface_of = _interface_lookup(_plain(contract))
    for observation in _objects(document.get("observations")):
        _name_interface(observation, interface_of)


def _record_7(document: dict[str, Any], contract: Any) -> None:
    for observation in _objects(document.get("observations")):
        inputs = _at(observation, "callInputs")
        if inputs is not None:
            inputs["bodyEncoding"] = None


_STEPS: Final[dict[str, dict[int, Callable[[dict[str, Any], Any], None]]]] = {
    "eval-contract": {4: _contract_4, 5: _contract_5, 6: _stamp_only},
    "probe": {4: _probe_4, 5: _stamp_only},
    "sealed-run-record": {5: _record_5, 6: _record_6, 7: _record_7},
}


def _interface_lookup(contract: Any) -> Callable[[Any], str]:
    """From an operation id to the one interface that declares it."""
    declared: dict[Any, set[Any]] = {}
    for interface in _objects(contract.get("permittedInterfaces") if is_object(contract) else None):
        for operation in _objects(interface.get("operations")):
            operation_id, logical_id = operation.get("operationId"), interface.get("logicalId")
            if isinstance(operation_id, str) and isinstance(logical_id, str):
                declared.setdefault(operation_id, set()).add(logical_id)

    def interface_of(operation_id: Any) -> str:
        found = declared.get(operation_id, set()) if isinstance(operation_id, str) else set[Any]()
        if len(found) != 1:
            how_many = "several interfaces" if found else "no interface"
            named = quoted(operation_id) if isinstance(operation_id, str) else "without an id"
            raise _Refused(f"operation {named} is declared by {how_many}")
        return next(iter(found))

    return interface_of


def _name_interface(holder: dict[str, Any], interface_of: Callable[[Any], str]) -> None:
    if "interfaceId" not in holder:
        holder["interfaceId"] = interface_of(holder.get("operationId"))


def _objects(value: Any) -> Iterable[dict[str, Any]]:
    return [member for member in value if is_object(member)] if is_array(value) else ()


def _arrays(value: Any) -> Iterable[list[Any]]:
    return [member for member in value if is_array(member)] if is_array(value) else ()


def _at(value: Any, *keys: str) -> dict[str, Any] | None:
    for key in keys:
        value = value.get(key) if is_object(value) else None
    return value if is_object(value) else None


# --- a chain ----------------------------------------------------------------------------------------------------------


class MigrationLogEntry(Record):
    """What happened to one document of a chain; `replaced` names the digest members that were relinked."""

    kind: str
    old_stamp: Positive
    new_stamp: Positive
    old_digest: Digest
    new_digest: Digest
    replaced: tuple[str, ...]


class MigratedChain(NamedTuple):
    """A migrated and relinked chain. `to_value(chain.log)` is the plain form of the log."""

    contract: EvalContract
    brief: SealedEvaluatorBrief | None
    configuration: EvaluatorConfiguration | None
    manifest: IsolationManifest | None
    records: tuple[SealedRunRecord, ...]
    probes: tuple[Probe, ...]
    log: tuple[MigrationLogEntry, ...]


# kind -> digest member -> the kind it points at (§29.3 rule 5)
_LINKS: Final[dict[str, dict[str, str]]] = {
    "eval-contract": {},
    "sealed-evaluator-brief": {"contractDigest": "eval-contract"},
    "evaluator-configuration": {"sealedBriefDigest": "sealed-evaluator-brief"},
    "isolation-manifest": {
        "contractDigest": "eval-contract",
        "evaluatorConfigurationDigest": "evaluator-configuration",
    },
    "sealed-run-record": {
        "contractDigest": "eval-contract",
        "sealedBriefDigest": "sealed-evaluator-brief",
        "evaluatorConfigurationDigest": "evaluator-configuration",
    },
    "probe": {},
}


def migrate_chain(
    contract: Any,
    *,
    seal: Callable[[EvalContract], SealedEvaluatorBrief],
    brief: Any = None,
    configuration: Any = None,
    manifest: Any = None,
    records: Iterable[Any] = (),
    probes: Iterable[Any] = (),
) -> MigratedChain:
    """Migrate a contract and whatever was made from it, and relink the digests that moved.

    A document at a native stamp keeps it. `seal` turns the migrated contract into the brief that the relinked one
    must equal byte for byte. Raises what `migrate_artifact` raises, what `seal` raises, and `digest-mismatch` at
    `<SchemaName>.<member>` or at `SealedEvaluatorBrief`.
    """
    presented = [
        ("eval-contract", contract),
        ("sealed-evaluator-brief", brief),
        ("evaluator-configuration", configuration),
        ("isolation-manifest", manifest),
        *(("sealed-run-record", record) for record in records),
        *(("probe", probe) for probe in probes),
    ]
    chain = _Chain(contract)
    with room():
        for kind, value in presented:
            if value is not None:
                chain.add(kind, value)
        relinked = chain.of("sealed-evaluator-brief")
        if relinked:
            _check_sealed(relinked[0], seal(chain.of("eval-contract")[0]))
    return MigratedChain(
        contract=chain.of("eval-contract")[0],
        brief=next(iter(relinked), None),
        configuration=next(iter(chain.of("evaluator-configuration")), None),
        manifest=next(iter(chain.of("isolation-manifest")), None),
        records=chain.of("sealed-run-record"),
        probes=chain.of("probe"),
        log=tuple(chain.log),
    )


class _Chain:
    """The documents migrated so far, and the old and new digest of each kind a digest member can point at."""

    def __init__(self, contract: Any) -> None:
        self.contract = contract
        self.documents: list[tuple[str, Any]] = []
        self.digests: dict[str, tuple[str, str]] = {}
        self.log: list[MigrationLogEntry] = []

    def of(self, kind: str) -> tuple[Any, ...]:
        return tuple(record for held, record in self.documents if held == kind)

    def add(self, kind: str, value: Any) -> None:
        name, stamp = schema_name(kind), stamp_of(value)
        to = int(stamp) if stamp is not None and stamp in NATIVE_SCHEMA_VERSIONS[kind] else None
        plain = to_value(migrate_artifact(kind, value, self.contract, to))
        old_digest = digest_value(_plain(value), name)
        replaced: list[str] = []
        for member, pointed_at in _LINKS[kind].items():
            if pointed_at in self.digests:
                old, new = self.digests[pointed_at]
                if plain[member] != old:
                    detail = f"names {plain[member]} where the {schema_name(pointed_at)} presented has {old}"
                    raise RuntimeFault("digest-mismatch", f"{name}.{member}", detail)
                plain[member] = new
                if new != old:
                    replaced.append(member)
        new_digest = digest_value(plain, name)
        self.digests[kind] = (old_digest, new_digest)
        self.documents.append((kind, decode(kind_of(kind), plain, name)))
        self.log.append(
            MigrationLogEntry(
                kind=kind,
                old_stamp=int(stamp or 0),
                new_stamp=plain["schemaVersion"],
                old_digest=old_digest,
                new_digest=new_digest,
                replaced=tuple(replaced),
            )
        )


def _check_sealed(relinked: SealedEvaluatorBrief, sealed: SealedEvaluatorBrief) -> None:
    name = "SealedEvaluatorBrief"
    if canonicalize(to_value(relinked), name) != canonicalize(to_value(sealed), name):
        detail = "the relinked brief is not what sealing the migrated contract gives"
        raise RuntimeFault("digest-mismatch", name, detail)
