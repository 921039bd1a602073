#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of bench/run.sh: arms one probe after the other on vfs_read,
# runs the workload under it and prints, separated by tabs,
#
#   NAME  ok  MEDIAN  HITS	ticks of one run, hits of the probe
#   NAME  failed  WHY		it should have worked
#   NAME  absent  WHY		this kernel or this Debian does not have it
#
# Everything else goes to stderr.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/bench
function=vfs_read
ctl=/proc/ki_bench
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

row() {
	local IFS=$'\t'
	echo "$*"
}

median() {
	sort -n "$tmp/ticks" | awk '{ v[NR] = $1 } END { if (NR % 2) print v[(NR + 1) / 2] }'
}

# work: one measurement of 9 runs, into $tmp/ticks.
work() {
	rm -f "$tmp/ticks"
	"$build/reads" "$tmp/ticks" >&2
}

# For the first seconds a kernel is still busy with having been started: wait
# until one measurement is like the one before.
settle() {
	local last=0 now
	for _ in {1..20}; do
		work || return
		now=$(median)
		((now - last < now / 2000 && last - now < now / 2000)) && return
		last=$now
		sleep 1
	done
	echo "bench: the machine does not come to rest" >&2
}

base() {
	work && base=$(median) && row base ok "$base" 0
}

optimization() {
	echo "$1" >/proc/sys/debug/kprobes-optimization
}

# trap_springboard NAME: a point whose springboard can only be a breakpoint, where each futex comes by; what is
# printed is the base, and what it is more than a futex without it.
trap_of() {
	"${KI_BENCH_TOOL%% *}" list -q -v --json __x64_sys_futex |
		grep -o '"address":"[^}]*"springboard":"trap"' | grep -o '0x[0-9a-f]*' | head -n 1
}
trap_springboard() {
	local name=$1 at bare hits
	at=$(trap_of)
	if [[ -z $at ]]; then
		row "$name" absent "this kernel's __x64_sys_futex has no place that only a breakpoint fits"
		return
	fi
	rm -f "$tmp/ticks"
	"$build/reads" "$tmp/ticks" futex >&2
	bare=$(median)
	# shellcheck disable=SC2086 # a command and its arguments
	if ! $KI_BENCH_TOOL "$at" -- "$build/reads" "$tmp/ticks" futex >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	hits=$(sed -n 's/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")
	row "$name" ok $((base + $(median) - bare)) "${hits:-0}"
}

# holds NAME CONDITION: a count under a predicate that holds each time
holds() {
	local name=$1 tool=${KI_BENCH_TOOL%% *}
	rm -f "$tmp/ticks"
	if ! "$tool" stat -q --json --if "$2" $function -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	row "$name" ok "$(median)" "$(sed -n 's/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")"
}

# The first byte of the probe's site says which of its forms is there.
site_is() {
	[[ $1 == any ]] || [[ $(sed -n 's/^site \(..\).*/\1/p' $ctl) == "$1" ]]
}

# module_peer NAME PROBE SITE_BYTE: a probe of ki_bench.ko.
module_peer() {
	local name=$1 probe=$2 byte=$3 hits
	if ! echo "$probe" >$ctl; then
		row "$name" failed "ki_bench could not arm $probe"
		return
	fi
	# The optimizer of kprobes works a little later, in the background.
	sleep 1
	if ! site_is "$byte"; then
		row "$name" failed "its site does not begin with $byte: $(sed -n 's/^site //p' $ctl)"
	elif work; then
		hits=$(sed -n 's/^hits //p' $ctl)
		row "$name" ok "$(median)" "$hits"
	else
		row "$name" failed "the workload failed"
	fi
	echo off >$ctl
}

# fentry_peer NAME empty|array. The empty one's hits are counted by the
# kernel's statistics, in a second pass that is not measured.
fentry_peer() {
	local name=$1 hits ticks
	coproc fentry { exec "$build/fentry" "$2" $function 2>"$tmp/why"; }
	if ! read -r _ <&"${fentry[0]}"; then
		row "$name" failed "$(tail -n1 "$tmp/why")"
		return
	fi
	work && ticks=$(median)
	if [[ $2 == empty ]]; then
		echo >&"${fentry[1]}" && read -r _ <&"${fentry[0]}"
		work
	fi
	eval "exec ${fentry[1]}>&-"
	read -r _ hits <&"${fentry[0]}"
	row "$name" ok "${ticks-}" "$hits"
	# shellcheck disable=SC2154 # coproc sets it
	wait "$fentry_PID" 2>/dev/null
}

