"""An interrupted program ends at once, quietly, and leaves nothing half written."""

import signal
import subprocess
import sys
import time
from pathlib import Path


def interrupted(*words: str, cwd: Path) -> tuple[int, str, str]:
    """Start the program with an open standard input, interrupt it once it sleeps in a read, and collect its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "eval_quality", *words],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(250):
        if is_reading(process.pid):
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def is_reading(pid: int) -> bool:
    """Whether a process waits in `read` on its standard input, where the kernel tells."""
    try:
        fields = Path(f"/proc/{pid}/syscall").read_text().split()
    except OSError:
        return False
    return fields[:2] == ["0", "0x0"]


def test_an_interrupt_ends_a_command_that_waits_for_input(tmp_path: Path) -> None:
    code, out, err = interrupted("compile", "--out", "out", cwd=tmp_path)
    assert (code, out, err) == (130, "", "eval-quality: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_starting_is_quiet(tmp_path: Path) -> None:
    code = (
        "import sys, builtins\n"
        "import eval_quality.cli.main as program\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name.startswith('eval_quality.cli.dispatch'): raise KeyboardInterrupt\n"
        "    return load(name, *rest)\n"
        "builtins.__import__ = interrupted\n"
        "sys.argv = ['eval-quality', 'compile']\n"
        "program.entry()\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (130, b"", b"")
