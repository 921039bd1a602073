#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run tests that print KTAP lines, and count.
#
# usage: test/run.sh FILE...	each names one suite: lines NAME<tab>COMMAND
#
# Prints each suite's lines that are not ok and, at the end, one line with the totals. A suite
# that prints no result, or exits with a failure without having said what failed, is a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test/logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0

count() { grep -cE "$1" "$2"; }

run_suite() {
	local name=$1 command=$2 log=$logs/$1.log status p f s start=$SECONDS
	bash -c "$command" > "$log" 2>&1 < /dev/null
	status=$?
	s=$(count '^ *(not )?ok [0-9]+.*# SKIP' "$log")
	f=$(grep -E '^ *not ok [0-9]+' "$log" | grep -vc '# SKIP')
	p=$(($(count '^ *ok [0-9]+' "$log") - $(count '^ *ok [0-9]+.*# SKIP' "$log")))
	if [ $status != 0 ] && [ "$f" = 0 ]; then
		f=1
		echo "not ok - $name: ended with $status; the end of $log:"
		tail -n 15 "$log" | sed 's/^/  /'
	elif [ $((p + f + s)) = 0 ]; then
		f=1
		echo "not ok - $name: printed no result ($log)"
	fi
	grep -A 12 -E '^ *not ok [0-9]+' "$log" | head -n 60
	printf '%-22s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" $((SECONDS - start))
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

while IFS=$'\t' read -r name command; do
	case $name in '' | \#*) continue ;; esac
	run_suite "$name" "$command"
done < <(cat "$@")
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
