#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads' words: each thread has its own, wherever it runs; they go with it; its own clock; who is
# inside; sessions that end or are killed.
#
# usage: test/guest/threads.sh [PART...]: counts, clocks, sessions, traced, hotplug; cost needs -icount
. "$(dirname "$0")/lib.sh"
[ $# != 0 ] || set -- counts clocks sessions traced
declare -A count=([counts]=5 [clocks]=9 [sessions]=7 [cost]=1)
# The clock of one that is moved, by the kernel's own trace of its switches, in ticks of the same
# counter: within 2 %.
# shellcheck disable=SC2317 # called by its name
traced() {
	local trace=/sys/kernel/tracing out tid from to ticks
	mount -t tracefs none "$trace" 2> /dev/null
	echo x86-tsc > "$trace"/trace_clock
	echo 1 > "$trace"/events/sched/sched_switch/enable
	out=$("$top/build/test/threads" traced)
	echo 0 > "$trace"/events/sched/sched_switch/enable
	read -r tid from to ticks <<< "$out"
	sed -n "s/^.* \([0-9]*\): sched_switch: .*prev_pid=\([0-9]*\) .*next_pid=\([0-9]*\) .*/\1 \2 \3/p" "$trace"/trace |
		awk -v tid="$tid" -v from="$from" -v to="$to" -v ticks="$ticks" '
			$1 <= from { on = $3 == tid ? 1 : $2 == tid ? 0 : on; next }
			$1 >= to { next }
			!began { began = 1; since = from }
			$2 == tid && on { sum += $1 - since; on = 0; n++ }
			$3 == tid { since = $1; on = 1; n++ }
			END {
				if (on) sum += to - since
				printf "traced: %d switches: %d ticks, own clock %d\n", n, sum, ticks
				off = sum > ticks ? sum - ticks : ticks - sum
				exit !(n > 5 && sum > 1000000 && off < sum / 50)
			}' > /tmp/threads.traced
	is "traced: own clock and the kernel's trace" $? 0
	sed 's/^/# /' /tmp/threads.traced
	echo local > "$trace"/trace_clock
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
