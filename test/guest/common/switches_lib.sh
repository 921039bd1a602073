# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# When a thread ran, by the kernel's own trace of switches, in ticks of the time stamp counter.
trace=/sys/kernel/tracing

switches_trace() {
	mount -t tracefs none "$trace" 2> /dev/null
	echo x86-tsc > "$trace"/trace_clock
	echo 8192 > "$trace"/buffer_size_kb
	echo > "$trace"/trace
	echo 1 > "$trace"/events/sched/sched_switch/enable
}

switches_end() {
	echo 0 > "$trace"/events/sched/sched_switch/enable
}

# switches_ran TID FROM TO: how many switches and for how many ticks it ran between two readings of
# the counter, into /tmp/switches. The trace's clock is given back.
switches_ran() {
	sed -n "s/^.* \([0-9]*\): sched_switch: .*prev_pid=\([0-9]*\) .*next_pid=\([0-9]*\) .*/\1 \2 \3/p" "$trace"/trace |
		awk -v tid="$1" -v from="$2" -v to="$3" '
			$1 <= from { on = $3 == tid ? 1 : $2 == tid ? 0 : on; next }
			$1 >= to { next }
			!began { began = 1; since = from }
			$2 == tid && on { sum += $1 - since; on = 0; n++ }
			$3 == tid { since = $1; on = 1; n++ }
			END {
				if (on) sum += to - since
				printf "%d %.0f\n", n, sum
				exit !(n > 5 && sum > 1000000)
			}' > /tmp/switches
	local status=$?
	echo local > "$trace"/trace_clock
	return $status
}
