"""Secrets: the way in, every spelling on the way out (spec 13 §13.12; T13-25, T13-26), reading beneath a folder."""

import base64
import errno
import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_quality.run.confine import cgroups
from eval_quality.run.confine.beneath import read_beneath
from eval_quality.run.confine.secrets import BY_NAME, Redactor, Secrets, read_secrets, spellings
from eval_quality.run.errors import ExperimentFailure

VALUE = 'pa55"wörd+/=&sec ret'
SEEDED = {"API_KEY": VALUE, "OTHER": "another-secret-value"}


# -- in --


def test_s13_12_only_listed_names_are_read() -> None:
    found = read_secrets(["B_KEY", "A_KEY", "A_KEY"], {"A_KEY": "x" * 8, "B_KEY": "y" * 9, "C_KEY": "z" * 10})
    assert found.values == {"A_KEY": "x" * 8, "B_KEY": "y" * 9}
    assert repr(found) == str(found) == "Secrets(A_KEY, B_KEY)"


def test_s13_12_unusable_ones_are_named_all_at_once_and_never_shown() -> None:
    with pytest.raises(ExperimentFailure) as raised:
        read_secrets(["MISSING", "SHORT", "GOOD"], {"SHORT": "s3cr3t7", "GOOD": "long enough"})
    assert raised.value.exit_code == 4
    assert [problem.code for problem in raised.value.problems] == ["secret-unusable"] * 2
    text = str(raised.value)
    assert "MISSING: it is not set" in text
    assert "SHORT: it has fewer than 8 characters" in text
    assert "s3cr3t7" not in text


# -- out, by value --

ENCODED = {
    "plain": VALUE,
    "json": json.dumps(VALUE),
    "json, raw": json.dumps(VALUE, ensure_ascii=False),
    "percent": quote(VALUE, safe=""),
    "percent, path": quote(VALUE),
    "form": quote(VALUE, safe="").replace("%20", "+"),
    "percent twice": quote(quote(VALUE, safe=""), safe=""),
    "hex": VALUE.encode().hex(),
    "HEX": VALUE.encode().hex().upper(),
    **{
        f"base64 at {before}, {after} after, {kind}": encode(b"a" * before + VALUE.encode() + b"b" * after).decode()
        for before in range(4)
        for after in range(3)
        for kind, encode in (("standard", base64.b64encode), ("url", base64.urlsafe_b64encode))
    },
}


@pytest.mark.parametrize("text", ENCODED.values(), ids=ENCODED)
def test_t13_25_every_spelling_is_replaced(text: str) -> None:
    redactor = Secrets(SEEDED).redactor()
    found = redactor.text(f"before {text} after")
    assert "[redacted:API_KEY]" in found
    assert found.startswith("before ")
    assert found.endswith(" after")
    assert redactor.count == 1
    for spelling in spellings(VALUE):
        assert spelling not in found
    assert redactor.data(f"before {text} after".encode()) == found.encode()


@pytest.mark.parametrize("text", ENCODED.values(), ids=ENCODED)
def test_t13_26_without_redaction_the_search_finds_it(text: str) -> None:
    unredacted = Redactor({}).text(text)
    assert unredacted == text
    assert any(spelling in unredacted for spelling in spellings(VALUE))


def test_s13_12_bytes_that_are_no_text_keep_theirs() -> None:
    redactor = Secrets(SEEDED).redactor()
    data = b"\xff\xfe" + SEEDED["OTHER"].encode() + b"\x00\x80"
    assert redactor.data(data) == b"\xff\xfe[redacted:OTHER]\x00\x80"


def test_s13_12_the_longer_secret_wins() -> None:
    redactor = Redactor({"A": "12345678", "B": "12345678-and-more"})
    assert redactor.text("12345678-and-more, 12345678") == "[redacted:B], [redacted:A]"
    assert redactor.count == 2


def test_s13_12_values_keep_their_shape() -> None:
    redactor = Secrets(SEEDED).redactor()
    value = {"token": f"x {VALUE}", SEEDED["OTHER"]: [1, None, True, 0.5, {"password": "plain"}]}
    assert redactor.value(value) == {
        "token": "x [redacted:API_KEY]",
        "[redacted:OTHER]": [1, None, True, 0.5, {"password": "plain"}],
    }


def test_s13_12_2_logs_are_redacted_by_name_too() -> None:
    redactor = Secrets(SEEDED).redactor([r"^x-internal$"])
    names = ["Authorization", "set-cookie", "db_password", "passwd", "private-key", "client_secret", "sessionId"]
    names += ["api_key", "access-token", "REFRESH_TOKEN", "token", "x-internal", "credentials"]
    kept = {"tokens": 3, "author": "x", "keyboard": "y", "passage": "z", "text": VALUE}
    found = redactor.log({**dict.fromkeys(names, "unknown value"), **kept, "list": [{"cookie": {"a": 1}}]})
    assert {name: found[name] for name in names} == dict.fromkeys(names, BY_NAME)
    assert found["text"] == "[redacted:API_KEY]"
    assert {name: found[name] for name in ("tokens", "author", "keyboard", "passage")} == {
        "tokens": 3,
        "author": "x",
        "keyboard": "y",
        "passage": "z",
    }
    assert found["list"] == [{"cookie": BY_NAME}]


