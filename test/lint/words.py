#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names, comments and messages say what the field says: no metaphor, and no word of several meanings.

test/lint/words.table has the words that were ours alone, with what to say instead.
"""
import os
import re
import subprocess
import sys


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    rows = []
    with open("test/lint/words.table", encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                word, say, *but = line.rstrip("\n").split("\t")
                rows.append((re.compile(word, re.I), say, re.compile(but[0]) if but else None))
    failed = False
    names = subprocess.check_output(["git", "ls-files", "include", "lib", "kmod", "tools", "man", "README.md"], text=True)
    for name in names.split():
        with open(name, encoding="utf-8") as f:
            lines = [os.path.basename(name), *f]
        for number, line in enumerate(lines):
            for word, say, but in rows:
                found = word.search(line)
                if found and not (but and but.search(line)):
                    failed = True
                    print(f"lint: {name}:{number}: '{found[0]}': say {say}")
    return failed


sys.exit(main())
