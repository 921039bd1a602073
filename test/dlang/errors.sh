#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each program of errors.tab is refused, in one line, with the tag that the reference gives.
#
# usage: test/dlang/errors.sh KDTRACE
# promise: D1, D2, D3, D4: Wrong D programs are refused with the reference's tag and their place.
#   [accepts.sh, test/dlang/options.sh]
cd "$(dirname "$0")" || exit 1
kd=../../$1
n=0 failures=0
while IFS=$'\t' read -r tag program; do
	case $tag in '' | \#*\ *) continue ;; esac
	n=$((n + 1))
	got=$("$kd" -xerrtags -e -n "$program" 2>&1)
	status=$?
	line=$(grep -c '^[^ ]*dtrace: ' <<< "$got")
	if [ $status = 1 ] && [ "$line" = 1 ] && [[ $got == *"[$tag] "* ]]; then
		echo "ok $n $tag: $program"
	else
		failures=$((failures + 1))
		echo "not ok $n $tag: $program"
		printf '%s, status %s\n' "$got" "$status" | head -n 4 | sed 's/^/# /'
	fi
done < errors.tab
echo "1..$n"
[ $failures = 0 ]
