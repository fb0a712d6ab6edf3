"""Double-forks a daemon that holds nothing, then exits; with `wait`, stays itself."""

import os
import sys
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        time.sleep(600)
    os._exit(0)
os.wait()
if "wait" in sys.argv:
    time.sleep(600)
print("done")
