#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/paths.sh [KERNINST]
# kerninst paths PID/FUNCTION: known ways of a program that runs, and of one that is started; what paths
# say of blocks, added up, as single steps find it; recursion, longjmp, forks; that the text is as it was.
# promise: Each thread's ways through a process's function are counted, recursion too.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# seen "WORDS" OPTION|FUNCTION...: while the program does that
seen() {
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" paths -q --json --top 0 "${@:2}" -- bash -c "ask $1" > "$tmp/json"
}
# of EXPRESSION: in Python, of d, what was measured
of() { python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "$tmp/json"; }
sums() { of 'd["calls"], d["left"], d["too_deep"], d["lost"]'; }
begin() { start timed && before=$(text); }
ended() { is "$(text)" "$before" && ! grep -q memfd:kerninst "/proc/$pid/maps" && stop; }

known() { # THREADS
	begin && seen "ways $1 500" "$pid/timed:ways" || return
	local n=$(($1 ? $1 : 1))
	is "$(of '[p["count"] for p in d["paths"]]')" "$(python3 -c "print([k * 500 * $n for k in range(8, 0, -1)])")" &&
		is "$(of 'set((p["begins"], p["ends"]) for p in d["paths"])')" "{('call', 'return')}" &&
		is "$(of 'len(set(tuple(p["blocks"]) for p in d["paths"]))')" 8 &&
		is "$(sums)" "($((18000 * n)), $((18000 * n)), 0, 0)" && ended
}
check_words "eight ways, each as often as it was taken" known 0
check_words "the same of five threads" known 5

# What paths say of blocks, added up, and of calls: as single steps find them.
# added: what paths say of blocks, from the JSON, into $tmp/addresses and $tmp/counted
added() {
	of '"\n".join("0x%x" % (int(d["address"], 16) + a) for a in sorted(set(a for p in d["paths"] for a in p["offsets"])))' > "$tmp/addresses"
	of '"\n".join("0x%x %d" % (int(d["address"], 16) + a, sum(p["count"] * p["offsets"].count(a) for p in d["paths"])) for a in set(a for p in d["paths"] for a in p["offsets"]))' |
		sort > "$tmp/counted"
}
stepped() { # FUNCTION
	begin && seen "ways 0 400" "$pid/timed:$1" && added && ended || return
	# the same addresses: start() begins it without randomized ones, too
	echo "ways 0 400" | setarch -R $bin/oracle steps "$tmp/addresses" $bin/timed 2> "$tmp/said" | sort > "$tmp/stepped"
	is "$(cat "$tmp/stepped")" "$(cat "$tmp/counted")" && [ "$(wc -l < "$tmp/counted")" -ge 6 ] &&
		is "$(awk 'END { print $1 }' "$tmp/said")" "$(cat "$tmp/answer")"
}
check_words "ways without a loop: blocks as single steps find them" stepped ways
check_words "ways with one: blocks as single steps find them" stepped walk

# A switch, by a table in most forms of the program.
switched() { # FORM
	start "$1" 0 3000 && before=$(text) || return
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" paths -q --json --top 0 "$pid/$1:leap" -- bash -c 'round > "$0"' "$tmp/sum" > "$tmp/json" && added && ended || return
	echo | setarch -R $bin/oracle steps "$tmp/addresses" "$bin/$1" 0 3000 2> "$tmp/said" | sort > "$tmp/stepped"
	is "$(cat "$tmp/stepped")" "$(cat "$tmp/counted")" && [ "$(wc -l < "$tmp/counted")" -ge 10 ] && is "$(sums)" "(750, 750, 0, 0)"
}
for form in pie cet static nopie; do
	check_words "$form: a switch: blocks as single steps find them" switched $form
done

recursive() {
	begin && seen "deep 6 3" "$pid/deep" && is "$(sums)" "(18, 18, 0, 0)" || return
	seen "deep 12 3" "$pid/deep" && is "$(sums)" "(24, 21, 15, 0)" && seen "deep 1 3" "$pid/deep" && is "$(sums)" "(3, 3, 0, 0)" && ended
}
check_words "a recursion, as deep as can be" recursive
jumped() {
	begin && seen "leave 30" "$pid/timed:leave" &&
		is "$(of '[(p["count"], p["ends"]) for p in d["paths"]]')" "[(30, 'no return')]" &&
		seen "tail 300" "$pid/timed:tail" && is "$(of '[(p["count"], p["ends"]) for p in d["paths"]]')" "[(200, 'jump'), (100, 'return')]" && ended
}
check_words "left by longjmp, and by a jump" jumped
# The child returns from it as well, but it has not called it.
forked() { begin && seen "fork 2 1000" "$pid/timed:twice" && is "$(sums)" "(1, 1, 0, 0)" && ended; }
check_words "a child returns where its parent has entered" forked
conditional() {
	begin && seen "ways 3 100" --if '(arg0 & 3) == 1' "$pid/timed:ways" &&
		is "$(of '[p["count"] for p in d["paths"]]')" "[1800, 600]" && ended
}
check_words "only calls when a condition holds" conditional

started() {
	echo "ways 2 50" | "$ki" paths --top 1 command/timed:ways -- $bin/timed > "$tmp/out" 2> "$tmp/said" &&
		is "$(awk '$3 == "call" || $4 == "call" { print $1 }' "$tmp/out")" 800 &&
		grep -q "^kerninst: timed:ways: 8 paths possible, 8 taken, 3600 times; 3600 calls" "$tmp/said" &&
		grep -q "^held: " "$tmp/said"
}
check_words "of a program that is started" started
dies() {
	begin || return
	"$ki" paths --json "$pid/timed:ways" > "$tmp/json" 2> "$tmp/said" {to}>&- {from}<&- &
	local tool=$!
	while [ "$(text)" = "$before" ] && kill -0 $tool; do sleep 0.05; done
	ask ways 0 10
	stop
	wait $tool && is "$(sums)" "(360, 360, 0, 0)" && grep -q "process $pid has ended" "$tmp/said"
}
check_words "the process ends" dies

# bad STATUS WORDS ARGUMENT...: one line, and nothing has changed
bad() {
	"$ki" paths "${@:3}" > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c . "$tmp/said") $(grep -c "$2" "$tmp/said")" "$1 1 1" || { cat "$tmp/said"; false; }
}
begin
check "two functions of a name" bad 2 "names .* functions: one is wanted" "$pid/libc.so.6:str*" -- true
check "no such function" bad 1 "no function" "$pid/nothing" -- true
check "no command" bad 2 "behind --" command/ways
check "what is for the kernel" bad 2 "^kerninst: --own: " --own "$pid/timed:ways" -- true
check_words "a condition that only the kernel knows" bad 1 "uid: code in a process cannot have that" --if 'uid == 0' "$pid/timed:ways" -- true
unchanged() { is "$(text)" "$before"; }
check "the text has not changed" unchanged
stop
finish
