#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A realtime task that never sleeps takes a CPU just when the driver has found its idle task there,
# and before that has been left for the piece of work that the driver waits for (kmod/quiesce/quiesce.c).
# The wait ends all the same. While the driver waits a CPU may go and come; not while the task has it:
# taking a CPU away needs a thread of the kernel's on it, which has no turn then, driver or none.
# With a driver built with KI_TEST_FAIL, which stops where it is told to.
# promise: A realtime task that never sleeps does not keep the wait for idle tasks from ending.
. "$(dirname "$0")/../common/lib.sh"
insmod "$top/build/kmod/$(uname -r)-fail/kerninst.ko" || exit 1
start
knobs=/sys/module/kerninst/parameters/ki_step_
cpu1=/sys/devices/system/cpu/cpu1/online
noted="idle tasks noted"
echo -1 > /proc/sys/kernel/sched_rt_runtime_us
# shellcheck disable=SC2317 # functions are called through ok and until_true
is_stopped() { [ "$(< "${knobs}"stopped)" = 1 ]; }
# Where it stops the driver may hold its lock, and a look at the heap then waits for it: not for long.
# shellcheck disable=SC2317
settled() { is_stopped || [ "$(timeout 2 "$prog/field" heap_used)" = 0 ]; }

# stop_at N: something is taken out; the N-th step of what the driver does then, in its own thread
stop_at() {
	soon "the heap is empty" 0 field heap_used
	sleep 1 # what was taken out before has some steps after that, which would count
	echo "$1" > "${knobs}"at
	# Its thread runs where it was asked for, and CPU 1 has nothing to do.
	taskset -c 0 "$ki" stat -q -o /dev/null vfs_read -- true
	until_true 60 settled
}
# The wait's step comes as often as there are waits: the first one is enough.
find_step() {
	for n in {1..20}; do
		stop_at "$n"
		[ "$(< "${knobs}"name)" != "$noted" ] || return
		echo "# $n: $(< "${knobs}"name)"
		echo 1 > "${knobs}"go
	done
}
# shellcheck disable=SC2317
cpu_goes_and_comes() {
	timeout 20 sh -c "echo 0 > $cpu1" && timeout 20 sh -c "echo 1 > $cpu1"
}

echo 1 > "${knobs}"pid
find_step
is "it stops there ($n)" "$(< "${knobs}"name), $(< "${knobs}"stopped)" "$noted, 1"
ok "a CPU goes and comes meanwhile" cpu_goes_and_comes
echo 1 > "${knobs}"go
for round in 1 2 3; do
	stop_at "$n"
	is "$round: it stops there" "$(< "${knobs}"name)" "$noted"
	taskset -c 1 chrt -f 50 sh -c 'while :; do :; done' &
	hog=$!
	sleep 1
	echo 1 > "${knobs}"go
	ok "$round: the wait ends while CPU 1 is taken" until_true 20 field_is heap_used 0
	kill -KILL $hog
	wait $hog 2> /dev/null
	ok "$round: and a CPU goes and comes" cpu_goes_and_comes
done
echo 0 > "${knobs}"at
finish
