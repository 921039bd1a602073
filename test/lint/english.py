#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What can be measured of plain English: README, doc/, manual pages and public headers.

A sentence has at most 25 words between its stops (. ! ? ; :), where `code` is one word. Of public
headers, manual pages and README.md none calls a task, a thread or a tool "he", "whoever" or
"somebody", and none says "behind" for after. The driver's essays have neither "he" nor "whoever". test/lint/english.known is how many long sentences a file still has: it must have no
more, and a line that says more than there are is a fault, so the number only falls.
"""
import os
import re
import subprocess
import sys

LONGEST = 25
PERSONS = re.compile(r"\b(he|him|his|himself|whoever|somebody|nobody|behind(?! a proxy))\b", re.I)
STOP = re.compile(r"(?<=[.!?;:])\s+")


def paragraphs_of_markdown(text):
    para, code = [], False
    for line in text.split("\n") + [""]:
        if line.startswith("```"):
            code, line = not code, ""
        if code or line.startswith(("|", "#", "    ")) and not para:
            line = ""
        item = re.match(r"\s*(?:[*-]|\d+\.) ", line)
        if (item or not line.strip() or line.startswith(("|", "#"))) and para:
            yield " ".join(para)
            para = []
        if line.strip() and not line.startswith(("|", "#")):
            para.append(line[item.end():] if item else line.strip())


def paragraphs_of_c(text):
    for comment in re.findall(r"/\*(.*?)\*/", text, re.S):
        para = []
        for line in comment.split("\n") + [""]:
            line = re.sub(r"^\s*\* ?", "", line)
            if (not line.strip() or re.match(r"\t|   | - | *[A-Z]+\t", line)) and para:
                yield " ".join(para)
                para = []
            if line.strip() and not line.startswith(("\t", "   ")):
                para.append(line.strip())


def paragraphs_of_manual(text):
    breaks = "Pp It Sh Ss El Bl Nd D1 Dl Nm Fl Cm Oo Oc Op".split()
    section, para, literal = "", [], False
    for line in text.split("\n") + [".Pp"]:
        macro = re.match(r"\.\s*(\w+)\s*(.*)", line)
        if macro and macro[1] == "Sh":
            section = macro[2]
        if macro and macro[1] in ("Bd", "Ed"):
            literal = macro[1] == "Bd"
        if literal or section in ("SYNOPSIS", "EXAMPLES"):
            continue
        if macro and macro[1] in breaks[:9]:
            if para:
                yield " ".join(para)
            para = []
        elif macro:
            # One word of the page's own, and the stop that comes behind it.
            para.append("X" + (macro[2][-1] if macro[2][-2:-1] == " " and macro[2][-1] in ".;:!?" else ""))
        elif line:
            para.append(line)


def long_sentences(paragraphs):
    for para in paragraphs:
        for sentence in STOP.split(re.sub(r"`[^`]*`", "X", para)):
            words = [w for w in sentence.split() if re.search(r"\w", w)]
            if len(words) > LONGEST:
                yield len(words), sentence


def kind(name):
    if re.fullmatch(r"README\.md|CONTRIBUTING\.md|doc/[a-z-]+\.md", name):
        return paragraphs_of_markdown
    if re.fullmatch(r"include/.*\.(h|def)", name):
        return paragraphs_of_c
    return paragraphs_of_manual if re.fullmatch(r"man/.*\.[1-8]", name) else None


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    known = {}
    with open("test/lint/english.known", encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                name, most = line.split()
                known[name] = int(most)
    failed = False
    for name in subprocess.check_output(["git", "ls-files"], text=True).split("\n"):
        if not kind(name):
            continue
        with open(name, encoding="utf-8") as f:
            text = f.read()
        found = list(long_sentences(kind(name)(text)))
        most = known.pop(name, 0)
        if len(found) != most:
            failed = True
            print(f"lint: {name}: {len(found)} sentences of more than {LONGEST} words, english.known says {most}")
            if len(found) > most:
                for words, sentence in found:
                    print(f"  {words} words: {sentence}")
        if name.startswith(("include/", "man/")) or name == "README.md":
            for number, line in enumerate(text.split("\n"), 1):
                person = PERSONS.search(line)
                if person and not line.startswith("#define"):
                    failed = True
                    print(f"lint: {name}:{number}: '{person[0]}': say the task, the thread, the tool; say after")
    persons = re.compile(r"\b(he|him|his|himself|whoever)\b", re.I)
    for name in subprocess.check_output(["git", "ls-files", "kmod"], text=True).split():
        with open(name, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if persons.search(line):
                    failed = True
                    print(f"lint: {name}:{number}: '{persons.search(line)[0]}': say the task, the CPU, the caller")
    for name in known:
        failed = True
        print(f"lint: test/lint/english.known: {name}: not needed any more")
    return failed


sys.exit(main())
