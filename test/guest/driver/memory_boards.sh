#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory runs out at every allocation of a request (a driver built with KI_TEST_FAIL), for every
# kind of springboard at once: a bounce in a host, a bounce in filler, a trap, jumps; and for filled
# ones, which are built anew filled as long as nobody has waited. Installing is done wholly or not at
# all; taking out, and building anew for it, is done in any case.
. "$(dirname "$0")/../common/lib.sh"
insmod "$top/build/kmod/$(uname -r)-fail/kerninst.ko" || exit 1
start
knob=/sys/module/kerninst/parameters/ki_fail_at
ok "the victim's module loads" insmod "$top/build/race/$(uname -r)/ki_race.ko"
code=$(grep ^code /proc/ki_race)
ask() {
	reply=nothing
	echo "$1" >&"${BOARD[1]}"
	read -r -t 300 reply <&"${BOARD[0]}"
}
# nothing_left: no window, and the text is what it was
nothing_left() {
	ask info
	[ "$(echo "$reply" | cut -d' ' -f2)" = 0 ] && [ "$(grep ^code /proc/ki_race)" = "$code" ]
}
# fail_each COMMAND: with the n-th allocation failing, for each n
fail_each() {
	echo "$n" > $knob
	ask "$1"
	left=$(cat $knob)
	echo 0 > $knob
}

# all_fail NAME FILLED SPEC...: all of it, with these windows, of which so many are filled
all_fail() {
	local name=$1 filled=$2 n left pid
	shift 2
	coproc BOARD { "$top/build/test/board" ki_race:ki_race_victim "$@" 2>&1; }
	ask info
	ok "$name: who installs is ready" [ "${reply%% *}" = info ]
	refused=0 done_anyhow=0 wrong=
	for n in $(seq 1 400); do
		fail_each in
		case $reply in
		'in 12 '*) # ENOMEM
			refused=$((refused + 1))
			nothing_left || wrong="$wrong in/$n"
			;;
		'in 28 '*) # ENOSPC: the heap's
			refused=$((refused + 1))
			nothing_left || wrong="$wrong in/$n"
			;;
		'in 0 OK')
			[ "$left" = 0 ] || break
			wrong="$wrong unnoticed/$n"
			ask out
			;;
		*) wrong="$wrong $n:$reply" ;;
		esac
	done
	is "$name: installing: all or nothing, $refused refusals" "$wrong" ""
	ok "$name: installing: every allocation was made to fail" test "$refused" -gt 20 -a "$left" -gt 0

	wrong=
	for n in $(seq 1 200); do
		ask more
		[ "$reply" = "more 0 OK" ] || wrong="$wrong more/$n:$reply"
		fail_each less
		[ "$reply" = "less 0 OK" ] || wrong="$wrong less/$n:$reply"
		[ "$left" = 0 ] || break
		done_anyhow=$((done_anyhow + 1))
	done
	is "$name: building anew for less: done whatever fails, $done_anyhow times" "$wrong" ""
	ok "$name: building anew: every allocation was made to fail" test $done_anyhow -gt 5 -a "$left" -gt 0

	wrong='' done_anyhow=0
	for n in $(seq 1 200); do
		fail_each out
		[ "$reply" = "out 0 OK" ] && nothing_left || wrong="$wrong out/$n:$reply"
		[ "$left" = 0 ] || break
		done_anyhow=$((done_anyhow + 1))
		ask in
		[ "$reply" = "in 0 OK" ] || wrong="$wrong in/$n:$reply"
	done
	is "$name: taking out: done whatever fails, $done_anyhow times" "$wrong" ""
	ok "$name: taking out: every allocation was made to fail" test $done_anyhow -gt 3 -a "$left" -gt 0
	for _ in $(seq 600); do
		ask info
		[ "$(echo "$reply" | cut -d' ' -f2,3)" != "0 0" ] || break
		sleep 0.2
	done
	is "$name: no window and no heap is left" "$(echo "$reply" | cut -d' ' -f2,3)" "0 0"
	ask in
	is "$name: then it works" "$reply" "in 0 OK"
	ask info
	is "$name: windows filled" "$(echo "$reply" | cut -d' ' -f6)" "$filled"
	for _ in $(seq 600); do
		ask count
		[ "$(echo "$reply" | cut -d' ' -f2)" -le 100 ] || break
		sleep 0.2
	done
	ok "$name: and counts" test "$(echo "$reply" | cut -d' ' -f2)" -gt 100
	pid=$BOARD_PID
	eval "exec ${BOARD[1]}>&-"
	wait "$pid" 2> /dev/null
}

all_fail "all kinds" 0 bounce:5:2:13 host:7:5 bounce:18:1:27 jmp:35:2 trap:42:3 jmp:54:1
all_fail "filled" 3 jmp:35:2 jmp:42:3 jmp:94:3
is "and the victim saw no error" "$(sed -n 's/^errors //p' /proc/ki_race)" 0
ok "the victim's module unloads" rmmod ki_race
finish
