# SPDX-License-Identifier: GPL-2.0-only
"""kerninst stat with tens of thousands of counters, at a terminal: what it draws while it puts them
in, and what all of it takes.

usage: mass_stat.py KERNINST ARGUMENTS...; prints lines "NAME VALUE": its status, how many points
counted, its seconds from the first to the last, and its own time on the CPU (where QEMU counts
instructions, 10^9 a second); how often a bar was drawn, and of how many; what is left of it.
"""
import os
import pty
import re
import sys
import tempfile
import time

out = tempfile.NamedTemporaryFile()
begun = time.monotonic()
pid, master = pty.fork()
if not pid:
    os.execv(sys.argv[1], [sys.argv[1], *sys.argv[2:-2], "-o", out.name, *sys.argv[-2:]])
seen = b""
while True:
    try:
        more = os.read(master, 65536)
    except OSError:
        break
    if not more:
        break
    seen += more
_, status, used = os.wait4(pid, 0)
print("status", os.waitstatus_to_exitcode(status))
print("seconds", round(time.monotonic() - begun, 3))
print("cpu", round(used.ru_utime + used.ru_stime, 3))
lines = [line for line in open(out.name) if '"point":' in line]
print("points", len(lines))
bars = re.findall(rb"\rinstalling: ([0-9]+) of ([0-9]+) ", seen)
print("bars", len(bars))
print("bar_of", int(bars[-1][1]) if bars else 0)
print("left_on_screen", len(re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", seen.split(b"\r")[-1]).strip()))
if status:
    print("# " + seen.decode(errors="replace").strip()[-300:].replace("\n", "\n# "))
