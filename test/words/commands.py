#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands that the documents tell people to type: FILE:LINE and command, each ended by a zero.

usage: test/words/commands.py FILE...

Of Markdown: indented lines that begin with a command of ours. Of manuals: the lines of EXAMPLES
(.Dl, and what is between .Bd and .Ed). A comment behind a command is not a part of it.
"""
import re
import sys

OURS = re.compile(r"(kerninst|kdtrace|kerninstd|vm/run) ")
ESCAPES = {r"\(aq": "'", r"\(dq": '"', r"\-": "-", r"\e": "\\", r"\&": ""}


def plain(text):
    for escape, char in ESCAPES.items():
        text = text.replace(escape, char)
    return text


def without_comment(command):
    return re.sub(r"\s+# .*$", "", command)


def of_markdown(lines):
    for number, line in enumerate(lines, 1):
        if line.startswith("    ") and OURS.match(line[4:]):
            yield number, without_comment(line[4:].rstrip())


def of_manual(lines):
    inside = literal = False
    block, began = [], 0
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        if line.startswith(".Sh"):
            inside = line == ".Sh EXAMPLES"
        elif not inside:
            continue
        elif line.startswith(".Bd"):
            literal, block, began = True, [], number + 1
        elif line.startswith(".Ed"):
            literal = False
            yield began, plain("\n".join(block))
        elif literal:
            block.append(line)
        elif line.startswith(".Dl "):
            yield number, re.sub(r"^[#$] ", "", plain(line[4:]))


def main():
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            lines = f.readlines()
        found = of_markdown(lines) if name.endswith(".md") else of_manual(lines)
        for number, command in found:
            sys.stdout.write(f"{name}:{number}\0{command}\0")


main()
