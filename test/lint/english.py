#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What can be measured of plain English: documents, manual pages, public headers, the driver's
comments, and the sentences and hints of refusals.

A sentence has at most 25 words between its stops (. ! ? ; :), where `code` is one word, at most 40
up to its full stop, and at most two semicolons. None calls a task, a thread or a tool "he",
"whoever" or "somebody", and none says "behind" for after. test/lint/english.known is how many
sentences of a file are still longer: it must have no more, and a line that says more than there are
is a fault, so the number only falls.
"""
import os
import re
import subprocess
import sys

LONGEST, WHOLE, SEMICOLONS = 25, 40, 2
PERSONS = re.compile(r"\b(he|him|his|himself|whoever|somebody|nobody|(?<!-)behind(?! a proxy))\b", re.I)
FULL = r"(?<=[.!?])\s+|(?<=[.!?]\))\s+"
FULL_STOP, STOP = re.compile(FULL), re.compile(r"(?<=[;:])\s+|" + FULL)


def paragraphs_of_markdown(text):
    para, code = [], False
    for line in text.split("\n") + [""]:
        if line.startswith("```"):
            code, line = not code, ""
        if code or line.startswith(("#", "    ")) or line.lstrip().startswith("|"):
            line = ""
        item = re.match(r"\s*(?:[*-]|\d+\.) ", line)
        if (item or not line.strip()) and para:
            yield " ".join(para)
            para = []
        if line.strip():
            para.append(line[item.end():] if item else line.strip())


def paragraphs_of_c(text):
    """Of each comment paragraphs and items of lists, but no code and no rows of tables."""
    for comment in re.findall(r"/\*(.*?)\*/", text, re.S):
        para, in_item = [], False
        for line in comment.split("\n") + [""]:
            line = re.sub(r"^\s*\* ?", "", line)
            is_deep = line.startswith(("\t", "   "))
            item = re.match(r" {1,5}[-*] ", line)
            row = re.match(r" *\S+ {2,}\S| *[A-Z]+\t", line)
            if para and (not line.strip() or item or row or (is_deep and not in_item)):
                yield " ".join(para)
                para = []
            in_item = bool(item) or (in_item and is_deep and not row)
            if line.strip() and not row and (in_item or not is_deep):
                para.append(line[item.end():] if item else line.strip())


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


def words(sentence):
    return len([w for w in sentence.split() if re.search(r"\w", w)])


def long_sentences(paragraphs):
    for para in paragraphs:
        for whole in FULL_STOP.split(re.sub(r"`[^`]*`", "X", para)):
            longest = max(words(part) for part in STOP.split(whole))
            if longest > LONGEST:
                yield f"{longest} words: {whole}"
            elif words(whole) > WHOLE:
                yield f"{words(whole)} words up to the full stop: {whole}"
            elif whole.count(";") > SEMICOLONS:
                yield f"{whole.count(';')} semicolons: {whole}"


def paragraphs_of_reasons(text):
    """Sentences and hints, and the comments."""
    yield from paragraphs_of_c(text)
    for row in re.findall(r"^KI_REASON\(.*", text, re.M):
        yield from re.findall(r'"((?:[^"\\]|\\.)+)"', row)


def kind(name):
    if re.fullmatch(r"README\.md|CONTRIBUTING\.md|doc/[a-z/-]+\.md", name):
        return paragraphs_of_markdown
    if name == "include/uapi/kerninst_reasons.def":
        return paragraphs_of_reasons
    if re.fullmatch(r"(include|kmod)/.*\.(h|c|def)", name):
        return paragraphs_of_c
    return paragraphs_of_manual if re.fullmatch(r"man/.*\.[1-8]", name) else None


def only_comments(text):
    """The same lines, without the code."""
    parts = re.split(r"(/\*.*?\*/)", text, flags=re.S)
    return "".join(p if p.startswith("/*") else "\n" * p.count("\n") for p in parts)


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
            print(f"lint: {name}: {len(found)} sentences that are too long, english.known says {most}")
            if len(found) > most:
                print("".join(f"  {sentence}\n" for sentence in found), end="")
        lines = only_comments(text) if name.startswith("kmod/") else text
        for number, line in enumerate(lines.split("\n"), 1):
            person = PERSONS.search(line)
            if person and not line.startswith("#define"):
                failed = True
                print(f"lint: {name}:{number}: '{person[0]}': say the task, the thread, the tool; say after")
    for name in known:
        failed = True
        print(f"lint: test/lint/english.known: {name}: not needed any more")
    return failed


sys.exit(main())
