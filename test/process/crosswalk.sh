#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/crosswalk.sh [KERNINST]
# kerninst crosswalk in programs whose time goes where it was planted, without the driver: from main
# down to the last function of the program.
# promise: C1, C3, C4: The search goes from main down to where the time was planted, and leaves the text as it was.
# promise: C11: Threads are searched from where each of them begins; by the largest share of one, or by their mean.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# A level is timed for so long: of stacks, each 0.04 s, little is known in less.
time=0.6
has_words || time=2.5

# walk MODE OPTION...: into $tmp/json; the program goes on meanwhile
walk() {
	begin "$1" && before=$(text) || return
	"$ki" crosswalk -q --json -T "$time" "${@:2}" "$pid" > "$tmp/json" 2> "$tmp/words" || { cat "$tmp/words"; return 1; }
	is "$(text)" "$before" || return
	! grep memfd:kerninst "/proc/$pid/maps" && kill -9 "$pid" && stop
}
begin() {
	[ -z "${to-}" ] || { kill -9 "$pid"; stop; }
	start planted "$1"
}
text() { "$bin/oracle" text "$pid"; }

# chain: what was found to be true, in the order of calls: MODULE:FUNCTION>... of the bottleneck NAME
chain() {
	python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
last = [r for r in rows if r["bottleneck"] and r["function"] == sys.argv[2]]
names, row = [], last[0] if last else None
while row:
	names.insert(0, row["function"])
	row = rows[row["callers"][0]["number"]] if row["callers"] else None
print(">".join(names))' "$tmp/json" "$1"
}

# of FUNCTION KEY: of its row
of() {
	python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(*[r[sys.argv[3]] for r in rows if r["function"] == sys.argv[2]])' "$tmp/json" "$1" "$2"
}

# near FUNCTION WANTED SLACK: its share; of stacks it is known less well
near() {
	has_words || set -- "$1" "$2" 0.3
	python3 -c '
import sys
got, want, slack = map(float, sys.argv[1:])
print("got", got, "wanted", want)
sys.exit(abs(got - want) > slack)' "$(of "$1" share)" "$2" "$3"
}

planted_chain() {
	walk chain && is "$(chain burn)" "main>work>first>second>burn" && near work 1 0.03 &&
		near first 0.6 0.05 && near second 0.6 0.05 && near third 0.1 0.05 && is "$(of third found)" "false"
}

through_pointer() {
	walk pointer && is "$(of chosen found) $(chain burn | sed "s/other/chosen/")" "true main>choose>chosen>burn" && near chosen 0.8 0.05
}

each_thread() {
	walk threads && is "$(chain burn)" "left>burns>burn" && near left 1 0.03 && near burns 1 0.05 &&
		near right 1 0.03 && near sleeps 1 0.05
}

stands() {
	walk long && is "$(of serves found) $(of turns found)" "true true" && near serves 1 0.01 &&
		near turns 0.5 0.06
}

too_often() {
	walk tiny && is "$(of tiny sampled) $(of tiny found)" "True true" && near tiny 0.5 0.3 && near many 1 0.05
}

threshold() {
	walk chain -t 2% && is "$(of third found)" "true" && walk chain -t 0.9 && is "$(of first found)" false &&
		is "$(of work bottleneck)" True
}

other_metric() {
	walk mixed -t 50% && is "$(of dozes found) $(of spins found)" "true false" && near dozes 0.6 0.1 &&
		walk mixed -m cpu -t 8% && is "$(of dozes found) $(of spins found)" "false true" &&
		near spins "$(of main share)" 0.15 && near dozes 0 0.02
}

# largest FUNCTION: the name of the thread with the largest share, that share, how many have one
largest() {
	python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for r in rows:
	if r["function"] == sys.argv[2] and r["threads"]:
		print(r["threads"][0]["name"], "%.1f" % r["threads"][0]["share"], len(r["threads"]))' "$tmp/json" "$1"
}

