#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/guest/driver/panic_host.sh [KERNEL]: a kernel that dies with code of two sessions in it says so on
# its console: each session, and the windows that were changed last.
cd "$(dirname "$0")/../../.." || exit 1
log=$(mktemp "${TMPDIR:-/tmp}/ki-panic.XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT
tests=0
failures=0
is() { # NAME GOT WANTED
	tests=$((tests + 1))
	[ "$2" = "$3" ] && echo "ok $tests $1" && return
	failures=$((failures + 1))
	echo "not ok $tests $1"
	echo "# got '$2', wanted '$3'"
}
said() { tr -d '\r' < "$log" | grep -c "kerninst: $1"; }

# shellcheck disable=SC2016 # for the guest's shell
KI_VM_LOG=$log vm/run --kernel "${1-6.1}" --timeout 120 -- bash -c '
	ki=build/release/bin/kerninst
	$ki stat -q vfs_read < /dev/null > /dev/null &
	until [ "$($ki sessions --json | grep -c "\"windows\":1")" = 1 ]; do sleep 0.1; done
	$ki replace -q __x64_sys_getpgid=__x64_sys_getpriority < /dev/null &
	until [ "$($ki sessions --json | grep -c "\"replaced\":1")" = 1 ]; do sleep 0.1; done
	echo c > /proc/sysrq-trigger' > /dev/null 2>&1
is "the guest dies" $? 255
is "one session counts" "$(said 'session [0-9]*: process [0-9]* (kerninst), user 0, 1 chunks, 0 replacements')" 1
is "one replaces" "$(said 'session [0-9]*: process [0-9]* (kerninst), user 0, 1 chunks, 1 replacements')" 1
is "what was installed first" "$(said 'session [0-9]* installed vfs_read+')" 1
is "and last" "$(said 'session [0-9]* installed __x64_sys_getpgid+')" 1
echo "1..$tests"
[ "$failures" = 0 ]
