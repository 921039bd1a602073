#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Between stac and clac, where the kernel may touch user memory: chunks call helpers there, which let
# others run when they end, while threads go through all the time. Whoever comes back without the
# flag oopses at the next access. On a kernel with preemption; one CPU, so that others are waiting.
. "$(dirname "$0")/lib.sh"
start
path=strncpy_from_user

opens() { # 0 for ever, or until a file that is there is not found
	while :; do
		/usr/bin/stat /usr/share/doc /usr/bin/env /etc/passwd / > /dev/null || return
	done
}
pids=()
for _ in 1 2 3 4 5 6; do
	opens 2>> /tmp/not_found &
	pids+=($!)
done
# during NAME ARGUMENTS...: the tool with these, and it has been there often
during() {
	local name=$1
	shift
	ok "$name" "$ki" "$@" -q -o /tmp/out $path:blocks -- sleep 8
	ok "$name: something was there" test "$(stat -c %s /tmp/out)" -gt 100
}
during "records" record
during "rows by thread" stat --by tid
during "rows by the process's stack" stat --by ustack
during "rows by a string of the process" stat --by 'ustr(arg2)'
during "times" stat -m vtime
ended=0
for p in "${pids[@]}"; do kill -0 "$p" 2> /dev/null || ended=$((ended + 1)); done
is "none of the threads has ended" $ended 0
kill "${pids[@]}"
wait 2> /dev/null
is "and each file was found" "$(cat /tmp/not_found)" ""
finish
