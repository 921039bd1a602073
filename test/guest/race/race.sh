#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A task is held at one instruction (test/guest/race/race.c) while a springboard of each kind is
# installed over it or taken away from under it. Runs in the guest, on two CPUs of which the second
# is the victim's alone:
#
#   vm/run --no-module --cpus 2 \
#       --append "preempt=full isolcpus=managed_irq,domain,1" -- test/guest/race/race.sh wait
#
# wait: our driver; every byte that matters must still be there while the task is held.
# no-wait: a driver built without the wait: each of these bytes must be seen to change, or the test
# would show nothing. It is put back before the task goes on, so one machine does for all.
#
# Behind that, if not all is wanted, the names of parts: see below.
# shellcheck disable=SC2317 # parts, and what they poll, are called by their names
. "$(dirname "$0")/../common/lib.sh"
mode=$1
case $mode in
wait) variant='' parts=(in_windows in_transfers in_groups without_wait filled in_patches in_idle) ;;
no-wait) variant=-nowait parts=(in_windows in_transfers in_groups in_idle lost) ;;
*) exit 2 ;;
esac
[ $# = 1 ] || parts=("${@:2}")
insmod "$top/build/kmod/$(uname -r)$variant/kerninst.ko" || exit 1
control=/proc/ki_race
victim=ki_race:ki_race_victim

# Read while a task is held, which is not for long: so with no program, of which a slow machine
# starts one in a second.
state() {
	local all
	all=$'\n'$(< $control)
	all=${all#*$'\n'"$1 "}
	echo "${all%%$'\n'*}"
}
bytes() {
	local all
	read -ra all <<< "$(state code)"
	echo "${all[*]:$1:$2}"
}
exec {never}<> <(:)
nap() { read -r -t 0.05 -u "$never"; }
at() { printf '%x' $((0x$(state start) + $1)); }

# Poll for as long as a driver without the wait needs to do it: race-without-wait uses it too.
soon() {
	for _ in {1..20}; do
		"$@" && return
		nap
	done
	return 1
}

# shellcheck disable=SC2317 # these are called through until_true and ok
phase_is() { [ "$(state phase)" = "$1" ]; }
# shellcheck disable=SC2317
bytes_are() { [ "$(bytes "$1" "$2")" = "$3" ]; }
# shellcheck disable=SC2317
bytes_differ() { [ "$(bytes "$1" "$2")" != "$3" ]; }
# shellcheck disable=SC2317
passed() { (($(state iterations) > $1 + 200)); }

# The one who installs: a coprocess that answers each command with a line.
open_board() {
	coproc BOARD { "$top/build/test/board" "$victim" "$@" 2>&1; }
	ask info # it takes seconds where the kernel watches itself
}
tell() { echo "$1" >&"${BOARD[1]}"; }
answer() { read -r -t 300 reply <&"${BOARD[0]}"; }
ask() {
	reply=nothing
	tell "$1"
	answer
}
# A command that must succeed.
must() { ask "$1"; [ "$reply" = "$1 0 OK" ] || ok "$1" sh -c "echo '$reply'; false"; }
close_board() {
	local pid=$BOARD_PID
	eval "exec ${BOARD[1]}>&-"
	wait "$pid" 2> /dev/null
}

# catch ADDRESS: until the victim is held there.
catch() {
	echo "catch $1" > "$control" || ok "a breakpoint at $1" false
	until_true 120 phase_is held || ok "held at $1" cat "$control" /nothing
	held_at=$(state iterations)
}
release() {
	if ! phase_is held || [ "$(state iterations)" != "$held_at" ]; then
		ok "held until it is released" cat "$control" /nothing
	fi
	echo release > "$control"
	until_true 120 passed "$held_at" || ok "the victim goes on" cat "$control" /nothing
	[ "$(state errors)" = 0 ] || ok "the victim sees no error" cat "$control" /nothing
}

# held NAME AT BOARD FROM LEN COMMAND SPEC...: while the task is held at AT and COMMAND (in, out)
# has reached the springboard at BOARD, the bytes FROM..FROM+LEN must stay.
held() {
	local name="$1" at=$2 board=$3 from=$4 len=$5 command=$6 first old undo seen=
	shift 6
	open_board "$@"
	[ "$command" = in ] || must in
	undo=$([ "$command" = in ] && echo out || echo in)
	first=$(bytes "$board" 1) old=$(bytes "$from" "$len")
	catch "$(at "$at")"
	tell "$command"
	until_true 40 bytes_differ "$board" 1 "$first" || ok "$name: the springboard is reached" false
	soon bytes_differ "$from" "$len" "$old" && seen=1
	if [ "$mode" = wait ]; then
		is "$name: its bytes stay" "$(bytes "$from" "$len")" "$old"
		release
		answer
		[ "$reply" = "$command 0 OK" ] || ok "$name: $command" false
		ok "$name: then it is done" bytes_differ "$from" "$len" "$old"
		until_true 120 passed "$(state iterations)" || ok "$name: the victim runs" false
	else
		is "$name: without the wait the bytes change" "$seen" 1
		answer
		must "$undo"
		release
	fi
	[ "$command$mode" != outwait ] && [ "$command$mode" != inno-wait ] && must out
	close_board
	is "$name: all is as it was" "$(state code)" "$code"
}

# free NAME AT COMMAND SPEC...: no wait is needed: a wait would not end while the task is held.
free() {
	local name="$1" at=$2 command=$3
	shift 3
	open_board "$@"
	[ "$command" = in ] || must in
	[ "$command" != less ] || must more
	catch "$(at "$at")"
	ask "$command"
	is "$name: done while the task is held" "$reply" "$command 0 OK"
	release
	until_true 120 passed "$(state iterations)" || ok "$name: the victim runs" false
	[ "$command" = out ] || must out
	close_board
	is "$name: all is as it was" "$(state code)" "$code"
}

# late NAME AT COMMANDS SPEC...: a springboard that is filled. While the task is held inside, it is
# installed, and COMMANDS are done too. Nobody waits for the task: a wait would not end. What he
# stands before traps, and when he goes on he is met there, once; unless the last command is out, so
# that the original stands there again.
# shellcheck disable=SC2317
traps() { grep -qw "$(bytes "$1" 1)" <<< '06 07 0e 16 17 1e 1f 27 2f 37 3f 60 61 82 9a cc'; }
field() { echo "$reply" | cut -d' ' -f"$1"; }
late() {
	local name="$1" at=$2 commands=$3 command here=1 waits met
	shift 3
	open_board "$@"
	until_true 120 heap_free || ok "$name: what was buried before is given back" false
	waits=$(field 4) met=$(field 5)
	catch "$(at "$at")"
	for command in in $commands; do must "$command"; done
	[ "$command" != out ] || here=0
	ask info
	[ "$commands" ] || is "$name: no wait" "$(field 4)" "$waits"
	is "$name: windows filled" "$(field 6)" "$(field 2)"
	[ "$here" = 0 ] || ok "$name: 0x$(bytes "$at" 1) traps" traps "$at"
	release
	until_true 120 passed "$(state iterations)" || ok "$name: the victim runs" false
	ask info
	is "$name: the task is met" "$(field 5)" $((met + here))
	ask count
	[ "$here" = 0 ] || ok "$name: and the next are counted" test "$(field 2)" -gt 100
	[ "$here" = 0 ] || must out
	close_board
	is "$name: all is as it was" "$(state code)" "$code"
}

# Whoever is inside a patch must find it there, however late: when it goes (out), and when the next
# one takes its place (more).
# shellcheck disable=SC2317
heap_free() { ask info; [ "$(field 3)" = 0 ]; }
# shellcheck disable=SC2317
heap_less() { ask info; [ "$(field 3)" -lt "$1" ]; }
# shellcheck disable=SC2317
stays_used() { [ "$used" != 0 ] && ! heap_less "$used"; }
in_patch() { # NAME AT COMMAND SPEC...
	local name="$1, $3" at=$2 command=$3 rel used
	shift 3
	open_board "$@"
	until_true 120 heap_free || ok "$name: what was buried before is given back" false
	must in
	rel=$(bytes $((at + 1)) 4 | awk '{ print $4 $3 $2 $1 }')
	rel=$((0x$rel & 0x80000000 ? 0x$rel - 0x100000000 : 0x$rel))
	catch "$(at $((at + 5 + rel)))"
	must "$command"
	ask info
	used=$(field 3)
	sleep 1
	ok "$name: its patch stays while a task is in it" stays_used
	release
	ok "$name: and goes when it has gone" until_true 120 heap_less "$used"
	[ "$command" = out ] || must out
	until_true 120 heap_free || ok "$name: and nothing is left" false
	close_board
	is "$name: all is as it was" "$(state code)" "$code"
}

in_windows() {
	local n
	for n in 1 2 3 4; do
		held "jmp over five instructions, held at $n" "$n" 0 1 4 in jmp:0:5
	done
	held "jmp over a branch, held before it" 38 35 36 4 in jmp:0:5 jmp:35:2
	for n in 43 44; do held "jmp over a call, held at $n" "$n" 42 43 4 in jmp:0:5 jmp:42:3; done
	for n in 62 63 64; do held "jmp over an indirect call, held at $n" "$n" 61 62 4 in jmp:0:5 jmp:61:4; done
	for n in 95 96; do held "jmp over a return, held at $n" "$n" 94 95 4 in jmp:0:5 jmp:94:3; done
	held "bounce in filler, held inside its window" 6 5 6 1 in bounce:5:2:27
	held "bounce in filler taken out, held at the bounce" 27 5 27 5 out bounce:5:2:27
	for n in 13 15; do
		held "bounce in a host's tail, held at $n" "$n" 5 13 5 in bounce:5:2:13 host:7:5
	done
	for n in 9 11; do
		held "a host's jmp, held at $n" "$n" 7 8 4 in bounce:5:2:13 host:7:5
	done
	held "bounce in a tail taken out, held at the bounce" 13 5 13 5 out bounce:5:2:13 host:7:5
}

# What leaves the window, or may fault in it, with each springboard that waits.
in_transfers() {
	local n spec
	held "jmp before a fault, held at 77" 77 75 76 4 in jmp:0:5 jmp:75:3
	for spec in "a call:42:3" "an indirect call:61:4" "a return:94:3"; do
		IFS=: read -r what n count <<< "$spec"
		held "bounce over $what, held at $((n + 1))" $((n + 1)) "$n" $((n + 1)) 1 in "bounce:$n:$count:27"
		held "bounce over $what taken out, held at the bounce" 27 "$n" 27 5 out "bounce:$n:$count:27"
	done
	held "bounce before a fault taken out, held at the bounce" 27 75 27 5 out bounce:75:3:27
}

# Windows that are linked into one patch, as a moved function's are.
group=(jmp:35:2:0:1 jmp:42:3:0:1 jmp:49:3:0:1 jmp:61:4:0:1)
in_groups() {
	local n
	held "group, over a branch, held at 38" 38 35 36 4 in "${group[@]}"
	for n in 43 44; do held "group, over a call, held at $n" "$n" 42 43 4 in "${group[@]}"; done
	for n in 50 51; do held "group, behind a call, held at $n" "$n" 49 50 4 in "${group[@]}"; done
	for n in 62 63 64; do
		held "group, over an indirect call, held at $n" "$n" 61 62 4 in "${group[@]}"
	done
}

without_wait() {
	local n
	free "jmp over one instruction" 54 in jmp:54:1
	free "jmp over one instruction taken out" 54 out jmp:54:1
	free "jmp behind whose board a task is held" 13 in jmp:54:1
	free "trap, held at its window" 18 in trap:18:1
	for n in 42 43 44; do free "trap over a call, held at $n" "$n" in trap:42:3; done
	for n in 95 96; do free "trap over a return, held at $n" "$n" in trap:94:3; done
	free "trap over a branch, held at 38" 38 in trap:35:2
	for n in 77 80; do free "trap before a fault, held at $n" "$n" in trap:75:3; done
	free "bounce before a fault, held at 77" 77 in bounce:75:3:27
	free "bounce before a fault, held at the fault" 80 in bounce:75:3:27
	free "trap taken out" 18 out trap:18:1
	free "bounce built anew while a task is at it" 27 more bounce:5:2:27
	free "bounce in a tail built anew while a task is at it" 13 more bounce:5:2:13 host:7:5
	free "jmp built anew while a task is before it" 0 less jmp:0:5
	free "group built anew while a task is behind it" 66 more "${group[@]}"
	free "group taken out, held at 66" 66 out "${group[@]}"
}

# At every inner boundary, and every way to come and go.
filled() {
	local n commands
	for n in 43 44; do
		for commands in "" more "more less" out "out in" "more less out in more"; do
			late "filled jmp over a call, held at $n: in $commands" "$n" "$commands" jmp:42:3
		done
	done
	late "filled jmp over a branch, held before it" 38 "" jmp:35:2
	for n in 62 63 64; do late "filled jmp over an indirect call, held at $n" "$n" "" jmp:61:4; done
	for n in 67 68 69; do late "filled jmp with three boundaries, held at $n" "$n" "more less" jmp:66:4; done
	late "filled jmp before a fault, held at 77" 77 "" jmp:75:3
	for n in 95 96; do late "filled jmp over a return, held at $n" "$n" "" jmp:94:3; done
	for n in 43 63 68; do
		late "filled jmps, held at $n" "$n" "" jmp:35:2 jmp:42:3 jmp:61:4 jmp:66:4 jmp:75:3
	done
	free "filled jmp, held at a fault behind it" 80 in jmp:75:3
}

in_patches() {
	local command
	for command in out more; do
		in_patch "a jmp" 0 "$command" jmp:0:5
		in_patch "a filled jmp" 42 "$command" jmp:42:3
		in_patch "a filled jmp, before a fault" 75 "$command" jmp:75:3
		in_patch "a group" 42 "$command" "${group[@]}"
	done
}

in_idle() {
	echo "idle 1" > "$control"
	held "the idle task's interrupt, held at 2" 2 0 1 4 in jmp:0:5
	echo "idle 0" > "$control"
}

# Not undone: the task goes on in the middle of a jump. The last that is asked of this machine.
# shellcheck disable=SC2317
goes_wrong() { [ -n "$(complaints)" ] || [ "$(state errors)" != 0 ]; }
lost() {
	ok "the text is what it was" text_is_back
	is "nothing new in dmesg" "$(complaints)" ""
	open_board jmp:0:5
	catch "$(at 4)"
	must in
	echo release > "$control"
	ok "without the wait the task that goes on goes wrong" until_true 120 goes_wrong
	echo "1..$tests"
	[ "$failures" = 0 ]
	exit
}

start
# What belongs to the victim's CPU stands still during a hold; and nothing but the blocker may
# decide when the victim goes on: neither the limit on realtime tasks, nor what came after it.
is "CPU 1 is the victim's alone" "$(< /sys/devices/system/cpu/isolated)" 1
echo -1 > /proc/sys/kernel/sched_rt_runtime_us
for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
	[ ! -e "$f" ] || echo 0 > "$f"
done
ok "what is to trap traps on this machine" "$top/build/release/test/unit/test_fill"
# As long as the kernel lets one hold it without a complaint, should the host take the guest away.
ok "the victim's module loads" insmod "$top/build/race/$(uname -r)/ki_race.ko" hold_ms=50000
code=$(state code)
for part in "${parts[@]}"; do $part; done
ok "the victim's module unloads" rmmod ki_race
finish
