"""`eval-quality migrate`: documents of older versions (spec 10 §7.8, spec 02 §29.3).

Two forms. One document, from `--in` or standard input, of the kind that `--kind` names. Or, exactly when `--in` and
`--kind` are both absent, one chain: a contract and whatever was made from it, relinked, into a folder.
"""

from typing import Final

from eval_quality.cli.command import Command, Flag, Invocation, UsageError
from eval_quality.cli.output import emit, refuse_collision, refuse_collisions

KINDS: Final = (
    "eval-contract",
    "rubric",
    "sealed-evaluator-brief",
    "sealed-run-record",
    "isolation-manifest",
    "evaluator-configuration",
    "probe",
    "private-artifact-manifest",
    "preflight-verdict",
    "scoring-policy",
    "evidence-artifact",
    "strength-aggregate",
)
"""Every registry key of a document with a stamp; an artifact reference has none."""

CHAIN_ONLY: Final = ("--brief", "--evaluator-configuration", "--isolation-manifest", "--probe", "--record")


def run(invocation: Invocation) -> int:
    """Migrate one document or one chain."""
    is_chain = not invocation.has("--in") and not invocation.has("--kind")
    return _chain(invocation) if is_chain else _document(invocation)


def _document(invocation: Invocation) -> int:
    from eval_quality.app.migrate import migrate_document

    surplus = [flag for flag in CHAIN_ONLY if invocation.has(flag)]
    if surplus:
        raise UsageError(f"{', '.join(surplus)} belong to a chain, which takes neither --in nor --kind")
    kind = invocation.text("--kind")
    if kind is None:
        raise UsageError("migrate requires --kind for one document")
    source = invocation.text("--in") or "-"
    contract = invocation.text("--contract")
    if source == "-" and contract == "-":
        raise UsageError('only one input may read standard input, but --in and --contract are both "-"')
    refuse_collision(invocation, kind)
    emit(migrate_document(kind, source, contract), invocation.text("--out"), kind)
    return 0


def _chain(invocation: Invocation) -> int:
    from eval_quality.app.migrate import ChainInputs, migrate_chain_documents

    missing = [flag for flag in ("--contract", "--out") if not invocation.has(flag)]
    if missing:
        raise UsageError(f"migrate requires {', '.join(missing)} for a chain, or --kind for one document")
    inputs = ChainInputs(
        contract=invocation.require("--contract"),
        brief=invocation.text("--brief"),
        configuration=invocation.text("--evaluator-configuration"),
        manifest=invocation.text("--isolation-manifest"),
        probes=invocation.texts("--probe"),
        records=invocation.texts("--record"),
    )
    folder = invocation.require("--out")
    refuse_collisions(invocation, inputs.targets(folder))
    migrate_chain_documents(inputs, folder)
    return 0


def _input(name: str, text: str, *, repeatable: bool = False) -> Flag:
    return Flag(name, text, value="path", repeatable=repeatable, reads=True)


COMMAND: Final = Command(
    "migrate",
    "convert documents of older versions, one by one or as a relinked chain",
    (
        _input("--in", "one document; standard input when absent"),
        Flag("--kind", "what the one document is", value="kind", choices=KINDS),
        _input("--contract", "the old contract: of the chain, or of a record stamped 6 or lower"),
        _input("--brief", "the sealed brief of the chain"),
        _input("--evaluator-configuration", "the evaluator configuration of the chain"),
        _input("--isolation-manifest", "the isolation manifest of the chain"),
        _input("--probe", "a probe to convert with the chain", repeatable=True),
        _input("--record", "a run record of the chain", repeatable=True),
        Flag("--out", "file or folder for one document; folder for a chain (required there)", value="target"),
        Flag("--strict", "accepted, and changes nothing here"),
    ),
    run,
    notes="Without --in and --kind, a chain: its members are converted, every digest that pointed at a converted "
    "member is checked and replaced, and <out> receives one file for each document, <kind>.json or <kind>-1.json, "
    "<kind>-2.json, ..., and migration-log.json. Nothing is written unless all of it succeeds.",
)
