#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Scripts for kerninstd: what the page does, without the page.

usage: kperfmon.py [--url URL | --socket PATH] [FILE]...     commands; none: from standard input

  metric select|unselect NAME...    metric clear|list      metric describe NAME
  resource select|unselect POINT... resource clear|list    a POINT also as the function's 0xADDRESS
  predicate [TEXT]                  cpu all|each|N          of what is added from then on
  visi new NAME                     nothing is inserted yet
  visi add NAME                     a curve for each selected metric and resource: these are inserted
  visi close NAME                   they are taken out
  export NAME csv|json [FILE]       what its curves have said so far; FILE: not to standard output
  wait SECONDS                      while samples come
  source FILE                       the commands in it

What is refused is said on standard error, and the exit status is 1 at the end. When the script ends,
everything that it has inserted is taken out.
"""
import csv
import http.client
import json
import shlex
import socket
import sys
import threading
import time
import urllib.parse

SOCKET = "/run/kerninst/kperfmon.sock"


class Daemon:
    """One client: its stream is read by a thread of its own."""

    def __init__(self, url, path):
        at = urllib.parse.urlsplit(url) if url else None
        self.path, self.host = path, at.netloc if at else "localhost"
        self.token = urllib.parse.parse_qs(at.query)["token"][0] if at else ""
        self.samples, self.refusals, self.why, self.client = [], [], "", None
        self.there = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()
        if not self.there.wait(60) or not self.client:
            sys.exit("kperfmon: " + (self.why or "the daemon does not answer"))

    def connect(self):
        c = http.client.HTTPConnection(self.host, timeout=None)
        if self.path:
            c.sock = socket.socket(socket.AF_UNIX)
            c.sock.connect(self.path)
        return c

    def ask(self, path, body=None):
        c = self.connect()
        c.request("GET" if body is None else "POST", path, body and json.dumps(body),
                  {"Authorization": "Bearer " + self.token} if self.token else {})
        answer = json.load(c.getresponse())
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        return answer

    def listen(self):
        try:
            c = self.connect()
            c.request("GET", "/api/events" + ("?token=" + self.token if self.token else ""))
            event = ""
            for line in c.getresponse():
                kind, _, text = line.decode().rstrip("\n").partition(": ")
                if kind == "event":
                    event = text
                elif kind == "data":
                    self.take(event, json.loads(text))
        except (OSError, ValueError, http.client.HTTPException) as e:
            self.why = str(e)
        self.there.set()

    def take(self, event, data):
        if event == "hello":
            self.client = data["client"]
            self.there.set()
        elif event == "sample":
            self.samples.append(data)
        elif event == "curve":
            self.refusals.append(data)
        elif event == "bye":
            self.why = data["why"]


class Script:
    def __init__(self, daemon):
        self.daemon, self.failed = daemon, False
        self.metrics, self.resources, self.visis = [], [], {}
        self.predicate, self.cpu = "", "all"
        self.known = {m["name"]: m for m in daemon.ask("/api/metrics")}
        self.names = None

    def run(self, file):
        for number, line in enumerate(file, 1):
            words = shlex.split(line, comments=True)
            if not words:
                continue
            try:
                getattr(self, "do_" + words[0])(*words[1:])
            except (AttributeError, TypeError, KeyError):
                sys.exit(f"kperfmon: {file.name}:{number}: not understood: {line.strip()}")
            except (ValueError, OSError) as e:
                sys.exit(f"kperfmon: {file.name}:{number}: {e}")

    @staticmethod
    def choose(chosen, what, names):
        if what == "clear":
            chosen.clear()
        elif what == "list":
            print("\n".join(chosen))
        elif what == "select":
            chosen += [n for n in names if n not in chosen]
        elif what == "unselect":
            chosen[:] = [n for n in chosen if n not in names]
        else:
            raise KeyError(what)

    def do_metric(self, what, *names):
        unknown = [n for n in names if n not in self.known]
        if unknown:
            raise ValueError("no such metric: " + unknown[0])
        if what == "describe":
            m = self.known[names[0]]
            print(f"{m['name']}  {m['unit'] or 'count'}  {m['form']}\n  {m['text']}\n  code: {m['code']}")
        else:
            self.choose(self.metrics, what, names)

    def do_resource(self, what, *points):
        self.choose(self.resources, what, [self.named(p) for p in points])

    def named(self, point):
        """An address that a function begins at is the function."""
        if not point.startswith("0x"):
            return point
        if self.names is None:
            self.names = {int(a, 16): (m["name"] + ":" if m["name"] else "") + n
                          for m in self.daemon.ask("/api/functions")["modules"] for n, a in zip(m["names"], m["addr"])}
        name = self.names.get(int(point, 16))
        return f"{name}@{point}" if name else point

    def do_predicate(self, text=""):
        self.predicate = text

    def do_cpu(self, which):
        self.cpu = which if which in ("all", "each") else int(which)

    def do_visi(self, what, name):
        if what == "new":
            self.visis[name] = []
            return
        visi = self.visis[name]
        if what == "close":
            self.daemon.ask("/api/curves/remove", {"client": self.daemon.client, "ids": [c["id"] for c in visi]})
            del self.visis[name]
        elif what == "add":
            wanted = [{"metric": m, "point": p, "cpu": self.cpu, "predicate": self.predicate} for m in self.metrics for p in self.resources]
            for c in self.daemon.ask("/api/curves", {"client": self.daemon.client, "curves": wanted})["curves"]:
                if "refused" in c:
                    self.failed = True
                    print(f"kperfmon: {c['metric']} {c['point']}: {c['refused']['message']} [{c['refused']['reason']}]", file=sys.stderr)
                else:
                    visi.append(c)
        else:
            raise KeyError(what)

    def do_wait(self, seconds):
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end and not self.daemon.why:
            time.sleep(0.05)

    def do_export(self, name, form, path=None):
        visi = self.visis[name]
        samples = [s for s in list(self.daemon.samples) if any(str(c["id"]) in s["values"] for c in visi)]
        out = open(path, "w", encoding="utf-8") if path else sys.stdout
        if form == "json":
            json.dump({"curves": visi, "samples": samples}, out)
            out.write("\n")
        elif form == "csv":
            rows = csv.writer(out)
            rows.writerow(["from", "to", *(f"{c['metric']} {c['point']}" + (f" cpu {c['cpu']}" if c["cpu"] != "all" else "") for c in visi)])
            for s in samples:
                rows.writerow([s["from"], s["to"], *(self.cell(s["values"].get(str(c["id"]))) for c in visi)])
        else:
            raise KeyError(form)
        if path:
            out.close()

    @staticmethod
    def cell(value):
        return "" if value is None else sum(value) if isinstance(value, list) else value

    def do_source(self, path):
        with open(path, encoding="utf-8") as f:
            self.run(f)


def main(args):
    if args[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    url = args[1] if args[:1] == ["--url"] else None
    path = args[1] if args[:1] == ["--socket"] else None if url else SOCKET
    files = args[2:] if args[:1] in (["--url"], ["--socket"]) else args
    script = Script(Daemon(url, path))
    for f in files:
        script.do_source(f)
    if not files:
        script.run(sys.stdin)
    for name in list(script.visis):
        script.do_visi("close", name)
    return 1 if script.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