# traced NAME PROGRAM: the workload under it; its words are left in $tmp/bpftrace.
traced() {
	local name=$1 pid
	if ! command -v bpftrace >/dev/null; then
		row "$name" absent "bpftrace is not installed (apt install bpftrace)"
		return 1
	fi
	# Line by line, so that BEGIN's word arrives when all is attached.
	bpftrace -B line -e "$2 BEGIN { printf(\"ready\n\"); }" >"$tmp/bpftrace" 2>"$tmp/why" &
	pid=$!
	until grep -q ready "$tmp/bpftrace"; do
		if ! kill -0 $pid 2>/dev/null; then
			row "$name" failed "bpftrace: $(tail -n1 "$tmp/why")"
			return 1
		fi
		sleep 0.5
	done
	sleep 1
	work
	kill -INT $pid
	wait $pid
}

# bpftrace_peer NAME PROGRAM: its maps' values, but not those of histograms, are hits. A stack as key
# stands on lines of its own.
bpftrace_peer() {
	local name=$1
	traced "$@" || return
	row "$name" ok "$(median)" "$(awk '/^(@.*|\]): [0-9]+$/ { n += $NF } END { print n + 0 }' "$tmp/bpftrace")"
}

# ours NAME POINT: the workload is the tool's command.
ours() {
	local name=$1 point=$2 tool=${KI_BENCH_TOOL%% *} hits
	if [[ ! -x $tool ]]; then
		row "$name" failed "$tool is not there"
		return
	fi
	rm -f "$tmp/ticks"
	# shellcheck disable=SC2086 # a command and its arguments
	if ! $KI_BENCH_TOOL "$point" -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	hits=$(sed -n 's/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")
	row "$name" ok "$(median)" "${hits:-0}"
}

# measured NAME METRIC OPTION...: a metric of the function. That each call is measured is seen in a
# second pass, of which the ticks are not taken.
measured() {
	local name=$1 metric=$2 tool=${KI_BENCH_TOOL%% *} ticks hits
	shift 2
	rm -f "$tmp/ticks"
	if ! "$tool" stat -q --json -m "$metric" "$@" $function -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	ticks=$(median)
	"$tool" stat -q --json -m "$metric,latency" "$@" $function -- "$build/reads" "$tmp/again" >"$tmp/out" 2>&1
	hits=$(sed -n '/"metric":"latency"/s/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")
	row "$name" ok "$ticks" "${hits:-0}"
}

# by NAME KEY: hits counted by a key
by() {
	local name=$1 tool=${KI_BENCH_TOOL%% *}
	rm -f "$tmp/ticks"
	if ! "$tool" stat -q --json -n 0 --by "$2" $function -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
	elif ! grep -q '"lost":0' "$tmp/out"; then
		row "$name" failed "hits were lost: $(tail -n1 "$tmp/out")"
	else
		row "$name" ok "$(median)" "$(sed -n 's/.*"count":\([0-9]*\).*/\1/p' "$tmp/out" | awk '{ s += $1 } END { print s + 0 }')"
	fi
}

# recorded NAME VALUES [OPTION...]: each hit is counted, and a record of it is left in memory; there
# is room for all, and nobody reads them meanwhile.
recorded() {
	local name=$1 values=$2 tool=${KI_BENCH_TOOL%% *} hits
	shift 2
	rm -f "$tmp/ticks"
	if ! "$tool" record -q --self --mode newest -b 16384 "$@" -o "$tmp/rec" "$function=$values" -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	hits=$("$tool" report -q --json "$tmp/rec" | grep '"instrument"' | sed -n 's/.*"hits": *\([0-9]*\).*/\1/p')
	rm -f "$tmp/rec"
	row "$name" ok "$(median)" "${hits:-0}"
}

# instrument NAME: a function in C, called as a condition that holds
instrument() {
	local name=$1 tool=${KI_BENCH_TOOL%% *} hits
	rm -f "$tmp/ticks"
	if ! "$tool" load -q "$build/$(uname -r)/ki_bench_call.ko" >"$tmp/out" 2>&1 ||
		! "$tool" stat -q --json --if 'bench_call(arg0, arg2)' $function -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	hits=$(sed -n 's/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")
	row "$name" ok "$(median)" "${hits:-0}"
}

# refused NAME: a count that a predicate on the process refuses at each call but one, another's. How
# often it does a second run says, which counts what it does not hold of.
refused() {
	local name=$1 tool=${KI_BENCH_TOOL%% *} passes
	if ! "$tool" stat -q --json --split "other:pid == $$" $function -- "$build/reads" "$tmp/passes" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	passes=$(sed -n '/"part":"else"/s/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")
	rm -f "$tmp/ticks"
	if ! "$tool" stat -q --json --pid $$ $function -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	row "$name" ok "$(median)" "${passes:-0}"
}

# bpftrace_latency NAME ENTRY RETURN: the histogram that bpftrace would make of it.
bpftrace_latency() {
	local name=$1
	bpftrace_peer "$name" "$2 { @start[tid] = nsecs; } $3 /@start[tid]/ { @ = count(); @h = hist(nsecs - @start[tid]); delete(@start[tid]); } END { clear(@start); }"
}

# bpftrace_refused NAME: a count that a predicate on the process refuses. How often, a second run says.
bpftrace_refused() {
	local name=$1 ticks
	traced "$name" "kfunc:$function /pid == 1/ { @ = count(); }" || return
	ticks=$(median)
	traced "$name" "kfunc:$function /pid != 1/ { @ = count(); }" || return
	row "$name" ok "$ticks" "$(sed -n 's/^@: //p' "$tmp/bpftrace")"
}

# all_blocks NAME OPTION...: every block of the function has a counter; ticks of a call, not of a hit.
all_blocks() {
	local name=$1 tool=${KI_BENCH_TOOL%% *} hits
	shift
	rm -f "$tmp/ticks"
	if ! "$tool" stat -q --json -m blocks "$@" $function -- "$build/reads" "$tmp/ticks" >"$tmp/out" 2>&1; then
		row "$name" failed "$(tail -n1 "$tmp/out")"
		return
	fi
	hits=$(sed -n '/:block\/0"/s/.*"value":\([0-9]*\).*/\1/p' "$tmp/out")
	row "$name" ok "$(median)" "${hits:-0}"
}

insmod "$build/$(uname -r)/ki_bench.ko" symbol=$function || exit 1
settle
base
ours 'kerninst, function entry' $function
ours 'kerninst, basic block' "$KI_BENCH_BLOCK"
all_blocks "a call, all blocks counted" --no-move
all_blocks 'the same, function moved'
refused 'count, for another process'
measured 'walltime of a call' walltime
measured 'vtime of a call' vtime
measured 'latency, a histogram' latency
measured 'page faults of a call' page-faults
by 'count by name' comm
by 'count by stack' stack
by "by the program's stack" ustack
holds 'a string of the kernel' "str(0x$(awk '$3 == "init_uts_ns" { print $1 }' /proc/kallsyms) + 130) == \"$(uname -r)\"" # utsname's release
holds 'a string of the program' 'ustr(arg1 + 1) == "ten bytes."'
trap_springboard 'a breakpoint as springboard'
recorded 'record of four values' 'a:arg0,b:arg1,c:arg2,d:arg3'
recorded 'the same, of one program' 'a:arg0,b:arg1,c:arg2,d:arg3' --comm reads
instrument 'an instrument in C'
row 'SystemTap' absent "it needs the kernel's debug information; its probes are the kprobes below"
module_peer 'ftrace callback, module' ftrace any
optimization 1
module_peer 'kprobe, optimized' kprobe e9
base
fentry_peer 'fentry BPF, empty' empty
fentry_peer 'fentry BPF, per-CPU array' array
module_peer 'kprobe on the ftrace site' kprobe-ftrace any
base
bpftrace_peer 'bpftrace kfunc count()' "kfunc:$function { @ = count(); }"
bpftrace_peer 'bpftrace kfunc @[comm]' "kfunc:$function { @[comm] = count(); }"
bpftrace_peer 'bpftrace kfunc @[kstack]' "kfunc:$function { @[kstack] = count(); }"
bpftrace_peer 'bpftrace kretfunc (fexit)' "kretfunc:$function { @ = count(); }"
bpftrace_refused 'bpftrace, another process'
bpftrace_peer 'bpftrace kfunc walltime' "kfunc:$function { @start[tid] = nsecs; } kretfunc:$function /@start[tid]/ { @ = count(); @t = sum(nsecs - @start[tid]); delete(@start[tid]); } END { clear(@start); clear(@t); }"
bpftrace_peer 'bpftrace kfunc four values' "kfunc:$function { @ = count(); printf(\"%lx %lx %lx %lx\\n\", args->file, args->buf, args->count, args->pos); }"
module_peer 'kretprobe' kretprobe any
bpftrace_peer 'bpftrace kprobe count()' "kprobe:$function { @ = count(); }"
bpftrace_latency 'bpftrace kfunc latency' "kfunc:$function" "kretfunc:$function"
bpftrace_latency 'bpftrace kprobe latency' "kprobe:$function" "kretprobe:$function"
optimization 0
module_peer 'kprobe, int3' kprobe cc
base
