#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where in the kernel a program's time goes, from the outside in: its system calls by the time they
# take, then what the slowest one calls, and so on, as long as one call takes a good part of it.
#
# usage: walk.sh NAME COMMAND...	NAME: of the program's threads; COMMAND is run for each step
#
# A step measures a function and each of its calls, in one run: so what is said of a call is its share
# of just these times, and what others do with the same callee is not in it. Where a call goes through
# a pointer is seen when it does: which addresses are in its register, and how long each takes.
set -u
name=$1
shift
command=("$@")
share=0.25 # of the function: less is not followed
deep=12    # steps
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

stat() { kerninst stat -q --comm "$name" --json "$@" -- "${command[@]}" >"$tmp/said"; }

# names FILE: its first column, an address as 0xADDRESS, becomes [MODULE:]FUNCTION
names() {
	sed -n 's/^0x\([0-9a-f]*\) .*/\1 /p' "$1" | grep -F -f - "$tmp/symbols" | awk '
		FNR == NR { sub(/^\[/, "", $4); sub(/\]$/, "", $4); name["0x" $1] = ($4 ? $4 ":" : "") $3; next }
		$1 in name { $1 = name[$1] } { print }' - "$1"
}

# Rows of a measurement: TO SECONDS CALLS POINT; TO: where a direct call leads to, or the point.
rows() {
	sed -n 's/^{"metric":"\([a-z]*\)","point":"\([^"]*\)","value":\([^,}]*\)\(.*\)/\1 \2 \3 \4/p' "$1" |
		awk '{ to[$2] = match($0, /"to":"[^"]*"/) ? substr($0, RSTART + 6, RLENGTH - 7) : $2 }
			$1 == "walltime" { time[$2] = $3 } $1 == "calls" || $1 == "count" { calls[$2] = $3 }
			END { for (p in to) if (calls[p] > 0) printf "%s %.6f %d %s\n", to[p], time[p], calls[p], p }'
}

# pointers FUNCTION: its calls through registers, REGISTER POINT; such go through a thunk for each
# register, and that of rax is the first of an array
pointers() {
	sed -n 's/.* \(+0x[0-9a-f]*\) .*call __x86_indirect_thunk_\([a-z0-9]*\).*/\2 \1/p' "$tmp/code" |
		sed 's/^array/rax/' | awk -v f="$1" '{ print $1, f $2 }'
}

# Has it any call, or jump to another function?
calls() { grep -v ' __x86_' "$tmp/code" | grep -qE ' (call|jmp) +[^+]'; }

# leads POINT: where a call through a pointer led to, by the time that took: TO SECONDS CALLS
leads() {
	local register
	register=$(awk -v p="$1" '$2 == p { print $1 }' "$tmp/pointers")
	stat -n 0 -o "$tmp/by" --by "to/hex:\$$register" --agg sum:walltime "$1" || return
	sed -n 's/.*"to":"\(0x[0-9a-f]*\)".*/\1 &/p' "$tmp/by" |
		awk '{ match($0, /"sum\(walltime\)":[^,}]*/); s = substr($0, RSTART + 16, RLENGTH - 16)
			match($0, /"count":[^,}]*/); print $1, s, substr($0, RSTART + 8, RLENGTH - 8) }' >"$tmp/to"
	names "$tmp/to" | sort -k 2,2gr
}

# step FUNCTION: $tmp/rows gets its calls by the time they took, of several to one function the sum:
# NAME SECONDS CALLS; $of its own seconds
step() {
	local points
	kerninst disas "$1" >"$tmp/code" || exit
	pointers "$1" >"$tmp/pointers"
	mapfile -t points < <(awk '{ print $2 }' "$tmp/pointers")
	! calls || points+=("$1:call/*")
	((${#points[@]})) || return
	stat -o "$tmp/json" -m walltime,calls "$1" "${points[@]}" || exit
	rows "$tmp/json" >"$tmp/all"
	of=$(awk -v f="$1" '$4 == f { print $2 }' "$tmp/all")
	awk -v f="$1" '$4 != f { time[$1] += $2; calls[$1] += $3 } END { for (to in calls) print to, time[to], calls[to] }' \
		"$tmp/all" >"$tmp/to"
	names "$tmp/to" | sort -k 2,2gr >"$tmp/rows"
}

# follow: the slowest call, if it goes through a pointer, becomes what it leads to
follow() {
	local to
	read -r to _ <"$tmp/rows"
	grep -qF " $to" "$tmp/pointers" || return
	to=$(leads "$to" | awk 'NR == 1 { print $1 }')
	[ -z "$to" ] || sed -i "1s/^[^ ]*/$to/" "$tmp/rows"
}

# show OF DEPTH: the first three that matter
show() {
	awk -v of="$1" -v step="$2" 'NR <= 3 && (NR == 1 || $2 > of / 20) {
		printf "%*s%-*s %10.3f s %5.1f %% %8d calls\n", 2 * step, "", 44 - 2 * step, $1, $2, 100 * $2 / of, $3 }' "$tmp/rows"
}

grep ' [tTwW] ' /proc/kallsyms >"$tmp/symbols" || exit
# The calls that it makes, without the time that each takes.
stat -o "$tmp/json" '__x64_sys_*' || exit
mapfile -t functions < <(sed -n 's/.*"point":"\([^"]*\)","value":\([0-9]*\).*/\2 \1/p' "$tmp/json" | awk '$1 > 20 { print $2 }')
# Of three runs the middle one, of each: now and then one call waits for what the disk does besides.
for _ in 1 2 3; do
	stat -o "$tmp/json" -m walltime,calls "${functions[@]}" || exit
	rows "$tmp/json"
done >"$tmp/all"
sort -k 1,1 -k 2,2g "$tmp/all" | awk 'NR % 3 == 2' | sort -k 2,2gr >"$tmp/rows"
of=$(awk '{ s += $2 } END { print s }' "$tmp/rows")
for ((depth = 0; depth < deep; depth++)); do
	show "$of" "$depth"
	read -r function seconds _ <"$tmp/rows" || break
	awk "BEGIN { exit !($seconds >= $share * $of) }" || break
	: >"$tmp/rows"
	step "$function"
	[ -s "$tmp/rows" ] || break
	follow
done
