"""Ways out of a sandbox, really tried. Run as a script inside one; also run outside, where many must succeed.

    attempts.py < what a hostile program might know, as JSON

Prints one JSON object: attempt -> `true` (it got out), `false` (it was held), or a text (an error nobody expected).
Every attempt is harmless where it succeeds: it reads what was planted for it, or opens and does not use.
"""

import array
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
KNOWN: dict[str, Any] = {}
ATTEMPTS: dict[str, Callable[[], bool]] = {}

NEW_NS, NEW_USER, NEW_PID, NEW_NET = 0x20000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096


def attempt(function: Callable[[], bool]) -> Callable[[], bool]:
    ATTEMPTS[function.__name__] = function
    return function


def holds_token(data: bytes) -> bool:
    return KNOWN["token"].encode() in data


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1 << 20)


def in_child(function: Callable[[], bool]) -> bool:
    """Whether an attempt succeeds in a child of its own, whose state it may spoil."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 42 if function() else 0
        except OSError:
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42


def succeeded(result: int) -> bool:
    return result >= 0


# -- files --


@attempt
def read_by_path() -> bool:
    return holds_token(read(KNOWN["secret"]))


@attempt
def read_by_climbing() -> bool:
    return holds_token(read(os.getcwd() + "/.." * 16 + KNOWN["secret"]))


@attempt
def read_through_a_link() -> bool:
    os.symlink(KNOWN["secret"], "link-to-secret")
    try:
        return holds_token(read("link-to-secret"))
    finally:
        os.unlink("link-to-secret")


@attempt
def link_the_file_here() -> bool:
    os.link(KNOWN["secret"], "hard-link")
    try:
        return holds_token(read("hard-link"))
    finally:
        os.unlink("hard-link")


@attempt
def list_its_folder() -> bool:
    return os.path.basename(KNOWN["secret"]) in os.listdir(os.path.dirname(KNOWN["secret"]))


@attempt
def find_it_anywhere() -> bool:
    name = os.path.basename(KNOWN["secret"])
    for place, folders, files in os.walk("/"):
        if place in ("/proc", "/sys", "/usr", "/dev") or place.startswith(KNOWN["runtime"]):
            folders.clear()
        elif name in files:
            return True
    return False


@attempt
def read_the_store() -> bool:
    return holds_token(read(KNOWN["store"] + "/journal"))


@attempt
def read_repository_objects() -> bool:
    return holds_token(read(KNOWN["repository"] + "/.git/objects/packed"))


@attempt
def read_through_the_root_of_init() -> bool:
    return holds_token(read("/proc/1/root" + KNOWN["secret"]))


@attempt
def read_through_the_root_of_the_runner() -> bool:
    return holds_token(read(f"/proc/{KNOWN['pid']}/root{KNOWN['secret']}"))


@attempt
def read_through_the_working_folder_of_the_runner() -> bool:
    return holds_token(read(f"/proc/{KNOWN['pid']}/cwd/../../../../../../../..{KNOWN['secret']}"))


@attempt
def read_through_descriptors_of_init() -> bool:
    for name in os.listdir("/proc/1/fd"):
        target = os.readlink(f"/proc/1/fd/{name}")
        if target.startswith("/memfd:") or (target.startswith("/") and not target.startswith("/dev")):
            return True
    return False


@attempt
def use_inherited_descriptors() -> bool:
    standard = {os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)}
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the descriptor of the listing itself
        if int(name) > 2 and target not in standard and not target.startswith("/proc"):
            return True
    return False


@attempt
def open_by_handle() -> bool:
    # The handle of our own folder, changed into that of the file system's root.
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + b"\0" * 128)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, b"/box", handle, ctypes.byref(mount), 0) != 0:
        return False
    size, kind = struct.unpack_from("=Ii", handle)
    root = ctypes.create_string_buffer(struct.pack("=Ii", size, kind) + struct.pack("=Q", 2) + b"\0" * 128)
    folder = os.open("/box", os.O_RDONLY)
    return succeeded(libc.open_by_handle_at(folder, root, os.O_RDONLY))


@attempt
def climb_out_of_a_changed_root() -> bool:
    def climb() -> bool:
        os.makedirs("jail", exist_ok=True)
        os.chroot("jail")
        for _ in range(40):
            os.chdir("..")
        os.chroot(".")
        return holds_token(read(KNOWN["secret"]))

    return in_child(climb)


# -- writing --


@attempt
def write_to_the_root() -> bool:
    with open("/eval-quality-was-here", "w"):
        return True


@attempt
def write_to_the_system() -> bool:
    with open("/usr/eval-quality-was-here", "w"):
        return True


@attempt
def write_to_the_bridge_folder() -> bool:
    with open("/eq/was-here", "w"):
        return True


@attempt
def replace_the_bridge() -> bool:
    os.unlink("/eq/bridge.sock")
    return True


@attempt
def write_to_a_granted_interpreter() -> bool:
    with open(KNOWN["runtime"] + "/was-here", "w"):
        return True


@attempt
def overwrite_a_program_by_its_process() -> bool:
    with open("/proc/1/exe", "r+b"):
        return True


@attempt
def change_kernel_settings() -> bool:
    with open("/proc/sys/kernel/core_pattern", "r+b"):
        return True


@attempt
def find_a_writable_kernel_file() -> bool:
    for place, folders, files in os.walk("/proc"):
        if place == "/proc":
            folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self")]
        for name in files:
            try:
                os.close(os.open(os.path.join(place, name), os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                continue
            return True
    return False


@attempt
def write_to_the_device_folder() -> bool:
    with open("/dev/was-here", "w"):
        return True


@attempt
def ask_the_kernel_for_help() -> bool:
    with open("/proc/sysrq-trigger", "wb"):
        return True


@attempt
def move_to_another_control_group() -> bool:
    for place, _, files in os.walk("/sys/fs/cgroup"):
        if "cgroup.procs" in files:
            with open(os.path.join(place, "cgroup.procs"), "w"):
                return True
    return False


# -- mounts and namespaces --


@attempt
def mount_a_file_system() -> bool:
    return libc.mount(b"tmpfs", b"/box", b"tmpfs", 0, None) == 0


@attempt
def mount_the_process_table() -> bool:
    os.makedirs("proc", exist_ok=True)
    return libc.mount(b"proc", b"/box/proc", b"proc", 0, None) == 0


@attempt
def make_the_system_writable() -> bool:
    return libc.mount(None, b"/usr", None, MS_REMOUNT | MS_BIND, None) == 0


@attempt
def take_a_mask_away() -> bool:
    return libc.umount2(b"/tmp", 2) == 0 or libc.umount2(b"/proc", 2) == 0


@attempt
def pivot_the_root() -> bool:
    os.makedirs("old", exist_ok=True)
    return libc.syscall(155, b"/box", b"/box/old") == 0


@attempt
def make_a_user_namespace() -> bool:
    return in_child(lambda: libc.unshare(NEW_USER) == 0)


@attempt
def make_a_mount_namespace() -> bool:
    return in_child(lambda: libc.unshare(NEW_NS) == 0)


@attempt
def make_a_user_namespace_by_clone() -> bool:
    pid = libc.syscall(56, NEW_USER | NEW_NS | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
    return pid > 0


@attempt
def enter_namespaces_of_the_runner() -> bool:
    descriptor = os.open(f"/proc/{KNOWN['pid']}/ns/mnt", os.O_RDONLY)
    return in_child(lambda: libc.setns(descriptor, 0) == 0)


@attempt
def enter_namespaces_of_init() -> bool:
    descriptor = os.open("/proc/1/ns/user", os.O_RDONLY)
    return in_child(lambda: libc.setns(descriptor, 0) == 0)


@attempt
def use_the_new_mount_interface() -> bool:
    return succeeded(libc.syscall(428, -100, b"/usr", 1)) or succeeded(libc.syscall(430, b"tmpfs", 0))


# -- processes --


@attempt
def see_the_runner() -> bool:
    return any(
        holds_token(read(f"/proc/{name}/cmdline")) or int(name) == KNOWN["pid"]
        for name in os.listdir("/proc")
        if name.isdigit()
    )


@attempt
def read_environments() -> bool:
    found = False
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found = found or holds_token(read(f"/proc/{name}/environ"))
            except OSError:
                continue
    return found


@attempt
def signal_the_runner() -> bool:
    os.kill(KNOWN["pid"], 0)
    return True


@attempt
def signal_everybody() -> bool:
    try:
        os.kill(-1, 0)
    except ProcessLookupError:
        return False
    # Somebody could be signalled: only a stranger counts.
    return any(name.isdigit() and int(name) == KNOWN["pid"] for name in os.listdir("/proc"))


@attempt
def trace_the_runner() -> bool:
    return in_child(lambda: libc.ptrace(0x4206, KNOWN["pid"], 0, 0) == 0)


@attempt
def read_memory_of_the_runner() -> bool:
    with open(f"/proc/{KNOWN['pid']}/mem", "rb"):
        return True


@attempt
def take_a_descriptor_of_the_runner() -> bool:
    descriptor = libc.syscall(434, KNOWN["pid"], 0)
    return descriptor >= 0 and succeeded(libc.syscall(438, descriptor, 0, 0))


@attempt
def keep_privileges() -> bool:
    status = read("/proc/self/status").decode()
    effective = int(next(line for line in status.splitlines() if line.startswith("CapEff")).split()[1], 16)
    bounding = int(next(line for line in status.splitlines() if line.startswith("CapBnd")).split()[1], 16)
    return effective != 0 or bounding != 0 or libc.prctl(39, 0, 0, 0, 0) != 1


@attempt
def become_somebody_else() -> bool:
    def become() -> bool:
        os.setresuid(12345, 12345, 12345)
        return True

    return in_child(become)


@attempt
def raise_a_limit() -> bool:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1))
    except (ValueError, OSError):
        return False
    return True


@attempt
def write_a_core_file() -> bool:
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


@attempt
def take_the_terminal() -> bool:
    descriptor = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(descriptor, 0x5412, b"#")
    return True


# -- network and other channels --


def connects(family: int, address: Any) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(3)
        client.connect(address)
        return holds_token(client.recv(4096))


@attempt
def reach_the_hosts_loopback() -> bool:
    return connects(socket.AF_INET, ("127.0.0.1", KNOWN["port"]))


@attempt
def reach_the_hosts_loopback_by_six() -> bool:
    return connects(socket.AF_INET6, ("::ffff:127.0.0.1", KNOWN["port"]))


@attempt
def see_another_network_interface() -> bool:
    return any(name != "lo" for _, name in socket.if_nameindex())


@attempt
def send_to_the_outside() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("192.0.2.1", 53))
        return True


@attempt
def resolve_a_name() -> bool:
    return bool(socket.getaddrinfo("example.com", 80))


@attempt
def listen_to_packets() -> bool:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return True


@attempt
def reach_a_socket_by_path() -> bool:
    return connects(socket.AF_UNIX, KNOWN["socket"])


@attempt
def reach_an_abstract_socket() -> bool:
    return connects(socket.AF_UNIX, "\0" + KNOWN["abstract"])


@attempt
def attach_shared_memory() -> bool:
    identifier = libc.shmget(KNOWN["sharedMemoryKey"], 0, 0)
    return identifier >= 0


@attempt
def open_shared_memory_by_name() -> bool:
    return holds_token(read("/dev/shm/" + KNOWN["sharedMemoryName"]))


@attempt
def read_the_session_keyring() -> bool:
    identifier = libc.syscall(250, 10, -3, b"user", KNOWN["keyName"].encode(), 0)
    if identifier < 0:
        return False
    buffer = ctypes.create_string_buffer(4096)
    return libc.syscall(250, 11, identifier, buffer, 4096) > 0 and holds_token(buffer.raw)


@attempt
def pass_descriptors_to_the_host() -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(KNOWN["socket"])
        folder = os.open("/", os.O_RDONLY)
        rights = array.array("i", [folder])
        client.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        return True


# -- devices and the kernel --


@attempt
def open_a_disk() -> bool:
    for name in os.listdir("/dev"):
        if stat.S_ISBLK(os.lstat(f"/dev/{name}").st_mode):
            with open(f"/dev/{name}", "rb"):
                return True
    return False


@attempt
def make_a_device() -> bool:
    os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    try:
        with open("device", "rb"):
            return True
    finally:
        os.unlink("device")


@attempt
def read_kernel_memory() -> bool:
    for path in ("/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/proc/kcore"):
        try:
            with open(path, "rb") as file:
                if file.read(1):
                    return True
        except OSError:
            continue
    return False


@attempt
def load_a_kernel_module() -> bool:
    return libc.syscall(175, b"", 0, b"") == 0


@attempt
def load_a_kernel_program() -> bool:
    return succeeded(libc.syscall(321, 0, ctypes.create_string_buffer(struct.pack("=IIIII", 1, 4, 4, 1, 0), 72), 72))


@attempt
def set_the_clock() -> bool:
    return libc.syscall(227, 0, struct.pack("=qq", int(time.time()), 0)) == 0


@attempt
def rename_the_host() -> bool:
    return libc.sethostname(b"eq", 2) == 0


@attempt
def know_the_host() -> bool:
    return socket.gethostname() == KNOWN["hostName"]


def main() -> None:
    KNOWN.update(json.load(sys.stdin))
    results: dict[str, Any] = {}
    for name, function in ATTEMPTS.items():
        if KNOWN["only"] and name not in KNOWN["only"]:
            continue
        try:
            results[name] = bool(function())
        except OSError:
            results[name] = False
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(results))


if __name__ == "__main__":
    main()
