#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# At each step of putting windows of every kind in, of taking them out and of giving their memory
# back, one after the other (a driver built with KI_TEST_FAIL, kmod/debug/steps.c): the process is killed;
# it is interrupted; CPU 1 goes and comes, and the windows' module and the driver are asked to go,
# while the step stops there. Each time all windows are in and count exactly, or none is, with a
# reason; in the end nothing is left.
#
# usage: test/guest/splice/steps.sh [MODE[:STRIDE[:FIRST]]...]: kill, interrupt, disturb (all three); each
# STRIDE-th step only (each), from FIRST on (1).
# promise: F14: A kill, an unload or a lost CPU at any step of a request leaves nothing wrong.
. "$(dirname "$0")/../common/lib.sh"
driver=$top/build/kmod/$(uname -r)-fail/kerninst.ko
race=$top/build/race/$(uname -r)/ki_race.ko
cpu1=/sys/devices/system/cpu/cpu1/online
insmod "$driver" || exit 1
start
# Two bounces, one in a host; jumps, a trap; two windows that are one group, as a moved function's.
specs=(bounce:5:2:13 host:7:5 bounce:18:1:27 jmp:35:2 trap:42:3 jmp:54:1 jmp:82:3:0:1 jmp:88:2:0:1)
rounds=20
each="$rounds 0 $rounds $rounds $rounds $rounds $rounds $rounds" # the host has no counter

knobs=/sys/module/kerninst/parameters/ki_step_
knob() { echo "$(< $knobs"$1")"; }
turn() { echo "$2" > $knobs"$1"; }
victim() { sed -n "s/^$1 //p" /proc/ki_race; }
load_victim() {
	insmod "$race" cpu=0 && echo still > /proc/ki_race
}
# wrong_at WHAT: it is said at the end which steps went wrong, and how
wrong_at() { wrong="$wrong [$n, $(knob name): $*]"; }
# stops: does a step stop? Then it is noted which
stops() {
	local flag
	read -r flag < ${knobs}stopped
	[ "$flag" = 1 ] && read -r step < ${knobs}name
}

board_is_there() { [ -n "${BOARD_PID-}" ] && kill -0 "$BOARD_PID" 2> /dev/null; }
open_board() {
	coproc BOARD { exec "$top/build/test/board" ki_race:ki_race_victim "${specs[@]}" 2>&1; }
	pid=$BOARD_PID
	ask info
	[ "${reply%% *}" = info ] || wrong_at "the board: $reply"
	turn pid "$pid"
}
close_board() {
	! board_is_there || eval "exec ${BOARD[1]}>&-"
	watch_while kill -0 "$pid"
	wait "$pid" 2> /dev/null
}

# watch_while COMMAND...: as long as it is true, disturbing where a step stops
watch_while() {
	local end=$((SECONDS + 240))
	while "$@" 2> /dev/null && [ $SECONDS -lt $end ]; do
		! stops || disturb
		sleep 0.1
	done
}
# ask COMMAND: "nothing" where the board has died
ask() {
	local end=$((SECONDS + 240)) part status=129
	reply=
	! board_is_there || echo "$1" >&"${BOARD[1]}"
	while [ $status -gt 128 ] && [ $SECONDS -lt $end ]; do
		part=
		IFS= read -r -t 0.05 part <&"${BOARD[0]}"
		status=$?
		reply=$reply$part
		! stops || disturb
	done 2> /dev/null
	reply=${reply:-nothing}
}

# disturb: in the middle of a step. What has to wait for its end goes on behind it.
disturb() {
	local victim_leaves driver_leaves cpu i
	stopped=$((stopped + 1))
	[ ! -e /proc/ki_race ] || echo "run $rounds" > /proc/ki_race
	rmmod ki_race 2> /dev/null &
	victim_leaves=$!
	rmmod kerninst 2> /dev/null &
	driver_leaves=$!
	{ echo 0 > $cpu1; echo 1 > $cpu1; } 2> /dev/null &
	cpu=$!
	for i in 1 2 3 4 5; do
		kill -0 $victim_leaves 2> /dev/null || kill -0 $driver_leaves 2> /dev/null ||
			kill -0 $cpu 2> /dev/null || break
		sleep 0.1
	done
	turn go 1
	wait $cpu || cpu_failed=$((cpu_failed + 1))
	[ "$(cat $cpu1)" = 1 ] || wrong_at "CPU 1 has not come back"
	! wait $victim_leaves || victim_gone=$((victim_gone + 1))
	if wait $driver_leaves; then
		driver_gone=$((driver_gone + 1))
		insmod "$driver" || wrong_at "the driver does not come again"
	fi
}

