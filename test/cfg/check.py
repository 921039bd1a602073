#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# usage: check.py JSON SVG OBJDUMP
# The graph in JSON against the jumps that objdump prints, and the picture against JSON.
import json
import re
import sys
import xml.etree.ElementTree as xml

graph = json.load(open(sys.argv[1]))
start = int(graph["address"], 16)
end = start + graph["bytes"]
blocks = {int(b["address"], 16): b for b in graph["blocks"]}
by_insn = {}
for e in graph["edges"]:
    by_insn.setdefault(int(e["instruction"], 16), []).append(e)


def target(e):
    return int(graph["blocks"][e["to"]]["address"], 16) if "to" in e else int(e.get("target", "0"), 16)


insns = []
for line in open(sys.argv[3]):
    m = re.match(r"\s+([0-9a-f]+):\t(?:(?:bnd|notrack) )?(\S+)\s*([0-9a-f]*)", line)
    if m and start <= int(m[1], 16) < end:
        insns.append((int(m[1], 16), m[2], m[3]))
follow = {a[0]: b[0] for a, b in zip(insns, insns[1:])}

jumps = 0
for addr, name, to in insns:
    if not re.fullmatch("j[a-z]+", name) or not to:
        continue
    if not any(int(b["address"], 16) <= addr < int(b["address"], 16) + b["bytes"] for b in graph["blocks"]):
        continue
    jumps += 1
    edges = by_insn[addr]
    kinds = [e["kind"] for e in edges if target(e) == int(to, 16)]
    assert kinds, (hex(addr), name, to, edges)
    if name == "jmp":
        assert len(edges) == 1 and kinds[0] in ("jump", "tail"), (hex(addr), edges)
    else:
        falls = [e for e in edges if e["kind"] == "fall"]
        assert len(edges) == 2 and target(falls[0]) == follow[addr], (hex(addr), edges)
    if start <= int(to, 16) < end:
        assert int(to, 16) in blocks, (hex(addr), to)

inner = [e for e in graph["edges"] if "to" in e and not e["kind"].startswith("call")]
wanted = {(e["from"], e["to"], e["kind"]) for e in inner}
drawn, boxes = set(), 0
for g in xml.parse(sys.argv[2]).getroot().iter("{http://www.w3.org/2000/svg}g"):
    kind = g.get("class", "").split()
    title = g.find("{http://www.w3.org/2000/svg}title")
    if kind[:1] == ["b"] and title is not None:
        boxes += 1
    if kind[:1] == ["e"] and title is not None:
        m = re.match(r"(\d+) to (\d+): ([a-z]+)", title.text)
        drawn.add((int(m[1]), int(m[2]), m[3]))
assert boxes == len(graph["blocks"]), boxes
assert drawn == wanted, drawn ^ wanted

# A loop's header is on a cycle: some edge leads back to it; depth is that of the loop around + 1.
for loop in graph["loops"]:
    assert any(e["to"] == loop["header"] and e["back"] for e in inner), loop
    parent = loop.get("parent")
    assert loop["depth"] == (1 if parent is None else graph["loops"][parent]["depth"] + 1), loop
print("good", graph["function"], len(graph["blocks"]), "blocks", jumps, "jumps")
