"""What a sandbox is made of (spec 13 §13.9.2, §13.9.3): pure, except that it looks at this host's folders."""

import os
from pathlib import Path
from typing import Any

import pytest

from eval_quality.run.confine import specification as module
from eval_quality.run.confine.bubblewrap import FIRST_FILE_NUMBER, version_of, wrap
from eval_quality.run.confine.mounts import HostMount, is_below, normal_table, parse_mounts, visible
from eval_quality.run.confine.specification import (
    ETC_ENTRIES,
    Grants,
    Limits,
    Mount,
    Specification,
    repository_masks,
    specify,
)
from eval_quality.run.confine.watch import differences, observed
from eval_quality.run.errors import ExperimentFailure

HOST = (
    HostMount("/", "/", "8:1", False, "ext4"),
    HostMount("/proc", "/", "0:5", False, "proc"),
    HostMount("/data", "/", "8:2", False, "xfs"),
    HostMount("/data/archive", "/", "8:3", True, "xfs"),
)


@pytest.fixture
def box(tmp_path: Path) -> Path:
    (tmp_path / "box").mkdir()
    return tmp_path / "box"


# -- mount tables --


def test_a_table_is_parsed_in_its_order() -> None:
    text = (
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "28 27 0:27 /sub\\040dir /with\\040space\\011tab ro,nosuid master:1 shared:2 - tmpfs none ro,size=4k\n"
        "no mount\n"
        "1 2 3 - x\n"
    )
    assert parse_mounts(text) == (
        HostMount("/proc", "/", "0:21", False, "proc"),
        HostMount("/with space\ttab", "/sub dir", "0:27", True, "tmpfs"),
    )


@pytest.mark.parametrize(
    ("path", "folder", "below"),
    [("/a", "/a", True), ("/a/b", "/a", True), ("/ab", "/a", False), ("/a", "/", True), ("/", "/a", False)],
)
def test_below(path: str, folder: str, below: bool) -> None:
    assert is_below(path, folder) is below


def test_a_mount_hides_what_was_there_before() -> None:
    made = [
        ("ro", "/", "/"),
        ("ro", "/opt", "host"),
        ("ro", "/opt/x", "host"),
        ("tmpfs", "/opt", "/opt"),
        ("ro", "/opt/x/python", "grant/runtime"),
        ("dev", "/dev", "/dev"),
        ("tmpfs", "/dev/shm", "/dev/shm"),
        ("proc", "/proc", "/proc"),
        ("ro", "/proc/sys", "/proc/sys"),
    ]
    assert normal_table(made) == ("dev:/dev", "proc:/proc", "ro:/", "ro:grant/runtime", "tmpfs:/opt")
    assert set(visible(made)) == {"/", "/opt", "/opt/x/python", "/dev", "/proc"}


# -- specifications --


def test_s13_9_2_minimal(box: Path) -> None:
    spec = specify("minimal", Grants(str(box)))
    allowed = spec.allowed_mounts(HOST)
    assert {"ro:/", "ro:/usr", "rw:/box", "dev:/dev", "proc:/proc", "tmpfs:/tmp", "tmpfs:/var/tmp", "tmpfs:/run"} <= {
        *allowed
    }
    etc = {entry.removeprefix("ro:/etc/") for entry in allowed if entry.startswith("ro:/etc")}
    assert etc <= set(ETC_ENTRIES)
    assert [entry for entry in allowed if entry.startswith("rw:")] == ["rw:/box"]
    assert allowed == tuple(sorted(set(allowed)))


def test_s13_9_2_host_ro_hides_homes_and_material(box: Path, tmp_path: Path) -> None:
    masks = {"experiment": str(tmp_path / "experiment"), "store": str(tmp_path / "store"), "file": str(box / "x")}
    for name in ("experiment", "store"):
        (tmp_path / name).mkdir()
    spec = specify("host-ro", Grants(str(box)), masks)
    for path in module.STANDARD_MASKS:
        if os.path.isdir(path):
            assert spec.host_path(path + "/anything") is None
    assert spec.host_path(str(tmp_path / "experiment")) is None
    assert spec.host_path("/usr/bin/env") is not None
    assert spec.host_path("/sys/kernel") is None
    allowed = spec.allowed_mounts(HOST)
    assert "ro:host" in allowed
    assert not any(str(tmp_path) in entry for entry in allowed)