# All are in: each counts what happens.
count_exactly() {
	local before after delta='' i
	[ -e /proc/ki_race ] || { wrong_at "windows in a module that is gone"; return; }
	ask count
	read -ra before <<< "${reply#count }"
	echo "run $rounds" > /proc/ki_race
	ask count
	read -ra after <<< "${reply#count }"
	for i in "${!after[@]}"; do
		delta="$delta $((after[i] - before[i]))"
	done
	[ "${delta# }" = "$each" ] || wrong_at "counted$delta"
}
put_in() {
	ask in
	case $reply in
	'in 0 OK')
		complete=$((complete + 1))
		count_exactly
		ask out
		[ "$reply" = "out 0 OK" ] || [ "$mode$reply" = killnothing ] || wrong_at "$reply"
		;;
	in\ [1-9]*)
		refused=$((refused + 1))
		[ "$reply" = "in 4 OK" ] || [ "${reply##* }" != OK ] || wrong_at "no reason: $reply"
		is_clean || wrong_at "$reply, but something is in"
		;;
	*) [ "$mode" = kill ] || wrong_at "$reply" ;;
	esac
}
is_clean() {
	field_is windows 0 && { [ ! -e /proc/ki_race ] || [ "$(victim code)" = "$code" ]; }
}
is_empty() { field_is windows 0 && field_is heap_used 0; }
# is_used [MORE]: one of these numbers is not 0. Who opens the device would wait for the step that
# stops.
# shellcheck disable=SC2317 # called through watch_while
is_used() {
	local f
	for f in windows heap_used "$@"; do
		[ "$(timeout 5 "$prog/field" "$f")" = 0 ] || return 0
	done
	return 1
}
# shellcheck disable=SC2317 # called through watch_while
not_seen() { [ -z "$step" ]; }

# one_step: everything once, with something happening at step n
one_step() {
	if [ "$mode" != interrupt ] || ! board_is_there; then
		open_board
	fi
	step=
	turn "do" "$signal"
	turn at "$n"
	put_in
	[ "$mode" != disturb ] || close_board
	watch_while is_used
	[ "$mode" != kill ] || close_board
	[ "$mode" = interrupt ] || watch_while is_used counters_used # behind the last step
	[ "$mode" != disturb ] || [ "$(knob at)" != 0 ] || watch_while not_seen
	is_empty || wrong_at "$(field windows) windows, $(field heap_used) bytes are left"
	is_clean || wrong_at "the code is not what it was"
	left=$(knob at)
	step=${step:-$(knob name)}
	[ -e /proc/ki_race ] || load_victim || wrong_at "the victim does not come again"
	code=$(victim code)
	[ "$(victim errors)" = 0 ] || wrong_at "the victim saw an error"
	[ -z "${VERBOSE-}" ] || echo "# $mode $n $SECONDS s: $step; $reply; complete $complete, refused $refused"
}

# each_step MODE SIGNAL [STRIDE [FIRST]]: the signal 0: none
each_step() {
	local mode=$1 signal=$2 stride=${3:-1} first=${4:-1} n wrong='' left=0 steps='' tried=0 kinds
	local complete=0 refused=0 stopped=0 cpu_failed=0 victim_gone=0 driver_gone=0
	ok "$mode: the victim's module loads" load_victim
	code=$(victim code)
	for n in $(seq "$first" "$stride" 400); do
		one_step
		[ "$left" = 0 ] || break
		tried=$((tried + 1))
		steps="$steps$step"$'\n'
	done
	turn at 0
	[ "$mode" != interrupt ] || close_board
	kinds=$(sort -u <<< "$steps" | grep -c .)
	is "$mode: all or nothing, at each step" "$wrong" ""
	ok "$mode: up to the last ($n: $tried steps, $kinds kinds)" test "$left" -gt 0 -a "$n" -gt 60
	[ "$stride" != 1 ] || ok "$mode: each kind of step was met" test "$kinds" -ge 30
	echo "# $mode: in $complete times, refused $refused, stopped $stopped, a CPU stayed $cpu_failed," \
		"modules went: the victim's $victim_gone, the driver $driver_gone"
	if [ "$mode" = disturb ]; then
		is "disturb: it stopped at each" $stopped $tried
		is "disturb: CPU 1 could go each time" $cpu_failed 0
		ok "disturb: the windows' module could go where none was in it" test $victim_gone -gt 0
		ok "disturb: the driver could go where nobody used it" test $driver_gone -gt 0
	fi
	ok "$mode: the text is what it was" text_is_back
	ok "$mode: the victim's module unloads" goes ki_race
}

[ $# -gt 0 ] || set -- kill interrupt disturb
for how; do
	IFS=: read -r how stride first <<< "$how"
	case $how in
	kill) each_step kill 9 "$stride" "$first" ;;
	interrupt) each_step interrupt 2 "$stride" "$first" ;;
	disturb) each_step disturb 0 "$stride" "$first" ;;
	*) ok "a mode is kill, interrupt or disturb" false ;;
	esac
done
is "no window is left" "$(field windows)" 0
soon "no counter is left" 0 field counters_used
soon "no heap is left" 0 field heap_used
finish
