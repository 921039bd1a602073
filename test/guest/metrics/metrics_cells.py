#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""metrics_cells.py FILE: the cells of kerninst stat -A --json, one a line.

METRIC POINT PART CPU0,CPU1,...   "-" for no part; counts as they are, other values with 9 digits

Each must be the sum of what its CPUs have, but for means; and a mean of a call that of its CPU's
time and calls. What is not so is said, and the exit status is 1.
"""
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
rows = [r for r in rows if "cpus" in r]
wrong = 0


def check(row, what, got, wanted):
    global wrong
    if abs(got - wanted) > abs(wanted) * 1e-9:
        print("wrong:", row["metric"], row["point"], row.get("part"), what, got, wanted)
        wrong = 1


def of(metric, row):
    (other,) = [r for r in rows if r["metric"] == metric and r["point"] == row["point"]
                and r.get("part") == row.get("part")]
    return other["cpus"]


for r in rows:
    if not r["metric"].endswith("/call"):
        check(r, "total", sum(r["cpus"]), r["value"])
    elif r["metric"] == "walltime/call":
        for cpu, (mean, calls, time) in enumerate(zip(r["cpus"], of("calls", r), of("walltime", r))):
            if calls:
                check(r, f"CPU {cpu}", mean, time / calls)
            elif mean is not None:
                check(r, f"CPU {cpu}", 1, 0)
    cells = ",".join(f"{c:.9f}" if isinstance(c, float) else str(c) for c in r["cpus"])
    print(r["metric"], r["point"], r.get("part", "-"), cells)
sys.exit(wrong or not rows)
