#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of bench/d.sh. Prints, separated by tabs,
#
#	base	ok	TICKS				of 20,000 calls
#	NAME	hit	BOUND	OURS	BPFTRACE	DTRACE	the same, with a probe; or "-", or what went wrong
#	NAME	start	BOUND	OURS	BPFTRACE	DTRACE	million ticks; no bound: "-"
# shellcheck disable=SC2016 # $1 is the programs'
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
kd=$top/build/release/bin/kdtrace
reads=$top/build/bench/reads
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
calls=180000 # of one measurement

median() { sort -n "$tmp/ticks" | awk '{ v[NR] = $1 } END { if (NR % 2) print v[(NR + 1) / 2] }'; }
bare() { rm -f "$tmp/ticks" && "$reads" "$tmp/ticks" && median; }

# A kernel that has just been started is busy with itself.
settle() {
	local last=0 now
	for _ in {1..20}; do
		now=$(bare)
		((now - last < now / 2000 && last - now < now / 2000)) && return
		last=$now
		sleep 1
	done
}

# by_dtrace TOOL PROGRAM: at least so many hits are in what it prints last, or HITS=none
by_dtrace() {
	local tool=$1 n
	command -v "$tool" > /dev/null || { echo -; return; }
	rm -f "$tmp/ticks"
	"$tool" -q -x bufsize=16m -x bufpolicy=ring -n "$2" -c "$reads $tmp/ticks" > "$tmp/out" 2> "$tmp/why" || {
		echo "failed: $(tail -n 1 "$tmp/why")"
		return
	}
	n=$(awk '{ s += $NF } END { printf "%d\n", s }' "$tmp/out")
	if [ "${hits:-}" != none ] && [ "$n" -lt $calls ]; then
		echo "$n hits"
	else
		median
	fi
}

by_bpftrace() {
	local pid
	command -v bpftrace > /dev/null || { echo -; return; }
	bpftrace -B line -e "$1 BEGIN { printf(\"ready\n\"); }" > "$tmp/bpf" 2> "$tmp/why" &
	pid=$!
	until grep -q ready "$tmp/bpf"; do
		kill -0 $pid 2> /dev/null || { echo "failed: $(tail -n 1 "$tmp/why")"; return; }
		sleep 0.5
	done
	sleep 1
	bare
	kill -INT $pid
	wait $pid
}

# hit NAME BOUND D BPFTRACE
hit() {
	local ours
	ours=$(by_dtrace "$kd" "$3")
	printf '%s\thit\t%s\t%s\t%s\t%s\n' "$1" "$2" "$ours" "$(by_bpftrace "$4")" "$(by_dtrace dtrace "$3")"
}

# took COMMAND...: million ticks of its own, in the process and in the kernel for it
took() {
	local TIMEFORMAT='%3U %3S'
	command -v "$1" > /dev/null || { echo -; return; }
	{ time "$@" > /dev/null 2> "$tmp/why"; } 2> "$tmp/time" || { echo "failed: $(tail -n 1 "$tmp/why")"; return; }
	awk '{ printf "%d\n", ($1 + $2) * 1000 }' "$tmp/time"
}

# start NAME BOUND D BPFTRACE
start() {
	printf '%s\tstart\t%s\t%s\t%s\t%s\n' "$1" "$2" "$(took "$kd" -qn "$3")" \
		"$(if [ "$4" ]; then took bpftrace -e "$4"; else echo -; fi)" "$(took dtrace -qn "$3")"
}

settle
printf 'base\tok\t%s\n' "$(bare)"
hits=none hit "a predicate that misses" 7 'fbt::vfs_read:entry /pid == 1/ { @ = count(); }' 'kfunc:vfs_read /pid == 1/ { @ = count(); }'
hit "@ = count()" 4 'fbt::vfs_read:entry { @ = count(); }' 'kfunc:vfs_read { @ = count(); }'
hit "@[probefunc] = count()" 4 'fbt::vfs_read:entry { @[probefunc] = count(); }' 'kfunc:vfs_read { @[func] = count(); }'
hit "@ = quantize(arg2)" 15 'fbt::vfs_read:entry { @ = quantize(arg2); }' 'kfunc:vfs_read { @ = hist(args->count); }'
hit "@[execname] = count()" 80 'fbt::vfs_read:entry { @[execname] = count(); }' 'kfunc:vfs_read { @[comm] = count(); }'
hits=none hit "trace(arg0)" 105 'fbt::vfs_read:entry { trace(arg0); }' 'kfunc:vfs_read { print((uint64)args->file); }'
hit "entry and return, self->ts, quantize" 72 \
	'fbt::vfs_read:entry { self->ts = timestamp; } fbt::vfs_read:return /self->ts/ { @ = quantize(timestamp - self->ts); self->ts = 0; }' \
	'kfunc:vfs_read { @ts[tid] = nsecs; } kretfunc:vfs_read /@ts[tid]/ { @ = hist(nsecs - @ts[tid]); delete(@ts[tid]); }'
start "BEGIN { exit(0); }" 500 'BEGIN { exit(0); }' 'BEGIN { exit(); }'
start "syscall:::entry, one count" 600 'syscall:::entry { @ = count(); } BEGIN { exit(0); }' 'tracepoint:syscalls:sys_enter_* { @ = count(); } BEGIN { exit(); }'
start "fbt:::entry, one count" 5100 'fbt:::entry { @ = count(); } BEGIN { exit(0); }' ''
printf '%s\tstart\t%s\t%s\t%s\t%s\n' -l - "$(took "$kd" -l)" "$(took bpftrace -l)" "$(took dtrace -l)"
