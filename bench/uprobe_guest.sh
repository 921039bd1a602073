#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of bench/uprobe.sh. Prints, separated by tabs, what one call takes, in nanoseconds,
# which are instructions there: NAME OURS? BOUND NS, or what went wrong.
# shellcheck disable=SC2016,SC2317 # $target is kdtrace's; functions are called by name
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$top/build/release/bin
called=$top/build/bench/called
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
calls=500000

# row NAME BOUND COUNT COMMAND...: prints the program's line and, somewhere, that COUNT calls were seen
row() {
	local name=$1 bound=$2 count=$3
	shift 3
	"$@" > "$tmp/out" 2>&1
	if [ "$count" = - ] || grep -qw -e "$count" <(tr -d ',' < "$tmp/out"); then
		printf '%s\t%s\t%s\n' "$name" "$bound" "$(grep -m 1 -x '[0-9]*\.[0-9][0-9]' "$tmp/out")"
	else
		printf '%s\t%s\t%s\n' "$name" "$bound" "failed: $(tail -n 1 "$tmp/out")"
	fi
}

# An event of perf's at the function, and at its return.
by_perf() { # EVENT
	perf stat -e "$1" "$called"
}
by_bpftrace() {
	bpftrace -e "$1" -c "$called"
}

row "no probe" - - "$called"
row "counter" 12 $calls "$bin/kerninst" stat -m calls command/hit -- "$called"
row "counter behind a predicate" 40 $calls "$bin/kerninst" stat -m calls command/hit --if "arg0 != 1" -- "$called"
row "wall time of calls" 110 $calls "$bin/kerninst" stat -m calls,walltime command/hit -- "$called"
row "D, @ = count()" 500 $calls "$bin/kdtrace" -qn 'pid$target:called:hit:entry { @ = count(); }' -c "$called"
row "D, entry and return" 1000 $calls "$bin/kdtrace" -qn 'pid$target:called:hit:entry { @ = count(); } pid$target:called:hit:return { @r = count(); }' -c "$called"
perf probe -q -x "$called" at=hit 2> /dev/null
perf probe -q -x "$called" back=hit%return 2> /dev/null
row "uprobe, perf counts" - $calls by_perf probe_called:at
row "uretprobe, perf counts" - $calls by_perf probe_called:back__return
row "uprobe, bpftrace count()" - $calls by_bpftrace "uprobe:$called:hit { @ = count(); }"
row "uprobe and uretprobe, bpftrace" - $calls by_bpftrace "uprobe:$called:hit { @ = count(); } uretprobe:$called:hit { @r = count(); }"
