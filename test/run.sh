#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run tests that print KTAP lines, and count.
#
# usage: test/run.sh [--again SECONDS] [-j JOBS] FILE...
#
# Each FILE is a table of suites: lines NAME<tab>COMMAND[<tab>GROUP[<tab>GOALS]]; - is no group. Those
# of a group are run in one machine, one after the other, where its first one stands
# (test/guest/common/together.sh). Their commands are the same up to -- but for --timeout. What GOALS
# build is there.
#
# Prints each suite's results that are not ok and, at the end, one line with the totals. A suite
# that prints no result, exits with a failure without having said what failed, or of whose group
# another one has left no machine for it, is a failure. Whole logs are in build/test/logs.
#
# A suite that fails has failed. Only one that was stopped by its time limit (--timeout) may have
# been late for the host's sake: with --again it is run once more when all have ended, by itself, if
# its limit is over within so many SECONDS from the beginning; the last line but one says how many
# were, and the one before it of which suites QEMU ended or stood while the kernel booted (vm/run begins
# it once more). There is no second try for the suites that try to break a kernel.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test/logs
mkdir -p $logs
jobs=1 again=0
[ "${1-}" = --again ] && { again=$2; shift 2; }
[ "${1-}" = -j ] && { jobs=$2; shift 2; }

count() { grep -cE "$1" "$2"; }

# report_suite NAME STATUS SECONDS: of its log. Leaves "PASSED FAILED SKIPPED STATUS" in NAME.counts.
report_suite() {
	local name=$1 status=$2 log=$logs/$1.log p f s
	s=$(count '^ *(not )?ok [0-9]+.*# SKIP' "$log")
	f=$(grep -E '^ *not ok [0-9]+' "$log" | grep -vc '# SKIP')
	p=$(($(count '^ *ok [0-9]+' "$log") - $(count '^ *ok [0-9]+.*# SKIP' "$log")))
	{
		if [ "$status" != 0 ] && [ "$f" = 0 ]; then
			f=1
			echo "not ok - $name: ended with $status; the end of $log:"
			tail -n 15 "$log" | sed 's/^/  /'
		elif [ $((p + f + s)) = 0 ]; then
			f=1
			echo "not ok - $name: printed no result ($log)"
		fi
		grep -A 12 -E '^ *not ok [0-9]+' "$log" | head -n 60
		printf '%-22s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" "$3"
	} > "$logs/$name.report"
	echo "$p $f $s $status" > "$logs/$name.counts"
	cat "$logs/$name.report"
}

run_suite() { # NAME
	local start=$SECONDS
	bash -c "${command[$1]}" > "$logs/$1.log" 2>&1 < /dev/null
	report_suite "$1" $? $((SECONDS - start))
}

limit_of() { sed -nE 's/.* --timeout ([0-9]+) .*/\1/p' <<< "${command[$1]}"; }
machine_of() { sed -E 's/ -- .*//; s/ --timeout [0-9]+//' <<< "${command[$1]}"; }

# The rows of a group as one command.
group_command() { # NAME...
	local name limit=0 suites=
	for name; do
		limit=$((limit + $(limit_of "$name")))
		suites+=$(printf ' %q' "$name" "$(limit_of "$name")" "${command[$name]#* -- }")
	done
	echo "$(machine_of "$1") --timeout $limit -- test/guest/common/together.sh$suites"
}

# run_group GROUP NAME...: what each prints is its log; what else there is is the group's
run_group() {
	local group=$1 name='' begun=0 line status=none
	shift
	rm -f "$logs/$group.log"
	while IFS= read -r line; do
		case $line in
		'# together: begin '*) name=${line##* } begun=$SECONDS && : > "$logs/$name.log" ;;
		'# together: end '*) report_suite "$name" "${line##* }" $((SECONDS - begun)) && name= ;;
		'# together: exit '*) status=${line##* } ;;
		*) printf '%s\n' "$line" >> "$logs/${name:-$group}.log" ;;
		esac
	done < <(bash -c "$(group_command "$@")" 2>&1 < /dev/null; echo "# together: exit $?")
	[ -z "$name" ] || report_suite "$name" "$status" $((SECONDS - begun))
	for name; do
		[ -e "$logs/$name.counts" ] || {
			echo "was not begun: the machine of $group ended with $status" > "$logs/$name.log"
			report_suite "$name" 1 0
		}
	done
}

# may_go_again NAME: it was stopped for time, no kernel was to be harmed, and there is time
may_go_again() {
	local status
	case $1 in
	race* | access* | busy* | torture* | coexist* | kill* | hosts* | disturb* | replace* | move* | tail* | faults* | lifetime* | memory* | steps* | fuzz*)
		return 1 ;;
	esac
	read -r _ _ _ status < "$logs/$1.counts" 2> /dev/null && [ "$status" = 124 ] &&
		! grep -qE '^ *not ok [0-9]+' "$logs/$1.log" &&
		[ "$(limit_of "$1")" ] && [ $((SECONDS + $(limit_of "$1"))) -le "$again" ]
}

# What is run is a group, or a suite that is in none.
declare -A command members
names=() runs=()
while IFS=$'\t' read -r name line group _; do
	case $name in '' | \#*) continue ;; esac
	[ "$group" != - ] || group=
	rm -f "$logs/$name".{counts,first.log}
	group=${group:++$group}
	names+=("$name") command[$name]=$line
	[ "${members[${group:-$name}]-}" ] || runs+=("${group:-$name}")
	members[${group:-$name}]+="$name "
done < <(cat "$@")
for run in "${runs[@]}"; do
	for name in ${members[$run]}; do
		[ "$(machine_of "$name")" = "$(machine_of "${members[$run]%% *}")" ] &&
			{ [ "${run#+}" = "$run" ] || [ "$(limit_of "$name")" ]; } && continue
		echo "test/run.sh: $name has no --timeout, or not the machine of ${run#+}: $(machine_of "$name")" >&2
		exit 2
	done
done

for run in "${runs[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
	# shellcheck disable=SC2086 # names
	set -- ${members[$run]}
	if [ $# = 1 ]; then run_suite "$1" & else run_group "${run#+}" "$@" & fi
done
wait

again_names=
for name in "${names[@]}"; do
	may_go_again "$name" || continue
	mv "$logs/$name.log" "$logs/$name.first.log"
	echo "# $name: was stopped for time; again, by itself"
	run_suite "$name"
	again_names="$again_names $name"
done

passed=0 failed=0 skipped=0
for name in "${names[@]}"; do
	read -r p f s _ < "$logs/$name.counts" || { p=0 f=1 s=0; echo "not ok - $name did not end"; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	# Once more, together.
	[ "$f" = 0 ] || grep -hE '^ *not ok' "$logs/$name.report" | grep -v '# SKIP' | sed "s/^ */# $name: /"
done
# vm/run says it where it does it.
restarted=$(for name in "${names[@]}" "${runs[@]#+}"; do
	cat "$logs/$name".{first.log,log} 2> /dev/null | grep -qE 'QEMU (ended|stood) while the stock kernel booted' && echo "$name"
done | sort -u | xargs)
echo "$(wc -w <<< "$restarted") whose QEMU ended or stood while it booted, and was begun again${restarted:+: }$restarted"
echo "$(wc -w <<< "$again_names") stopped for time and run again${again_names:+, see build/test/logs/NAME.first.log:}$again_names"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
