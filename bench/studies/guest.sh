#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of bench/studies/run.sh: bench/studies/guest.sh ROUNDS STUDY...
#
# Prints rows for ttest. Trials of what is compared take turns, forwards and backwards, ROUNDS times
# at most, until the intervals of all differences are narrow: what else the machine does, and what
# changes in it with time, is then in all of them. Everything else goes to stderr.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=${here%/bench/studies}
ki=$top/build/release/bin/kerninst
ttest=$top/build/bench/ttest
rounds=$1
shift
bytes=${KI_STUDY_DD-10M}
narrow=0.0005 # of the mean: half of an interval
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
# What is measured must wait for no file of the host: the guest's clock jumps while it waits. And
# each process is to be laid out as the one before.
cp "$top/build/bench/work" . || exit 1
work=(setarch -R "$tmp/work")
export LC_ALL=C

row() {
	local IFS=$'\t'
	echo "$*"
}

fail() {
	echo "studies: $*" >&2
	exit 1
}

# total: the sum of all values of kerninst stat --json
total() { sed -n 's/.*"value": *"\{0,1\}\([0-9]*\).*/\1/p' "$1" | awk '{ s += $1 } END { print s + 0 }'; }

# ---- taking turns ----

# Each of a study's ways is a line NAME<tab>FUNCTION: the function runs the trials in $trials, and
# appends their ticks to its first argument.
narrow_enough() {
	"$ttest" --json json <rows >/dev/null && awk -F'[:,]' -v narrow=$narrow '
		/"difference"/ {
			for (i = 1; i < NF; i++)
				v[$i] = $(i + 1)
			half = (v["\"high\""] - v["\"low\""]) / 2
			wide = wide || half > narrow * v["\"mean\""]
		}
		END { exit wide }' json
}

one_way() {
	rm -f ticks
	$2 ticks >&2 || fail "$1: the trial failed"
	awk -v OFS='\t' -v study="$study" -v name="$1" '
		{ print "sample", study, name, $1 }
		study == "forks" { print "sample", "forks-least", name, $2 }' ticks >>rows
}

# turns FILE: the ways
turns() {
	local name way round order
	for ((round = 1; round <= rounds; round++)); do
		order='cat'
		((round % 2)) || order='tac'
		while IFS=$'\t' read -r -u 4 name way; do
			one_way "$name" "$way"
		done 4< <($order "$1")
		((round > 2)) && narrow_enough && break
	done
	# The order of the first round is that of the table.
	cat rows
}

# Until a measurement is like the one before: for the first seconds a kernel is still busy.
settle() {
	local last=0 now
	for _ in {1..4}; do
		rm -f ticks
		$1 ticks || return
		now=$(cut -d' ' -f1 ticks | sort -n | head -n 1)
		((${now%.*} - last < last / 1000 && last - ${now%.*} < last / 1000)) && return
		last=${now%.*}
	done
}

# begin STUDY TRIALS WHAT: so many trials in a turn
begin() {
	study=$1
	trials=$2
	row study "$study" "$3"
	: >rows
}

# ---- dd: allocations counted, with a predicate, and recorded ----

# What this kernel has of the functions that allocate; their names change with its version.
allocators() {
	local name names='__kmalloc __kmalloc_node __kmalloc_node_track_caller kmalloc_trace
		kmalloc_node_trace kmem_cache_alloc kmem_cache_alloc_lru kmem_cache_alloc_node
		kmem_cache_alloc_bulk kmalloc_large __kmalloc_noprof __kmalloc_node_noprof
		__kmalloc_cache_noprof __kmalloc_cache_node_noprof kmem_cache_alloc_noprof
		kmem_cache_alloc_lru_noprof kmem_cache_alloc_node_noprof
		kmem_cache_alloc_bulk_noprof __kmalloc_large_noprof'
	for name in $names; do
		grep -q " [tT] $name$" /proc/kallsyms && echo "$name"
	done
}

# dd and what it is linked with, in memory; the loader by the name of dd, which is then its name.
copy_dd() {
	local file
	mkdir -p lib && cp "$(command -v dd)" dd.program || return
	for file in $(ldd dd.program | grep -o '/[^ ]*'); do
		cp "$file" lib/ || return
	done
	cp lib/ld-linux-x86-64.so.2 dd
}

dd_trial() { "${work[@]}" run "$1" "$trials" "${dd_command[@]}"; }
# What the way before has taken out is given back a little later: others take that long to begin.
dd_none() { sleep 0.5 && dd_trial "$1"; }
dd_count() { "$ki" stat -q --json -o count.json "${allocators[@]}" -- "${work[@]}" run ticks "$trials" "${dd_command[@]}"; }
dd_comm() { "$ki" stat -q --json -o comm.json --comm dd "${allocators[@]}" -- "${work[@]}" run ticks "$trials" "${dd_command[@]}"; }
dd_by() { "$ki" stat -q --json -n 0 -o by.json --by stack "${allocators[@]}" -- "${work[@]}" run ticks "$trials" "${dd_command[@]}"; }
dd_by_comm() { "$ki" stat -q --json -n 0 -o by-comm.json --by stack --comm dd "${allocators[@]}" -- "${work[@]}" run ticks "$trials" "${dd_command[@]}"; }
# They stay in memory until the end: when a file is written is no matter of what is measured.
dd_record() { "$ki" record -q --mode newest -o dd.rec "${allocators[@]/%/$dd_values}" -- "${work[@]}" run ticks "$trials" "${dd_command[@]}"; }
dd_stacks() { "$ki" record -q --mode newest -o dd.rec "${allocators[@]/%/=pid,comm,stack}" -- "${work[@]}" run ticks "$trials" "${dd_command[@]}"; }

