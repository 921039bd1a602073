#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/started.sh [KERNINST]
# kerninst stat command/POINT -- COMMAND: a program that is started is counted from its first
# instruction on, exactly; it runs as without, and ends as without.
# promise: Libraries and programs that come or go in a process are noticed without stopping it.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# counts FORM POINT...: in $tmp/counts, of one round by one thread of $calls calls
calls=80000
counts() {
	local form=$1
	shift
	"$ki" stat -q -x, -o "$tmp/csv" "$@" -- $bin/"$form" 0 "$calls" <<< "" > "$tmp/its" &&
		awk -F, 'NR > 1 { print $3, $1 }' "$tmp/csv" | sort > "$tmp/counts"
}

from_the_first() { # FORM
	$bin/"$1" 0 80000 <<< "" > "$tmp/alone"
	counts "$1" "command/$1:main" "command/$1:step" "command/$1:leap" "command/$1:_start:insns" &&
		is "$(cat "$tmp/its")" "$(cat "$tmp/alone")" && is "$(of "$1:main")" 1 &&
		is "$(of "$1:step")" 80000 && is "$(of "$1:leap")" 20000 && is "$(of "$1:_start+0x0")" 1
}
for form in pie cet static nopie; do
	check "$form: from its first instruction on" from_the_first $form
done

stepped() { # FORM POINT...: every instruction as single steps find it
	local form=$1 calls=3000
	shift
	counts "$form" "${@/#/command/}" || return
	awk -F, 'NR > 1 && $1 != "" { print $4, $1 }' "$tmp/csv" | sort -u > "$tmp/counted"
	[ "$(wc -l < "$tmp/counted")" -ge 10 ] || { cat "$tmp/counted"; return 1; }
	awk '{ print $1 }' "$tmp/counted" > "$tmp/addresses"
	echo | $bin/oracle steps "$tmp/addresses" "$bin/$form" 0 "$calls" 2> /dev/null | sort > "$tmp/stepped" &&
		join "$tmp/counted" "$tmp/stepped" | awk '$2 != $3 { print; bad = 1 } END { exit bad || NR < 10 }'
}
check "main, and what is before it, as single steps find them" stepped nopie nopie:main:insns nopie:_start:insns

# Its second and third instructions are a restartable sequence, which goes on at a later one after an
# abort: these stay as they are; those before and behind are counted.
sequence() {
	"$ki" stat -x, -o "$tmp/csv" command/sequence:work:insns -- $bin/sequence <<< "" > "$tmp/its" 2> "$tmp/said" || return
	is "$(cat "$tmp/its")" "100 200 100" && is "$(grep -c RESTARTABLE "$tmp/said")" 2 &&
		is "$(awk -F, 'NR > 1 && $1 != "" { print $1 }' "$tmp/csv" | uniq -c | tr -s ' ')" " 4 100"
}
check "a restartable sequence is left alone" sequence

library() { counts pie command/libc.so.6:getppid && is "$(of libc.so.6:getppid)" 2500; }
check "a function of its library" library

# Each of the three shells ends once; what the last executes ends by its own library's function.
children() {
	"$ki" stat -q -x, -o "$tmp/csv" command/libc.so.6:_exit -- bash -c '(:); (exec true); (:); :' > /dev/null &&
		is "$(awk -F, 'NR == 2 { print $1 }' "$tmp/csv")" 3
}
check "what it forks is counted; what that executes is not" children

ends() { # STATUS COMMAND...
	local want=$1
	shift
	"$ki" stat -q -o "$tmp/out" command/libc.so.6:_exit -- "$@" > "$tmp/its" 2>&1
	is $? "$want"
}
check "its exit status" ends 7 bash -c 'exit 7'
check "a signal that kills it" ends 143 bash -c 'kill $$; sleep 5'
printf '#!/bin/bash\nexit 5\n' > "$tmp/script"
chmod +x "$tmp/script"
check "a script: its interpreter" ends 5 "$tmp/script"

given() {
	echo some words | "$ki" stat -q -o "$tmp/out" command/libc.so.6:read -- cat > "$tmp/its" &&
		is "$(cat "$tmp/its")" "some words"
}
check "what it is given" given

