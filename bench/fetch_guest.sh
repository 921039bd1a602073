#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the guest of fetch.sh: each load as it is; then the functions that it executes most, of which
# the function tracer tells, are laid out by what a profile of it says; then the load again.
# Each run of `calls` is one window of the plugin, so they are counted.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
ki=$top/build/release/bin/kerninst
calls=$top/build/test/prog/calls
functions=${KI_FUNCTIONS:-1000}
tracing=/sys/kernel/tracing
window=0
cd /tmp || exit 1

run() { # LOAD N
	"$calls" "$1" "$2" || exit
	window=$((window + 1))
}

measure() { # LOAD N STATE
	run "$1" "$2"
	printf 'window\t%d %s %s %d\n' $window "$1" "$3" "$2"
	run "$1" "$2"
}

# The functions of a load, those that are called most first.
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

one() { # LOAD N
	local load=$1 n=$2 pid names
	measure "$load" "$n" before
	find_functions "$load" > /tmp/functions
	# What the kernel has more than once cannot be meant by its name.
	mapfile -t names < <(sort /tmp/functions | while read -r f; do
		[ "$(grep -c " $f\$" /proc/kallsyms)" != 1 ] || echo "$f"
	done)
	"$ki" evolve --keep --always --for 3 --hot 20 "${names[@]}" > /tmp/out 2>&1 &
	pid=$!
	while kill -0 $pid 2> /dev/null; do run "$load" "$((n / 4 + 1))"; done
	wait $pid || { sed 's/^/# /' /tmp/out; return; }
	echo "# $load: $(wc -l < /tmp/functions) functions are called each time; $(tail -n 1 /tmp/out)"
	grep -v 'laid out' /tmp/out | sed 's/.*: \(.*\)/#   left out: \1/' | sort | uniq -c
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
END
