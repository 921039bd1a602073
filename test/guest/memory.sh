#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory runs out at every allocation of a batch, one after the other (a driver built with
# KI_TEST_FAIL): each time one line, nothing installed, nothing leaked; then it works.
. "$(dirname "$0")/lib.sh"
insmod "$top/build/kmod/$(uname -r)-fail/kerninst.ko" || exit 1
start
knob=/sys/module/kerninst/parameters/ki_fail_at

failed_once=0
for n in $(seq 1 400); do
	echo "$n" > $knob
	"$ki" stat vfs_read vfs_write:exit -- true > /tmp/out 2> /tmp/err
	status=$?
	left=$(cat $knob)
	echo 0 > $knob
	[ "$left" = 0 ] || break
	if [ $status != 0 ]; then
		failed_once=$((failed_once + 1))
		[ "$(wc -l < /tmp/err)" = 1 ] || ok "one line at allocation $n" cat /tmp/err false
	fi
	until_true 60 field_is windows 0 || ok "nothing is left after allocation $n" false
done
words=0
for m in $(seq 1 200); do
	echo "$m" > $knob
	"$top/build/test/threads" take 2> /tmp/err
	status=$?
	left_words=$(cat $knob)
	echo 0 > $knob
	[ "$left_words" = 0 ] || break
	if [ $status != 0 ]; then
		words=$((words + 1))
		[ "$(wc -l < /tmp/err)" = 1 ] || ok "one line at allocation $m of words" cat /tmp/err false
	fi
done
ok "failures were met when words were taken ($words of $((m - 1)) allocations)" test $words -gt 5
ok "all allocations for words were tried" test "$left_words" -gt 0
soon "no word is left" 0 field words_used
ok "failures were met ($failed_once of $((n - 1)) allocations)" test $failed_once -gt 5
ok "all allocations were tried" test "$left" -gt 0
is "no window is left" "$(field windows)" 0
soon "no counter is left" 0 field counters_used
soon "no heap is left" 0 field heap_used
ok "then it works" "$ki" stat vfs_read -- true
finish
