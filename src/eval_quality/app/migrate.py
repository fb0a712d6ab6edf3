"""Read older documents, migrate them, and write them (spec 10 §7.8)."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from eval_quality.app.artifact import serialize_artifact
from eval_quality.app.files import read_input, write_atomic
from eval_quality.app.migration import migrate_artifact, migrate_chain
from eval_quality.model.decode import to_value
from eval_quality.model.registry import schema_name

LOG_NAME = "migration-log"


class ChainInputs(NamedTuple):
    """The paths of one chain's documents."""

    contract: str
    brief: str | None
    configuration: str | None
    manifest: str | None
    probes: list[str]
    records: list[str]

    def targets(self, folder: str) -> list[str]:
        """Every file that migrating this chain into `folder` writes."""
        return [_target(folder, name) for name in (*self.names(), LOG_NAME)]

    def names(self) -> Iterator[str]:
        """The file names without their ending, in the order the documents are written."""
        for kind, paths in self._by_kind():
            for index in range(1, len(paths) + 1):
                yield kind if len(paths) == 1 else f"{kind}-{index}"

    def _by_kind(self) -> Iterator[tuple[str, list[str]]]:
        yield "eval-contract", [self.contract]
        yield "sealed-evaluator-brief", _present(self.brief)
        yield "evaluator-configuration", _present(self.configuration)
        yield "isolation-manifest", _present(self.manifest)
        yield "probe", self.probes
        yield "sealed-run-record", self.records


def migrate_document(kind: str, path: str, contract: str | None) -> str:
    """The artifact text of one document at the stamp this build writes."""
    value = read_input(path, "--in", schema_name(kind))
    old_contract = None if contract is None else read_input(contract, "--contract", "EvalContract")
    return serialize_artifact(migrate_artifact(kind, value, old_contract), schema_name(kind))


def migrate_chain_documents(inputs: ChainInputs, folder: str) -> None:
    """Migrate and relink a chain, and write it with its log; nothing is written unless all of it succeeds."""
    chain = migrate_chain(
        read_input(inputs.contract, "--contract", "EvalContract"),
        brief=_read(inputs.brief, "--brief", "SealedEvaluatorBrief"),
        configuration=_read(inputs.configuration, "--evaluator-configuration", "EvaluatorConfiguration"),
        manifest=_read(inputs.manifest, "--isolation-manifest", "IsolationManifest"),
        probes=[read_input(path, "--probe", "Probe", show_path=True) for path in inputs.probes],
        records=[read_input(path, "--record", "SealedRunRecord", show_path=True) for path in inputs.records],
    )
    documents: list[Any] = [
        chain.contract,
        *(document for document in (chain.brief, chain.configuration, chain.manifest) if document is not None),
        *chain.probes,
        *chain.records,
    ]
    names = [*inputs.names(), LOG_NAME]
    texts = [serialize_artifact(document, "Artifact") for document in documents]
    texts.append(serialize_artifact([to_value(entry) for entry in chain.log], "MigrationLog"))
    for name, text in zip(names, texts, strict=True):
        write_atomic(_target(folder, name), text.encode())


def _target(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.json")


def _present(path: str | None) -> list[str]:
    return [] if path is None else [path]


def _read(path: str | None, flag: str, artifact_path: str) -> Any:
    return None if path is None else read_input(path, flag, artifact_path)
