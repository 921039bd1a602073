#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/shed.sh [ROUNDS]
# kerninst stat --budget of a process: what costs the most is taken out while threads are in it, the rest goes on and
# is exact, the process does what it does without, and its text is as it was; also if the guard is killed before.
# promise: N7: Of a process, too, a budget takes out what costs the most while the rest stays exact.
# shellcheck disable=SC2015,SC2016 # who fails says so; for the other shell
set -u
cd "$(dirname "$0")/../.." || exit 1
rounds=${1:-3}
shift $#
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# shed BUDGET COMMAND POINT...: while one round goes; COMMAND after a tenth of a second
shed() {
	local budget=$1 command=$2
	to=$to from=$from "$ki" stat -x, --budget "$budget" -o "$tmp/csv" "${@:3}" -- \
		bash -c '(sleep 0.1; eval "$1") & round > "$0"' "$tmp/sum" "$command" 2> "$tmp/said"
}
# taken: how many were
taken() { grep -c '^kerninst: budget: .*taken out after' "$tmp/said"; }

# exact POINT COUNT: it has stayed to the end, and then has all. (All goes if the tool itself needs more than there is.)
exact() {
	awk -F, -v p="$1" -v n="$2" '$6 == p { found = 1; bad = $5 == "100.0%" && $1 != n } END { exit bad || !found }' "$tmp/csv"
}
# kept FORM THREADS COMMAND HZ: each round sheds; the entry of each thread's function costs next to nothing
kept() {
	local before want i n=0
	start "$1" "$2" 20000000 ${4:+"$4"} || return
	before=$(text)
	want=$(round)
	for ((i = 0; i < rounds; i++)); do
		shed "$((i % 5 + 3))%" "$3" "$pid/$1:step:insns" "$pid/$1:leap:insns" "$pid/$1:work" || { cat "$tmp/said"; return 1; }
		n=$((n + $(taken)))
		is "$(text)" "$before" && is "$(cat "$tmp/sum")" "$want" && exact "$1:work" "$2" || { cat "$tmp/csv"; return 1; }
	done
	echo "# $1, $2 threads: $n parts taken out in $rounds rounds" >> "$tmp/table"
	[ "$n" -ge "$rounds" ] && is "$(round)" "$want" && stop
}
check "one thread" kept pie 1 :
check "four threads" kept pie 4 :
check "four threads, with signals" kept cet 4 : 200
killed() { kept pie 2 'pkill -9 -P $PPID kerninst-guard || touch "$tmp/none"' && [ ! -e "$tmp/none" ]; }
check "the guard is killed before" killed
cat "$tmp/table"
finish
