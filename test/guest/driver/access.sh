#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Between stac and clac, where the kernel may touch user memory: chunks call helpers there, which let
# others run when they end, while threads go through all the time. Whoever comes back without the
# flag oopses at the next access. On a kernel with preemption; one CPU, so that others are waiting.
# promise: A window where user memory is open leaves it open, whatever its helpers do.
#   [stacks.sh]
. "$(dirname "$0")/../common/lib.sh"
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
# The first block behind the stac, where user memory is open.
block=$("$ki" disas $path | awk '/^block/ { b = $2 + 0 } / stac$/ { print b + 1; exit }')
ok "this machine distinguishes user memory" grep -qw smap /proc/cpuinfo
ok "the block behind the stac is known" test -n "$block"
# during NAME ARGUMENTS...: the tool with these
during() {
	local name=$1
	shift
	ok "$name" "$ki" "$@" -q -o /tmp/out $path:blocks -- sleep 8
	ok "$name: something was there" test "$(stat -c %s /tmp/out)" -gt 100
}
during "counts" stat --json
ok "the block behind the stac was executed often" test "$(value "$path:block/$block" < /tmp/out)" -gt $((3000 / watched / watched))
during "records" record
ok "there are as many records of it" test "$("$ki" report -q --csv -p "$path:block/$block" /tmp/out | wc -l)" -gt $((3000 / watched / watched))
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
