#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands that the documents tell people to type: FILE:LINE and command, each ended by a zero.

usage: test/words/commands.py FILE...

Of Markdown (NAME.md): lines that are indented by four columns or more and begin with a command that
is ours or brings ours onto a machine; in README.md and the tutorial code within a line, too, if it is
a command with arguments. Of manuals: the lines of EXAMPLES (.Dl, and what is between .Bd and .Ed). Of
what --help says (NAME.help): the lines behind "Examples:". A command whose quotes are open goes on in
the next line. A comment behind a command is not a part of it. What is said twice is given once.
"""
import re
import sys

OURS = r"(kerninst|kdtrace|kerninstd|vm/run)"
LINE = re.compile(rf" {{4,}}({OURS}|make|sudo|setcap|setpriv|modinfo|mokutil|test/\S+|build/\S+) .*| {{4,}}(make|test/\S+\.sh)$")
INLINE = re.compile(rf"`({OURS} [^\s`]+ [^`]+|make demo [^`]+)`")
WITH_INLINE = ("README.md", "doc/dtutorial.md")
ESCAPES = {r"\(aq": "'", r"\(dq": '"', r"\-": "-", r"\e": "\\", r"\&": ""}


def plain(text):
    for escape, char in ESCAPES.items():
        text = text.replace(escape, char)
    return text


def without_comment(command):
    return re.sub(r"\s+# .*$|\s{4,}\S.*$", "", command)


def is_open(command):
    return command.count("'") % 2 == 1


def whole(lines, number):
    """The command that begins in that line, and how many lines it has."""
    command, n = lines[number].strip(), 1
    if not is_open(without_comment(command)):
        return without_comment(command), n
    while is_open(command) and number + n < len(lines):
        command += "\n" + lines[number + n].strip()
        n += 1
    return command, n


def of_markdown(lines, name):
    number = 0
    while number < len(lines):
        n = 1
        if LINE.match(lines[number]):
            command, n = whole(lines, number)
            yield number + 1, command
        elif name in WITH_INLINE:
            for found in INLINE.finditer(lines[number]):
                if "..." not in found[1]:
                    yield number + 1, found[1]
        number += n


def of_help(lines, _):
    number = lines.index("Examples:") + 1
    while number < len(lines) and lines[number].startswith("  "):
        command, n = whole(lines, number)
        yield number + 1, command
        number += n


def of_manual(lines, _):
    inside = literal = False
    block, began = [], 0
    for number, line in enumerate(lines, 1):
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


def place(name):
    """What a person would have typed to read it."""
    return name.rsplit("/", 1)[1][:-5] + " --help" if name.endswith(".help") else name


def main():
    readers = {"md": of_markdown, "help": of_help}
    given = set()
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            lines = f.read().splitlines()
        for number, command in readers.get(name.rsplit(".", 1)[1], of_manual)(lines, name):
            if command not in given:
                given.add(command)
                sys.stdout.write(f"{place(name)}:{number}\0{command}\0")


main()
