#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run tests that print KTAP lines, and count.
#
# usage: test/run.sh [--again] [-j JOBS] FILE...	each FILE is a table of suites: lines NAME<tab>COMMAND
#
# Prints each suite's results that are not ok and, at the end, one line with the totals. A suite
# that prints no result, or exits with a failure without having said what failed, is a failure.
# Whole logs are in build/test/logs.
#
# An emulated CPU may be away for seconds at any instruction, so a case about time or order can
# fail for the host's sake. With --again a suite that failed beside others is run once more when
# all have ended, by itself; that result counts, and a line says so. There is no second try for a
# kernel: not for the suites that try to break one, not where its text, its log, what is left in it
# or the driver's end was not what it has to be, and not where a suite did not come to its end.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test/logs
mkdir -p $logs
jobs=1 again=
[ "${1-}" = --again ] && { again=1; shift; }
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
	echo "$p $f $s" > "$logs/$name.counts"
	cat "$logs/$name.report"
}

# may_go_again NAME: it failed, came to its end, and no kernel was harmed
may_go_again() {
	local p f s
	case $1 in
	race* | access* | busy* | torture* | coexist* | kill* | hosts* | disturb* | replace* | move* | tail* | faults* | lifetime* | memory* | steps* | fuzz*)
		return 1 ;;
	esac
	read -r p f s < "$logs/$1.counts" 2> /dev/null && [ "$f" != 0 ] &&
		grep -qE '^1\.\.[0-9]+' "$logs/$1.log" &&
		! grep -E '^ *not ok [0-9]+' "$logs/$1.log" |
			grep -qwiE 'text|dmesg|log|kernel|left|heap|unload(s|ed)?|lockdep|restored|gone|clean'
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

unsteady=
for i in "${!names[@]}"; do
	name=${names[i]}
	[ "$again" ] || break
	may_go_again "$name" || continue
	cp "$logs/$name.log" "$logs/$name.first.log"
	echo "# $name: again, by itself"
	run_suite "$name" "${commands[i]}"
	unsteady="$unsteady $name"
done
[ -z "$unsteady" ] || echo "# failed at first, see build/test/logs/NAME.first.log:$unsteady"

passed=0 failed=0 skipped=0
for name in "${names[@]}"; do
	read -r p f s < "$logs/$name.counts" || { p=0 f=1 s=0; echo "not ok - $name did not end"; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
