#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The witness itself is tested: a guest makes N calls, and the plugin must have
# counted N at the first instruction of each function on their way.
#
# usage: test/plugin/exec_count_test.sh [VM_RUN_OPTION...]
set -u
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0

# expect TITLE N FUNCTION...: each was executed exactly N times.
expect() {
	local title=$1 n=$2 f addr got
	shift 2
	for f; do
		addr=$(awk -v f="$f" '$3 == f { print $1; exit }' "$out/symbols")
		got=$(awk -v a="$addr" '$1 == a { print $2 }' "$out/counts")
		if [[ $addr && ${got:-0} == "$n" ]]; then
			echo "ok: $title: $f ${got:-0}"
		else
			echo "FAILED: $title: $f (${addr:-unknown}): ${got:-0}, not $n"
			failed=1
		fi
	done
}

# round TITLE COMMAND: one guest, its symbols and its counts.
round() {
	local title=$1
	shift
	vm/run "${options[@]}" --no-module --timeout 120 \
		--plugin "build/test/exec_count.so,out=$out/counts" -- \
		bash -ec "$*; grep -E '[tT] [a-z_0-9]+$' /proc/kallsyms" >"$out/symbols" || {
		echo "FAILED: $title: the guest ended with $?"
		exit 1
	}
}

options=("$@")
prog=build/test/prog/calls
round getppid "$prog getppid 12345"
expect getppid 12345 __x64_sys_getppid
round "getppid, 2 threads" "$prog getppid 20001 2"
expect "getppid, 2 threads" 20001 __x64_sys_getppid
round "two windows" "$prog getppid 999; $prog fork 50"
expect "two windows" 50 __x64_sys_fork kernel_clone
expect "two windows" 0 __x64_sys_getppid

# Text that is written while it runs: ftrace turns the function's first nop
# into a call and back, and the address is translated anew each time.
toggle="echo '*_sys_getppid' >/sys/kernel/tracing/set_ftrace_filter || exit
(for i in 1 2 3 4 5; do
	echo function >/sys/kernel/tracing/current_tracer
	echo nop >/sys/kernel/tracing/current_tracer
done) & $prog getppid 300000; wait"
round "rewritten text" "$toggle"
expect "rewritten text" 300000 __x64_sys_getppid
exit $failed