@given(st.text(min_size=8, max_size=30), st.text(max_size=10), st.text(max_size=10))
def test_s13_12_no_secret_survives(secret: str, before: str, after: str) -> None:
    data = secret.encode("utf-8", "surrogatepass")
    assert secret not in Redactor({"S": secret}).text(before + secret + after).replace("[redacted:S]", "\0")
    encoded = base64.b64encode(before.encode("utf-8", "surrogatepass") + data).decode()
    assert "[redacted:S]" in Redactor({"S": secret}).text(encoded)


def test_nothing_declared_changes_nothing() -> None:
    redactor = Secrets({}).redactor()
    assert redactor.text("anything") == "anything"
    assert redactor.count == 0


# -- reading beneath --


def test_a_file_beneath_is_read_up_to_the_cap(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"0123456789")
    assert read_beneath(str(tmp_path), "a/b", 100) == b"0123456789"
    assert read_beneath(str(tmp_path), "a/../a/b", 10) == b"0123456789"
    assert read_beneath(str(tmp_path), "a/b", 4) == b"01234"
    assert read_beneath(str(tmp_path), "a/nothing", 4) is None
    assert read_beneath(str(tmp_path), "nothing/at/all", 4) is None


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("link", errno.ELOOP),
        ("folder-link/hosts", errno.ELOOP),
        ("inner-link", errno.ELOOP),
        ("../outside", errno.EXDEV),
        ("/etc/hosts", errno.EXDEV),
        ("a/../../outside", errno.EXDEV),
        ("a", errno.EINVAL),
        ("pipe", errno.EINVAL),
        ("a\0b", errno.EINVAL),
        ("file/below", errno.ENOTDIR),
    ],
)
def test_what_leads_out_or_is_no_file_is_refused(tmp_path: Path, name: str, number: int) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (tmp_path / "outside").write_text("secret")
    (root / "file").write_text("x")
    (root / "link").symlink_to("/etc/hosts")
    (root / "folder-link").symlink_to("/etc")
    (root / "inner-link").symlink_to("file")
    os.mkfifo(root / "pipe")
    with pytest.raises(OSError) as raised:
        read_beneath(str(root), name, 100)
    assert raised.value.errno == number


# -- control groups, on folders that look like them --


def fake_v2(root: Path, controllers: str) -> Path:
    own = root / cgroups._own_group("")
    own.mkdir(parents=True, exist_ok=True)
    (root / "cgroup.controllers").write_text(controllers)
    (own / "cgroup.subtree_control").write_text(controllers)
    return own


def fill_new_folders(monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    """A real hierarchy fills a new folder by itself; here the listed files appear."""
    real = os.mkdir

    def mkdir(path: str, mode: int) -> None:
        real(path, mode)
        for file in files:
            Path(path, file).touch()

    monkeypatch.setattr(cgroups.os, "mkdir", mkdir)


def test_s13_9_4_the_second_version_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = fake_v2(tmp_path, "cpu memory pids")
    fill_new_folders(monkeypatch, "pids.max", "memory.max", "cgroup.procs")
    group = cgroups.create_group("g", {"processes": 7, "memory": 99}, str(tmp_path))
    assert group.mechanisms == {"processes": "cgroup-v2", "memory": "cgroup-v2"}
    assert (own / "g" / "pids.max").read_text() == "7"
    assert (own / "g" / "memory.max").read_text() == "99"
    group.join(123)
    assert (own / "g" / "cgroup.procs").read_text() == "123"


def test_s13_9_4_the_first_version_serves_for_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_v2(tmp_path, "cpu")
    for hierarchy in ("pids", "memory"):
        (tmp_path / hierarchy / cgroups._own_group(hierarchy)).mkdir(parents=True)
    fill_new_folders(monkeypatch, "pids.max", "memory.limit_in_bytes", "cgroup.procs")
    group = cgroups.create_group("g", {"processes": 7, "memory": 99}, str(tmp_path))
    assert group.mechanisms == {"processes": "cgroup-v1", "memory": "cgroup-v1"}
    assert len(group.folders) == 2


def test_s13_9_4_a_host_that_refuses_is_no_error(tmp_path: Path) -> None:
    group = cgroups.create_group("g", {"processes": 7}, str(tmp_path / "nothing"))
    assert group == cgroups.Group((), {})
    group.join(1)
    group.close()


def test_s13_9_4_a_group_that_takes_no_limit_is_removed_again(tmp_path: Path) -> None:
    # A new folder here has no `pids.max`, as on a host that does not delegate the controller.
    (tmp_path / "pids" / cgroups._own_group("pids")).mkdir(parents=True)
    group = cgroups.create_group("g", {"processes": 7}, str(tmp_path))
    assert group.mechanisms == {}
    assert not (tmp_path / "pids" / cgroups._own_group("pids") / "g").exists()


def test_s13_9_4_a_group_still_in_use_is_left(tmp_path: Path) -> None:
    (tmp_path / "g" / "busy").mkdir(parents=True)
    cgroups.Group((str(tmp_path / "g"),), {}).close()
    assert (tmp_path / "g").exists()
    (tmp_path / "g" / "busy").rmdir()
    cgroups.Group((str(tmp_path / "g"),), {}).close()
    assert not (tmp_path / "g").exists()


def test_s13_9_4_groups_of_killed_processes_are_swept(tmp_path: Path) -> None:
    gone, mine, foreign = (f"eval-quality-{2**22 + 1}-ab", cgroups.group_name(), "eval-quality-unit")
    for name in (gone, mine, foreign, "system.slice"):
        (tmp_path / name).mkdir()
    cgroups.sweep(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {mine, foreign, "system.slice"}
    cgroups.sweep(str(tmp_path / "nothing"))
