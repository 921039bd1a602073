#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the documents' commands (what commands.py prints, on standard input), as at a prompt.

usage: test/words/run.py TABLE ROWS PHASE [PLACES]

TABLE says what a command needs beyond that (table), ROWS has a line for each suite and each goal of
make that TABLE may name, PHASE is `main`, `last` or `host`,
PLACES globs of those whose commands are meant. A command is good if its status is 0, it says
something or ends by itself, and no line of what it says is an error. One that has no end of its own
must go on, and gets Ctrl-C when it waits.

Prints "ok PLACE: COMMAND" or "not ok ..." for each command that is this phase's, and in the main
phase for each that is named elsewhere; at the end how many there are of each kind.
"""
import fnmatch
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time

OURS = ("kerninst", "kdtrace", "kerninstd")
# Errors end with a status, which a background command or an interrupted one may hide.
ERROR = re.compile(rf"^({'|'.join(OURS)}): .*(cannot|could not|failed|Too many|[Nn]o such|unknown|not loaded|denied|interrupted while)|"
                   r"^(curl|jq|rmmod|modprobe): |\*\*\* |bash: |command not found|Traceback", re.M)
# A point that is left out, with the reason, is the user's to know.
NOTES = re.compile(r": not (counted|recorded): |left out")
# With one of these a command has an end of its own.
ENDS = re.compile(r" -- | -c '|--dry-run|--for |--from |--diff | -n$| -ln? |--replace|replace -n|&&")
GOES_ON = re.compile(r"(kerninst (stat|record|top|paths|kcov|evolve|cover) .*|kdtrace .*|kerninstd\b.*)")
TERMINAL = re.compile(r"kerninst top (?!-b|--json)")
# rt_sigtimedwait, poll, ppoll, epoll_wait, epoll_pwait, nanosleep, clock_nanosleep, pselect6
WAITING = {"128", "7", "271", "232", "281", "35", "230", "270"}
LIMIT = 300 # seconds, of a machine among others
counts = {"run": 0, "failed": 0, "elsewhere": 0, "outside": 0}
printing = threading.Lock()


class Rule:
    """What TABLE says of a command."""

    def __init__(self, rows, command):
        self.said = [(kind, detail) for glob, kind, detail in rows if fnmatch.fnmatchcase(command, glob)]

    def get(self, kind):
        return next((detail for k, detail in self.said if k == kind), None)

    def has(self, kind):
        return self.get(kind) is not None


def read_table(name):
    with open(name, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and line[0] != "#"]
    return [(row + [""])[:3] for row in rows]


def say(good, text, more=""):
    with printing:
        print(("ok " if good else "not ok ") + text.replace("\n", " "))
        for line in more.splitlines()[-15:]:
            print("# " + line)
        sys.stdout.flush()


def family(pid):
    yield pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        children = f.read().split()
    for child in children:
        yield from family(child)


def waits(shell):
    """A tool of ours that this shell runs, or is by now, waits for what happens next."""
    try:
        for pid in family(shell):
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) not in OURS:
                continue
            with open(f"/proc/{pid}/syscall", encoding="ascii") as f:
                if f.read().split()[0] in WAITING:
                    return True
    except OSError: # one of them has just ended
        pass
    return False


class Command:
    """One that runs: in a session of its own, with a terminal if it wants one."""

    def __init__(self, text):
        self.terminal = TERMINAL.match(text) is not None
        self.out = open(f"/tmp/said.{threading.get_ident()}", "w+b")
        argv = ["bash", "-c", "set -o pipefail\n" + text]
        if self.terminal:
            self.pid, self.master = pty.fork()
            if self.pid == 0:
                os.environ["TERM"] = "xterm"
                os.execvp(argv[0], argv)
            threading.Thread(target=self.read_terminal, daemon=True).start()
            self.process = None
        else:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.out,
                                            stderr=self.out, start_new_session=True)
            self.pid = self.process.pid
        self.status = None

    def read_terminal(self):
        try:
            while data := os.read(self.master, 65536):
                self.out.write(data)
        except OSError:
            pass

    def ended(self):
        if self.status is None and self.process:
            self.status = self.process.poll()
        elif self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait_until(self, true, seconds):
        end = time.monotonic() + seconds
        while not (come := true()) and time.monotonic() < end:
            time.sleep(0.2)
        return come

    def waits(self):
        """For good: not between two things that it does."""
        return waits(self.pid) and not time.sleep(0.5) and waits(self.pid)

    def interrupt(self):
        if self.terminal:
            os.write(self.master, b"\x03")
        else:
            os.killpg(self.pid, signal.SIGINT)

    def is_gone(self, sent):
        self.ended()
        try:
            os.killpg(self.pid, sent)
        except ProcessLookupError:
            return True
        return False

    def said(self):
        """What it has said; nothing of it is left."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if self.wait_until(lambda sent=sent: self.is_gone(sent), 20):
                break
        self.ended()
        self.out.flush()
        self.out.seek(0)
        return self.out.read().decode("utf-8", "replace")


