#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the guest of fetch.sh: each load as it is; then the functions that it executes most are laid out
# by what a profile of it says; then the load again.
# Each run of a load is one window of the plugin, so they are counted.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=bench/fetch_loads.sh
. "$top/bench/fetch_loads.sh"
ki=$top/build/release/bin/kerninst
functions=${KI_FUNCTIONS:-1000}
hottest=${KI_HOTTEST:-300}
cache=32 # KiB: the model's (fetch.c), not that of the machine which QEMU shows
tracing=/sys/kernel/tracing
window=0
ran=0 # operations of the last run
cd /tmp || exit 1

run() { # LOAD N
	if declare -F "$1_run" > /dev/null; then ran=$("$1_run" "$2"); else ran=$(loop "$1" "$2"); fi
	[ "${ran:-0}" -gt 0 ] || exit
	window=$((window + 1))
}

# What is mapped in pages of 2 MiB is told before: layouts that tasks sleep in stay for a while.
measure() { # LOAD N STATE
	"$prog/pages" > /tmp/larges
	run "$1" "$2"
	run "$1" "$2"
	printf 'window\t%d %s %s %d\n' $((window - 1)) "$1" "$3" "$ran"
}

# The functions of a loop that each operation calls, by the function tracer.
find_functions() { # LOAD
	echo 0 > $tracing/tracing_on
	echo function > $tracing/current_tracer
	echo 20000 > $tracing/buffer_size_kb
	echo > $tracing/trace
	echo 1 > $tracing/tracing_on
	run "$1" 100
	echo 0 > $tracing/tracing_on
	grep -F 'calls-' $tracing/trace | sed 's/.*: \([a-zA-Z0-9_.]*\) <-.*/\1/' | sort | uniq -c |
		sort -rn | awk -v n="$functions" '$1 >= 90 && NR <= n { print $2 }'
	echo nop > $tracing/current_tracer
}

# Which functions are laid out: of programs those that evolve itself finds.
choose() { # LOAD
	if declare -F "$1_run" > /dev/null; then
		names=(--hottest "$hottest")
		return
	fi
	find_functions "$1" > /tmp/functions
	# What the kernel has more than once cannot be meant by its name.
	mapfile -t names < <(awk '{ print $3 }' /proc/kallsyms | sort | uniq -u | join - <(sort /tmp/functions))
}

one() { # LOAD N
	local load=$1 n=$2 pid names
	! declare -F "${load}_begin" > /dev/null || "${load}_begin"
	measure "$load" "$n" before
	choose "$load"
	"$ki" evolve --keep --always --for 1 --hot 20 --cache "$cache" "${names[@]}" > /tmp/out 2>&1 &
	pid=$!
	while kill -0 $pid 2> /dev/null; do run "$load" "$((n / 4 + 1))"; done
	wait $pid || { sed 's/^/# /' /tmp/out; return; }
	echo "# $load: $(tail -n 1 /tmp/out)"
	echo "# $load: $(grep '^layouts take' /tmp/out)"
	grep -v 'laid out\|^layouts take' /tmp/out | sed 's/.*: \(.*\)/#   left out: \1/' | sort | uniq -c
	measure "$load" "$n" after
	"$ki" evolve --undo
}

[ -e $tracing/trace ] || mount -t tracefs none $tracing
while read -r load n; do
	[ $# = 0 ] || [[ " $* " == *" $load "* ]] || continue
	one "$load" "$n"
done << END
read 2000
open 1000
mkdir 400
tcp 400
fork 40
nginx 1
compile 2
END