study_dd() {
	begin dd 4 "dd of $bytes bytes, /dev/zero to /dev/null, from fork to wait: ticks while allocations are counted or recorded"
	mapfile -t allocators < <(allocators)
	((${#allocators[@]})) || fail "no function that allocates is known"
	copy_dd || fail "dd cannot be copied"
	dd_command=("$tmp/dd" --inhibit-cache --library-path "$tmp/lib" "$tmp/dd.program"
		if=/dev/zero of=/dev/null bs="$bytes" count=1 status=none)
	# shellcheck disable=SC2016 # $rdi is no variable of the shell
	dd_values='=pid,tid,from/code:*(u64 *)$rsp,rdi/hex:$rdi'
	{
		row nothing dd_none
		row 'count' dd_count
		row 'count, of dd only' dd_comm
		row 'count by stack' dd_by
		row 'count by stack, of dd only' dd_by_comm
		row 'records of four values' dd_record
		row 'records with stacks' dd_stacks
	} >ways
	settle dd_trial
	turns ways
	row fact dd "functions that allocate" ${#allocators[@]}
	row fact dd "allocations of a dd by itself" "$(awk -v n="$(total comm.json)" -v t="$trials" 'BEGIN { print n / t }')"
	row fact dd "allocations in a trial, all that was counted" "$(awk -v n="$(total count.json)" -v t="$trials" 'BEGIN { print n / t }')"
	row fact dd "stacks by which a dd allocates" "$(grep -c '"count"' by-comm.json)"
}

# ---- forks: every block of kernel_clone ----

forks=50
forks_none() { "${work[@]}" forks "$1" "$trials" $forks; }
# forks_stat FILE OPTION...: counters
forks_stat() { "$ki" stat -q --json -o "$1" "${@:2}" -- "${work[@]}" forks ticks "$trials" $forks; }
forks_blocks() { forks_stat blocks.json --no-move kernel_clone:blocks; }
forks_both() { forks_stat both.json --no-move kernel_clone:blocks kernel_clone:blocks:post; }
forks_moved() { forks_stat moved.json --move kernel_clone:blocks kernel_clone:blocks:post; }
per_fork() { awk -v n="$(total "$1")" -v t=$((trials * forks)) 'BEGIN { print n / t }'; }

study_forks() {
	begin forks 20 "a fork and its end, mean of $forks: ticks while every block of kernel_clone carries counters"
	row study forks-least "the same runs: the system call alone, the least of $forks"
	{
		row nothing forks_none
		row 'at the beginning of each block' forks_blocks
		row 'at beginning and end' forks_both
		row 'the same, function moved' forks_moved
	} >ways
	settle forks_none
	turns ways
	row fact forks "blocks with a counter" "$(grep -c '"value"' blocks.json)"
	row fact forks "counters" "$(grep -c '"value"' both.json)"
	row fact forks "hits of a fork, at the beginning of each block" "$(per_fork blocks.json)"
	row fact forks "hits of a fork, at beginning and end" "$(per_fork both.json)"
}

# ---- stamps: forks by time stamps of two tools ----

tracefs=/sys/kernel/tracing

# The kernel's own events of the same function, by the same clock.
probes_on() {
	{
		[[ -e $tracefs/kprobe_events ]] || mount -t tracefs none $tracefs
		echo x86-tsc >$tracefs/trace_clock &&
			echo 'p:ki/in kernel_clone' >$tracefs/kprobe_events &&
			echo 'r:ki/out kernel_clone' >>$tracefs/kprobe_events &&
			echo 1 >$tracefs/events/ki/enable && echo 1 >$tracefs/tracing_on
	} >&2
}

probes_off() {
	echo 0 >$tracefs/events/ki/enable
	cat $tracefs/trace
	echo >$tracefs/kprobe_events
	echo local >$tracefs/trace_clock
}

# KIND TICKS of the process' events, in order: in and out.
of_probes() {
	sed -n "s/^ *work-$1 .* \([0-9][0-9]*\): \(in\|out\): .*/\2 \1/p" trace
}

# Times of a recording are in nanoseconds since its start.
of_records() {
	"$ki" report -q --csv stamps.rec | awk -F, -v khz="$2" -v tid="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["tid"] == tid {
			split($c["time"], t, ".")
			ns = t[1] * 1e9 + substr(t[2] "000000000", 1, 9)
			printf "%s %.0f\n", $c["point"] ~ /:exit/ ? "out" : "in", ns * khz / 1e6
		}'
}

study_stamps() {
	local khz pid
	begin stamps 0 "160 forks: time stamps of kernel_clone's entries and exits, ours and those of the kernel's kprobe events"
	probes_on || fail "the kernel's events are not to be had"
	"$ki" record -q -o stamps.rec kernel_clone=tid kernel_clone:exit=tid -- "${work[@]}" pulsar 5 32 100 >&2 ||
		fail "the recording failed"
	probes_off >trace
	khz=$("$ki" report -q --json stamps.rec | sed -n 's/.*"tsc_khz": *\([0-9]*\).*/\1/p' | head -n 1)
	pid=$(sed -n 's/^ *work-\([0-9]*\) .* in: .*/\1/p' trace | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	of_probes "${pid:-0}" >theirs
	of_records "${pid:-0}" "${khz:-0}" >ours
	[[ -s theirs && -s ours ]] || fail "$(wc -l <theirs) of their events, $(wc -l <ours) of ours"
	awk -f "$here/stamps.awk" theirs ours
}

for name in "$@"; do
	[[ $(type -t "study_$name") == function ]] || fail "there is no study '$name'"
	"study_$name"
done
