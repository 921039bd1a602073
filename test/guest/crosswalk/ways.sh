#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst crosswalk by the driver, other ways down than those of crosswalk.sh: through a file's
# pointer, by page faults and the time that they take, by CPU time into a system call, of the sum of
# threads; and one function whose return is short.
#
# usage: test/guest/crosswalk/ways.sh
# promise: C2, C6, C7: The search follows pointers of files, page faults and system calls of several threads
#   into the kernel.
# promise: C8: By CPU time it ends in the kernel where that is used there.
# shellcheck disable=SC2317 # functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../process/program.sh"
. "$(dirname "$0")/walk_lib.sh"
start
bin=$top/build/test/process
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"

walk zero
shown
ok "a read, through the file's pointer" grep -Eq '^main fills .*__x64_sys_read .*vfs_read .*(read_iter_zero|read_zero)' <(chain read_iter_zero; chain read_zero)

walk fault -t 10%
shown
is "page faults, under what touches the memory" "$(how handle_mm_fault) $(chain handle_mm_fault)" "fault main touches handle_mm_fault"

walk delay -m cpu
shown
is "CPU time in the kernel" "$(of ki_metrics_spin found) $(how __x64_sys_write)" "true syscall"
ok "its share" share ki_metrics_spin 0.7 1.05

# It spins for 40 ms; how long to touch the pages takes is the machine's matter.
walk pages -t 15%
shown
is "time: what spins" "$(of spins found)" "true"
# The sum of threads is what there is if nobody says otherwise.
walk crew -t 35%
shown
is "the sum of threads" "$(of burns found) $(of dips found)" "true true"

# Between the times that the two ends of a call are written no thread may come by. One that is taken
# for inside adds all of the 0.2 s. Calls and exits are as many, but not read at one moment.
run "$bin/planted" brief
stuck=0
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -f "$json"
	"$ki" stat -q --json -o "$json" -m calls,exits,walltime "$pid/brief" -- sleep 0.2 2> /tmp/words || cat /tmp/words
	told=$(jq -rs 'map({(.metric): .value}) | add | "\(.calls) \(.exits) \(.walltime)"' "$json")
	echo "# $told"
	awk -v s="$told" 'BEGIN { n = split(s, v); d = v[1] - v[2]
		exit !(n == 3 && v[1] > 100 && d >= -20 && d <= 20 && v[3] > 0 && v[3] <= 0.27) }' || stuck=$((stuck + 1))
done
is "a function with a short return is not taken for entered for good" "$stuck" 0
kill -9 "$pid"
end

ok "the test module goes" rmmod ki_metrics
finish
