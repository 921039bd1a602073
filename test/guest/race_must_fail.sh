#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The counter-test of race.sh: with a driver that does not wait, the same test
# must be seen to fail. Runs on the host; passes if the task was held inside
# the window and then either the guest died, or its kernel or the victim
# noticed.
#
# usage: race_must_fail.sh VM_RUN... race.sh COMMAND...
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
evidence='Oops|general protection|invalid opcode|BUG:|kernel paging|Kernel panic|double fault'
evidence+='|the guest died|saw [1-9][0-9]* errors|the victim does not go on'

die() {
	echo "race_must_fail: FAILED: $*"
	exit 1
}

grep -q '^race: held at' "$log" || die "no task was held: this shows nothing"
grep -q '^race: FAILED: installed while' "$log" || die "nothing was installed during the hold"
((status != 0)) || die "the test passed"
grep -qE "$evidence" "$log" || die "it failed, but the kernel went on well (status $status)"
echo "race_must_fail: passed: without the wait, the race is lost"
