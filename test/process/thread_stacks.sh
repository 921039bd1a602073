#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/thread_stacks.sh
# Stacks of the threads of a live process, as the library reads them: against a debugger's, and against what the
# program has been written to be in. test/unit/process/test_thread_stacks.c has the system calls that go on.
# promise: The calls that threads of a process are in are those that a debugger finds.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# read_stacks TIMES: $tmp/stacks
read_stacks() { timeout 60 "$bin/stacks" "$pid" "$1" > "$tmp/stacks" 2> "$tmp/said"; }

# By gdb: "TID LEVEL ADDR FRAME NAME", NAME of the program's own functions, else "-". What it infers from debug
# information has no frame of its own: what was inlined, and who jumped instead of calling.
debugger() {
	timeout 100 gdb -nx -batch -p "$pid" -ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' \
		-ex 'thread apply all frame apply all -q info frame' 2>&1 |
		awk '/^Thread / && match($0, /LWP [0-9]+/) { tid = substr($0, RSTART + 4, RLENGTH - 4); level = 0 }
			/^Stack level / { last = frame; frame = $6; sub(/:$/, "", frame) }
			/^ rip = / && frame != last { print tid, level++, $3, frame, /chains\.c:/ ? $5 : "-" }' > "$tmp/gdb"
}

# What differs; of the outermost a debugger has no frame. All names are in one module but a static program's.
compare() {
	awk 'NR == FNR { at[$1 " " $2] = $3 " " $4; name[$1 " " $2] = $5; if ($2 > top[$1]) top[$1] = $2; next }
		$1 == "thread" { tid = $2; if ($4 != "whole") print }
		$1 != "frame" { next }
		{ key = tid " " $2; seen++ }
		at[key] != $3 " " $4 && !($2 == top[tid] && index(at[key], $3 " ") == 1) { print tid, $0, "instead of", at[key] }
		name[key] != "-" && name[key] != $6 { print tid, $0, "instead of", name[key] }
		{ delete at[key] }
		END { for (key in at) print key, at[key], "is missing"; if (seen < 150) print seen + 0, "frames" }' "$tmp/gdb" "$tmp/stacks"
}

with_debugger() { # FORM
	start "$1" && read_stacks 2 && debugger || return
	is "$(compare)" "" && stop
}

# chain NAME...: is there a thread with exactly these functions of the program?
chain() {
	awk -v form="$1" -v want="${*:2}" '$1 == "thread" { if (got == want) found = 1; got = "" }
		$1 == "frame" && $6 ~ /^(sleeper|wide|changing|polls|conditional|order|sorts|handler|spins|interrupted|elsewhere|faults|faulting|run|reads|outer|main)$/ {
			got = got (got == "" ? "" : " ") $6 }
		END { exit !(found || got == want) }' "$tmp/stacks" && return
	echo "# no thread in $*"
	return 1
}

# The program itself says which; a handler changes in a tail call to what it does.
chains() { # FORM
	start "$1" && read_stacks 3 || return
	is "$(grep -c '^thread .* whole$' "$tmp/stacks")" 9 &&
		is "$(grep -c ' deep$' "$tmp/stacks")" 101 &&
		chain "$1" reads outer main && chain "$1" sleeper wide changing run && chain "$1" polls run &&
		chain "$1" conditional run && chain "$1" sleeper order sorts run &&
		chain "$1" sleeper wide changing spins interrupted run &&
		chain "$1" sleeper wide changing spins elsewhere run &&
		chain "$1" sleeper wide changing faults faulting run || return
	# nanosleep goes on as restart_syscall.
	is "$(awk '$1 == "thread" { print $3 }' "$tmp/stacks" | sort -n | uniq -c | awk '{ print $1 "x" $2 }' | xargs)" \
		"1x0 1x7 1x202 6x230" && stop
}

# The same calls have the same frames, and the program reads on.
same() {
	start chains && read_stacks 1 && cp "$tmp/stacks" "$tmp/first" && read_stacks 20 || return
	is "$(grep '^frame' "$tmp/stacks")" "$(grep '^frame' "$tmp/first")" || return
	echo >&"$to"
	wait "$pid"
	is $? 0
	stop
}

for form in chains chains-nopie chains-static; do
	check "$form: the chains that it is in" chains $form
	if command -v gdb > /dev/null; then
		check "$form: each frame is where a debugger finds it" with_debugger $form
	else
		count=$((count + 1))
		echo "ok $count $form: each frame is where a debugger finds it # SKIP no gdb"
	fi
done
check "calls that last keep their frames, and go on" same
finish
