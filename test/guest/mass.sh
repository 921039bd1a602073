#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 20,000 counters at blocks all over the kernel, in and out: in how much time, and for how long it
# keeps a CPU from other work. Where QEMU counts instructions the host has no part in that; else bounds
# are wide. What is measured is printed.
. "$(dirname "$0")/lib.sh"
start
out=/tmp/mass
of() { sed -n "s/^$1 //p" $out; }
# The host holds up CPUs, too, when it has other work: not five times.
held() { awk -v a="$(of ms_held_install)" -v b="$(of ms_held_remove)" -v r="$(of ms_held_rest)" 'BEGIN { exit !(a > r + 15 || b > r + 15) }'; }
for _ in 1 2 3 4 5; do
	"$top/build/test/mass" 20000 25 > $out
	status=$?
	sed 's/^/# /' $out
	held || break
done
at_most() { # NAME VALUE BOUND
	ok "$1: $2, at most $3" awk -v v="$2" -v max="$3" 'BEGIN { exit !(v != "" && v + 0 <= max) }'
}
is "20,000 counters" "$status $(of counters)" "0 20000"
at_most "refused" "$(of refused)" 200
ok "they count" test "$(of hits)" -gt 10000
at_most "seconds to install and take out" "$(awk '/^install|^remove/ { s += $2 } END { print s }' $out)" 10
rest=$(of ms_held_rest)
at_most "ms that a CPU is held up by installing" "$(of ms_held_install)" "$(awk -v r="$rest" 'BEGIN { print r + 15 }')"
at_most "ms that a CPU is held up by taking out" "$(of ms_held_remove)" "$(awk -v r="$rest" 'BEGIN { print r + 15 }')"
finish
