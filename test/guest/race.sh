#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A splice must wait for a task that was preempted inside the window. Runs in
# the guest, on two CPUs of which the second is the victim's alone:
#
#   vm/run --cpus 2 --thread single \
#       --append "preempt=full isolcpus=managed_irq,domain,1" -- \
#       test/guest/race.sh COMMAND...
#
# Single, because QEMU's CPUs in several threads may go on with what one of
# them has translated while another was writing there: with a task that runs
# nothing but the window, that happens, and is not the driver's fault.
#
# COMMAND counts calls of ki_race:ki_race_victim for a second or more and
# prints how many, in the line that names the function, such as
#   kerninst stat -m calls ki_race:ki_race_victim -- sleep 2
# Without COMMAND only the catching itself is tried (needs no driver).
#
# First with the task held inside the window while COMMAND installs; then with
# the task held inside the patch while COMMAND takes it out and ends.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
here=$(cd "$(dirname "$0")" && pwd)
module=$here/../../build/race/$(uname -r)/ki_race.ko
control=/proc/ki_race
out=$(mktemp)
failed=0

say() {
	echo "race: $*"
}

fail() {
	say "FAILED: $*"
	failed=1
}

die() {
	fail "$*"
	exit 1
}

state() {
	sed -n "s/^$1 //p" $control
}

# The byte at an offset of the victim's text, as it is now.
byte() {
	state entry | cut -d' ' -f$(($1 + 1))
}

# until SECONDS COMMAND...: poll; false if it did not come true in time.
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

phase_is() {
	[[ $(state phase) == "$1" ]]
}

byte_is() {
	[[ $(byte "$1") == "$2" ]]
}

byte_changed() {
	[[ $(byte "$1") != "$2" ]]
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

# What belongs to the victim's CPU stands still during a hold: so nothing may.
# And nothing but the blocker may decide when the victim goes on: neither the
# limit on realtime tasks, nor what came after it in 6.12.
alone() {
	local f
	[[ $(</sys/devices/system/cpu/isolated) == 1 ]] ||
		say "NOTE: CPU 1 is not the victim's alone: what the script needs may stand still"
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us || die "realtime throttling stays on"
	for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[[ ! -e $f ]] || echo 0 >"$f" || die "the fair server stays on"
	done
}

# What is run during a hold has been run before.
warm_up() {
	until_true 1 byte_changed 0 "$(byte 0)"
	state phase | grep -q idle | sort | tail -n1 | tr -d , | cat
	(($# == 0)) || "$@" >"$out" 2>&1 || die "without a hold: $(tail -n1 "$out")"
}

# catch WHAT: until the task is held.
catch() {
	echo "$1" >$control
	until_true 60 phase_is held || die "$1: nothing was caught in 60 s: $(tr '\n' ' ' <$control)"
	held_iterations=$(state iterations)
	say "held at $(state caught) after $(state interrupts) interrupts"
}

check_held() {
	phase_is held || fail "the hold was over before it was released"
	[[ $(state iterations) == "$held_iterations" ]] || fail "the victim ran while it was held"
}

# The victim goes on, and goes on well.
release() {
	local before
	before=$(state iterations)
	echo release >$control
	until_true 5 phase_is released || fail "the blocker does not let go"
	until_true 5 victim_passed "$before" || fail "the victim does not go on"
	check_victim
}

victim_passed() {
	(($(state iterations) > $1 + 1000))
}

check_victim() {
	[[ $(state errors) == 0 ]] || fail "the victim saw $(state errors) errors"
}

check_log() {
	local bad='BUG|Oops|WARNING|general protection|invalid opcode|stall|lockup|Call Trace'
	if dmesg | grep -E "$bad"; then
		fail "the kernel complains"
	fi
	# Only kernels with lockdep have it; at its first complaint it ends itself.
	if [[ -e /proc/lockdep_stats ]] && ! grep -q 'debug_locks: *1$' /proc/lockdep_stats; then
		fail "lockdep is off"
	fi
}

check_count() {
	local n
	n=$(grep ki_race_victim "$out" | grep -oE '(^|[[:space:]])[0-9][0-9,]*([[:space:]]|$)' |
		tr -d ', \t' | sort -n | tail -n1)
	if [[ ! $n ]] || ((n < 1000 || n > $(state iterations))); then
		fail "count ${n:-none} of $(state iterations) iterations"
	fi
	say "counted ${n:-nothing}, $(state iterations) iterations in all"
}

only_catch() {
	for _ in 1 2 3; do
		catch catch
		sleep 1.5
		check_held
		release
	done
}

# The breakpoint may come while the task is held, the rest of the jump may not.
hold_in_window() {
	local old=$1 tail=$2 pid
	shift 2
	catch catch
	"$@" >"$out" 2>&1 &
	pid=$!
	if until_true 30 byte_changed 0 "$old"; then
		say "the splice has reached the window: $(state entry)"
	else
		fail "the splice did not reach the window"
	fi
	# If so, release it at once, before the command is over again.
	if until_true 3 byte_changed 2 "$tail"; then
		fail "installed while a task was inside the window: $(state entry)"
	fi
	check_held
	release
	until_true 10 byte_is 0 e9 || fail "not installed after the release: $(state entry)"
	wait $pid || fail "the command ended with $?"
	cat "$out"
	if ! byte_is 0 "$old" || ! byte_is 2 "$tail"; then
		fail "the original bytes are not back"
	fi
	check_count
}

# Whoever is inside the patch must find it there, however late.
hold_in_patch() {
	local old=$1 pid
	shift
	"$@" >"$out" 2>&1 &
	pid=$!
	until_true 30 byte_is 0 e9 || fail "not installed: $(state entry)"
	catch catch-patch
	until_true 30 byte_is 0 "$old" || say "the command waits with taking it out"
	# A second splice, which gets the heap that the first gave back.
	"$@" >/dev/null 2>&1 &
	sleep 1
	check_held
	release
	until_true 30 ended $pid || fail "the command does not end"
	wait
	check_victim
}

trap 'dmesg | tail -n 30; rm -f "$out"' EXIT
alone
insmod "$module" hold_ms=30000 || die "no $module (make race-module)"
say "the victim: $(state entry)"
warm_up "$@"
if (($# == 0)); then
	only_catch
else
	hold_in_window "$(byte 0)" "$(byte 2)" "$@"
	((failed)) || hold_in_patch "$(byte 0)" "$@"
fi
rmmod ki_race || fail "rmmod"
check_log
trap 'rm -f "$out"' EXIT
((failed)) || say "passed"
exit $failed