by_thread() {
	walk crew && is "$(of burns found) $(of dips found)" "true true" &&
		walk crew --threads any && is "$(of burns found) $(of dips found) $(largest burns)" "true false one 1.0 1" &&
		near burns 1 0.05 && is "$(largest waits | cut -d " " -f 3)" 6 &&
		walk crew --threads mean -t 20% && is "$(of left found) $(of waits found)" "false true" && near left 0.125 0.02 &&
		walk crew --threads mean -t 10% && is "$(of burns found) $(of dips found)" "true false" &&
		walk crew --threads any -m cpu -t 8% && is "$(of burns found) $(of crew found)" "true false" &&
		near burns "$(of left share)" 0.3
}

tree() {
	begin chain && "$ki" crosswalk -q -T "$time" "$pid" > "$tmp/out" && cat "$tmp/out" &&
		grep -Eq '^planted:main +root [~ ]+[19][0-9.]+ % ' "$tmp/out" &&
		grep -Eq '^        planted:burn +call [~ ]+[0-9]+.[0-9] % +[0-9]+/s  bottleneck$' "$tmp/out" &&
		! grep third "$tmp/out"
}

graph() {
	begin chain && "$ki" crosswalk -q --dot "$pid" > "$tmp/dot" && cat "$tmp/dot" &&
		grep -q '^digraph crosswalk {' "$tmp/dot" && grep -q 'label="burn' "$tmp/dot" && is "$(tail -n 1 "$tmp/dot")" "}"
}

of_command() {
	"$ki" crosswalk -q --json -T "$time" -- "$bin/planted" chain > "$tmp/said" 2> "$tmp/words" &
	local walk=$!
	until grep -q '"burn"' "$tmp/said"; do sleep 0.1; done
	pkill -9 -P "$walk" planted
	wait "$walk"
	local status=$?
	grep '^{' "$tmp/said" > "$tmp/json"
	is "$status $(chain burn)" "137 main>work>first>second>burn"
}

interrupted() {
	begin chain && before=$(text)
	timeout -s INT 3 "$ki" crosswalk -T 0.8 "$pid" > "$tmp/out" 2> "$tmp/words"
	cat "$tmp/words" "$tmp/out"
	grep -q 'interrupted: the search has not come to its end' "$tmp/words" && grep -q 'main' "$tmp/out" &&
		is "$(text)" "$before"
}

ends() {
	begin chain
	(sleep 1.2; kill -9 "$pid") &
	"$ki" crosswalk -T 1 "$pid" > "$tmp/out" 2> "$tmp/words"
	is $? 0 && grep -q 'the process has ended: the search has not come to its end' "$tmp/words"
}

bad() { # WANTED ARGUMENT...
	local out
	out=$("$ki" crosswalk "${@:2}" 2>&1)
	is "$? $out" "$1"
}

check "from main down a chain, and not where little goes" planted_chain
check "through a pointer" through_pointer
check "each thread from where it begins" each_thread
check "what never returns, and what it calls now and then" stands
check "what is called too often for a timer is seen on stacks" too_often
check "the threshold" threshold
check "of time what sleeps longer is named, of CPU time what runs" other_metric
check "of each thread: any, or the mean" by_thread
check "a tree" tree
check "a graph for dot" graph
check "a command" of_command
check "a signal ends it; what was found is shown" interrupted
check "the process ends meanwhile" ends
check "no process" bad "1 kerninst: process 4194304: there is no such process" --user 4194304
check "no number" bad "2 kerninst: '1x': the number of a process is expected; try: kerninst crosswalk --help" 1x
check "no share" bad "2 kerninst: --threshold '0': a share is expected, as 25% or 0.25; try: kerninst crosswalk --help" -t 0 1
check "no such threads" bad "2 kerninst: --threads 'all': any, mean or sum is expected; try: kerninst crosswalk --help" --threads all 1
check "no metric" bad "1 kerninst: --metric nothing: wall, cpu, or what grows while a function goes on is searched: faults, switches, llc-misses, ..." -q -m nothing $$
check "a metric that needs the driver" bad "1 kerninst: --metric faults: functions of a program get it by the driver, which the search does not have; cpu and wall do without it" --user -m faults $$
finish