def test_s13_9_2_a_mask_outside_the_standard_places_is_labelled(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STANDARD_MASKS", ("/opt",))
    here = str(Path(__file__).parent)
    spec = specify("host-ro", Grants(str(box)), {"experiment": here, "deeper": here + "/x", "root": "/"})
    allowed = spec.allowed_mounts(HOST)
    assert "tmpfs:mask/experiment" in allowed or "tmpfs:mask/deeper" in allowed
    assert sum(entry.startswith("tmpfs:mask/") for entry in allowed) == 1
    assert spec.host_path(__file__) is None


def test_s13_9_2_grants_come_after_masks_and_keep_their_place(box: Path, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("x")
    spec = specify("host-ro", Grants(str(box), reads=[str(tmp_path / "tool")], runtime=["/usr/lib", str(tmp_path)]))
    assert spec.host_path(str(tmp_path / "tool")) == str(tmp_path / "tool")
    allowed = spec.allowed_mounts(HOST)
    assert "ro:grant/0" in allowed
    assert "ro:grant/runtime" in allowed
    assert not any("/usr/lib" in entry for entry in allowed)


@pytest.mark.parametrize("profile", ["minimal", "host-ro"])
@pytest.mark.parametrize("granted", ["same", "inside", "around", "link"])
def test_s13_9_2_a_grant_may_not_touch_material(profile: Any, granted: str, box: Path, tmp_path: Path) -> None:
    (tmp_path / "experiment" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "experiment")
    path = {
        "same": tmp_path / "experiment",
        "inside": tmp_path / "experiment" / "inner",
        "around": tmp_path,
        "link": tmp_path / "link",
    }[granted]
    with pytest.raises(
        ExperimentFailure, match=r"confinement-conflict in Experiment\.confine: .* hidden experiment at"
    ):
        specify(profile, Grants(str(box), reads=[str(path)]), {"experiment": str(tmp_path / "experiment")})


def test_s13_9_2_a_grant_must_exist(box: Path, tmp_path: Path) -> None:
    with pytest.raises(ExperimentFailure, match=r"confinement-conflict.*does not exist"):
        specify("minimal", Grants(str(box), reads=[str(tmp_path / "nothing")]))


def test_s13_9_2_the_repository_around_material_is_hidden_too(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "examples" / "notes").mkdir(parents=True)
    masks = repository_masks({"experiment": str(tmp_path / "repo" / "examples" / "notes")})
    assert masks["experiment-repository"] == str(tmp_path / "repo")
    assert masks["experiment"].endswith("notes")
    assert repository_masks({}) == {}


def test_s13_9_3_binds_bring_the_hosts_mounts_below_them() -> None:
    spec = Specification("minimal", (Mount("ro", "/data", "/data"), Mount("rw", "/box", "/data")), Limits(), 1)
    assert spec.expected(HOST) == [
        ("ro", "/", "/"),
        ("ro", "/data", "/data"),
        ("ro", "/data/archive", "/data/archive"),
        ("rw", "/box", "/box"),
        ("ro", "/box/archive", "/box/archive"),
    ]
    named = Specification("host-ro", (Mount("ro", "/data", "/data", "grant/0"),), Limits(), 1)
    assert named.allowed_mounts(HOST) == ("ro:/", "ro:grant/0")


def test_what_a_path_names_inside(box: Path, tmp_path: Path) -> None:
    (box / "script").write_text("x")
    (box / "to-script").symlink_to("script")
    (box / "to-usr").symlink_to("/usr/bin")
    (box / "round").symlink_to("round")
    (box / "up").symlink_to("../../etc")
    spec = specify("minimal", Grants(str(box)))
    assert spec.host_path("/box/script") == str(box / "script")
    assert spec.host_path("/box/to-script") == str(box / "script")
    assert spec.host_path("/box/to-usr/env") == "/usr/bin/env"
    shell = spec.host_path("/bin/sh")
    assert shell is not None
    assert os.path.samefile(shell, "/bin/sh")
    assert spec.host_path("/box/round") is None
    assert spec.host_path("/box/nothing") is None
    assert spec.host_path("/tmp/x") is None
    assert spec.host_path(str(tmp_path)) is None
    assert spec.host_path("/etc/passwd") is None


# -- the command line --


def test_s13_12_nothing_of_a_launch_but_its_command_shows(box: Path) -> None:
    spec = specify("minimal", Grants(str(box)), user_id=1234)
    wrapped = wrap("/usr/bin/bwrap", spec, [b"/usr/bin/env", b"word"], {b"TOKEN": b"s3cret", b"A": b"1"})
    assert wrapped.argv == (b"/usr/bin/bwrap", b"--args", b"3", b"--", b"/usr/bin/env", b"word")
    words = wrapped.options.split(b"\0")
    assert words[-1] == b""
    assert words.index(b"--clearenv") < words.index(b"--setenv") < words.index(b"--ro-bind")
    assert words[words.index(b"TOKEN") + 1] == b"s3cret"
    for flag in (b"--unshare-net", b"--unshare-pid", b"--disable-userns", b"--die-with-parent", b"--new-session"):
        assert flag in words
    assert words[words.index(b"--uid") + 1] == b"1234"
    assert words.index(b"--remount-ro") > words.index(b"/box")
    assert words[words.index(b"--file") + 1] == str(FIRST_FILE_NUMBER).encode()
    assert b"box:x:1234:1234:box:/box:/bin/sh\n" in wrapped.texts
    assert wrap("/usr/bin/bwrap", spec, [b"x"], {b"A": b"1", b"TOKEN": b"s3cret"}).options == wrapped.options


@pytest.mark.parametrize(
    ("said", "version"), [("bubblewrap 0.8.0", (0, 8, 0)), ("bubblewrap 0.11", (0, 11, 0)), ("no idea", ())]
)
def test_the_programs_version(tmp_path: Path, said: str, version: tuple[int, ...]) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o755)
    assert version_of(str(program)) == version
    assert version_of(str(tmp_path / "nothing")) == ()


# -- comparing with the kernel's table --

SPEC = Specification(
    "minimal",
    (
        Mount("ro", "/usr", "/usr"),
        Mount("dev", "/dev"),
        Mount("tmpfs", "/dev/shm", size=1),
        Mount("proc", "/proc"),
        Mount("ro", "/proc/sys", "/proc/sys"),
        Mount("tmpfs", "/tmp", size=1),
        Mount("rw", "/box", "/usr"),
    ),
    Limits(),
    1,
)
SOUND = {
    "/": HostMount("/", "/newroot", "0:40", True, "tmpfs"),
    "/usr": HostMount("/usr", "/usr", "8:1", True, "ext4"),
    "/dev": HostMount("/dev", "/", "0:41", True, "tmpfs"),
    "/dev/null": HostMount("/dev/null", "/null", "0:6", False, "devtmpfs"),
    "/dev/shm": HostMount("/dev/shm", "/", "0:42", False, "tmpfs"),
    "/proc": HostMount("/proc", "/", "0:43", False, "proc"),
    "/proc/sys": HostMount("/proc/sys", "/sys", "0:5", True, "proc"),
    "/tmp": HostMount("/tmp", "/", "0:44", False, "tmpfs"),
    "/box": HostMount("/box", "/usr", "8:1", False, "ext4"),
}


def compare(table: dict[str, HostMount], monkeypatch: pytest.MonkeyPatch, same: bool = True) -> list[str]:
    monkeypatch.setattr("eval_quality.run.confine.watch._same", lambda inside, outside: same)
    expected = visible(SPEC.expected(HOST))
    return list(differences(SPEC, expected, tuple(table.values()), HOST, 1))


def test_s13_9_3_a_table_as_specified(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare(SOUND, monkeypatch) == []
    assert observed(visible(SPEC.expected(HOST)), SOUND.values()) == SPEC.allowed_mounts(HOST)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"/tmp": None}, "missing tmpfs:/tmp"),
        ({"/data": HostMount("/data", "/", "8:2", True, "xfs")}, "unexpected mount at /data"),
        ({"/usr": SOUND["/usr"]._replace(read_only=False)}, "/usr is writable, expected ro"),
        ({"/box": SOUND["/box"]._replace(read_only=True)}, "/box is read-only, expected rw"),
        ({"/": SOUND["/"]._replace(read_only=False)}, "/ is writable, expected ro"),
        ({"/dev": SOUND["/dev"]._replace(read_only=False)}, "/dev is writable, expected dev"),
        ({"/tmp": SOUND["/tmp"]._replace(device="8:2")}, "/tmp is not a private file system"),
        ({"/tmp": SOUND["/tmp"]._replace(file_system="ext4")}, "/tmp is not a private file system"),
        ({"/proc": SOUND["/proc"]._replace(device="0:5")}, "/proc is not a process file system of its own"),
        ({"/proc/sys": None}, "/proc/sys is not closed"),
        ({"/proc/sys": SOUND["/proc/sys"]._replace(read_only=False)}, "/proc/sys is not closed"),
        ({"/dev/shm": SOUND["/dev/shm"]._replace(file_system="ext4")}, "/dev/shm is not a private file system"),
    ],
)
def test_t13_18_each_difference_is_named(
    change: dict[str, HostMount | None], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {point: mount for point, mount in {**SOUND, **change}.items() if mount is not None}
    assert problem in compare(table, monkeypatch)


def test_s13_9_3_another_file_at_the_right_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare(SOUND, monkeypatch, same=False) == ["/usr is not what it was to be", "/box is not what it was to be"]
