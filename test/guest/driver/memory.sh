#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory runs out at every allocation of a batch, one after the other (a driver built with
# KI_TEST_FAIL): each time one line, nothing installed, nothing leaked; then it works.
#
# usage: test/guest/driver/memory.sh [more]: of windows and words; of all else, by the tool
. "$(dirname "$0")/../common/lib.sh"
insmod "$top/build/kmod/$(uname -r)-fail/kerninst.ko" || exit 1
start
knob=/sys/module/kerninst/parameters/ki_fail_at

# each_fails NAME LEAST COMMAND...: with the n-th allocation failing, for each n; at least so many
# make it fail, each with one line, and nothing is left of it
each_fails() {
	local name=$1 least=$2 n left status failed=0 wrong=
	shift 2
	for n in $(seq 1 500); do
		echo "$n" > $knob
		"$@" > /tmp/out 2> /tmp/err
		status=$?
		left=$(cat $knob)
		echo 0 > $knob
		[ "$left" = 0 ] || break
		if [ $status != 0 ]; then
			failed=$((failed + 1))
			[ "$(wc -l < /tmp/err)" = 1 ] || wrong="$wrong [$n: $(cat /tmp/err)]"
		fi
		until_true 60 field_is windows 0 || wrong="$wrong [$n: windows are left]"
	done
	is "$name: one line each, and nothing is left" "$wrong" ""
	ok "$name: failures were met ($failed of $((n - 1)) allocations)" test $failed -ge "$least"
	is "$name: all allocations were tried, then it works" "$((left > 0)) $status" "1 0"
}

# starved NAME LEAST [POINT...]: the same by a program that reads the kernel once
starved() {
	local name=$1 least=$2 failed attempts works
	shift 2
	timeout 600 "$top/build/test/starve" "$@" > /tmp/starved
	read -r failed attempts works < <(tail -n 1 /tmp/starved)
	is "$name: an error each, of one line, and nothing is left" "$(head -n -1 /tmp/starved)" ""
	ok "$name: failures were met ($failed of $((attempts - 1)) allocations)" \
		test "$failed" -ge "$least"
	is "$name: all allocations were tried, then it works" "$works" 1
}

plain() {
	starved "windows" 6 vfs_read vfs_write:exit
	starved "threads' words" 6
	echo 1 > $knob
	is "the tool says it in a line" "$("$ki" stat -q vfs_read -- true 2>&1 | wc -l)" 1
	echo 0 > $knob
	soon "no word is left" 0 field words_used
}

more() {
	each_fails "windows" 6 "$ki" stat vfs_read vfs_write:exit -- true
	each_fails "threads' words" 6 "$top/build/test/threads" take
	each_fails "functions moved, exits behind tail jumps" 6 \
		"$ki" stat -q --move -m blocks __x64_sys_getsid __x64_sys_write:exit:after -- true
	each_fails "records, stacks" 6 "$ki" record -q -o /tmp/rec vfs_read=tid,stack -- true
	each_fails "rows by strings" 6 "$ki" stat -q --by comm vfs_read -- true
	ok "the module of replacements loads" insmod "$top/build/replace/$(uname -r)/ki_replace.ko"
	each_fails "replaced functions" 3 "$ki" replace -q ki_replace_a=ki_replace_b -- true
	ok "it unloads" goes ki_replace
}

case ${1-plain} in
more) more ;;
*) plain ;;
esac
is "no window is left" "$(field windows)" 0
soon "no counter is left" 0 field counters_used
soon "no heap is left" 0 field heap_used
soon "no ring is left" 0 field rings
finish
