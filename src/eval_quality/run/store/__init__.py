"""Where a run is kept so that nothing is lost, counted twice or quietly changed (spec 13 §13.1-§13.7, §13.14).

The face for the orchestrator, by module:

`layout` - `Store.open(root, create=True) -> Store`: checks the file system by using it (`store-unsupported`,
    `store-full`). `store.create_run(experiment_id, header, now_ms) -> Run`; `header` is whatever belongs into
    `run.json` besides what the store adds. `store.runs() -> tuple[RunDirectory, ...]`, oldest first.
    `create_run_at(directory, header, now_ms) -> Run` for `--run-dir`.

`directory` - `Run`: one run directory, held by one writer. `Run.open(directory) -> Run` for `--resume` (raises
    `store-locked`, `resume-refused`, `store-corrupt`); recovery has been done when it returns. Context manager.
    `run.blobs.put(data, private=False) -> str` / `run.blobs.get(digest) -> bytes`: content by byte digest.
    `run.publish(name, data, kind, artifact_class="reproducible", artifact_digest=None) -> str`: blob, then row,
    then the file `<run>/<name>`; publishing the same bytes again does nothing.
    `run.workspace(name) -> Path`: a new empty private folder under `work/`, emptied when a run is opened.
    `run.journal`: below.

`journal` - exactly-once accounting; every method may be called from any thread.
    `journal.plan(items, plan_digest)`: once; `Item(item_id, kind, requires=())` in order. Same plan again: nothing
    happens; another plan: `plan-mismatch`. `journal.state() -> str`, `journal.enter(state, reason="")`: only the
    transitions of 12.10. `journal.items(kind=None) -> tuple[ItemState, ...]`: `(item_id, kind, state, lost, void,
    fault)`, in plan order. `journal.begin(item_id, reserved_calls=0) -> str`: a token; committed before the first
    process of the attempt starts. `journal.capture(token, body, measured, attachments={}, calls=0)`: final; `body`
    and `measured` are JSON values; `attachments` maps a name to a blob digest. `journal.void(token, code, detail,
    calls=0, retries=2) -> "void" | "exhausted"`. A stale token raises `StaleToken`: the outcome is discarded.
    `journal.captured(item_id) -> Capture | None`, `journal.captures() -> Iterator[Capture]` in plan order.
    `journal.calls_booked() -> int`, `journal.active_ms() -> int`: what caps are held against, over all invocations.
    `journal.event(name, body={}) -> int` gives its `seq`; `journal.events(after=0) -> Iterator[Event]`.

`verify` - `verify_run(directory) -> Verification`: re-hashes, compares, counts; `repair_views(run)`.
`collect` - `collect(store, now_ms, keep_runs=50, keep_days=90, keep=(), dry_run=False) -> Collection`.

Faults are `RunFault` with the codes of 13.17. Clocks are parameters; order is by sequence number, never by time.
"""
