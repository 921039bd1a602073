#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where in the kernel a program's time goes, from the outside in: its system calls by the time they
# take, then what the slowest one calls, and so on, as long as something takes a good part of it.
#
# usage: walk.sh NAME COMMAND...	NAME: of the program's threads; COMMAND is run for each step
#
# What a function calls is known from its code (kerninst calls); what it calls through pointers is
# seen when it does: which addresses are in the register that it calls.
set -u
name=$1
shift
command=("$@")
share=0.25 # of the step before: less is not followed
deep=10    # steps
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

stat() { kerninst stat -q --comm "$name" "$@" -- "${command[@]}" >"$tmp/said"; }

# measure FUNCTION...: lines SECONDS CALLS FUNCTION, the slowest first
measure() {
	stat --json -o "$tmp/json" -m walltime,calls "$@" || return
	sed -n 's/^{"metric":"\([a-z]*\)","point":"\([^"]*\)","value":\([^,}]*\).*/\1 \2 \3/p' "$tmp/json" |
		awk '$1 == "walltime" { time[$2] = $3 } $1 == "calls" { calls[$2] = $3 }
			END { for (f in calls) if (calls[f] > 0) printf "%.6f %d %s\n", time[f], calls[f], f }' |
		sort -rn
}

# The functions that are called through one of these: __x86_indirect_thunk_REGISTER.
seen_behind() {
	local register=${1##*_}
	[ "$register" != array ] || register=rax
	kerninst stat -q -n 0 --json -o "$tmp/by" --comm "$name" --by "to/code:\$$register" "$2:call/$1" \
		-- "${command[@]}" >"$tmp/said" 2>"$tmp/why" || return
	sed -n 's/.*"to":"\([^"+]*\)[^"]*".*/\1/p' "$tmp/by"
}

callees() {
	local thunk
	kerninst calls -q --json -d 1 "$1" |
		sed -n 's/^{"depth":1,"function":"\([^"]*\)","module":"\([^"]*\)".*"kind":"\(call\|tail\)".*/\2:\1/p' |
		sed 's/^kernel://'
	for thunk in $(kerninst disas "$1" | grep -o '__x86_indirect_thunk_[a-z0-9]*' | sort -u); do
		seen_behind "$thunk" "$1"
	done
}

# show LINES OF: the first three that matter
show() {
	awk -v of="$2" -v step="$3" 'NR <= 3 && (NR == 1 || $1 > of / 20) {
		printf "%*s%-*s %10.3f s %5.1f %% %8d calls\n", 2 * step, "", 44 - 2 * step, $3, $1, 100 * $1 / of, $2 }' "$1"
}

# The calls that it makes, without the time that each takes.
kerninst stat -q --json -o "$tmp/json" --comm "$name" '__x64_sys_*' -- "${command[@]}" >"$tmp/said" || exit
mapfile -t functions < <(sed -n 's/.*"point":"\([^"]*\)","value":\([0-9]*\).*/\2 \1/p' "$tmp/json" | awk '$1 > 20 { print $2 }')
of=
for ((step = 0; step < deep && ${#functions[@]}; step++)); do
	measure "${functions[@]}" >"$tmp/rows" || exit
	read -r seconds _ function <"$tmp/rows" || break
	[ -n "$of" ] || of=$(awk '{ s += $1 } END { print s }' "$tmp/rows")
	awk "BEGIN { exit !($seconds >= $share * $of) }" || break
	show "$tmp/rows" "$of" "$step"
	of=$seconds
	mapfile -t functions < <(callees "$function" | sort -u)
done
