# SPDX-License-Identifier: GPL-2.0-only
"""Rounds of 50 getsid, 7 getpgid and one sleep of 10 ms: so many as argv[1] says, or for ever."""
import os
import sys
import time

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else -1
while rounds:
    rounds -= 1
    for _ in range(50):
        os.getsid(0)
    for _ in range(7):
        os.getpgid(0)
    time.sleep(0.01)
print("the load has ended")
sys.exit(7)
