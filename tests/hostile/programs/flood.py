"""Writes without end to stdout, or to stderr when told so."""

import os
import sys

descriptor = 2 if "stderr" in sys.argv else 1
while True:
    os.write(descriptor, b"flood " * 1000)
