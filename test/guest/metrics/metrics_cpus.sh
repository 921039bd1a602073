#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Metrics of functions that take known times, on several CPUs: of each CPU, and of a thread that is
# moved between them. With two CPUs, time is the host's, and a busy one may be away for some of it.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/metrics_lib.sh"
. "$(dirname "$0")/../common/switches_lib.sh"
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
start
# near NAME GOT WANTED: what took milliseconds in all; the host may have been away for some between the module's clock
# and ours, within it, so that ours is less
near() { ok "$1: $2 is $3 or a little less" awk -v g="$2" -v w="$3" 'BEGIN { exit !(g <= w * 1.02 && g >= w * 0.7) }'; }
booked "moved from CPU to CPU" 20 --move

# ---- on each CPU ----
command reset
cells() { "$top/test/guest/metrics/metrics_cells.py" "$json" > /tmp/cells; }
cell() { awk -v m="$1" -v p="${f}_$2" -v part="${3:--}" '$1 == m && $2 == p && $3 == part { print $4 }' /tmp/cells; }
on() { echo "taskset $1 sh -c 'echo $2 > $control'"; }
ok "calls on two CPUs" stat -A -m calls,walltime,walltime/call,vtime,latency,concurrency,task-clock,context-switches ${f}_{spin,sleep} -- \
	sh -c "$(on 1 'spin 500 40') & $(on 2 'spin 500 60') & wait; $(on 1 'sleep 10 7'); $(on 2 'sleep 10 11')"
ok "rows of the CPUs make the total, of times, histograms and events, too" cells
sed 's/^/# /' /tmp/cells
is "calls on each CPU" "$(cell calls spin) $(cell latency spin) $(got calls spin)" "40,60 40,60 100"
is "those that sleep" "$(cell calls sleep) $(cell latency sleep) $(cell context-switches sleep)" "7,11 7,11 7,11"
ok "time on each: at least 20 and 30 ms, 70 and 110 ms" awk -F, -v s="$(cell walltime spin),$(cell walltime sleep)" \
	'BEGIN { split(s, v); exit !(v[1] > 0.02 && v[2] > 0.03 && v[3] > 0.07 && v[4] > 0.11) }'
near "by the kernel's clock: running" "$(got walltime spin)" "$(seconds spin)"
about "asleep" "$(got walltime sleep)" "$(seconds sleep)"

# ---- metrics x points x predicates x CPUs, each with what is its own ----
command reset
cross() { # CPU, WHO, calls of spin, of sleep, outermost ones of recurse
	local commands=("spin 300 $3" "sleep 5 $4") i
	for ((i = 0; i < $5; i++)); do commands+=("recurse 2 100"); done
	for i in "${commands[@]}"; do
		if [ "$2" = own ]; then
			taskset "$1" "$prog/own" "$control" "$i" > /dev/null
		else
			taskset "$1" sh -c "echo $i > $control"
		fi
	done
}
crosses() {
	cross 1 own 11 2 3 &
	cross 2 own 13 4 5 &
	cross 1 sh 17 6 7 &
	cross 2 sh 19 8 9 &
	wait
}
export -f cross crosses
export prog control
ok "two metrics, three points, two predicates, two CPUs" stat -A -m calls,walltime --split 'ours:comm == "own"' ${f}_{spin,sleep,recurse} -- bash -c crosses
ok "rows of the CPUs make the total of each" cells
is "a cell for each" "$(wc -l < /tmp/cells)" 12
for i in "spin 11,13 17,19" "sleep 2,4 6,8" "recurse 9,15 21,27"; do
	read -r point ours else <<< "$i"
	is "$point: calls of each" "$(cell calls "$point" ours) $(cell calls "$point" else)" "$ours $else"
	near "$point: the time of all" "$(sum "$(cell walltime "$point" ours | tr , +) + $(cell walltime "$point" else | tr , +)")" "$(seconds "$point")"
done
ok "the text is what it was" text_is_back
ok "the test module unloads" rmmod $f
finish
