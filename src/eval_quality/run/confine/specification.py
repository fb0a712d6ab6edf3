"""What a confined process sees, as data: mounts in the order in which they are made (spec 13 §13.9.2).

`minimal`: an empty root; `/usr` and what leads into it; the few files of `/etc` that programs need to start; new
`/dev`, `/proc` and private `/tmp`, `/var/tmp`, `/run`. `host-ro`: the whole host read-only, then every place that
could hold evaluation material or somebody's data hidden below an empty private file system.

Both, in this order: system, masks, runtime and granted paths (read-only, at their own place, after the masks so that an
interpreter below a hidden home folder can be granted), the bridge folder at `/eq`, the workspace at `/box`, and the
root read-only.

1. Real paths are masked; a mask below another is left out.
2. A grant that equals, contains or lies in a masked place of evaluation material is `confinement-conflict`.
3. No host path outside the standard places enters a normalised entry: a grant is `ro:grant/<index>`, a runtime prefix
   `ro:grant/runtime`, a mask `tmpfs:mask/<label>`, a folder of the host's root `ro:host`, so the list is equal on
   hosts of one file-system layout.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from eval_quality.run.confine.mounts import HostMount, host_mounts, is_below, normal_table
from eval_quality.run.errors import ExperimentFailure

Profile: TypeAlias = Literal["minimal", "host-ro"]
Kind: TypeAlias = Literal["ro", "rw", "tmpfs", "dev", "proc", "link", "text"]

WORKSPACE: Final = "/box"
BRIDGE: Final = "/eq"
HOST_NAME: Final = "eq"

ETC_ENTRIES: Final = (
    "alternatives",
    "ca-certificates",
    "ssl",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "protocols",
    "services",
)
"""What `minimal` takes from `/etc`, where it exists."""

STANDARD_MASKS: Final = ("/home", "/root", "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/srv", "/opt", "/var/lib")
"""What `host-ro` hides on every host: homes, temporary files, sockets of services, other people's file systems."""

