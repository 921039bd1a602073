#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/ends.sh [KERNINST]
# However a measurement of a process ends, its text is as it was, our memory is gone, and its work is
# right: with threads that run in the middle of what is changed, and signals that interrupt them. And
# what is refused: one line, and nothing has changed. KI_KILLS: how often the tool is killed.
# promise: A process's text is what it was, however the measurement, tool or guard ends.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# clean BEFORE: soon, the text is that, and nothing of ours is left.
clean() {
	local now i
	for ((i = 0; i < 100; i++)); do
		now=$(text)
		[ "$now" = "$1" ] && return
		sleep 0.05
	done
	is "$now" "$1"
}

# The same of the text alone. Memory that a thread is in, whenever it is looked at, is left.
clean_text() {
	local now i
	for ((i = 0; i < 400; i++)); do
		now=$(text)
		[ "${now% *}" = "${1% *}" ] && return
		sleep 0.05
	done
	is "$now" "$1"
}

# Until the tool has put something in.
is_in() {
	local i now
	for ((i = 0; i < 400; i++)); do
		now=$(text)
		[ "${now% *}" != "${before% *}" ] && return
		sleep 0.05
	done
	false
}

# The program works all the time; `check_work` compares what it says.
begin() { # FORM THREADS CALLS [HZ]
	start "$@" || return
	want=$(round) && before=$(text)
}
ended() { clean "$before" && is "$(round)" "$want"; }

