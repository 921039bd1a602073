#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each program of accepts.tab compiles, and nothing is said of it.
#
# usage: test/dlang/accepts.sh KDTRACE
cd "$(dirname "$0")" || exit 1
kd=../../$1
n=0 failures=0
while IFS= read -r program; do
	case $program in '' | \#\ *) continue ;; esac
	n=$((n + 1))
	if got=$("$kd" -w -xerrtags -e -n "$program" 2>&1) && [ -z "$got" ]; then
		echo "ok $n $program"
	else
		failures=$((failures + 1))
		echo "not ok $n $program"
		head -n 4 <<< "$got" | sed 's/^/# /'
	fi
done < accepts.tab
echo "1..$n"
[ $failures = 0 ]
