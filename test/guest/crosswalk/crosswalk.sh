#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst crosswalk by the driver: down from main through pointers, system calls and page faults to
# where time was planted in the kernel; what other processes do there changes nothing.
#
# usage: test/guest/crosswalk/crosswalk.sh
# promise: C2, C6, C7: The search crosses into the kernel, and ends where the delay was planted there.
# promise: C5: What another process does in the same functions of the kernel does not change what is found.
# promise: C8: By CPU time, or by events, it ends where these were used, not where a thread waits.
# promise: C11: By the largest share of one thread, or by the mean of all, in the program and in the kernel.
# promise: C12: A page fault is found under the function of the program that runs into it.
# promise: C4: After a search, killed or not, text of program and kernel are as they were.
# shellcheck disable=SC2317 # functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../process/program.sh"
. "$(dirname "$0")/walk_lib.sh"
start
bin=$top/build/test/process
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"

walk delay
shown
is "down to the planted delay" "$(of ki_metrics_spin found) $(of ki_metrics_spin module)" "true ki_metrics"
ok "by the program, the system call, and the module's pointer" grep -Eq '^main stores .*write __x64_sys_write .*vfs_write .*ki_metrics_spin$' <(chain ki_metrics_spin)
is "that is called by the kernel" "$(how __x64_sys_write)" syscall
ok "its share" share ki_metrics_spin 0.85 1.05
is "nothing else is a bottleneck" "$(of_rows 'print(*sorted(r["function"] for r in rows if r["bottleneck"] and r["side"] == "program"))')" ""

# Twice as much goes on in those functions, of which half is another's.
"$bin/planted" delay > /dev/null &
other=$!
walk delay
kill -9 "$other"
wait "$other" 2> /dev/null
is "beside another process" "$(of ki_metrics_spin found)" true
ok "its share is its own" share ki_metrics_spin 0.6 1.05

# By time a sleep is found, down to the scheduler; by CPU time what waits is nothing.
walk mixed -t 50%
shown
is "time: what sleeps longer" "$(of dozes found) $(of spins found)" "true false"
ok "a sleep, down to the scheduler" grep -Eq '^main dozes .*__x64_sys_clock_nanosleep .*do_nanosleep .*schedule' <(chain schedule)
ok "its share" share do_nanosleep 0.4 0.8
walk mixed -m cpu -t 20%
shown
is "CPU time: what runs" "$(of dozes found) $(of spins found) $(of spins sampled)" "false true False"
ok "its share" share spins 0.25 0.5
ok "the share of what sleeps" share dozes 0 0.05
is "a system call that waits is none of it" "$(of_rows 'print(*sorted(r["function"] for r in rows if r["side"] == "kernel" and r["found"] == "true"))')" ""
# By events what spins is nothing, though it takes time. A share is of calls that have ended.
walk pages -m faults -T 1.5
shown
is "page faults: what touches memory" "$(of touches found) $(of spins found) $(how handle_mm_fault)" "true false fault"
ok "its share" share touches 0.85 1.15
ok "in the kernel, too" share handle_mm_fault 0.8 1.1
is "an event that is not counted here" "$("$ki" crosswalk -q -m llc-misses $$ 2>&1 | grep -c "^kerninst: --metric llc-misses: it is not counted on this machine .*; kerninst metrics says what is$")" 1

# Of each thread.
threads() { of_rows 'row = by(sys.argv[1]); print(*["%s %d" % (t["name"], t["share"] > 0.85) for t in (row or {"threads": []})["threads"]])' "$1"; }
walk crew --threads any
shown
is "any thread" "$(of burns found) $(of dips found) $(threads burns)" "true false one 1"
ok "of one that waits in the kernel each thread" [ "$(of_rows 'print(len(by("do_nanosleep")["threads"]))')" = 6 ]
ok "the largest share of one" share do_nanosleep 0.85 1.05
ok "a call that is interrupted is once in its share" share __x64_sys_futex 0.85 1.4
walk crew --threads mean -m cpu -t 8%
shown
is "the mean of threads, of CPU time" "$(of burns found) $(of waits found)" "true none"
ok "is an eighth of it" share burns 0.07 0.13

# Killed in the middle, when it has something in.
run "$bin/planted" delay
before=$(text)
same() { [ "$(text)" = "$before" ]; }
"$ki" crosswalk -q "$pid" > /dev/null 2>&1 &
walk=$!
ok "windows of a search are in" until_true 120 eval '! same'
kill -9 "$walk"
wait "$walk" 2> /dev/null
soon "killed: the program's text is as it was" yes eval 'same && echo yes'
kill -9 "$pid"
end
ok "the test module goes" rmmod ki_metrics
finish
