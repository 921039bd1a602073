#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/record.sh [--kernel NAME] [SECONDS]: what recording costs and loses, by mode and by rate.
# In a virtual machine whose clock is the number of instructions (-icount), so costs are exact: of
# a read of one byte of /dev/zero, with and without a record of it in each mode. One processor
# does both, the reads and the writing of the file.
set -u
cd "$(dirname "$0")/.." || exit 1
kernel=6.1
if [ "${1-}" = --inside ]; then
	shift
	ki=$PWD/build/release/bin/kerninst
	cd /tmp || exit 1
	# At most so many reads a second, in bursts of 1/100 s; how many there were, and the time.
	cat > reads.py << 'P'
import os, sys, time
rate, seconds = float(sys.argv[1]), float(sys.argv[2])
fd = os.open('/dev/zero', os.O_RDONLY)
start = time.monotonic()
n = 0
cpu = time.thread_time_ns()
while (now := time.monotonic() - start) < seconds:
    due = int(now * rate) + 1 - n
    for i in range(min(due, 1000)):
        os.read(fd, 1)
    n += min(due, 1000)
    if due < 1000:
        time.sleep(0.01)
print(n, (time.thread_time_ns() - cpu) / n)
P
	printf '%-8s %10s %10s %12s %10s %9s\n' MODE ASKED/S REACHED/S NS/READ LOST 'LOST %'
	for rate in 1000 10000 100000 1000000 10000000; do
		read -r n cost < <(python3 reads.py $rate "$1")
		printf '%-8s %10s %10.0f %12.1f\n' none $rate "$(awk -v n="$n" -v s="$1" 'BEGIN { print n / s }')" "$cost"
		for mode in totals newest ring wake disk; do
			values='=pid,len:arg2'
			[ $mode != totals ] || values=
			"$ki" record -q -o b.rec --mode $mode --comm python3 "vfs_read$values" -- \
				python3 reads.py $rate "$1" > out
			read -r n cost < out
			lost=$("$ki" report -q --json b.rec | tail -n 1 | sed 's/.*"lost":\([0-9]*\).*/\1/')
			awk -v m=$mode -v r=$rate -v n="$n" -v s="$1" -v c="$cost" -v l="$lost" \
				'BEGIN { printf "%-8s %10d %10.0f %12.1f %10d %9.2f\n", m, r, n / s, c, l, 100 * l / n }'
			rm -f b.rec
		done
	done
	exit
fi
[ "${1-}" != --kernel ] || { kernel=$2; shift 2; }
vm/run --kernel "$kernel" --icount --timeout 1800 -- bench/record.sh --inside "${1-2}"
