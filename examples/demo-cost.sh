#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a hit costs: guest instructions of 20,000 reads of /dev/zero, with and without a counter
# in vfs_read. The machine runs one instruction per tick of its clock (QEMU's -icount), so this
# is exact; `make bench` does the same for every other probe that the kernel offers.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=$top/build/release/bin:$PATH
reads=$top/build/bench/reads # 9 times 20,000 reads
median() { sort -n "$1" | sed -n 5p; }

"$reads" /tmp/without || exit
kerninst stat -m calls vfs_read -o /tmp/count -- "$reads" /tmp/with || exit
printf '\n=== What a hit costs\n\n'
awk -v a="$(median /tmp/without)" -v b="$(median /tmp/with)" 'BEGIN {
	printf "a read of one byte of /dev/zero:  %.1f instructions\n", a / 20000
	printf "with a counter in vfs_read:       %.1f\n", b / 20000
	printf "a hit costs %.1f instructions     (other tools on the same kernel: make bench)\n", (b - a) / 20000 }'
