#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Options of the command line: each row of options.tab ends with its status, and if a text is there says that.
#
# usage: test/dlang/options.sh KDTRACE
cd "$(dirname "$0")" || exit 1
kd=../../$1
n=0 failures=0
while IFS=$'\t' read -r want options program text; do
	case $want in '' | \#*) continue ;; esac
	n=$((n + 1))
	read -ra words <<< "$options"
	got=$("$kd" -xerrtags -e "${words[@]}" -n "$(printf '%b' "$program")" 2>&1)
	status=$?
	if [ $status = "$want" ] && [[ $got == *"$text"* ]]; then
		echo "ok $n $options: $program"
	else
		failures=$((failures + 1))
		echo "not ok $n $options: $program"
		printf '%s, status %s\n' "$got" "$status" | head -n 4 | sed 's/^/# /'
	fi
done < options.tab
echo "1..$n"
[ $failures = 0 ]
