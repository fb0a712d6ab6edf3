"""Kills its parent; with `all`, the parent's parent first."""

import os
import signal
import sys
import time

parent = os.getppid()
if "all" in sys.argv:
    with open(f"/proc/{parent}/stat") as file:
        os.kill(int(file.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
os.kill(parent, signal.SIGKILL)
time.sleep(600)
