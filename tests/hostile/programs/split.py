"""Writes multi-byte characters one byte at a time."""

import os
import time

for byte in '{"text":"é€𝄞"}'.encode():
    os.write(1, bytes([byte]))
    time.sleep(0.002)
os.write(2, b"bad \xff\xf0\x9f end \xe2\x82")
