#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/top.sh [KERNINST]
# kerninst top of a process: tables against what the program does, how it ends, what is refused.
# promise: kerninst top follows the functions of a process to its end.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# field METRIC FIELD POINT: of the last line that has the point
field() {
	python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
rows = [row for row in rows if row["point"] == sys.argv[4]]
print(rows[-1][sys.argv[2]][sys.argv[3]] if rows else "-")' "$tmp/json" "$@"
}

clean() { is "$(text)" "$before" && ! grep -q memfd:kerninst "/proc/$pid/maps"; }

command_alone() {
	"$ki" top -q --json -i 0.5 -n 0 command/pie:step command/pie:leap -- $bin/pie 0 80000 <<< "" > "$tmp/json" || return
	sed -i '/^{/!d' "$tmp/json"
	is "$(field calls total pie:step) $(field calls total pie:leap)" "80000 20000"
}
check "a program that is started: all its calls" command_alone

order() {
	"$ki" top -q -b -i 30 -n 0 command/pie:step command/pie:leap command/pie:main -- $bin/pie 0 80000 <<< "" > "$tmp/table" || return
	is "$(awk '$NF ~ /^pie:/ { print $2, $NF }' "$tmp/table")" $'80000 pie:step\n20000 pie:leap\n1 pie:main'
}
check "most calls first" order

# What came before it does not count; each table has what came since the one before.
rates() {
	start timed && before=$(text) && echo "pick 5000" >&"$to" && read -r -t 60 -u "$from" _ || return
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" top -q --json -i 0.5 -n 0 -m calls,walltime "$pid/pick" -- \
		bash -c 'for i in 1 2 3; do echo "pick 1000" >&"$to"; read -r -u "$from" a; sleep 0.6; done' > "$tmp/json" || return
	is "$(field calls total pick)" 3000 || return
	python3 - "$tmp/json" << 'END' && clean && stop
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
before = 0
for row in rows:
	calls = row["calls"]
	came = round(calls["rate"] * row["seconds"])
	if came != calls["total"] - before or calls["total"] % 1000 or not 0 < row["walltime"]["total"] < 1:
		sys.exit("%s after %d" % (row, before))
	before = calls["total"]
sys.exit(len(rows) < 3)
END
}
check_words "totals from then on, and what came in each interval" rates

conditions() {
	start timed && before=$(text) || return
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" top -q --json -i 30 --if 'arg0 > 500' "$pid/pick" -- \
		bash -c 'echo "pick 7000" >&"$to"; read -r -u "$from" a; echo "$a" > "$0"' "$tmp/answer" > "$tmp/json" || return
	is "$(field calls total pick)" "$(cut -d' ' -f1 "$tmp/answer")" && clean && stop
}
check "under a condition" conditions

count() {
	start timed && before=$(text) || return
	is "$("$ki" top -q -b -i 0.2 -c 3 "$pid/nap" | grep -c '^[0-9.]* s, the last')" 3 && clean && stop
}
check "so many tables" count

interrupted() {
	start timed && before=$(text) || return
	env --default-signal=INT "$ki" top -b -i 60 "$pid/nap" > "$tmp/table" 2> "$tmp/said" &
	local tool=$!
	while [ "$(text)" = "$before" ]; do sleep 0.05; done
	kill -INT $tool && wait $tool && grep -q 'points: 0 of 1' "$tmp/table" && grep -q '^held: 1 thread ' "$tmp/said" &&
		clean && stop
}
check "Ctrl-C: the last table, and the text as it was" interrupted

its_end() {
	start timed && before=$(text) || return
	"$ki" top -b -i 60 "$pid/nap" > "$tmp/table" 2> "$tmp/said" &
	local tool=$!
	while [ "$(text)" = "$before" ]; do sleep 0.05; done
	kill -9 "$pid" && stop; wait $tool && is "$(grep -c "process $pid has ended" "$tmp/said")" 1
}
check "the process's end is the end" its_end

# refuses STATUS WORDS OPTION|POINT...
refuses() {
	local status=$1 words=$2
	shift 2
	"$ki" top -b -c 1 "$@" > "$tmp/table" 2> "$tmp/said" < /dev/null
	is $? "$status" && is "$(wc -l < "$tmp/said")" 1 && grep -qF -- "$words" "$tmp/said" && [ ! -s "$tmp/table" ]
}
start timed
check "a preset beside it" refuses 2 "--preset" --preset network "$pid/nap"
check "two processes" refuses 2 "one process at a time" "$pid/nap" 1/main
check "no command" refuses 2 "the command stands behind --" command/main
check "no such process" refuses 1 "process 2147483646" 2147483646/main
check "no such function" refuses 1 "no_such" "$pid/no_such"
check "blocks and edges as metrics" refuses 2 "name them as points" -m blocks "$pid/nap"
stop
finish
