#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: busy.sh [SECONDS]: for each case
#
# Springboards of each kind come, get a second chunk, lose it and go, over and over, while another
# CPU runs through them without a pause (test/guest/race/race.c) and checks each result. The two
# must run at the same time: whatever order the driver's writes are seen in, is seen here.
# promise: K9 (in part): Springboards come and go while another CPU runs through them, and each
#   result is right. [busy_tools.sh]
. "$(dirname "$0")/../common/lib.sh"
seconds=${1:-5}
start
ok "the victim's module loads" insmod "$top/build/race/$(uname -r)/ki_race.ko"
state() { sed -n "s/^$1 //p" /proc/ki_race; }
code=$(state code)

# busy ROUNDS NAME SPEC...: at least so many rounds
victim=ki_race_victim
busy() {
	local least=$1 name=$2 before answer
	shift 2
	before=$(state iterations)
	answer=$(echo "cycle $seconds $least" | "$top/build/test/board" ki_race:$victim "$@")
	echo "# $name: $answer, $(($(state iterations) - before)) calls"
	is "$name" "${answer% *}" "cycle 0 OK"
	ok "$name: calls meanwhile" test $(($(state iterations) - before)) -gt 1000
	is "$name: each right, and all is as it was" "$(state errors) $(state code)" "0 $code"
}

busy 20 "jmp over one instruction" jmp:54:1
busy 20 "filled jmp over a branch" jmp:35:2
busy 20 "filled jmp over a call" jmp:42:3
busy 20 "filled jmp over an indirect call" jmp:61:4
busy 20 "filled jmp over four instructions" jmp:66:4
busy 20 "filled jmp before a fault" jmp:75:3
busy 20 "filled jmp over a return" jmp:94:3
busy 20 "filled jmps, all at once" jmp:35:2 jmp:42:3 jmp:61:4 jmp:66:4 jmp:75:3 jmp:94:3
busy 20 "trap" trap:18:1
busy 20 "trap over a call" trap:42:3
busy 1 "jmp over five instructions" jmp:0:5
busy 1 "bounce in filler" bounce:5:2:27
busy 1 "bounce in a host's tail" bounce:5:2:13 host:7:5
busy 1 "all kinds" jmp:0:5 bounce:5:2:13 host:7:5 trap:18:1 jmp:35:2 jmp:42:3 jmp:54:1 jmp:61:4 jmp:66:4 jmp:75:3 jmp:94:3
victim=ki_race_warn
echo "warn 1" > /proc/ki_race
busy 20 "trap over a warning that goes on" trap:0:1
busy 20 "jmp over a warning that goes on" jmp:0:2
echo "warn 0" > /proc/ki_race
ok "the victim's module unloads" rmmod ki_race
finish