# Nothing of it has run when it is refused.
refused() { # STATUS WORDS ARGUMENT...
	local want=$1 words=$2
	shift 2
	rm -f "$tmp/ran"
	"$ki" stat "$@" > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c -- "$words" "$tmp/said") $([ -e "$tmp/ran" ] && echo ran)" "$want 1 "
}
check "no such function" refused 1 "no function 'nothing'" command/nothing -- touch "$tmp/ran"
check "no such command" refused 127 "cannot be executed" command/main -- ./no-such-command
check "no command" refused 2 "command/POINT: the command stands behind --" command/main
check "kernel and command" refused 2 "points of one process at a time" command/main vfs_read -- touch "$tmp/ran"
check "what a process does not have" refused 1 "this is not built for processes yet" --per-cpu -m walltime command/libc.so.6:read -- touch "$tmp/ran"
lists() { "$ki" list command/main 2>&1 | grep -q "of a process that runs, PID/"; }
check "list" lists

interrupted() {
	timeout -s INT 1 "$ki" stat -q -x, -o "$tmp/csv" command/libc.so.6:clock_nanosleep -- sleep 20
	is "$(awk -F, 'NR == 2 { print $1 }' "$tmp/csv")" 1 && ! pgrep -x -P $$ sleep
}
check "Ctrl-C: the count is shown, and the command has ended" interrupted

# The tool is killed while it installs: the command, which has not run, ends.
killed() {
	local i
	for ((i = 0; i < 60; i++)); do
		"$ki" stat -q "command/pie:leap:blocks" -- $bin/pie 0 100 < /dev/null > "$tmp/out" 2>&1 &
		sleep "0.00$((i % 10))$((i / 10))"
		kill -9 $! 2> /dev/null
		wait $! 2> /dev/null
	done
	for ((i = 0; i < 100; i++)); do
		pgrep -f "^$bin/pie 0 100" > "$tmp/left" || return 0
		sleep 0.1
	done
	ps -o pid,stat,wchan,args -p "$(paste -sd, "$tmp/left")"
	return 1
}
check "the tool is killed while it starts, 60 times: nothing is left" killed

# ---- libraries that come later ----
# A round maps it, and begins to call it when the tool has had the time to come in.
awaited() {
	start churn "$library" || return
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" stat -x, -o "$tmp/csv" --await "$pid/libturned.so:turn" -- bash -c 'sleep 0.3; ask keep 1; sleep 1; ask keep 20' 2> "$tmp/said" &&
		is "$(awk -F, 'NR == 2 { print $1 }' "$tmp/csv")" 2000 && is "$(cat "$tmp/answer")" 297400 && stop
}
check "a library that is mapped while one waits for it" awaited
awaited_of_command() {
	{ sleep 0.5; echo keep 1; sleep 1; echo keep 30; } | "$ki" stat -q -x, -o "$tmp/csv" --await command/libturned.so:turn -- $bin/churn "$library" > "$tmp/its" 2> "$tmp/said" &&
		is "$(awk -F, 'NR == 2 { print $1 }' "$tmp/csv")" 3000
}
check "the same of a program that is started" awaited_of_command
unmapped() {
	start churn "$library" || return
	{ sleep 1.5; echo close 1 >&"$to"; } &
	echo keep 1 >&"$to"
	read -r -t 20 -u "$from" _
	"$ki" stat -x, -o "$tmp/csv" --for 2.5 "$pid/libturned.so:turn" 2> "$tmp/said" &&
		grep -q "^kerninst: process $pid: libturned.so has been unmapped: counted until then" "$tmp/said" && stop
}
check "a library that is unmapped: said" unmapped
became() {
	local begun=$SECONDS
	bash -c 'sleep 1; exec sleep 4' > "$tmp/its" 2>&1 &
	pid=$!
	sleep 0.3
	"$ki" stat -x, -o "$tmp/csv" --for 20 "$pid/bash:execute_command" 2> "$tmp/said" && [ $((SECONDS - begun)) -lt 10 ] &&
		grep -q "^kerninst: process $pid has become another program: counted until then" "$tmp/said" && wait "$pid"
}
check "another program in the process: said, and the end" became
never() {
	"$ki" stat --await command/libturned.so:turn -- true > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c "libturned.so was not mapped until the end" "$tmp/said")" "1 1" &&
		! "$ki" stat --await command/turn -- true > "$tmp/out" 2> "$tmp/said" && grep -q "names no module" "$tmp/said"
}
check "a library that never comes: said" never
finish
