#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/cpus.sh [KERNINST]
# kerninst stat --per-cpu of a process: while it is bound to one processor after the other its calls are of that one,
# exactly; those of the processors make the total; times are refused.
# promise: Hits in a process are told of each CPU, exactly while no thread is moved.
# shellcheck disable=SC2016 # for the other shell
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# The process's threads begin in each round, on the processors that it may use then.
on() { taskset -cp "$1" "$pid" > /dev/null && round > /dev/null; }
export -f on
# counted ARGUMENT...: a round on the first processor, three on the last; rows "CPU POINT COUNT" in $tmp/counts
counted() {
	to=$to from=$from pid=$pid "$ki" stat -q -x, --per-cpu -o "$tmp/csv" "$@" -- \
		bash -c 'on "$0" && on "$1" && on "$1" && on "$1"' "$first" "$last" 2> "$tmp/said" || { cat "$tmp/said"; return 1; }
	awk -F, 'NR > 1 { print $1, $4, $2 }' "$tmp/csv" > "$tmp/counts"
}
of() { awk -v c="$1" -v p="$2" '$1 == c && $2 == p { print $3 }' "$tmp/counts"; }
# split POINT N: in each round N
split() { is "$(of "$first" "$1") $(of "$last" "$1") $(of all "$1")" "$2 $((3 * $2)) $((4 * $2))"; }

bound() {
	start "$1" 4 20000 || return
	local before
	before=$(text)
	counted "$pid/$1:step" "$pid/$1:leap:block/1" "$pid/libc.so.6:getppid" &&
		split "$1:step" 80000 && split "$1:leap:block/1" 15000 && split libc.so.6:getppid 2500 && is "$(text)" "$before" && stop
}
conditional() {
	start pie 2 20000 && counted --if 'arg0 < 100' "$pid/pie:step" && split pie:step 200 && stop
}
# Where the threads go is the kernel's: the sum is exact.
free() {
	start pie 4 20000 || return
	taskset -cp "$first,$last" "$pid" > /dev/null
	to=$to from=$from "$ki" stat -q -x, --per-cpu -o "$tmp/csv" "$pid/pie:step" -- bash -c 'round > /dev/null' || return
	is "$(awk -F, '$1 == "all" { print $2 }' "$tmp/csv") $(awk -F, 'NR > 1 && $1 != "all" { n += $2 } END { print n }' "$tmp/csv")" "80000 80000" && stop
}
refused() {
	start pie 1 100 || return
	! "$ki" stat --per-cpu -m walltime "$pid/pie:step" -- true > /dev/null 2> "$tmp/said" &&
		is "$(grep -c 'not built for processes' "$tmp/said")" 1 && stop
}

mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
first=${cpus[0]} last=${cpus[-1]}
if [ "$first" = "$last" ]; then
	echo "1..1"
	echo "ok 1 hits of each processor # SKIP there is one only"
	exit 0
fi
check "bound to one processor after the other, four threads" bound pie
check "the same with shadow stacks' marks" bound cet
check "behind a predicate" conditional
check "free to be moved: the total is exact" free
check "times are refused, with one line" refused
finish
