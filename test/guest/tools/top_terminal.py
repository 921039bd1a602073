# SPDX-License-Identifier: GPL-2.0-only
"""A terminal for kerninst top: what it draws, as lines; keys; what it leaves behind.

usage: top_terminal.py KERNINST FIELD LOAD...; prints "ok NAME" or "not ok NAME" for each case.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

ki, field, load = sys.argv[1], sys.argv[2], sys.argv[3:]
functions = ["__x64_sys_getsid", "__x64_sys_getpgid", "__x64_sys_clock_nanosleep"]
OPEN, CLOSE = b"\033[?1049h", b"\033[?1049l"
DOWN, BACK = b"\033[B", b"\177"


def windows():
    return int(subprocess.check_output([field, "windows"]))


class Top:
    """One kerninst top in a terminal of its own."""

    def __init__(self, *args, width=100, height=24):
        self.seen = b""
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.size(width, height)
        self.slave = slave
        self.pid = os.fork()
        if not self.pid:
            os.close(self.master)
            self.login(slave)
            os.execv(ki, [ki, "top", *args])

    @staticmethod
    def login(slave):
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)

    def size(self, width, height):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self, seconds=0.1):
        while select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65536)
            seconds = 0

    def key(self, keys):
        os.write(self.master, keys)

    def screen(self):
        """The last one that was drawn to its end: lines, and which is inverse."""
        drawn = self.seen.split(b"\033[1;1H")[1:]
        drawn = [d for d in drawn if b"\033[J" in d]
        if not drawn:
            return [], -1
        lines = re.split(r"\033\[\d+;1H", drawn[-1].split(b"\033[J")[0].decode())
        inverse = [i for i, l in enumerate(lines) if l.startswith("\033[0;7m")]
        return [re.sub(r"\033\[[0-9;]*m", "", l) for l in lines], inverse[0] if inverse else -1

    def rows(self):
        return [l.split()[-1] for l in self.screen()[0][2:-1] if l.strip()]

    def selected(self):
        lines, at = self.screen()
        return lines[at].split()[-1] if at >= 0 else ""

    def until(self, what, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            if what():
                return True
        print("# " + "\n# ".join(self.screen()[0]))
        return False

    def end(self):
        """What it printed when it had left the screen, its exit status, whether the terminal is as it was."""
        end, status = time.monotonic() + 60, 0
        while time.monotonic() < end:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
        else:
            os.kill(self.pid, signal.SIGKILL)
        self.read()
        same = termios.tcgetattr(self.slave) == self.before
        left = self.seen.count(OPEN) == self.seen.count(CLOSE) == 1
        os.close(self.master)
        os.close(self.slave)
        return self.seen.split(CLOSE)[-1].decode(), status, same and left


def case(name, good):
    print(("ok " if good else "not ok ") + name, flush=True)


def totals(text):
    """POINT: its first total, of a printed table."""
    rows = [l.split() for l in text.splitlines() if "__x64_sys" in l]
    return {r[-1]: r[1] for r in rows}


def keys():
    top = Top("-i", "0.3", *functions)
    title = lambda: top.screen()[0][1]
    case("three functions, the busiest first", top.until(lambda: top.rows() == functions))
    case("sorted by what is marked", ">CALLS/S" in title())
    put = windows()
    top.key(b"w")
    case("by wall time who sleeps is the first", top.until(lambda: ">WALLTIME/S" in title() and top.rows()[:1] == functions[2:]))
    top.key(b"c")
    case("and back", top.until(lambda: top.rows() == functions))
    top.key(b"ss")
    case("by name", top.until(lambda: ">POINT" in title() and top.rows() == sorted(functions)))
    case("the first is selected", top.selected() == sorted(functions)[0])
    top.key(b"j" + DOWN)
    case("keys select another", top.until(lambda: top.selected() == "__x64_sys_getsid"))
    top.key(b"k\033[A")
    case("and go up", top.until(lambda: top.selected() == sorted(functions)[0]))
    top.key(b"G")
    case("and to the end", top.until(lambda: top.selected() == "__x64_sys_getsid"))
    measured = windows()
    top.key(b"\r")
    case("Enter shows its blocks", top.until(lambda: "blocks of __x64_sys_getsid: " in top.screen()[0][0]))
    blocks = top.rows()
    case("in their order, all", blocks == [f"__x64_sys_getsid:block/{i}" for i in range(len(blocks))] and len(blocks) > 1)
    top.key(b"s")
    case("what is reached is counted", top.until(lambda: float(top.screen()[0][2].split()[0]) > 100 and top.rows()[0] == blocks[0]))
    case("there are counters in them", windows() > measured > put)
    top.key(BACK)
    case("Backspace goes back", top.until(lambda: top.rows() == sorted(functions)))
    case("with no counter left in them", top.until(lambda: windows() == measured))
    top.size(60, 8)
    case("another size is drawn at once", top.until(lambda: len(top.screen()[0]) == 8 and len(top.screen()[0][0]) == 60))
    top.key(b"q")
    said, status, same = top.end()
    case("q ends it", status == 0 and same)
    case("the last table is there", list(totals(said)) == sorted(functions))
    case("with all that was counted", int(totals(said)[functions[0]]) > 1000)


def ends():
    for name, sig, by_key in (("Ctrl-C", signal.SIGINT, b"\003"), ("SIGTERM", signal.SIGTERM, None),
                              ("SIGHUP", signal.SIGHUP, None), ("SIGQUIT", signal.SIGQUIT, None)):
        top = Top("-i", "0.3", *functions)
        shown = top.until(lambda: top.rows() == functions)
        if by_key:
            top.key(by_key)
        else:
            os.kill(top.pid, sig)
        said, status, same = top.end()
        waited = sig in (signal.SIGINT, signal.SIGTERM)
        case(f"{name}: the terminal is as it was", shown and same)
        case(f"{name}: ended as it should", status == (0 if waited else sig) and (list(totals(said)) == functions) == waited)
    top = Top("-i", "0.3", *functions)
    shown = top.until(lambda: top.rows() == functions)
    top.key(b"\032\034")  # Ctrl-Z, Ctrl-\
    lines = top.screen()[0]
    case("Ctrl-Z and Ctrl-\\ do nothing", top.until(lambda: top.screen()[0] != lines) and shown)
    os.kill(top.pid, signal.SIGKILL)
    top.end()


def command():
    top = Top("-i", "0.3", "--comm", "topcommand", *functions, "--", "/tmp/topcommand", load[1], "60")
    said, status, same = top.end()
    case("a command's exit status", os.waitstatus_to_exitcode(status) == 7 and same)
    case("its calls, exactly", totals(said) == dict(zip(functions, ("3000", "420", "60"))))
    case("what it writes is not on the screen", b"the load has ended" not in top.seen)
    top = Top("-i", "0.3", "do_exit")
    shown = top.until(lambda: top.screen()[0])
    subprocess.run(["true"], check=True)
    shown = shown and top.until(lambda: top.rows() == ["do_exit"])
    top.key(b"w")
    case("what cannot be measured is said", shown and top.until(lambda: "do_exit: " in top.screen()[0][-1]))
    top.key(b"j")
    case("until the next key", top.until(lambda: top.screen()[0][-1].startswith("q quit")))
    top.key(b"q")
    case("and it goes on", top.end()[1] == 0)


os.symlink(sys.executable, "/tmp/topcommand")
os.symlink(sys.executable, "/tmp/topload")
background = subprocess.Popen(["/tmp/topload", load[1]], stdout=subprocess.DEVNULL)
keys()
ends()
background.kill()
background.wait()
command()
