#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions that are moved as a whole, while others have single points in them; whoever goes first,
# and however, the others count on exactly. That all points of moved functions agree: points.sh.
# promise: A function moves as a whole, so that a counter in it costs one instruction.
#   [test_move.c, points.sh]
. "$(dirname "$0")/../common/lib.sh"
start
point=__x64_sys_getsid
count() { "$ki" stat --json "$@" -- "$prog/calls" getsid 3000 2> /dev/null | value "${!#}"; }
mover=
# All of it is in: it waits for signals. The number of the system call is rt_sigtimedwait's.
# shellcheck disable=SC2317 # called through until_true
waits() { grep -q '^128 ' "/proc/$1/syscall"; } # PID
move() { # FUNCTION...
	local before
	before=$(field windows)
	"$ki" stat -q --json --move -m blocks -o /tmp/moved "$@" &
	mover=$!
	until [ "$(field windows)" -gt "$before" ]; do sleep 0.1; done
	until_true 60 waits $mover
}

is "moved, exact" "$(count --move $point)" 3000
move vfs_read $point
used=$(field heap_used)
ok "the memory that it takes is shown" test "$used" -gt 1000
is "a single point in a moved function" "$(count $point)" 3000
is "the same function moved by another, too" "$(count --move $point)" 3000
is "behind its first window" "$(count $point:block/0:post)" 3000
ok "the first mover ends" kill -INT $mover
wait $mover
ok "it has counted all the time" test "$(value $point:block/0 < /tmp/moved)" -ge 9000
is "and leaves no window" "$(field windows)" 0
soon "nor a patch" 0 field heap_used

move $point vfs_read
"$ki" stat --json -o /tmp/single $point:entry -- sh -c "kill -9 $mover; sleep 1; $prog/calls getsid 3000" 2> /dev/null
wait $mover 2> /dev/null
is "kill -9 of the mover: the others count on" "$(value $point:entry < /tmp/single)" 3000
is "and no window is left behind them" "$(field windows)" 0
soon "nor a patch of them" 0 field heap_used

"$ki" stat --json -o /tmp/single $point:block/0:post vfs_read:exit > /dev/null 2>&1 &
pid=$!
until [ "$(field windows)" -gt 0 ]; do sleep 0.1; done
until_true 60 waits $pid
is "single points first: the function cannot be moved, its points are single too" \
	"$(count --move -m blocks $point:block/0)" 3000
kill -INT $pid
wait $pid
is "both have counted" "$(($(value $point:block/0:post < /tmp/single) / 3000))" 1

# What its patches take is told, of this session alone: here there is no other.
soon "nothing is left in the heap" 0 field heap_used
part() { sed -n "s/.*\"metric\":\"patches\".*\"$1\": *\([0-9]*\).*/\1/p" /tmp/told; }
told() { "$ki" stat -q --json -m blocks -o /tmp/told "$@" -- sh -c "$prog/field heap_used > /tmp/used; $prog/field windows >> /tmp/used"; }
told --move vfs_read $point
is "the bytes and windows of moved functions are told" "$(part value) $(part windows)" "$(xargs < /tmp/used)"
is "all of them are of two functions that are moved" "$(part moved) $(part moved_bytes)" "2 $(part value)"

told vfs_read
is "all blocks of a function: it is moved without having been told to" "$(part moved)" 1
"$ki" stat -q --json -o /tmp/told vfs_read:block/2 -- true
is "one block: it is not" "$(value vfs_read:block/2 < /tmp/told | grep -c .) $(part moved)" "1 "

"$ki" stat -q --move -m blocks 'vfs_*' 'kmem_cache_*' '__alloc_pages*' 'tcp_*' schedule '__schedule' 'try_to_wake_up*' > /tmp/many 2>&1 &
pid=$!
until [ "$(field windows)" -gt 3000 ] || ! kill -0 $pid; do sleep 0.2; done
ok "a load under many moved functions" sh -c "tar cf /dev/null /usr/lib/python3 && $prog/calls getsid 20000"
echo "# $(field windows) windows, $(field heap_used) bytes"
kill -9 $pid
wait $pid 2> /dev/null
finish
