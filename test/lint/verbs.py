#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One verb makes what a caller has to give back, and one verb gives it back: ki_X_new and ki_X_free.

No public function opens, closes, makes, creates or destroys. What is made in several ways has
ki_X_new_HOW. Each ki_X_new has its ki_X_free. What has a ki_X_free is not made by parse, build, compile
or install instead. A function that hands out an object whose structure is not public is a ki_X_new,
or reads what has been counted: a reading, like a list that is filled in, has a ki_X_free alone.
"""
import glob
import os
import re
import sys

OTHER_VERBS = re.compile(r"_(open|close|make|create|alloc|destroy|release|dispose|delete)(_|$)")
MAKERS = ("parse", "build", "compile", "install")
# Its nodes belong to a snippet.
OWNED = ("ki_node",)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    with open("lib/libkerninst.map", encoding="utf-8") as f:
        names = set(re.findall(r"^\t(ki_\w+);", f.read(), re.M))
    faults = [f"{name}: say new or free" for name in names if OTHER_VERBS.search(name)]
    for name in names:
        made = re.match(r"(ki_\w+?)_new(_|$)", name)
        if made and made[1] + "_free" not in names:
            faults.append(f"{name}: there is no {made[1]}_free")
        freed = name.removesuffix("_free")
        if freed != name and not any(n == freed + "_new" or n.startswith(freed + "_new_") for n in names):
            faults += [f"{freed}_{verb}: what is freed is made by {freed}_new" for verb in MAKERS if f"{freed}_{verb}" in names]
    for header in glob.glob("include/kerninst/*.h"):
        with open(header, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        opaque = set(re.findall(r"^struct (ki_\w+);", text, re.M)) - set(OWNED)
        for name, arguments in re.findall(r"\b(ki_\w+)\(([^;{}]*?)\);", text):
            handed = set(re.findall(r"(?<!const )struct (ki_\w+) \*\*\w+", arguments)) & opaque
            if handed and not re.search(r"_(new|read)(_|$)", name) and name in names:
                faults.append(f"{name}: it hands out a struct {min(handed)}, so it is a new")
    for fault in sorted(faults):
        print(f"lint: include/kerninst: {fault}")
    return bool(faults)


sys.exit(main())
