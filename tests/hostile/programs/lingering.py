"""Exits at once and leaves a grandchild that holds the pipes; with `escape`, in a session of its own."""

import os
import sys
import time

if os.fork() == 0:
    if "escape" in sys.argv:
        os.setsid()
    time.sleep(600)
