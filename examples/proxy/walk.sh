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

# qualified NAME: with its module, if it is in one
qualified() {
	awk -v name="$1" '$3 == name { sub(/^\[/, "", $4); sub(/\]$/, "", $4); print ($4 ? $4 ":" : "") name; exit }' /proc/kallsyms
}

# seen FUNCTION REGISTER OFFSET...: what it calls there by the address in the register
seen() {
	local function=$1 register=$2 to
	shift 2
	stat -n 0 --json -o "$tmp/by" --by "to/code:\$$register" "${@/#/$function}" 2>"$tmp/why" || return
	sed -n 's/.*"to":"\([^"+]*\)".*/\1/p' "$tmp/by" | while read -r to; do qualified "$to"; done
}

callees() {
	local register offsets
	kerninst calls -q --json -d 1 "$1" |
		sed -n 's/^{"depth":1,"function":"\([^"]*\)","module":"\([^"]*\)".*"kind":"\(call\|tail\)".*/\2:\1/p' |
		sed 's/^kernel://'
	# Such calls go through a thunk for each register; that of rax is the first of an array.
	kerninst disas "$1" | sed -n 's/.* \(+0x[0-9a-f]*\) .*call __x86_indirect_thunk_\([a-z0-9]*\).*/\2 \1/p' |
		sed 's/^array/rax/' | awk '{ at[$1] = at[$1] " " $2 } END { for (r in at) print r at[r] }' |
		while read -r register offsets; do
			# shellcheck disable=SC2086 # several
			seen "$1" "$register" $offsets </dev/null
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
	show "$tmp/rows" "$of" "$step"
	awk "BEGIN { exit !($seconds >= $share * $of) }" || break
	of=$seconds
	mapfile -t functions < <(callees "$function" | sort -u)
done
