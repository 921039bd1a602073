#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Comparisons that KCOV's file has, against objdump.

usage: kcov_cmp.py VMLINUX RANGES LIST RECORDS

RANGES: functions, "from to" in hex, as linked; LIST: what kerninst kcov --list writes; RECORDS: what
the client prints. objdump says what stands at an address; the rest is written down here once more.
"""
import re
import subprocess
import sys

SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}


def register_size(name):
    if re.fullmatch(r"r(\d+)|r[a-ds][xpi]|r[sd]i", name):
        return 8
    if re.fullmatch(r"e..|r\d+d", name):
        return 4
    if re.fullmatch(r".x|[sd]i|[sb]p|r\d+w", name):
        return 2
    return 1


def operands(text):
    """The parts between commas that are in no parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)]


class Instruction:
    def __init__(self, mnemonic, text):
        self.mnemonic = mnemonic
        self.operands = operands(re.sub(r"\s*#.*|\s*<.*", "", text))
        names = [o[1:] for o in self.operands if re.fullmatch(r"%\w+", o)]
        suffix = re.fullmatch(r"(?:cmp|test)([bwlq])", mnemonic)
        self.size = SIZES[suffix.group(1)] if suffix else register_size(names[0])
        number = [o for o in self.operands if o.startswith("$")]
        self.number = int(number[0][1:], 16) if number else None

    def untold(self):
        """What doc says is not recorded."""
        text = " ".join(self.operands)
        return "%gs" in text or "%fs" in text or any(o in ("%rsp", "%esp") for o in self.operands) \
            or (self.mnemonic.startswith("cmp") and self.operands[0] == self.operands[1])

    def wants(self):
        """The constant, or None."""
        mask = (1 << 8 * self.size) - 1
        if self.number is not None:
            return self.number & mask
        if self.mnemonic.startswith("test") and self.operands[0] == self.operands[1]:
            return 0
        return None


def disassemble(vmlinux, ranges):
    found = {}
    for line in open(ranges):
        start, end = line.split()
        out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--start-address=0x" + start,
                              "--stop-address=0x" + end, vmlinux],
                             check=True, capture_output=True, text=True).stdout
        for match in re.finditer(r"^\s*([0-9a-f]+):\s+((?:cmp|test)[bwlq]?)\s+(.*)$", out, re.M):
            found[int(match.group(1), 16)] = Instruction(match.group(2), match.group(3))
    return found


def check(name, good):
    print(("ok " if good else "not ok ") + name)


def calls_of(path):
    """[(name, constant, value, records)], a record: (type, first, second, address)"""
    calls = []
    for line in open(path):
        word, *rest = line.split()
        if word == "want":
            calls.append((rest[0], int(rest[1], 16), int(rest[2], 16), []))
        else:
            calls[-1][3].append(tuple(int(v, 0) for v in rest))
    return calls


def is_as_objdump_has_it(record, seen):
    kind, first, second, address = record
    there = seen.get(address)
    if not there or kind >> 1 != {1: 0, 2: 1, 4: 2, 8: 3}[there.size]:
        return False
    want = there.wants()
    return first == want and kind & 1 == 1 if want is not None else kind & 1 == 0


def main():
    seen = disassemble(sys.argv[1], sys.argv[2])
    listed = {int(line.split()[0], 16) for line in open(sys.argv[3]) if line.endswith(" comparison\n")}
    calls = calls_of(sys.argv[4])
    records = [r for call in calls for r in call[3]]
    told = {a for a, i in seen.items() if not i.untold()}

    print(f"# objdump sees {len(seen)} comparisons, {len(told)} that are to be recorded, "
          f"{len(listed)} are; {len(records)} records at {len({r[3] for r in records})}")
    check("objdump sees enough", len(told) >= 150 and len(records) >= 80)
    check("what is recorded objdump sees as comparisons", listed <= told)
    check("nearly all that it sees is recorded", len(told - listed) <= len(told) // 50)
    for address in sorted(told - listed)[:20]:
        print(f"# not recorded: {address:x} {seen[address].mnemonic} {seen[address].operands}")
    check("each record's place is listed", {r[3] for r in records} <= listed)
    wrong = [r for r in records if not is_as_objdump_has_it(r, seen)]
    for r in wrong[:10]:
        print("# wrong: type %d 0x%x 0x%x at 0x%x" % r)
    check("sizes and constants are those of the instructions", not wrong)
    check("there are constants, and pairs of values", {r[0] & 1 for r in records} == {0, 1})
    for name, constant, value, own in calls:
        good = any(r[0] & 1 and r[1:3] == (constant, value) for r in own)
        check(name + " is compared with its constant", good)
        if not good:
            print("# 0x%x 0x%x is not in" % (constant, value), " ".join("%x:%x" % r[1:3] for r in own))


main()
