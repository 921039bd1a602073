# SPDX-License-Identifier: GPL-2.0-only
"""The report of kerninst cover, looked through without a browser.

html.py DIR COVERAGE    tags are closed, links lead somewhere, nothing comes from outside, each
                        function that was hit has a page, and its page says what the coverage says
"""
import html.parser
import json
import os
import re
import sys

VOID = {"meta", "link", "input", "br"}
OPTIONAL = {"th", "tr", "html"}  # may be left open


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.open, self.links, self.ids = path, [], [], set()
        self.rows, self.cells, self.scripts = [], None, 0
        self.feed(open(path, encoding="utf-8").read())
        self.close()
        left = [t for t in self.open if t not in OPTIONAL]
        assert not left, "%s: %s not closed" % (path, left)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            assert attrs["id"] not in self.ids, "%s: %s twice" % (self.path, attrs["id"])
            self.ids.add(attrs["id"])
        for name in ("href", "src"):
            if name in attrs:
                self.links.append(attrs[name])
        assert not any(a.startswith("on") for a in attrs), "%s: %s" % (self.path, attrs)
        self.scripts += tag == "script"
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    handle_startendtag = lambda self, tag, attrs: None

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        assert self.open and self.open.pop() == tag, "%s: </%s>" % (self.path, tag)

    def handle_data(self, data):
        if self.rows and self.rows[-1] and "td" in self.open:
            self.rows[-1][-1] += data


def functions(path):
    lines = open(path).read().split("\n")
    return [json.loads(t.rstrip(",")) for t in lines[1:] if t.startswith('{"name"')]


def check_links(root, pages):
    for path, page in pages.items():
        for link in page.links:
            assert not re.match(r"[a-z]+:|//", link) or link == "data:,", "%s: %s" % (path, link)
            if link == "data:,":
                continue
            name, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            assert os.path.exists(target), "%s: %s leads nowhere" % (path, link)
            assert not anchor or anchor in pages[target].ids, "%s: %s" % (path, link)
        assert page.scripts == 1, path


def check_function(page, f):
    rows = [r for r in page.rows if len(r) >= 6 and re.match(r"\+0x", r[1])]
    assert len(rows) == len(f["blocks"]), f["name"]
    line = len(rows[0]) - 7
    for number, (row, block) in enumerate(zip(rows, f["blocks"])):
        count = str(block[2]) if len(block) > 2 else "0"
        if len(block) > 3 and block[3] == "unknown":
            count = "?"
        said = (row[0], row[1], row[2], row[4 + line].replace(",", ""))
        assert said == (str(number), hex(block[0]).replace("0x", "+0x"), str(block[1]), count), said


def main(root, coverage):
    pages = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".html"):
                pages[os.path.join(folder, name)] = Page(os.path.join(folder, name))
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            assert not re.search(r"(src|href)=\"?(https?:)?//|@import|url\(", text), name
    check_links(root, pages)
    all_functions, hit = functions(coverage), 0
    for number, f in enumerate(all_functions):
        path = os.path.join(root, "f", "%d.html" % number)
        was_hit = any(len(b) > 2 and b[2] for b in f["blocks"])
        assert os.path.exists(path) == was_hit, path
        if was_hit:
            check_function(pages[path], f)
            hit += 1
    names = open(os.path.join(root, "names.js"), encoding="utf-8").read().strip()
    listed = json.loads(names[len("kerninstNames("):-len(");")].strip())
    assert listed[0::3] == [f["name"] for f in all_functions]
    print("%d pages, %d functions hit, %d with a graph" % (
        len(pages), hit, sum("#b0" in p.links for p in pages.values())))


main(*sys.argv[1:])
