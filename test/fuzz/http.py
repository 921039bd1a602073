#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""HTTP fuzzer: requests that are mutated, cut, mixed and held, at a kerninstd that is running.

usage: test/fuzz/http.py SOCKET SEED SECONDS

Between them a well-formed request must be answered rightly. Prints how many were sent; exits with 1
if the daemon does not answer any more, or gives a wrong answer.
"""
import json
import random
import socket
import sys
import time

PATHS = ["/", "/app.js", "/api/info", "/api/metrics", "/api/functions", "/api/function?name=vfs_read",
         "/api/inserted", "/api/events", "/api/recording?client=0", "/metrics", "/api/curves",
         "/api/curves/remove", "/api/interval", "/api/clear"]
BODIES = [
    {"client": "x", "curves": [{"metric": "calls", "point": "vfs_read"}]},
    {"client": "x", "curves": [{"metric": "latency", "point": "vfs_read:block/0", "cpu": "each", "predicate": "pid == 1"}]},
    {"client": "x", "ids": [1, 2, -1, 2 ** 62, 1.5, None, {}, []]},
    {"client": "x", "ms": 100},
    {"client": None, "ms": -1, "curves": "none", "ids": {"a": 1}},
    {"curves": [[], 1, "", None, {"metric": 1, "point": []}, {"metric": "calls", "point": "a" * 5000, "cpu": 1e300}]},
]
PIECES = [b"\r\n", b"\0", b"%00", b"%", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 99999999\r\n",
          b"Content-Length: -1\r\n", b"ffffffffffffffff\r\n", b"0\r\n\r\n", b"Host: \r\n", b" ", b"A" * 3000,
          b"Expect: 100-continue\r\n", b"Accept-Encoding: gzip\r\n", b"?client=", b"&&==", b"{" * 3000, b"[" * 5000,
          b"\xff\xfe", b"HTTP/9.9", b"\"\\u0000\"", b"Connection: keep-alive\r\n", b"Range: bytes=0-1\r\n"]


def connect(path, seconds=120):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(seconds)
    s.connect(path)
    return s


def request(rng, client):
    path = rng.choice(PATHS)
    post = path in PATHS[-4:] or rng.random() < 0.1
    body = json.dumps(rng.choice(BODIES)).replace('"x"', json.dumps(client)).encode() if post else b""
    head = "%s %s HTTP/1.%d\r\nHost: localhost\r\n" % ("POST" if post else "GET", path, rng.randrange(2))
    if post:
        head += "Content-Length: %d\r\n" % (len(body) + (rng.randrange(-5, 5) if rng.random() < 0.2 else 0))
    return head.encode() + b"\r\n" + body


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randrange(30)]
        elif kind == 2:
            data[at:at] = rng.choice(PIECES)
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(200)]
        else:
            data = data[:at]
    return bytes(data)


def check(path):
    s = connect(path)
    s.sendall(b"GET /api/info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    said = b""
    while True:
        more = s.recv(65536)
        if not more:
            break
        said += more
    s.close()
    head, _, body = said.partition(b"\r\n\r\n")
    return head.startswith(b"HTTP/1.1 200") and "version" in json.loads(body)


def client_of(path, held):
    """A stream of our own, which is held: its number."""
    s = connect(path)
    s.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    said = b""
    while b"\n\n" not in said.partition(b"event: hello")[2]:
        more = s.recv(4096)
        if not more:
            return "none"
        said += more
    held.append(s)
    return json.loads(said.partition(b"data: ")[2].split(b"\n")[0])["client"]


def throw(rng, path, client, held):
    try:
        s = connect(path, 5)
        s.sendall(mutate(rng, request(rng, client)))
        end = rng.randrange(4)
        if end == 0:
            s.settimeout(0.05)
            s.recv(rng.choice([1, 100, 65536]))
        elif end == 1 and len(held) < 100:
            held.append(s)  # half open, or a reader that does not read
            return
        elif end == 2:
            s.shutdown(socket.SHUT_WR)
        s.close()
    except (socket.timeout, BrokenPipeError, ConnectionResetError):
        pass


def main():
    path, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    rng = random.Random(seed)
    held, sent, until = [], 0, time.monotonic() + seconds
    client = client_of(path, held)
    while time.monotonic() < until:
        for _ in range(50):
            throw(rng, path, client, held)
            sent += 1
        while len(held) > 60:
            held.pop(rng.randrange(1, len(held))).close()
        if not check(path):
            print("a wrong answer after %d requests" % sent)
            return 1
    print(sent)
    return 0


sys.exit(main())
