"""Ignores every signal that can be ignored."""

import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
while True:
    time.sleep(600)
