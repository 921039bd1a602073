#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A load whose output is the same every time: files, memory, processes, pipes, sockets, a
# compile, each boiled down to a checksum.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

sum() { # NAME < DATA
	echo "$1 $(sha256sum | cut -c 1-16)"
}

find /usr/include -name 's*.h' | sort | head -n 150 > list
tar --sort=name -cf a.tar -T list 2> tar.err
gzip -n -c a.tar | gunzip -c | sum pipe 
mkdir tree
tar -xf a.tar -C tree
(cd tree && find . -type f -printf '%p %s %m\n' | sort) | sum tree
mv tree/usr moved
ln -s moved link
cp -r link/ copy
diff -r moved copy
rm -r copy
sync
printf 'int f(int x)\n{\n\treturn x * 3 + 1;\n}\n' > f.c
gcc -O1 -c f.c -o f.o
objcopy -O binary -j .text f.o f.bin
sum compile < f.bin
for i in {1..30}; do
	(echo "$i $((i * i))") &
	wait $!
done | sum fork
python3 - << 'END' | sum python
import hashlib, mmap, os, select, signal, socket, tempfile, threading, time

digest = hashlib.sha256()
addresses = {socket.AF_INET: ("127.0.0.1", 0), socket.AF_INET6: ("::1", 0), socket.AF_UNIX: "sock"}
for family, address in addresses.items():
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    received = []
    def serve():
        peer, _ = listener.accept()
        while data := peer.recv(4096):
            received.append(data)
            peer.sendall(data[::-1][:100])
        peer.close()
    thread = threading.Thread(target=serve)
    thread.start()
    client = socket.socket(family)
    client.connect(listener.getsockname())
    for i in range(50):
        client.sendall(bytes([i]) * (i * 40 + 1))
    client.shutdown(socket.SHUT_WR)
    while client.recv(4096):
        pass
    thread.join()
    digest.update(b"".join(received))
a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
b.bind(("127.0.0.1", 0))
for i in range(20):
    a.sendto(b"x" * i * 50, b.getsockname())
    digest.update(b.recv(4000))
with tempfile.TemporaryFile() as f:
    f.truncate(1 << 20)
    m = mmap.mmap(f.fileno(), 1 << 20)
    for i in range(0, 1 << 20, 4096):
        m[i] = i >> 12 & 255
    m.flush()
    digest.update(m[:])
pid = os.fork()
if pid == 0:
    m2 = mmap.mmap(-1, 1 << 20)
    m2[:] = b"z" * (1 << 20)
    os._exit(m2[12345] % 100)
digest.update(str(os.waitpid(pid, 0)[1]).encode())
seen = []
signal.signal(signal.SIGALRM, lambda s, f: seen.append(s))
signal.setitimer(signal.ITIMER_REAL, 0.02)
while not seen:
    time.sleep(0.05)
digest.update(str(seen).encode())
r, w = os.pipe()
poller = select.epoll()
poller.register(r, select.EPOLLIN)
os.write(w, b"ping")
digest.update(str(len(poller.poll(1))).encode() + os.read(r, 10))
os.mkfifo("fifo")
digest.update(str(sorted(os.listdir("."))).encode())
print(digest.hexdigest())
END