kills=${KI_KILLS:-50}
killed() {
	local i n=0 now
	begin pie 4 300000 || return
	for ((i = 0; i < kills; i++)); do
		echo >&"$to"
		$bin/oracle kill $((15 + i % 50 * 3)) "$ki" stat -q --for 9 "$pid/pie:leap:blocks" "$pid/pie:step:insns" \
			"$pid/libc.so.6:getppid" > "$tmp/how" 2>> "$tmp/said"
		[ "$(cat "$tmp/how")" = killed ] && n=$((n + 1))
		clean_text "$before" || return
		read -r -t 20 -u "$from" sum && is "$sum" "$want" || return
	done
	is $n "$kills" && is "$(cat "$tmp/said")" "" || return
	sleep 1
	now=$(text)
	echo "mappings left: ${now#* } after $kills kills" && [ $((100 * ${now#* })) -le $((4 * kills)) ] && stop
}
check "the tool is killed, $kills times" killed

interrupted() {
	begin pie 4 100000 || return
	"$ki" stat -q --for 30 -x, "$pid/pie:step" > "$tmp/out" {to}>&- {from}<&- &
	local tool=$!
	is_in && is "$(round)" "$want" && kill -INT $tool && wait $tool
	is $? 0 && is "$(sed -n 's/,.*step.*//p' "$tmp/out")" 400000 && ended && stop
}
check "Ctrl-C: the counts are shown" interrupted

guard_killed() {
	begin pie 2 100000 || return
	"$ki" stat -q --for 30 -x, "$pid/pie:step" > "$tmp/out" {to}>&- {from}<&- &
	local tool=$!
	is_in || return
	round > /dev/null
	pkill -KILL -P $tool kerninst-guard && kill -INT $tool && wait $tool
	is $? 0 && is "$(sed -n 's/,.*step.*//p' "$tmp/out")" 200000 && ended && stop
}
check "the guard is killed: the tool does its work" guard_killed

# Counts are still there when the process is not.
dies() { # HOW
	begin pie 2 100000 || return
	"$ki" stat --for 30 -x, -o "$tmp/out" "$pid/pie:step" 2> "$tmp/said" {to}>&- {from}<&- &
	local tool=$!
	is_in || return
	round > /dev/null
	if [ "$1" = kill ]; then kill -9 "$pid"; fi
	stop
	wait $tool
	is $? 0 && is "$(sed -n 's/,.*step.*//p' "$tmp/out")" 200000 && grep -q "process $pid has ended" "$tmp/said"
}
check "the process ends" dies end
check "the process is killed" dies kill

becomes() {
	bash -c 'echo ready; read x; exec sleep 0.3' < <(sleep 1; echo) > /dev/null 2>&1 &
	pid=$!
	sleep 0.3
	"$ki" stat -q -x, -o "$tmp/out" "$pid/libc.so.6:read" "$pid/bash:execute_command" -- sleep 1.1
	is $? 0 && wait $pid
}
check "the process becomes another program" becomes

# Threads are found anywhere, and signals come anywhere. On a busy machine one may not get to run in the
# half second that the tool waits for it, or be in a handler that will come back to the middle: then nothing has changed.
is_stuck=$("$ki" explain PROCESS_STUCK | sed -n '2s,^ *,,p')
is_busy=$("$ki" explain PROCESS_BUSY | sed -n '2s,^ *,,p')
torture() { # FORM THREADS HZ
	local i form=$1 stuck=0
	begin "$form" "$2" 1500000 "$3" || return
	for ((i = 0; i < 30; i++)); do
		echo >&"$to"
		"$ki" stat -q "$pid/$form:leap:insns" "$pid/$form:step:insns" "$pid/$form:work:insns" \
			"$pid/$form:handle:insns" -- sleep 0.0$((i % 5)) >> "$tmp/out" 2> "$tmp/said"
		case $? in
		0) is "$(cat "$tmp/said")" "" ;;
		*) stuck=$((stuck + 1)) && grep -qF -e "$is_stuck" -e "$is_busy" "$tmp/said" ;;
		esac || return
		read -r -t 60 -u "$from" sum && is "$sum" "$want" || return
		is "$(text)" "$before" || return
	done
	echo "refused, as a thread did not stop in time or was interrupted there: $stuck of 30" && [ $stuck -le 5 ] && stop
}
check "in and out 30 times, one thread, signals" torture pie 1 4000
check "in and out 30 times, four threads, signals" torture pie 4 4000
check "the same, static" torture static 3 4000

sleeper() { # PROGRAM...: it sleeps in the kernel all the time
	"$@" > "$tmp/its" 2>&1 &
	pid=$!
	echo "$pid" >> "$tmp/started"
	local i
	before=
	for ((i = 0; i < 100; i++)); do # until it is that program, has its libraries, and sleeps
		sleep 0.1
		[ "$(cat "/proc/$pid/comm")" != "${BASH##*/}" ] && grep -q '^State:.S' "/proc/$pid/status" && [ "$before" = "$(text)" ] && return
		before=$(text)
	done
}

asleep() {
	local begun=$SECONDS
	sleeper sleep 4
	"$ki" stat -q -x, "$pid/libc.so.6:clock_nanosleep:insns" -- sleep 0.5 > "$tmp/out" && is "$(text)" "$before" &&
		wait $pid && [ $((SECONDS - begun)) -lt 6 ]
}
check "a thread that sleeps in a system call sleeps on" asleep

# A thread that a tracer leaves stops by itself, as soon as it has a processor.
is_stopped() {
	local i state
	for ((i = 0; i < 100; i++)); do
		state=$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status")
		[ "$state" = T ] && return
		sleep 0.05
	done
	is "$state" T
}
stopped() {
	begin pie 1 1000 || return
	kill -STOP "$pid"
	is_stopped && "$ki" stat -q "$pid/pie:step" -- sleep 0.1 > "$tmp/out" && is_stopped &&
		kill -CONT "$pid" && ended && stop
}
check "a process that is stopped stays so" stopped

# It may map little more: enough for counters that its threads share.
limited() {
	begin pie 2 1000 || return
	local size
	size=$(awk '$1 == "VmSize:" { print $2 }' "/proc/$pid/status")
	prlimit --pid "$pid" --as=$(((size + 20000) * 1024)) || return
	stat "$pid/pie:step" "$pid/libc.so.6:*:blocks" 2> "$tmp/said" || { tail -n 3 "$tmp/said"; return 1; }
	[ "$(of pie:step)" -gt 1000 ] && ended && stop
}
check "a process that may map little more" limited

# refused STATUS PATTERN POINT...: one line, and nothing has changed
refused() {
	local want=$1 pattern=$2 status
	shift 2
	said=$("${as[@]}" "$ki" stat -q "$@" -- true 2>&1 > /dev/null)
	status=$?
	is "$status" "$want" && is "$(grep -c . <<< "$said")" 1 &&
		{ grep -qE "^kerninst: .*($pattern)" <<< "$said" || { echo "$said"; false; }; } &&
		{ [ ! -e "/proc/$pid" ] || is "$(text)" "$before"; }
}
# earns STATUS TAG WHERE POINT...: the same, with where it is, and the table's words and advice
earns() {
	local want=$1 tag=$2 where=$3 text hint
	shift 3
	{ read -r _ && read -r text && read -r _ hint; } < <("$ki" explain "$tag")
	[ "$text" ] && [ "$hint" ] && refused "$want" "$where" "$@" && [[ $said == "kerninst: "*": $text; $hint" ]]
}
as=()
begin pie 1 1000
check "no such process" refused 1 "process 4194303: there is no such process" 4194303/main
check "no such function" refused 1 "no function 'stepp'; near: .*step" "$pid/stepp"
check "no such module" refused 1 "no module 'lib'" "$pid/lib:step"
check "a library by another name than its file's" refused 1 "no module 'libc.so'; near: libc.so.6$" "$pid/libc.so:getppid"
check "two processes" refused 2 "points of one process at a time" "$pid/step" 1/main
check "times of single CPUs" earns 1 NOT_IN_PROCESS step --per-cpu -m walltime "$pid/step"
as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
check "another user's process" earns 3 PROCESS_PERMISSION "process $pid" "$pid/step"
as=()
traced() {
	$bin/oracle trace "$pid" < <(sleep 3) > "$tmp/tracing" &
	sleep 0.3
	earns 1 PROCESS_TRACED "process $pid \(process $!\)" "$pid/pie:step" && wait $! && ended
}
check "a process that is traced" traced
stop
# A handler of a signal returns into the middle of what is to be a springboard.
interrupted_inside() {
	local inside
	begin pie 0 1000 || return
	inside=$("$ki" disas "$pid/pie:step" | sed -n 's/^ *\(0x[0-9a-f]*\)  +0x[1-4] .*/\1/p' | head -n 1)
	[ "$inside" ] || return
	$bin/oracle signal "$pid" "$inside" &
	sleep 0.3
	echo >&"$to"
	wait $! || return
	earns 1 PROCESS_BUSY "process $pid, thread $pid" "$pid/pie:step" || return
	read -r -t 20 -u "$from" sum && is "$sum" "$want" && stat "$pid/pie:step" && is "$(of pie:step)" 1000 && ended && stop
}
check "a handler of a signal will return into the middle of a window" interrupted_inside

filtered() {
	sleeper $bin/oracle filter
	earns 1 PROCESS_SECCOMP "process $pid" "$pid/oracle:main"
}
check "a process with a filter of system calls" filtered
in_vfork() {
	sleeper $bin/oracle vfork
	earns 1 PROCESS_STUCK "process $pid, thread $pid" "$pid/oracle:main"
}
check "a thread that does not stop" in_vfork
crowded() {
	sleeper $bin/oracle crowd
	earns 1 PROCESS_ROOM "0x[0-9a-f]*" "$pid/oracle:main"
}
check "no free address in reach" crowded
narrow() {
	sleeper $bin/narrow
	earns 1 PROCESS_32BIT "process $pid" "$pid/main"
}
if [ -x $bin/narrow ]; then
	check "a 32-bit process" narrow
else
	count=$((count + 1))
	echo "ok $count a 32-bit process # SKIP no compiler for 32-bit programs here"
fi

finish