KERNEL_INTERFACES: Final = tuple(
    f"/proc/{name}"
    for name in ("acpi", "asound", "bus", "driver", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
)
"""Where a process file system takes writes that concern the whole host."""

_USR_LINKS: Final = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_PRIVATE: Final = ("/tmp", "/var/tmp", "/run")


_LEFT_OUT: Final = frozenset({"boot", "dev", "lost+found", "proc", "sys"})
_REPOSITORY_MARKERS: Final = (".git", ".hg", ".svn", ".jj")


class Mount(NamedTuple):
    """One thing made in the sandbox.

    kind: `ro` and `rw` bind `source`; `tmpfs` is an empty file system of `size` bytes; `link` points to `source`;
    `text` is a file holding `source`. `name` is the normalised place for the manifest, `target` itself by default.
    """

    kind: Kind
    target: str
    source: str = ""
    name: str = ""
    size: int = 0

    @property
    def label(self) -> str:
        """The place as manifests name it."""
        return self.name or self.target


class Limits(NamedTuple):
    """Ceilings of one sandbox; sizes in bytes, None for no ceiling. `max_workspace` is of the whole workspace."""

    tmp_bytes: int = 256 * 1024 * 1024
    max_processes: int = 256
    max_memory: int | None = None
    max_file_bytes: int = 1024 * 1024 * 1024
    max_open_files: int = 1024
    max_workspace: int | None = None


class Grants(NamedTuple):
    """Host paths made visible: the writable workspace, extra paths to read, interpreters, and the bridge folder."""

    workspace: str
    reads: Sequence[str] = ()
    runtime: Sequence[str] = ()
    bridge: str | None = None


class Specification(NamedTuple):
    """Everything one sandbox is made of."""

    profile: Profile
    mounts: tuple[Mount, ...]
    limits: Limits
    user_id: int

    def allowed_mounts(self, host: Sequence[HostMount] | None = None) -> tuple[str, ...]:
        """The normalised mount list that the kernel must show, sorted (spec 13 §13.9.3)."""
        return normal_table(self.expected(host_mounts() if host is None else host))

    def expected(self, host: Sequence[HostMount]) -> list[tuple[str, str, str]]:
        """(kind, mount point, label) of every mount that these bring about, in order.

        A bind brings the host's mounts below it; under a name of its own it lends them that name.
        """
        made: list[tuple[str, str, str]] = [("ro", "/", "/")]
        for mount in self.mounts:
            if mount.kind in ("link", "text"):
                continue
            made.append((mount.kind, mount.target, mount.label))
            if mount.kind in ("ro", "rw"):
                for below in host:
                    if below.point != mount.source and is_below(below.point, mount.source):
                        inner = os.path.relpath(below.point, mount.source)
                        kind = "ro" if mount.kind == "ro" or below.read_only else "rw"
                        label = mount.name or os.path.join(mount.target, inner)
                        made.append((kind, os.path.join(mount.target, inner), label))
        return made

    def host_path(self, path: str) -> str | None:
        """The host file that an absolute path names inside, links within it followed; None where nothing is visible.

        Only what is read-only or the workspace is looked at; a path below a private file system names nothing yet.
        """
        for _ in range(_MAX_LINKS):
            parts = [part for part in path.split("/") if part]
            place = "/"
            for index, part in enumerate(parts):
                place = os.path.normpath(os.path.join(place, part))
                target = self._link(place)
                if target is not None:
                    path = os.path.normpath(os.path.join(os.path.dirname(place), target, *parts[index + 1 :]))
                    break
            else:
                return self._at(place)
        return None

    def _link(self, place: str) -> str | None:
        for mount in self.mounts:
            if mount.kind == "link" and mount.target == place:
                return mount.source
        source = self._at(place)
        try:
            return os.readlink(source) if source is not None and os.path.islink(source) else None
        except OSError:
            return None

    def _at(self, place: str) -> str | None:
        for mount in reversed(self.mounts):
            if mount.kind in ("link", "text") or not is_below(place, mount.target):
                continue
            if mount.kind not in ("ro", "rw"):
                return None
            inner = os.path.relpath(place, mount.target)
            source = mount.source if inner == "." else os.path.join(mount.source, inner)
            return source if os.path.lexists(source) else None
        return None


_MAX_LINKS: Final = 40
"""Stops a circle of links."""


def specify(
    profile: Profile,
    grants: Grants,
    masks: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    user_id: int | None = None,
) -> Specification:
    """The specification of one sandbox.

    masks: label -> host path of evaluation material, hidden by `host-ro` and closed to grants under either profile.
    Raises `ExperimentFailure` (`confinement-conflict`).
    """
    limits = limits or Limits()
    material = {label: os.path.realpath(path) for label, path in sorted((masks or {}).items())}
    granted = [_grant(path, material) for path in grants.reads]
    mounts = _minimal(limits) if profile == "minimal" else _host(limits, material)
    mounts += [Mount("ro", path, path, "grant/runtime") for path in _outermost(grants.runtime) if not _in_usr(path)]
    mounts += [Mount("ro", path, path, f"grant/{index}") for index, path in enumerate(granted)]
    if grants.bridge is not None:
        mounts.append(Mount("ro", BRIDGE, os.path.realpath(grants.bridge)))
    mounts.append(Mount("rw", WORKSPACE, os.path.realpath(grants.workspace)))
    return Specification(profile, tuple(mounts), limits, os.getuid() if user_id is None else user_id)


def _grant(path: str, material: Mapping[str, str]) -> str:
    real = os.path.realpath(path)
    for label, masked in material.items():
        if is_below(real, masked) or is_below(masked, real):
            detail = f"the granted path {real} and the hidden {label} at {masked} overlap; grant something else"
            raise ExperimentFailure.of("confinement-conflict", "Experiment.confine", detail)
    if not os.path.exists(real):
        raise ExperimentFailure.of(
            "confinement-conflict", "Experiment.confine", f"the granted path {real} does not exist"
        )
    return real


def _in_usr(path: str) -> bool:
    return is_below(os.path.realpath(path), "/usr")


def _outermost(paths: Sequence[str]) -> list[str]:
    """Distinct real paths, those below another left out."""
    real = sorted({os.path.realpath(path) for path in paths})
    return [path for path in real if not any(other != path and is_below(path, other) for other in real)]


def _minimal(limits: Limits) -> list[Mount]:
    mounts = [Mount("ro", "/usr", "/usr")]
    for path in _USR_LINKS:
        if os.path.islink(path):
            mounts.append(Mount("link", path, os.readlink(path)))
        elif os.path.isdir(path):
            mounts.append(Mount("ro", path, path))
    for name in ETC_ENTRIES:
        path = f"/etc/{name}"
        if os.path.islink(path) and is_below(os.path.realpath(path), "/usr"):
            mounts.append(Mount("link", path, os.path.realpath(path)))
        elif os.path.exists(path):
            mounts.append(Mount("ro", path, os.path.realpath(path)))
    mounts += [
        Mount("text", "/etc/passwd", "box:x:{uid}:{uid}:box:/box:/bin/sh\n"),
        Mount("text", "/etc/group", "box:x:{uid}:\n"),
        Mount("text", "/etc/hosts", "127.0.0.1 localhost eq\n::1 localhost\n"),
        Mount("text", "/etc/resolv.conf", ""),
        *_kernel(limits),
    ]
    return mounts + [Mount("tmpfs", path, size=limits.tmp_bytes) for path in _PRIVATE]


def _kernel(limits: Limits) -> list[Mount]:
    """New device and process file systems, with what is writable in them bounded or closed.

    A process of the administrator owns the kernel's settings even without any capability, so they are made read-only.
    """
    mounts = [Mount("dev", "/dev"), Mount("tmpfs", "/dev/shm", size=limits.tmp_bytes), Mount("proc", "/proc")]
    return mounts + [Mount("ro", path, path) for path in KERNEL_INTERFACES if os.path.exists(path)]


def _host(limits: Limits, material: Mapping[str, str]) -> list[Mount]:
    labelled = {os.path.realpath(path): path for path in STANDARD_MASKS if os.path.isdir(path)}
    for label, path in material.items():
        labelled.setdefault(path if os.path.isdir(path) else os.path.dirname(path), f"mask/{label}")
    labelled.pop("/", None)
    hidden = _outermost(list(labelled))
    mounts: list[Mount] = []
    for name in sorted(os.listdir("/")):
        path = f"/{name}"
        if os.path.islink(path):
            mounts.append(Mount("link", path, os.readlink(path)))
        elif name not in _LEFT_OUT and path not in hidden:
            mounts.append(Mount("ro", path, path, "host"))
    mounts += _kernel(limits)
    mounts += [Mount("tmpfs", path, name=labelled[path], size=limits.tmp_bytes) for path in hidden]
    present = {mount.target for mount in mounts}
    return mounts + [Mount("tmpfs", path, size=limits.tmp_bytes) for path in _PRIVATE if path not in present]


def repository_masks(masks: Mapping[str, str]) -> dict[str, str]:
    """The masks, and for each that lies in a version-controlled folder that folder as `<label>-repository`."""
    found = dict(masks)
    for label, path in masks.items():
        folder = os.path.realpath(path)
        while folder != "/":
            if any(os.path.lexists(os.path.join(folder, marker)) for marker in _REPOSITORY_MARKERS):
                found[f"{label}-repository"] = folder
            folder = os.path.dirname(folder)
    return found
