#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What coverage_witness.sh has executed: a little of many things.
cd "$(dirname "$0")/../../.." || exit 1
work=$(mktemp -d)
ls -lR /usr/include > "$work/list"
gcc -O1 -Iinclude -Ilib -D_GNU_SOURCE -c -o "$work/x.o" lib/util/vec.c
tar cf - include | gzip > "$work/tar.gz"
ip link set lo up
ping -c 2 -i 0.2 127.0.0.1 > /dev/null
stress-ng --temp-path "$work" --timeout 5 --pipe 1 --fork 1 --futex 1 --mmap 1 --mmap-bytes 4m --sock 1 2> /dev/null < /dev/null
rm -r "$work"
