#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""doc/promises.md: what the headers of the suites promise, one line a row.

usage: test/promises.py [--check]
Prints the page; with --check it compares the page with that, prints what differs, and ends with 1.

The first comment of a suite's script, of a unit test and of a benchmark may have such lines, which go
on in lines that are indented by three blanks:

    promise: K15, F4 (in part): A sentence of at most 25 words. [test_heap.c, kill.sh]
    promise of SUITE, SUITE: ...    where a script is several suites, and these show it
    not shown: K15: What the row asks for, and nothing shows.

Before the sentence stand rows of the plan, if it is of one; after it, other files that show the same.
"""
import os
import re
import subprocess
import sys

LONGEST = 25
TABLES = {"guest": "check", "host": "check", "parts": "parts", "more": "more", "long": "long", "nightly": "nightly"}
ROW = r"[A-Z]\d+(?: \(in part\))?"
HEAD = """# What works, and what shows it

`test/promises.py` writes this page (`make promises`) from the headers of the suites: each line is a promise, and
what would fail if it did not hold. Numbers that were measured are in [studies/numbers.md](studies/numbers.md).

A row's name is the plan's; a dash stands for what the plan does not ask. "In part" means that the plan asks for more than
the sentence says. "Run by" names the suites and the goal that runs them: `make check` (with one of twelve `parts` each time),
`make check-more`, `make check-long`, `make check-nightly`, `make bench`. One suite alone: `make suite S=let-go`.

| row | promise | shown by | run by |
|---|---|---|---|
"""
MISSING = """
## Not shown

| row | what nothing shows |
|---|---|
"""
faults = []


def fault(where, what):
    faults.append(f"lint: {where}: {what}")


def header(name):
    """The lines of the first comment, without its marks."""
    lines = []
    with open(name, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith(("#!", "// SPDX", "/* SPDX")) or line == "/*":
                continue
            text = re.match(r"(?:#| \*(?!/)) ?(.*)", line)
            if not text:
                break
            lines.append(text[1])
    return lines


def marked(name):
    """Each promise of a file, and what is not shown, as one line."""
    found = []
    for line in header(name):
        if line.startswith(("promise", "not shown:")):
            found.append(line)
        elif line.startswith("  ") and found:
            found[-1] += " " + line.strip()
        elif found:
            break
    return found


def files_of(command, files):
    """The files that a suite's command names."""
    found = {w for w in re.findall(r"[\w./-]+", command) if w in files}
    found |= {"test/guest/" + w for w in re.findall(r"GUEST_SCRIPT=(\S+)", command)}
    for test in re.findall(r"build/\w+/(test/fuzz/\w+)", command):
        found.add(test + ".c")
    named = re.findall(r"test/unit/run\.sh \w+ (.*)", command)
    for test in re.findall(r"test/unit/test_(\w+)", command) + (named[0].split() if named else []):
        found |= {f for f in files if f.endswith(f"/test_{test}.c")}
    if "test/unit/run.sh" in command and not named:
        found |= {f for f in files if re.fullmatch(r"test/unit/.*/test_\w+\.c", f)}
    return found


def suites(files):
    """Which suites of which goal run a file."""
    run = {}
    for table, goal in TABLES.items():
        with open("test/suites." + table, encoding="utf-8") as f:
            for line in f:
                if line[0] in "#\n":
                    continue
                name, command = line.rstrip("\n").split("\t")[:2]
                for file in files_of(command, files):
                    run.setdefault(file, []).append((goal, name))
    for file in files:
        if re.fullmatch(r"bench/\w+\.sh", file):
            run[file] = run.get(file, []) + [("bench", "")]
    run["bench/native.c"] = [("bench-native", "")]
    return run


def run_by(of, file):
    goals = {}
    for goal, name in of:
        goals.setdefault(goal, []).append(f"`{name}`" if name else "")
    told = []
    for goal, names in goals.items():
        names = [n for n in names if n]
        more = f" and {len(names) - 2} more" if len(names) > 3 else ""
        told.append((goal + ": " + ", ".join(names[:2] if more else names) + more).removesuffix(": "))
    if not told:
        fault(file, "no suite runs it, so it shows nothing")
    return "; ".join(told)


def witnesses(listed, file, files, run):
    for word in listed.split(", ") if listed else []:
        whole = [f for f in files if f == word or f.endswith("/" + word)]
        if len(whole) != 1:
            fault(file, f"'{word}' is {len(whole)} files: {' '.join(sorted(whole))}")
        elif whole[0] not in run:
            fault(file, f"'{word}' shows nothing: no suite runs it")
        yield f"`{word.split('/')[-1]}`"


def promise(line, file, files, run):
    parts = re.fullmatch(rf"promise(?: of ([\w., -]+))?: (?:({ROW}(?:, {ROW})*): )?(.*?\.)(?: \[([^]]+)\])?", line)
    if not parts:
        fault(file, f"not a promise (test/promises.py says how one is written): {line}")
        return None
    of = run.get(file, [])
    only = parts[1].split(", ") if parts[1] else []
    for name in only:
        if name not in (n for _, n in of):
            fault(file, f"{name} is no suite of it")
    if only:
        of = [o for o in of if o[1] in only]
    if len(parts[3].split()) > LONGEST:
        fault(file, f"a promise has at most {LONGEST} words: {parts[3]}")
    shown = ", ".join([f"`{os.path.basename(file)}`", *witnesses(parts[4], file, files, run)])
    return parts[2] or "-", parts[3], shown, run_by(of, file)


def order(row):
    first = re.match(r"([A-Z])(\d+)", row[0])
    return ("KPEACDGFN".index(first[1]), int(first[2])) if first else (9, 0)


def page():
    files = set(subprocess.check_output(["git", "ls-files"], text=True).split("\n"))
    run = suites(files)
    shown, missing = [], []
    for file in sorted(f for f in files if re.match(r"(test|web/test|bench)/.*\.(sh|c|py)$", f)):
        if file == "test/promises.py":
            continue
        with open(file, encoding="utf-8") as f:
            all_marks = len(re.findall(r"^(?:#| \*) (?:promise|not shown)(?: of .*)?: ", f.read(), re.M))
        if all_marks != len(marked(file)):
            fault(file, "a promise that is not in the first comment of the file")
        for line in marked(file):
            if line.startswith("promise"):
                row = promise(line, file, files, run)
                shown += [row] if row else []
            else:
                rows, _, what = line.removeprefix("not shown: ").partition(": ")
                is_row = re.fullmatch(rf"{ROW}(, {ROW})*", rows)
                missing.append((rows, what) if is_row else ("-", line.removeprefix("not shown: ")))
    lines = lambda rows: "".join("| " + " | ".join(row) + " |\n" for row in sorted(rows, key=order))
    return HEAD + lines(shown) + MISSING + lines(missing)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    text = page()
    for line in faults:
        print(line, file=sys.stderr)
    if sys.argv[1:] != ["--check"]:
        sys.stdout.write(text)
        return bool(faults)
    with open("doc/promises.md", encoding="utf-8") as f:
        is_same = f.read() == text
    if not is_same:
        print("lint: doc/promises.md is not what the suites' headers say: make promises", file=sys.stderr)
    return bool(faults) or not is_same


sys.exit(main())
