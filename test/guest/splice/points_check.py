#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: points_check.py CPU
#
# The counts of all points of functions on one CPU (kerninst stat --json -A on standard input) must
# agree:
#
#   a block's beginning	the edges that lead to it, and the calls if it is the first; each of its
#			instructions, up to one that may leave it
#   a block's end	the edges that leave it; its beginning, if nothing leaves it in between
#   entries		exits
#   calls		returns
#
# Where something of a sum is refused, the sum must not be more. Prints what it has seen, then
# "good" or "bad".
import collections
import json
import sys

LEAVES = {"fall", "taken", "jump", "table", "fixup", "tail", "tail-indirect", "return"}
CALLS = {"call", "call-indirect"}


class Function:
    def __init__(self):
        self.blocks, self.ends, self.edges = {}, {}, []
        self.insns, self.afters, self.whole = {}, {}, {}
        self.size, self.start = {}, {}


def read(cpu):
    functions = collections.defaultdict(Function)
    cold = set()
    with open("/proc/kallsyms") as symbols:
        for line in symbols:
            name = line.split()[2]
            if ".cold" in name:
                cold.add(name.split(".cold")[0])
    for line in sys.stdin:
        p = json.loads(line)
        if p["metric"] == "patches":
            continue
        f, value = functions[p["function"]], p["cpus"][cpu] if "cpus" in p else None
        what = p["point"][len(p["function"]):]
        address = int(p["address"], 16)
        if what.startswith(":block/"):
            (f.ends if what.endswith(":post") else f.blocks)[p["block"]] = value
            f.start[p["block"]], f.size[p["block"]] = address, p["size"]
        elif what.startswith(":edge/"):
            f.edges.append((p["block"], p.get("to_block"), p["kind"], value, address))
        elif what.startswith("+"):
            (f.afters if what.endswith(":after") else f.insns)[address] = value
        else:
            f.whole[what] = value
    return functions, cold


class Checker:
    def __init__(self):
        self.done = collections.Counter()
        self.bad = []

    def equal(self, what, where, a, b):
        if a is None or b is None:
            self.done["not counted: " + what] += 1
            return
        self.done[what] += 1
        self.done["hot " + what] += a > 0
        if a != b:
            self.bad.append("%s: %s: %d, %d" % (where, what, a, b))

    def total(self, what, where, whole, parts, partly):
        known = sum(p for p in parts if p is not None)
        if whole is None:
            self.done["not counted: " + what] += 1
        elif len([p for p in parts if p is None]) or partly:
            self.done["in part: " + what] += 1
            if known > whole:
                self.bad.append("%s: %s: %d, but parts of it %d" % (where, what, whole, known))
        else:
            self.equal(what, where, whole, known)


def check_block(c, name, f, b, is_cold):
    where = "%s:block/%d" % (name, b)
    into = [e[3] for e in f.edges if e[1] == b and e[2] in LEAVES]
    if b == 0:
        into.append(f.whole.get(":entry"))
    out = [e for e in f.edges if e[0] == b and e[2] in LEAVES]
    faults = [e for e in out if e[2] == "fixup"]
    c.total("edges to a block", where, f.blocks.get(b), into, is_cold)
    if not out:  # a call that does not return, a trap
        return
    if faults:
        c.total("edges from a block", where, f.blocks.get(b), [e[3] for e in out], False)
        return
    c.total("edges from a block", where, f.ends.get(b), [e[3] for e in out], False)
    c.equal("both ends of a block", where, f.blocks.get(b), f.ends.get(b))
    for a in range(f.start[b], f.start[b] + f.size[b]):
        if a in f.insns:
            c.equal("instructions of a block", "%s at %x" % (where, a), f.blocks.get(b), f.insns[a])
            if a in f.afters and not [e for e in out if e[4] == a]:
                c.equal("behind instructions", "%s at %x" % (where, a), f.insns[a], f.afters[a])


def main():
    functions, cold = read(int(sys.argv[1]))
    c = Checker()
    for name, f in sorted(functions.items()):
        is_cold = name in cold
        if not is_cold:
            c.equal("entries and exits", name, f.whole.get(":entry"), f.whole.get(":exit"))
        c.equal("calls and returns", name, f.whole.get(":calls"), f.whole.get(":returns"))
        calls = [e[3] for e in f.edges if e[2] in CALLS]
        c.total("calls one by one", name, f.whole.get(":calls"), calls, False)
        for b in sorted(f.start):
            check_block(c, name, f, b, is_cold)
    for what, n in sorted(c.done.items()):
        print("%6d %s" % (n, what))
    for line in c.bad[:20]:
        print(line)
    least = {"edges to a block": 400, "edges from a block": 600, "both ends of a block": 800,
             "instructions of a block": 3000, "behind instructions": 2000,
             "hot edges to a block": 150, "hot edges from a block": 200, "entries and exits": 30,
             "calls and returns": 30}
    for what, n in least.items():
        if c.done[what] < n:
            c.bad.append(what)
            print("too few: %d %s, not %d" % (c.done[what], what, n))
    print("bad" if c.bad else "good")
    sys.exit(1 if c.bad else 0)


main()
