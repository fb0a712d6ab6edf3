"""What a measured or measuring process may touch, and what it was seen to have (spec 13 §13.9, §13.12, §13.18).

The face for the orchestrator, by module:

`specification` - what a confined process sees, as data.
    `Grants(workspace, reads=(), runtime=(), bridge=None)`: host paths made visible. `Limits(tmp_bytes, max_processes,
    max_memory, max_file_bytes, max_open_files, max_workspace)`. `specify(profile, grants, masks={}, limits=None) ->
    Specification`; `masks` maps a label (`experiment`, `store`, ...) to a host path that `host-ro` hides and no grant
    may touch.
    Raises `ExperimentFailure` `confinement-conflict`. `repository_masks(masks)`: the same with the repositories
    around them.
    `Specification.allowed_mounts() -> tuple[str, ...]`: the manifest's `allowedMounts`, equal on hosts of one layout.

`lane` - running something under a specification.
    `ConfinedLane(specification)`: a `probe.lanes.Lane`. Give it to `CommandLineAdapter(..., lane=)`,
    `run_session(..., lane=)`, `run_process(..., lane=)` or `Child(lane, ...)`: every launch on it is put into its own
    sandbox, whose mounts are read from the kernel and compared before the first instruction of the target. A launch's
    `cwd` is `/box`, which is the workspace, or a folder below it. After each use call `lane.facts() ->
    Facts(observed_mounts, limits, starts, reached)`; it raises `RunFault` `confinement-breach` when a launch did not
    see exactly its specification (it was killed before it ran), `confinement-unavailable` when a sandbox could not be
    made. `lane.sandbox_pid()` is the process inside the latest sandbox. `open_lane(backend, specification) -> Lane`:
    `ConfinedLane` for `bwrap`, a plain lane for `none`.

`capability` - `report() -> tuple[Capability, ...]`: each line is the result of doing the thing.
    `require_backend(choice) -> "bwrap" | "none"`: `auto` and `bwrap` raise `RunFault` `confinement-unavailable` where
    sandboxes cannot be made; there is no silent fall-back.

`ingress` - `Ingress(pid, port=8080)`: a context manager; `.address` is a `127.0.0.1:<port>` on the host that reaches
    the server inside that sandbox. Sandboxes have no other network than their own loopback.

`secrets` - `read_secrets(names, environment) -> Secrets`; `Secrets.redactor(redact_names=()) -> Redactor` with
    `.text(str)`, `.data(bytes)`, `.value(json)` (by value, for observations) and `.log(json)` (by value and by name).

`beneath` - `read_beneath(root, relative, cap) -> bytes | None`: the only safe way to read a file that a confined
    process may have written: it never follows a link out of `root`.

What is deliberately not here: an egress gateway, strace audit and the reachability scan (later parts;
docs/decisions/sandboxes.md).
"""
