#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run tests that print KTAP lines, and count.
#
# usage: test/run.sh [-j JOBS] FILE...	each FILE is a table of suites: lines NAME<tab>COMMAND
#
# Prints each suite's results that are not ok and, at the end, one line with the totals. A suite
# that prints no result, or exits with a failure without having said what failed, is a failure.
# Whole logs are in build/test/logs.
#
# A suite that fails has failed. One thing alone is tried again, by itself when all have ended: what
# was stopped by its time limit beside others, with no case failed. A line before the last one says
# which these were.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test/logs
mkdir -p $logs
jobs=1
[ "${1-}" = -j ] && { jobs=$2; shift 2; }

count() { grep -cE "$1" "$2"; }

# Leaves "PASSED FAILED SKIPPED" in NAME.counts, and prints the suite's part of the report.
run_suite() {
	local name=$1 command=$2 log=$logs/$1.log status p f s start=$SECONDS
	bash -c "$command" > "$log" 2>&1 < /dev/null
	status=$?
	s=$(count '^ *(not )?ok [0-9]+.*# SKIP' "$log")
	f=$(grep -E '^ *not ok [0-9]+' "$log" | grep -vc '# SKIP')
	p=$(($(count '^ *ok [0-9]+' "$log") - $(count '^ *ok [0-9]+.*# SKIP' "$log")))
	{
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
	} > "$logs/$name.report"
	echo "$p $f $s $status" > "$logs/$name.counts"
	cat "$logs/$name.report"
}

# was_too_slow NAME: it was stopped by its time limit, and no case had failed
was_too_slow() {
	local p f s status
	read -r p f s status < "$logs/$1.counts" && [ "$status" = 124 ] && ! grep -qE '^ *not ok [0-9]+' "$logs/$1.log"
}

names=() commands=()
while IFS=$'\t' read -r name command; do
	case $name in '' | \#*) continue ;; esac
	names+=("$name") commands+=("$command")
	rm -f "$logs/$name.counts"
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
	run_suite "$name" "$command" &
done < <(cat "$@")
wait

slow=
[ "$jobs" = 1 ] || for i in "${!names[@]}"; do
	name=${names[i]}
	was_too_slow "$name" || continue
	cp "$logs/$name.log" "$logs/$name.first.log"
	echo "# $name: stopped by its time limit; again, by itself"
	run_suite "$name" "${commands[i]}"
	slow="$slow $name"
done
echo "# tried again after a time limit: ${slow:- none}"

passed=0 failed=0 skipped=0
for name in "${names[@]}"; do
	read -r p f s _ < "$logs/$name.counts" || { p=0 f=1 s=0; echo "not ok - $name did not end"; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
