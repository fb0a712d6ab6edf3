"""Does nothing for a long time."""

import time

time.sleep(600)
