#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Events that the kernel counts, as each thread's own, in system calls in which a known number of
# them happens (test/guest/events/work.c); against perf stat of the same run, and against what the
# kernel books for the task.
#
# usage: test/guest/events/events.sh [PART...]: abi, counts, killed, hotplug; cost needs -icount
# promise of events-cost: An event counted for threads costs a switch what was measured; one not
#   counted costs nothing.
# promise: P19 (in part): Events of user mode and of the kernel are told apart, and unknown ones
#   refused. [test_events.c]
# promise: P7, P8, P10, P13 (in part): Each thread's events are counted wherever it runs, as perf
#   stat counts them. [test_events.c, fuzz.sh]
# not shown: P7, P8, P10, P13, P19, F16: Hardware counters: no machine that has them was tried.
#   Software events and a model stand for them.
# not shown: P10: Disabling the oldest count: the newest is refused, so that a count that has
#   begun stays exact.
# shellcheck disable=SC2317 # parts are called by their names
. "$(dirname "$0")/../common/lib.sh"
[ $# != 0 ] || set -- abi counts killed hotplug
json=/tmp/events.json
work=$top/build/test/events

got() { grep -F "\"metric\":\"$1\"," "$json" | sed -n 's/.*"value": *\([0-9.e+-]*\).*/\1/p' | tail -n 1; } # METRIC
of_perf() { awk -F, -v e="$1" 'index($3, e) == 1 { print $1 }' /tmp/perf.csv; } # EVENT
# measured METRICS FUNCTION EVENT WORK...: the events by both, in one run
measured() {
	local metrics=$1 function=$2 event=$3
	shift 3
	ok "$*: measured" "$ki" stat -q --json -o "$json" --comm events -m "$metrics" "$function" -- \
		perf stat -x, -o /tmp/perf.csv -e "$event" "$work" "$@"
}

# within NAME GOT LEAST MOST
within() {
	ok "$1: $2 is in $3 to $4" awk -v g="$2" -v l="$3" -v m="$4" 'BEGIN { exit !(g != "" && l != "" && m != "" && l <= g + 0 && g + 0 <= m) }'
}

abi() { cases "abi: " 24 "$work" abi; }
cost() { cases "cost: " 1 "$work" cost; }
refused() { # REASON METRIC: here, beside what is measured
	"$ki" stat -q --json -o "$json" -m "calls,$2" vfs_read -- true > /tmp/events.err 2>&1
	is "$2 is refused" "$? $(grep -F "\"metric\":\"$2\"" "$json" | grep -o '"reason":"[A-Z_]*"')" "0 \"reason\":\"$1\""
}

