#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A session ends and others stay in the same patches, when the heap is full and in pieces, or a
# kprobe stands on the springboard: its code does not run any more from that moment on, theirs does,
# and it goes when there is room.
# promise: K16: A closed session's code has run for the last time, however full the heap is.
# promise: What cannot be given back at once is named with its reason and its holder. [let_go.sh]
. "$(dirname "$0")/../common/lib.sh"
start
echo 4194304 > /sys/module/kerninst/parameters/heap
full=$top/build/test/full seed=${1:-$RANDOM}
echo "# seed $seed"
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
insmod "$top/build/tail/$(uname -r)/ki_tail.ko"
cases "" 43 "$full" "$seed"
soon "the heap is empty" 0 field heap_used
soon "no return trampoline is left" 0 field leftovers
ok "the modules unload" rmmod ki_mate ki_tail
finish
