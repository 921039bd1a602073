#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# A TCP load over loopback: so many messages, each answered, to ports 8080 and 9090.
import socket
import sys
import threading


def serve(listener):
    with listener.accept()[0] as peer:
        while data := peer.recv(4096):
            peer.sendall(data[:64])


def ask(port, messages, size):
    with socket.create_connection(('127.0.0.1', port)) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(messages):
            s.sendall(b'x' * size)
            s.recv(64, socket.MSG_WAITALL)


servers, clients = [], []
for port, messages, size in ((8080, int(sys.argv[1]), 100), (9090, int(sys.argv[2]), 1000)):
    listener = socket.create_server(('127.0.0.1', port))
    servers.append(threading.Thread(target=serve, args=(listener,)))
    clients.append(threading.Thread(target=ask, args=(port, messages, size)))
for t in servers + clients:
    t.start()
for t in servers + clients:
    t.join()