counts() {
	local n
	# 16 pages a call, in 1 thread and in 20; perf also sees what exec does in the kernel
	measured calls,page-faults,page-faults/call,faults vfs_read page-faults:k faults 4096 1
	n=$(got calls) # the loader's are few and take faults of their own, in user mode
	near "page faults, known" "$(got page-faults)" 4096 8
	is "page faults, as the task's" "$(got page-faults)" "$(got faults)"
	near "page faults, by perf" "$(got page-faults)" "$(of_perf page-faults)" 150
	near "a call" "$(got page-faults/call)" "$(awk "BEGIN { print $(got page-faults) / $n }")" 0.01
	measured calls,page-faults,faults,cpu-migrations vfs_read page-faults:k faults 512 20
	echo "# $(got calls) calls, $(got page-faults) page faults"
	near "of 20 threads, by perf" "$(got page-faults)" "$(of_perf page-faults)" 150
	is "of 20 threads, as the tasks'" "$(got page-faults)" "$(got faults)"

	measured page-faults,page-faults:k,page-faults:u,page-faults:k/call vfs_read page-faults:k faults 1024 1
	is "in the kernel: all of them" "$(got page-faults:k)" "$(got page-faults)"
	is "in user mode: none" "$(got page-faults:u)" 0
	ok "in the kernel, a call" test -n "$(got page-faults:k/call)"
	refused EVENT_SIDE context-switches:k
	refused EVENT_UNKNOWN r01c2
	refused EVENT_UNKNOWN cycles:k

	measured calls,context-switches,switches __x64_sys_clock_nanosleep context-switches sleeps 200
	# a timer that goes off before its thread sleeps spares a switch; others may take the CPU
	within "switches of a sleeper, known" "$(got context-switches)" 180 300
	is "switches, as the task's" "$(got context-switches)" "$(got switches)"
	# perf also sees those outside of the call, as many as others need the CPU
	within "switches, by perf" "$(of_perf context-switches)" "$(got context-switches)" $(($(got context-switches) + 200))

	measured calls,cpu-migrations,context-switches __x64_sys_sched_setaffinity cpu-migrations moves 300
	near "moves, known" "$(got cpu-migrations)" 300 2
	within "moves, by perf" "$(of_perf cpu-migrations)" "$(got cpu-migrations)" $(($(got cpu-migrations) + 20))

	measured task-clock,vtime,context-switches,cpu-migrations vfs_read task-clock burn 400 8
	near "time, by the thread's clock" "$(got task-clock)" "$(got vtime)" "$(awk "BEGIN { print $(got vtime) / 50 }")"
	# perf also sees what is outside of the call
	within "time, by perf" "$(of_perf task-clock)" "$(awk "BEGIN { print $(got task-clock) * 980 }")" "$(awk "BEGIN { print $(got task-clock) * 1900 }")"
	ok "they were switched meanwhile: $(got context-switches) times" test "$(got context-switches)" -gt 50

	perf stat -x, -o /tmp/perf.csv -e cycles true 2> /dev/null
	"$ki" stat -q -m cycles,calls vfs_read -- true > /tmp/events.out 2> /tmp/events.err
	if grep -q "not supported" /tmp/perf.csv; then
		"$ki" stat -m ipc vfs_read -- true > /tmp/events.out 2> /tmp/events.err
		is "what the machine does not count is refused" $? 1
		is "in one line" "$(wc -l < /tmp/events.err)" 1
		ok "with the reason" grep -q "does not count such an event" /tmp/events.err
		ok "metrics -v says so" bash -c "'$ki' metrics -v | grep '^ipc ' | grep -q 'does not count such an event'"
	else
		ok "what the machine counts is measured" test ! -s /tmp/events.err
	fi
	ok "metrics -v says what can be measured" bash -c "'$ki' metrics -v | grep '^page-faults ' | grep -q ' yes$'"
	is "and what no processor counts any more" \
		"$("$ki" metrics -v | grep '^mesi-read-hits ' | grep -c 'no processor of today does')" 1

	"$ki" stat -q -m page-faults,context-switches vfs_read > /tmp/events.out 2>&1 &
	local pid=$!
	until_true 60 measures "$pid"
	is "info --events: who counts how many" \
		"$("$ki" info --events --json | jq -c '[.users[] | [.pid, .events]]')" "[[$pid,2]]"
	kill -INT "$pid"
	wait "$pid"
	is "and that nobody does" "$("$ki" info --events | tail -n 1)" "no session counts events"
	is "and what is counted here is what metrics can be measured" \
		"$("$ki" info --events --json | jq -c '[.events[] | select(.name == "page-faults" or .name == "cycles").here == "yes"]')" \
		"$("$ki" metrics --json | jq -sc '[.[] | select(.name == "page-faults" or .name == "cycles").here == "yes"]')"
}

# kill -9 in the middle: all is given back, however often
killed() {
	local pid i
	for i in 1 2 3; do
		"$ki" stat -q -m page-faults,context-switches,task-clock vfs_read __x64_sys_clock_nanosleep > /tmp/killed.out 2>&1 &
		pid=$!
		until_true 120 installed
		sed 's/^/# /' /tmp/killed.out
		ok "killed $i: it was installed" test "$(field windows)" != 0
		"$work" faults 1024 4
		kill -9 "$pid"
		wait "$pid" 2> /dev/null
	done
	soon "no windows are left" 0 field windows
	soon "no words are left" 0 field words_used
	abi # there are all events again
}

# A CPU goes and comes: what runs there later is counted as before.
coming_and_going() {
	local i
	for i in 1 2 3; do
		taskset -c 1 "$work" faults 160 2
		echo 0 > "$cpu"
		"$work" faults 160 2
		echo 1 > "$cpu"
		sleep 0.5
	done
	taskset -c 1 "$work" faults 160 2
}
hotplug() {
	local cpu=/sys/devices/system/cpu/cpu1/online
	export cpu work
	export -f coming_and_going
	ok "hotplug: measured" "$ki" stat -q --json -o "$json" --comm events -m page-faults,faults vfs_read -- bash -c coming_and_going
	near "hotplug: known" "$(got page-faults)" $((7 * 320)) 30
	is "hotplug: as the tasks'" "$(got page-faults)" "$(got faults)"
	echo 0 > "$cpu"
	abi # while a CPU is away
	echo 1 > "$cpu"
}

start
for part in "$@"; do "$part"; done
soon "no words are left in the end" 0 field words_used
finish
