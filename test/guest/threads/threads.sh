#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads' words: each thread has its own, wherever it runs; they go with it; its own clock; who is
# inside; sessions that end or are killed.
#
# usage: test/guest/threads/threads.sh [PART...]: counts, clocks, sessions, traced, hotplug; cost needs -icount
# promise: Each thread has words and a clock of its own, exact across moves, ends and kill -9.
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../common/switches_lib.sh"
[ $# != 0 ] || set -- counts clocks sessions traced
declare -A count=([counts]=5 [clocks]=9 [sessions]=7 [cost]=1)
# The clock of one that is moved, by the kernel's own trace of its switches, in ticks of the same
# counter: within 2 %.
# shellcheck disable=SC2317 # called by its name
traced() {
	local out tid from to ticks ran status
	switches_trace
	out=$("$top/build/test/threads" traced)
	switches_end
	read -r tid from to ticks <<< "$out"
	switches_ran "$tid" "$from" "$to"
	status=$?
	read -r _ ran < /tmp/switches
	ok "traced: switches" test "$status" = 0
	near "traced: own clock and the kernel's trace" "$ticks" "$ran" $((ran / 50))
}

# CPUs that come and go meanwhile; their last switches are not told.
# shellcheck disable=SC2317 # called by its name
hotplug() {
	local cpu=/sys/devices/system/cpu/cpu1/online times=0
	"$top/build/test/threads" counts > /tmp/threads.out 2>&1 &
	while kill -0 $! 2> /dev/null; do
		echo 0 > "$cpu" && times=$((times + 1))
		sleep 0.2
		echo 1 > "$cpu"
		sleep 0.2
	done
	wait $!
	is "hotplug: exit status" $? 0
	cases "hotplug: " "${count[counts]}" cat /tmp/threads.out
	ok "hotplug: a CPU went and came back $times times" test "$times" -gt 3
	cases "hotplug, then: " "${count[clocks]}" "$top/build/test/threads" clocks
}

start
for part in "$@"; do
	case $part in
	traced | hotplug) "$part"; continue ;;
	esac
	cases "$part: " "${count[$part]}" "$top/build/test/threads" "$part"
done
soon "no words are left" 0 field words_used
finish
