#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# For how long is a CPU held while patches go, with THREADS threads of which half are asleep in
# faults, there? Needs -icount: a nanosecond is an instruction.
#
# usage: test/guest/driver/held.sh [THREADS [LIMIT]]
# promise: No CPU is held for long, in instructions, while patches of hundreds of threads go.
threads=${1:-500}
limit=${2:-100000}
. "$(dirname "$0")/../common/lib.sh"
start
cover=$top/build/test/cover
copying=(copy_user_generic_unrolled copy_user_generic_string copy_user_enhanced_fast_string
	rep_movs_alternative copy_user_generic _copy_from_user raw_copy_from_user get_timespec64)
seconds=15 # 0.2, 0.4 ... 3.2: patches in which somebody sleeps are looked for six times

# measure NAME COMMAND...: the meter's line while the command runs
measure() {
	local pid
	"$prog/meter" > "/tmp/$1.meter" &
	pid=$!
	shift
	sleep 0.2
	"$@"
	kill -TERM $pid
	wait $pid
}
bound() { awk '{ print $1 + $2 }' "/tmp/$1.meter"; }

# shellcheck disable=SC2317 # called by name
go() { # What cover has put there, not cover: the kernel frees a process's memory in its own time.
	"$ki" evict --all > /dev/null
	sleep "$seconds"
}
# shellcheck disable=SC2317 # called by name
crowd() { # in what cover has instrumented
	setsid sh -c "$prog/crowd $threads /tmp/crowd; echo \$? > /tmp/crowd.status" &> /dev/null &
	until [ -e /tmp/crowd.asleep ]; do sleep 0.2; done
	touch /tmp/installed
	until [ -e /tmp/go ]; do sleep 0.1; done
}
export -f crowd
export prog threads
soon "the heap is empty" 0 field heap_used

# ---- thousands of windows go at once ----
"$ki" stat -q -m blocks 'vfs_*' > /tmp/stat.out 2>&1 &
counting=$!
ok "thousands of windows are in" until_true 300 measures $counting
many=$(field windows)
ok "they are $many" test "$many" -gt 1000
measure many "$ki" evict --all > /dev/null
kill -INT $counting
wait $counting 2> /dev/null
echo "# they go: $(cat /tmp/many.meter)"
ok "no CPU is held for more than $limit instructions: $(bound many)" test "$(bound many)" -le "$limit"
soon "the heap is empty" 0 field heap_used

# ---- tasks sleep there ----
"$cover" "${copying[@]}" -- bash -c crowd > /tmp/cover &
covering=$!
ok "$threads threads sleep, half of them in faults" until_true 1000 test -e /tmp/installed
measure before sleep "$seconds"
echo "# nothing goes: $(cat /tmp/before.meter)"
measure going go
echo "# patches go: $(cat /tmp/going.meter)"
touch /tmp/go
wait $covering
sed 's/^/# /' /tmp/cover
is "they are taken out" "$(field windows)" 0
ok "and stay, where somebody sleeps: $(field heap_used) bytes" test "$(field heap_used)" -gt 0
# The kernel itself holds one for 40,000 to 115,000 now and then, when nothing goes too.
ok "no CPU is held for more than $limit instructions, or for longer than when nothing goes: $(bound going)" \
	test "$(bound going)" -le "$limit" -o "$(bound going)" -le $(($(bound before) * 11 / 10))
touch /tmp/crowd.wake
measure waking eval 'until [ -s /tmp/crowd.status ]; do sleep 1; done'
echo "# all go on: $(cat /tmp/waking.meter)"
is "all go on well" "$(cat /tmp/crowd.status)" 0
soon "then the patches go" 0 field heap_used
finish
