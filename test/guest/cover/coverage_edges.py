# SPDX-License-Identifier: GPL-2.0-only
"""Edges that were counted against blocks that were: what comes to a block is what it was executed."""
import json
import sys

data = json.load(open(sys.argv[1]))
compared = probed = less = 0
for f in data["functions"]:
    blocks = [b + [0, "probed"][len(b) - 2:] if len(b) < 4 else b for b in f["blocks"]]
    into = [0] * len(blocks)
    known = [True] * len(blocks)
    for edge in f.get("edges", []):
        source, target, kind, count, how = edge + [0, "probed"][len(edge) - 3:]
        probed += how == "probed" and count > 0
        if target is None or target >= len(blocks):
            continue
        into[target] += int(count)
        known[target] &= how != "unknown"
    for n, b in enumerate(blocks):
        # the entry is come to by calls, and what is come to from nowhere by other functions
        if n == 0 or b[3] == "unknown" or not known[n] or not any(e[1] == n for e in f.get("edges", [])):
            continue
        compared += int(b[2]) > 0
        less += into[n] < int(b[2])  # a cold part jumps there, too
        if into[n] > int(b[2]):
            print(f["name"], "block", n, "executed", b[2], "come to", into[n])
if compared < 40 or probed < 15 or less > compared / 20:
    print("of", compared, "blocks", less, "are come to from elsewhere,", probed, "edges had probes")
print("ok")
