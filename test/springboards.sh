#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The springboards of all windows of stock kernels: hardly any has to be a breakpoint; and at hardly
# any bounce the kernel's own unwind table says something else than at the window. And nearly all
# edges have a place of their own: the rest are what calls return to where others jump too, or leave
# code that the kernel rewrites; through tables there are hardly any.
#
# usage: test/springboards.sh KERNEL:LIMIT...	at most LIMIT of 100,000 may be
# promise: Every window has a springboard, and no assignment of bounces could serve more windows.
#   [test_springboard_choice.c, points.sh, race_host.sh]
set -u
cd "$(dirname "$0")/.." || exit 1
ki=build/release/bin/kerninst
n=0 failed=0

number() { # OBJECT KEY, of the springboards in JSON on standard input
	sed -n "s/.*\"springboards\":{\(.*\)/\1/p" | sed -n "s/.*\"$1\":{\([^}]*\)}.*/\1/p" |
		tr ',' '\n' | sed -n "s/\"$2\"://p" | tr -d '" '
}

one() { # KEY, the same
	sed -n "s/.*\"springboards\":{\(.*\)/\1/p" | grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d: -f2
}

check() { # NAME PART ALL LIMIT
	n=$((n + 1))
	if [ "$3" -gt 50000 ] && [ $(($2 * 100000)) -le $(($3 * $4)) ]; then
		echo "ok $n $1: $2 of $3"
	else
		echo "not ok $n $1: $2 of $3 is more than $4 of 100,000"
		failed=1
	fi
}

for kernel in "$@"; do
	name=${kernel%:*}
	if ! { vmlinux=$(vm/kernel "$name" vmlinux) && map=$(vm/kernel "$name" system-map); } ||
		! json=$($ki info --json --image "$vmlinux" --system-map "$map"); then
		echo "not ok $((n += 1)) $name: there is no kernel to look at"
		failed=1
		continue
	fi
	for what in windows block_entries; do
		jumps=$(number $what jump <<< "$json") bounces=$(number $what bounce <<< "$json")
		traps=$(number $what trap <<< "$json")
		all=$((jumps + bounces + traps))
		echo "# $name $what: $all = $jumps jump + $bounces bounce + $traps trap"
		check "$name: $what whose springboard is a trap" "$traps" "$all" "${kernel#*:}"
	done
	edges=$(one edges <<< "$json") tables=$(one INDIRECT_EDGE <<< "$json")
	check "$name: edges without a place" "$(one edges_refused <<< "$json")" "$edges" 3500
	check "$name: edges of tables" "$tables" "$edges" 1
	read -r bounces differ filler < <(build/test/bounces "$vmlinux" "$map") || bounces=0
	echo "# $name: $bounces bounces, $differ with another row of the unwinder, $filler of these in filler"
	check "$name: bounces that traces may end at" "$differ" "$bounces" 2000
done
echo "1..$n"
exit $failed
