#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of the tool at random moments, TIMES (50), under load: the text comes back by itself, and
# the heap, each within a second as tasks get on there (prog/slow.h).
# Every second time the moment is one from when the first windows are in, else from the start. And
# half as often the driver is unloaded right behind that, under the same load.
#
# usage: test/guest/driver/kill.sh [SEED [TIMES [LONGEST]]]: LONGEST seconds until a kill (2)
# promise: K16, N4 (in part): Closing the device, or kill -9 at any moment, restores text and
#   heap. [kill_random.sh, fuzz.sh]
# not shown: N4: Any number of sessions at once: each user's are limited (doc/security.md).
. "$(dirname "$0")/../common/lib.sh"
start
RANDOM=${1:-1}
times=${2:-50} longest=${3:-2}
points=(vfs_read vfs_write do_sys_openat2 path_openat 'tcp_s*' rw_verify_area)
ok "the text is kept, before there is a load" "$prog/restored" /tmp/kill.text
"$prog/hammer" 3600 2 > /dev/null 2>&1 &
load=$!
clean=0 found=0 late=0 longest_text=0 longest_heap=0
later() { awk -v a="$1" -v b="$2" -v by="$watched" 'BEGIN { exit !(a == "never" || a + 0 > b * by) }'; } # A B: A > B?
longer() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "never" || a + 0 > b + 0) ? a : b }'; } # A B
# end PID: kill it; how long did it take?
end() {
	local text heap slow
	read -r text heap slow < <("$prog/restored" /tmp/kill.text "$1")
	wait "$1" 2> /dev/null
	if later "${text:-never}" "$slow" || later "${heap:-never}" "$slow"; then
		late=$((late + 1))
		echo "# round $i: text after $text s, heap after $heap s, $slow times as slow as it can be"
	fi
	longest_text=$(longer "$text" "$longest_text") longest_heap=$(longer "$heap" "$longest_heap")
}
ok "they can be counted" "$ki" stat -m blocks "${points[@]}" -- true
for i in $(seq "$times"); do
	"$ki" stat -m blocks "${points[@]}" > /dev/null 2>&1 &
	pid=$!
	[ $((i % 2)) = 0 ] || until_true 120 installed
	sleep "$((RANDOM % longest)).$((RANDOM % 1000))"
	! installed || found=$((found + 1))
	end $pid
	# Whoever opens the device next waits for the session's end: the text is clean then.
	if [ "$(field windows)" = 0 ] &&
		{ [ $((i % 5)) != 0 ] || text_is_back; }; then
		clean=$((clean + 1))
	fi
done
is "clean after a kill" $clean "$times"
is "later than a second: text at most $longest_text s, heap $longest_heap s" $late 0
ok "windows were in at $found of $times" test $found -ge $((times / 2))
# The driver goes as soon as it may, while others run through what has just been taken out; and comes.
gone=0 was_in=0
for i in $(seq $((times / 2))); do
	"$ki" stat -m blocks "${points[@]}" > /dev/null 2>&1 &
	pid=$!
	until_true 120 installed || echo "# round $i: nothing was in"
	sleep "0.$((RANDOM % 1000))"
	installed && was_in=$((was_in + 1))
	kill -9 $pid 2> /dev/null
	wait $pid 2> /dev/null
	goes kerninst && insmod "$top/build/kmod/$(uname -r)/kerninst.ko" &&
		text_is_back && gone=$((gone + 1))
done
is "the driver unloaded and loaded under load, where windows had been" "$gone $was_in" "$((times / 2)) $((times / 2))"
kill $load
wait $load 2> /dev/null
finish
