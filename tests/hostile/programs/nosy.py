"""Reports what it was started with, as JSON."""

import json
import os
import sys

try:
    tty = os.open("/dev/tty", os.O_RDWR) >= 0
except OSError:
    tty = False
descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}"))
print(
    json.dumps(
        {
            "argv": sys.argv[1:],
            "environment": dict(os.environ),
            "cwd": os.getcwd(),
            "leader": os.getpid() == os.getsid(0) == os.getpgrp(),
            "tty": tty,
            "descriptors": descriptors,
            "stdin": sys.stdin.read(),
        }
    )
)
