#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/run.sh [KERNINST]
# kerninst stat PID/POINT: what is counted in processes of all forms, by one thread and by several,
# against single steps; that the text is as it was, however it ends; what is refused.
# promise: Calls, blocks and instructions of a process are counted exactly without driver or
#   root. [ends.sh, started.sh]
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# counted FORM THREADS CALLS: calls of functions, exactly, and the text is as it was.
counted() {
	local form=$1 threads=$2 calls=$3 before want
	start "$form" "$threads" "$calls" || return
	before=$(text)
	want=$(round)
	stat "$pid/$form:step" "$pid/$form:leap" "$pid/$form:step:exit" || return
	is "$(text)" "$before" && is "$(cat "$tmp/sum")" "$want" &&
		is "$(of "$form:step")" $((threads * calls)) &&
		is "$(of "$form:step:exit")" $((threads * calls)) &&
		is "$(of "$form:leap")" $((threads * ((calls + 3) / 4))) && is "$(round)" "$want" && stop
}

for form in pie cet static nopie; do
	check "$form: calls of functions, one thread" counted $form 1 100000
	check "$form: calls of functions, four threads" counted $form 4 100000
done

# As the program knows it, in the C library: leap calls getppid for each eighth of its arguments.
in_library() {
	start pie 4 80000 || return
	local before
	before=$(text)
	stat "$pid/libc.so.6:getppid" && is "$(of libc.so.6:getppid)" $((4 * 20000 / 8)) &&
		is "$(text)" "$before" && stop
}
check "a function of the C library" in_library

# What would go in is shown, with its code, and what would not; the process is what it was.
dry() {
	local before
	start pie 2 50000 && before=$(text) || return
	"$ki" stat --dry-run --json --show-code "$pid/step" "$pid/leap:insns" > "$tmp/json" 2> "$tmp/said" || return
	is "$(jq -r 'select(.metric == "dry_run" and .point == "pie:step").reason' "$tmp/json")" OK &&
		[ "$(jq -r 'select(.metric == "dry_run" and .reason == "OK").point' "$tmp/json" | grep -c ^pie:leap)" -gt 9 ] &&
		[ "$(grep -c '"metric":"code".*lock inc' "$tmp/json")" -gt 10 ] &&
		grep -q "^kerninst: nothing is installed; it would be" "$tmp/said" &&
		! grep -q kerninst "/proc/$pid/maps" && is "$(text)" "$before" && stop || return
	"$ki" stat --dry-run command/libc.so.6:getppid -- touch "$tmp/ran" > "$tmp/out" 2> "$tmp/said" &&
		grep -q '^yes .*libc.so.6:getppid' "$tmp/out" && [ ! -e "$tmp/ran" ]
}
check "a dry run says what would go in, and changes nothing" dry

# The text is hashed before and after; what somebody else has changed meanwhile is named.
hashed() {
	local at
	start pie 2 50000 || return
	to=$to from=$from "$ki" stat -q --text-hash -o "$tmp/out" "$pid/step" "$pid/libc.so.6:getppid" -- bash -c round > /dev/null &&
		is "$(awk '/^text hash/ { print $4 }' "$tmp/out" | sort | uniq -c | awk '{ print $1, length($2) }')" "2 32" || return
	at=$("$ki" stat --dry-run -q --json "$pid/leap" | jq -r .address)
	# shellcheck disable=SC2016 # for the other shell
	"$ki" stat -q --text-hash "$pid/step" -- bash -c 'printf "\x90" | dd "of=/proc/$0/mem" bs=1 "seek=$(($1))" conv=notrunc' \
		"$pid" "$at" > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c '^kerninst: text hash: 1 of [0-9]* bytes differ, the first at pie:leap+0x0: 90' "$tmp/said")" "1 1"
	kill -9 "$pid" && stop
}
check "the text is hashed before and after" hashed

# nameless: the addresses of step and leap are those of the program with symbols.
nameless() {
	local addr
	addr=$(nm $bin/pie | awk '$3 == "step" { sub(/^0+/, "", $1); print $1 }')
	start stripped 2 50000 || return
	stat "$pid/stripped:sub_$addr" && is "$(of "stripped:sub_$addr")" 100000 && stop
}
check "a stripped program: functions by the table for exceptions" nameless

# stepped FORM POINTS...: all counts as single steps find them.
stepped() {
	local form=$1 points=() p
	shift
	start "$form" 0 3000 || return
	for p; do points+=("$pid/$p"); done
	stat "${points[@]}" || return
	awk -F, 'NR > 1 && $4 ~ /^0x/ { print $4 }' "$tmp/csv" | sort -u > "$tmp/addresses"
	stop
	awk -F, 'NR > 1 && $1 != "" { print $4, $1 }' "$tmp/csv" | sort -u > "$tmp/counted"
	echo | setarch -R $bin/oracle steps "$tmp/addresses" "$bin/$form" 0 3000 2> "$tmp/said" | sort > "$tmp/stepped" ||
		return
	is "$(sed -n 2p "$tmp/said")" "$(cat "$tmp/sum")" || return
	[ "$(wc -l < "$tmp/counted")" -ge 10 ] || { cat "$tmp/counted"; return 1; }
	join "$tmp/counted" "$tmp/stepped" | awk '$2 != $3 { print; bad = 1 } END { exit bad }'
}
for form in pie cet static nopie; do
	check "$form: all blocks and instructions as single steps find them" \
		stepped $form $form:leap:blocks $form:step:insns $form:leap:insns
done
check "the C library: all blocks as single steps find them" \
	stepped pie libc.so.6:getppid:insns pie:work:blocks pie:work:insns

finish