def goes_on(text):
    return GOES_ON.match(text) and not ENDS.search(text)


def fault(running, text):
    """What is wrong with how it runs, or None."""
    if goes_on(text):
        if not running.wait_until(lambda: running.ended() or running.waits(), LIMIT):
            return "does not get to where it waits"
        time.sleep(1)
        if running.ended():
            return f"ended by itself, with {running.status}"
        running.interrupt()
    if not running.wait_until(running.ended, LIMIT):
        return f"did not end in {LIMIT} s"
    return f"ended with {running.status}" if running.status else None


def run(place, command, rule):
    text = re.sub(r"^vm/run -- ", "", rule.get("as") or command)
    begun = time.monotonic()
    running = Command((rule.get("before") or "") + "\n" + text if rule.has("before") else text)
    wrong = fault(running, text)
    said = running.said()
    allowed = rule.get("prints")
    errors = [line for line in said.splitlines() if ERROR.search(line) and not NOTES.search(line)
              and not (allowed and re.search(allowed, line))]
    if not wrong and errors:
        wrong = "says: " + errors[0]
    if not wrong and goes_on(text) and not said.strip() and not rule.has("silent"):
        wrong = "says nothing"
    counts["run"] += 1
    counts["failed"] += wrong is not None
    say(not wrong, f"{place}: {command} ({time.monotonic() - begun:.1f} s)", f"{wrong}\n{said[-1500:]}" if wrong else "")


def not_run(place, command, rule, rows):
    if rule.has("outside"):
        counts["outside"] += 1
        print(f"# {place}: {command}: {rule.get('outside')}")
        return
    suite = rule.get("elsewhere")
    counts["elsewhere"] += 1
    good = all(name in rows for name in suite.split())
    counts["failed"] += not good
    say(good, f"{place}: {command}: by {suite}", "" if good else "there is no such suite or goal")


def main():
    table, rows, phase = read_table(sys.argv[1]), set(open(sys.argv[2], encoding="utf-8").read().split()), sys.argv[3]
    given = sys.stdin.buffer.read().decode().split("\0")[:-1]
    lanes, last = {"main": [], "beside": []}, []
    places = sys.argv[4] if len(sys.argv) > 4 else "*"
    for place, command in zip(given[::2], given[1::2]):
        if not any(fnmatch.fnmatchcase(place, glob) for glob in places.split()):
            continue
        rule = Rule(table, command)
        if rule.has("last"):
            last.append((rule.get("last"), place, command, rule))
        elif rule.has("host") and phase == "host":
            lanes["main"].append((place, command, rule))
        elif rule.has("host") or phase == "host":
            counts["elsewhere"] += rule.has("host")
        elif rule.has("elsewhere") or rule.has("outside"):
            if phase == "main":
                not_run(place, command, rule, rows)
        else:
            lanes["beside" if rule.has("beside") else "main"].append((place, command, rule))
    if phase == "last":
        lanes = {"main": [row[1:] for row in sorted(last, key=lambda row: row[0])]}
    threads = [threading.Thread(target=lambda lane=lane: [run(*one) for one in lane]) for lane in lanes.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("# {run} were run, {elsewhere} are run by other suites, {outside} by none; {failed} failed".format(**counts))
    return counts["failed"] != 0


sys.exit(main())
