# SPDX-License-Identifier: GPL-2.0-only
"""What kerninst cover writes for lcov, against others.

lines.py gcov TRACE SOURCE GCOV     counts of lines, against gcov's of the same run
lines.py rows TRACE COVERAGE PROGRAM SHIFT
                                    lines, against objdump's reading of the line table, and addr2line
"""
import collections
import json
import re
import subprocess
import sys


def read_trace(path):
    """{file name: {line: count}}"""
    files, lines = {}, None
    for text in open(path):
        if text.startswith("SF:"):
            lines = files.setdefault(text[3:].strip().split("/")[-1], {})
        elif text.startswith("DA:"):
            number, count = text[3:].split(",")
            assert int(number) not in lines, "line %s twice" % number
            lines[int(number)] = int(count)
        elif text.startswith("LF:"):
            assert int(text[3:]) == len(lines), "LF"
        elif text.startswith("LH:"):
            assert int(text[3:]) == sum(c > 0 for c in lines.values()), "LH"
    return files


def read_gcov(path):
    lines = {}
    for text in open(path):
        m = re.match(r" *([0-9]+|#####)\*?: *([1-9][0-9]*):", text)
        if m:
            lines[int(m[2])] = 0 if m[1] == "#####" else int(m[1])
    return lines


def gcov(trace, source, theirs):
    ours, theirs = read_trace(trace)[source.split("/")[-1]], read_gcov(theirs)
    text = [""] + [t.strip() for t in open(source)]
    for number in sorted(set(ours) | set(theirs)):
        if number not in theirs:
            assert text[number] in "{}", "line %d is ours alone: %s" % (number, text[number])
        elif number not in ours:
            label = re.match(r"case |default:|.*\)$", text[number])
            assert label, "line %d is gcov's alone: %s" % (number, text[number])
        else:
            assert ours[number] == theirs[number], "line %d: %d, gcov says %d" % (
                number, ours[number], theirs[number])
    both = set(ours) & set(theirs)
    assert len(both) >= 20 and any(not ours[n] for n in both)
    print("%d lines as gcov counts them" % len(both))


def read_rows(program):
    """[(first, end, file, line, is statement)] of the line table."""
    out = subprocess.run(["objdump", "--dwarf=decodedline", "-WL", program],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    rows, sequence = [], []
    for text in out.splitlines():
        m = re.match(r"(\S+) +(\d+|-) +(0x[0-9a-f]+|0)(?: +\d+)?( +x)?(.*)$", text)
        if not m:
            continue
        sequence.append((int(m[3], 16), m[1].split("/")[-1], m[2], bool(m[4])))
        if m[2] == "-" or "END" in m[5]:
            for here, after in zip(sequence, sequence[1:]):
                rows.append((here[0], after[0], here[1], int(here[2]), here[3]))
            sequence = []
    return rows


def read_blocks(path, shift):
    for text in open(path):
        if not text.startswith('{"name"'):
            continue
        f = json.loads(text.rstrip().rstrip(","))
        start = int(f["addr"], 16) - shift
        for block in f["blocks"]:
            how = block[3] if len(block) > 3 else "probed"
            if how != "unknown":
                yield start + block[0], block[1], block[2] if len(block) > 2 else 0


def rows(trace, coverage, program, shift):
    ours, table = read_trace(trace), read_rows(program)
    expected = collections.defaultdict(dict)
    executed = []
    for addr, size, count in read_blocks(coverage, int(shift, 0)):
        if count and any(first < addr + size and addr < end for first, end, *_ in table):
            executed += range(addr, addr + size)
        for first, end, name, line, statement in table:
            inside = addr <= first < addr + size or first <= addr < end
            if statement and inside:
                expected[name][line] = expected[name].get(line, 0) or count > 0
    hit = {name: {n: c > 0 for n, c in lines.items()} for name, lines in ours.items()}
    assert hit == expected, "lines differ: %s, objdump says %s" % (hit, dict(expected))
    out = subprocess.run(["addr2line", "-e", program], input="\n".join(map(hex, executed)),
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    seen = 0
    for addr, place in zip(executed, out.split("\n")):
        m = re.match(r".*/([^/]+):(\d+)", place)
        row = [r for r in table if r[0] <= addr < r[1]]
        if m and row and row[-1][4] and row[-1][2:4] == (m[1], int(m[2])):
            assert hit[m[1]][int(m[2])], "%x was executed: %s" % (addr, place)
            seen += 1
    assert seen >= 20, "addr2line knows few of the bytes: %d" % seen
    print("%d lines as objdump reads them, %d bytes as addr2line does" % (
        sum(map(len, hit.values())), seen))


{"gcov": gcov, "rows": rows}[sys.argv[1]](*sys.argv[2:])
