#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/replace.sh [KERNINST]
# kerninst replace PID/WHAT=FUNCTION: what a program's functions return while others stand for them, for all
# of its threads; that they and the text are as they were, however it ends; what is refused.
# promise: K17 (in part), K18, A8: Functions and single calls of a process are replaced for all threads; the
#   text comes back, after kill -9 too.
# promise: K19 (in part): Counters and a replacement at one function of a process are in one plan, in both orders.
# promise: A2 (in part): Memory in a process is taken, written, read and given back; a bad address is an error.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# What one, by two calls of one caller, two, a jump and a pointer, returns; is getppid getpid?
usual="1 2 1 1 0 wrong 0"

begin() { # FORM
	start "$1" 3 2000 || return
	before=$(text)
	is "$(round)" "$usual"
}
# As it was: what it does, its text, and nothing of ours is mapped, as soon as no thread is in it.
restored() {
	local i
	for ((i = 0; i < 200; i++)); do
		[ "$(text)" = "$before" ] && break
		sleep 0.05
	done
	is "$(text)" "$before" && is "$(round)" "$usual"
}
replaced() { # RESULTS WHAT...: so it is while a command runs
	local results=$1
	shift
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" replace -q "${@/#/$pid/}" -- bash -c 'round > "$0"' "$tmp/sum" 2> "$tmp/said"
	is $? 0 && is "$(cat "$tmp/sum")" "$results" && is "$(cat "$tmp/said")" "" && restored
}

for form in replaced replaced-static; do
	begin $form
	check "$form: a function, by all ways to it" replaced "2 4 2 2 0 wrong 0" one=two
	check "$form: the calls of one caller" replaced "1 4 1 1 0 wrong 0" "second->one=two"
	check "$form: a jump in place of a call" replaced "1 2 3 1 0 wrong 0" "tail->one=three"
	check "$form: several at once" replaced "2 2 3 1 0 wrong 0" "first->one=two" "tail->one=three"
	check "$form: one upon another" replaced "3 6 3 3 0 wrong 0" one=two two=three
	check "$form: of two for one the last counts" replaced "3 6 3 3 0 wrong 0" one=two one=three
	check "$form: a function, and a call of it" replaced "3 4 2 2 0 wrong 0" one=two "first->one=three"
	stop
done

begin replaced
check "a library's by another of its functions" replaced "1 2 1 1 1 wrong 0" libc.so.6:getppid=libc.so.6:getpid
check "a library's by one of the program, out of a jump's reach" replaced "1 2 1 1 1 wrong 0" libc.so.6:getppid=replaced:same
one_call() {
	local at
	at=$("$ki" disas "$pid/second" | sed -n 's/^ *0x[0-9a-f]* *\(+0x[0-9a-f]*\) .*call.*one.*/\1/p' | sed -n 2p)
	[ "$at" ] && replaced "1 3 1 1 0 wrong 0" "second$at=two"
}
check "one call of two" one_call

# ---- however it ends ----
in_place() { # WHAT...: until it is; its tool is $tool
	"$ki" replace -q "${@/#/$pid/}" > "$tmp/out" 2> "$tmp/said" {to}>&- {from}<&- &
	tool=$!
	local i
	for ((i = 0; i < 400; i++)); do
		[ "$(text)" != "$before" ] && [ "$(round)" != "$usual" ] && return
		sleep 0.05
	done
	false
}
interrupted() {
	in_place one=two && is "$(round)" "2 4 2 2 0 wrong 0" && kill -INT "$tool" && wait "$tool"
	is $? 0 && restored
}
check "Ctrl-C" interrupted
killed() {
	in_place one=two libc.so.6:getppid=same && is "$(round)" "2 4 2 2 1 wrong 0" && kill -9 "$tool"
	wait "$tool" 2> /dev/null
	restored
}
check "kill -9 of the tool" killed
guard_killed() {
	in_place one=two && pkill -KILL -P "$tool" kerninst-guard && is "$(round)" "2 4 2 2 0 wrong 0" && kill -INT "$tool" && wait "$tool"
	is $? 0 && restored
}
check "kill -9 of the guard: the tool does its work" guard_killed
often() {
	local i
	for ((i = 0; i < 30; i++)); do
		"$ki" replace -q "$pid/one=two" "$pid/second->one=three" -- true || return
	done
	restored
}
check "in and out 30 times under a thread that calls all the time" often

# ---- with counters: without the driver a process's function is one tool's at a time ----
taken=$("$ki" explain FOREIGN_BREAKPOINT | sed -n '2s,^ *,,p')
taken_by() { # another tool has one: one line, and the first goes on
	"$ki" "$@" > "$tmp/out" 2> "$tmp/said" && return 1
	is "$(wc -l < "$tmp/said")" 1 && grep -qF "$taken" "$tmp/said"
}
both_orders() {
	in_place one=two && taken_by stat -q "$pid/one" -- true && taken_by replace -q "$pid/one=three" -- true &&
		is "$(round)" "2 4 2 2 0 wrong 0" && kill -INT "$tool" && wait "$tool" && restored || return
	"$ki" stat -q -x, "$pid/one" > "$tmp/out" 2> "$tmp/said" {to}>&- {from}<&- &
	tool=$!
	until [ "$(text)" != "$before" ] || ! kill -0 "$tool"; do sleep 0.05; done
	sleep 0.2
	taken_by replace -q "$pid/one=two" -- true && kill -INT "$tool" && wait "$tool" && restored
}
check "beside counters of the same function, in both orders: refused" both_orders
beside() { # of others: two is what is called
	local tool calls
	in_place one=two && stat "$pid/replaced:two" && calls=$(of replaced:two) && kill -INT "$tool" && wait "$tool"
	is $? 0 && [ "${calls:-0}" -ge $((3 * 2000 * 5)) ] && restored
}
check "what stands for it is counted by another tool" beside

# ---- what the library alone does ----
by_library() { # counters with a replacement in one plan, and memory; its rounds' results
	local mine theirs asked pointer results=()
	pointer=$(printf %x $((0x$(nm $bin/replaced | awk '$3 == "pointer" { print $1 }') + 0x$(awk -v f=/replaced '$6 ~ f"$" { sub(/-.*/, "", $1); print $1; exit }' "/proc/$pid/maps"))))
	mkfifo "$tmp/mine" "$tmp/theirs"
	$bin/standing "$pid" "$pointer" < "$tmp/mine" > "$tmp/theirs" &
	tool=$!
	exec {mine}> "$tmp/mine" {theirs}< "$tmp/theirs"
	while read -r -t 60 -u "$theirs" asked && [ "$asked" = round ]; do
		results+=("$(round)")
		echo >&"$mine"
	done
	wait "$tool"
	is "$asked" ok && is "${results[*]}" "2 4 2 2 0 wrong 0 2 4 2 2 0 wrong 0 $usual 1 2 1 3 0 wrong 0" && restored
}
check "counters and a replacement in one plan; memory both ways, bad addresses" by_library

# ---- refused ----
as=()
# refused STATUS PATTERN WHAT...: one line, and nothing has changed
refused() {
	local want=$1 pattern=$2 status
	shift 2
	said=$("${as[@]}" "$ki" replace -q "$@" -- true 2>&1 > /dev/null)
	status=$?
	is "$status" "$want" && is "$(grep -c . <<< "$said")" 1 &&
		{ grep -qE "^kerninst: .*($pattern)" <<< "$said" || { echo "$said"; false; }; } &&
		is "$(text)" "$before"
}
earns() { # STATUS TAG WHERE WHAT...: with where it is, and the table's words
	local text
	text=$("$ki" explain "$2" | sed -n '2s,^ *,,p')
	[ "$text" ] && refused "$1" "$3" "${@:4}" && { [[ $said == *": $text; "* ]] || { echo "$said"; false; }; }
}
check "no such process" refused 1 "process 4194303: there is no such process" 4194303/one=two
check "no such function" refused 1 "no function 'onne'; near: .*one" "$pid/onne=two"
check "no such other function" refused 1 "no function 'twoo'; near: .*two" "$pid/one=twoo"
check "no such module" refused 1 "no module 'lib'" "$pid/lib:one=two"
check "no such call" refused 1 "there is no such direct call" "$pid/first->two=one"
check "itself" refused 1 "a function cannot replace itself" "$pid/one=one"
check "a circle of two" earns 1 REPLACE_CIRCLE "(one|two)\+0x0" "$pid/one=two" "$pid/two=one"
check "a circle of three" earns 1 REPLACE_CIRCLE "(one|two|three)\+0x0" "$pid/one=two" "$pid/two=three" "$pid/three=one"
check "a function too short for a jump" earns 1 NO_TRAP "brief\+0x0" "$pid/brief=brief_too"
check "with one that can be: neither" earns 1 NO_TRAP "brief\+0x0" "$pid/one=two" "$pid/brief=brief_too"
check "two processes" refused 2 "points of one process at a time" "$pid/one=two" 1/one=two
check "--callers" refused 2 "not built for processes" --callers "$pid/one=two"
as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
check "another user's process" earns 3 PROCESS_PERMISSION "process $pid" "$pid/one=two"
as=()
traced() {
	$bin/oracle trace "$pid" < <(sleep 2) > "$tmp/tracing" &
	sleep 0.3
	earns 1 PROCESS_TRACED "process $pid \(process $!\)" "$pid/one=two" && wait $! && restored
}
check "a process that is traced" traced

# ---- manners ----
warned() { "$ki" replace "$pid/one=two" -- true 2>&1 | grep -q "DANGER.*the process crashes" && restored; }
check "it warns" warned
dry() { "$ki" replace -n "$pid/one=two" | grep -q "^function one+0x0 (0x[0-9a-f]*)  ->  two" && is "$(text)" "$before"; }
check "--dry-run changes nothing" dry
ends() {
	begin replaced && in_place one=two || return
	stop
	wait "$tool"
	is $? 0 && grep -q "process $pid has ended" "$tmp/said"
}
check "the process ends" ends
command() {
	is "$(echo | "$ki" replace -q command/one=three -- $bin/replaced 2 100 2> "$tmp/said" | tail -n 1)" "3 6 3 3 0 wrong 0" &&
		is "$(cat "$tmp/said")" ""
}
check "a command, from its first instruction on" command
finish
