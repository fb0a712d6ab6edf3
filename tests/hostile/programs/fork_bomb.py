"""Forks a bounded tree of processes that all hold the pipes; with `escape`, each leaves the session."""

import os
import sys
import time

escape = "escape" in sys.argv
for _ in range(6):
    if os.fork() == 0 and escape:
        os.setsid()
time.sleep(600)
