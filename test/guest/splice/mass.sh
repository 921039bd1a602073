#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 20,000 counters at blocks all over the kernel, in and out: in how much time, and for how long it
# keeps a CPU from other work; once more among 3,000 threads. What is measured is printed.
#
# usage: test/guest/splice/mass.sh [MS [SECONDS [ANALYSIS]]]: how long that may be, by a clock that counts
# instructions (vm/run --icount), 15; how long in and out may run together, 10; and the analysis of the
# kernel, 5. One CPU takes 1.8 ms, 1.9 s and 0.8 s (6.1.0-56-amd64). The seconds are those in which the
# thread runs: while a CPU waits for a disk, the clock follows that of the host.
# promise: 20,000 counters go in and out in seconds and hold up no CPU for over 5 ms.
. "$(dirname "$0")/../common/lib.sh"
start
out=/tmp/mass few=${1:-15} seconds=${2:-10} analysis=${3:-5}
of() { sed -n "s/^$1 //p" $out; }
measured() { # COUNTERS STRIDE -> $out, $status
	"$top/build/test/mass" "$1" "$2" > $out
	status=$?
	sed 's/^/# /' $out
}
measured 20000 25
at_most() { # NAME VALUE BOUND
	ok "$1: $2, at most $3" awk -v v="$2" -v max="$3" 'BEGIN { exit !(v != "" && v + 0 <= max) }'
}
is "20,000 counters" "$status $(of counters)" "0 20000"
at_most "refused" "$(of refused)" 20
ok "they count" test "$(of hits)" -gt 500000
at_most "seconds to install and take out" \
	"$(awk '/^cpu_install|^cpu_remove/ { s += $2 } END { print s }' $out)" "$seconds"
at_most "seconds to analyse the kernel" "$(of cpu_analysis)" "$analysis"
not_held() { # NAME: longer than at rest, but for so many milliseconds
	local phase rest
	rest=$(of ms_held_rest)
	for phase in install remove give_back; do
		at_most "ms that a CPU is held up: $1$phase" "$(of ms_held_$phase)" \
			"$(awk -v r="$rest" -v few="$few" 'BEGIN { print r + few }')"
	done
}
not_held ""

# When patches in which one may fault are given back all threads are looked at: a few at a time,
# however many there are.
python3 -c 'import threading, time
threading.stack_size(65536)
for _ in range(3000):
    threading.Thread(target=time.sleep, args=(100000,), daemon=True).start()
open("/tmp/there", "w")
time.sleep(100000)' &
sleepers=$!
ok "3,000 threads sleep" until_true 300 test -e /tmp/there
measured 1500 0
is "counters, of functions that may fault: $(of counters)" "$status $(($(of counters) > 1000))" "0 1"
not_held "3,000 threads: "
kill $sleepers
wait $sleepers 2> /dev/null
finish
