"""Kills its parent; with `all`, the parent's parent first; with `stop`, stops them instead."""

import os
import signal
import sys
import time

number = signal.SIGSTOP if "stop" in sys.argv else signal.SIGKILL
parent = os.getppid()
time.sleep(0.1)  # a busy machine may not have told anybody yet that this program runs
if "all" in sys.argv:
    with open(f"/proc/{parent}/stat") as file:
        os.kill(int(file.read().rpartition(")")[2].split()[1]), number)
os.kill(parent, number)
time.sleep(600)
