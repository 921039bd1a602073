#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The examples of the library (examples/api) on live processes: what they tell of bash is what objdump
# finds in its file, what they count is what the program knows.
# promise: A3 (in part), A5, A9, A12 (in part), A16 (in part): The same programs see and
#   instrument processes, with the same lines.
# shellcheck disable=SC2016 # check evaluates
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
api=build/examples/api

bash -c 'while :; do cat /proc/self/comm > /dev/null; done' &
shell=$!
echo "$shell" >> "$tmp/started"
program=$(readlink -f "$(command -v bash)")
objdump -d --no-show-raw-insn "$program" > "$tmp/objdump"
until readlink "/proc/$shell/exe" | grep -qx "$program"; do sleep 0.05; done

# Functions of the program by that name: a call of bash is to NAME@@Base, as it exports all of them.
callers() {
	local wanted
	wanted=$(grep -cE "(call|jmp|j[a-z]+) .*<$1@@Base>\$" "$tmp/objdump")
	[ "$wanted" -gt 100 ] && is "$("$api/callers" "$shell" "$1" | wc -l)" "$wanted"
}
check "callers: as many as objdump sees" callers xmalloc

# NAME: the function's bytes, from the file
bytes() { objdump -d --disassemble="$1" "$program" | awk -F '\t' '/^ +[0-9a-f]+:/ { gsub(/ /, "", $2); printf "%s", $2 }'; }
disassembled() {
	"$api/disassemble" "$shell" "$1" > "$tmp/disassembled" || return
	local ours
	ours=$(awk '{ for (i = 2; i <= NF && $i ~ /^[0-9a-f][0-9a-f]$/; i++) printf "%s", $i }' "$tmp/disassembled")
	[ ${#ours} -gt 40 ] && is "${ours:0:40}" "$(bytes "$1" | cut -c1-40)" && ! grep -q '^\*' "$tmp/disassembled"
}
check "disassemble: the file's bytes, and nothing has been put in" disassembled execute_command

graphed() {
	"$api/graph" "$shell" execute_command > "$tmp/graph" && grep -q '^block 0 .*call:xmalloc' "$tmp/graph" &&
		is "$(grep -c '^block' "$tmp/graph")" "$("$ki" list -v "$shell/execute_command" | grep -oE '[0-9]+ blocks' | head -n1 | cut -d' ' -f1)"
}
check "graph: blocks, and whom they call" graphed

free() {
	"$api/registers" "$shell" execute_command > "$tmp/registers" &&
		is "$(grep -c . "$tmp/registers")" "$(grep -vcE '  (nop|int3)' "$tmp/disassembled")" &&
		head -n 1 "$tmp/registers" | grep -q 'free: .*flags'
}
check "registers: at each instruction, and at an entry the flags are free" free

modules() {
	"$api/modules" "$shell" > "$tmp/modules" && is "$(awk '{ print $1 }' "$tmp/modules")" \
		"$(awk '$2 ~ /x/ && $6 ~ /^\/|^\[vdso\]$/ { sub(/.*\//, "", $6); gsub(/[][]/, "", $6); print $6 }' "/proc/$shell/maps" | sort -u)"
}
check "modules: what is mapped executable, the vdso too" modules
check "modules: of a file, too" eval '"$api/modules" build/test/process/pie | grep -qE "^kernel +[0-9]+ functions"'

# What a round does while a program of the library's looks at it; then as before.
watched() { # EXAMPLE ARGUMENT...
	local unchanged
	unchanged=$(text)
	"$api/$1" "$pid" "${@:2}" > "$tmp/told" &
	local example=$!
	while [ "$(text)" = "$unchanged" ] && kill -0 "$example"; do sleep 0.02; done
	[ "$1" != sample ] || until [ -s "$tmp/told" ] || ! kill -0 "$example"; do sleep 0.02; done
	round > "$tmp/sum"
	wait "$example"
}
with_condition() {
	start pie 1 1000 && local before && before=$(text) || return
	watched predicate step 'arg0 < 0' && is "$(cat "$tmp/told")" 0 && is "$(text)" "$before" && stop
	start pie 1 1000 && watched predicate step 'arg0 >= 0' && is "$(cat "$tmp/told")" 1000 && stop
}
check_words "predicate: only while it holds" with_condition
sampled() {
	start pie 1 1000 && watched sample step 1000 4 &&
		is "$(awk '{ n += $2 } END { print n, NR }' "$tmp/told")" "1000 4" && stop
}
check "sample: what all intervals have is what was done" sampled

counted() {
	start pie 1 1000 || return
	local unchanged example
	unchanged=$(text)
	"$api/count" "$pid/pie:step" "$pid/pie:leap:exit" > "$tmp/told" &
	example=$!
	# both are in
	while [ "$(text)" = "$unchanged" ] && kill -0 "$example"; do sleep 0.02; done
	sleep 0.3
	round > "$tmp/sum"
	wait "$example" && is "$(awk '{ print $1, $2 }' "$tmp/told" | xargs)" "1000 pie:step 250 pie:leap:exit" && is "$(text)" "$unchanged" && stop
}
check "count: two functions of a process" counted
toggled() {
	start pie 2 20000000 || return
	local unchanged want
	unchanged=$(text)
	want=$(round)
	echo >&"$to"
	"$api/toggle" "$pid" pie:step 10 > "$tmp/told" && read -r -t 60 -u "$from" sum && is "$sum" "$want" &&
		awk '$1 > 1000 && $2 == "calls;" { n++ } END { exit n != 1 }' "$tmp/told" && is "$(text)" "$unchanged" && stop
}
check "toggle: in and out while it works" toggled
ways_taken() {
	start timed || return
	local unchanged
	unchanged=$(text)
	"$api/ways" "$pid" ways > "$tmp/told" &
	local example=$!
	while [ "$(text)" = "$unchanged" ] && kill -0 "$example"; do sleep 0.02; done
	echo ways 2 100 >&"$to"
	read -r -t 20 -u "$from" _
	wait "$example" && is "$(cut -d: -f1 "$tmp/told" | xargs)" "1600 1400 1200 1000 800 600 400 200" && stop
}
check_words "ways: each of eight" ways_taken

stands_for() {
	start replaced 1 100 || return
	local unchanged
	unchanged=$(text)
	"$api/replace" "$pid" second one two > "$tmp/told" &
	local example=$!
	while [ "$(text)" = "$unchanged" ] && kill -0 "$example"; do sleep 0.02; done
	is "$(round)" "1 4 1 1 0 wrong 0" && wait "$example" && is "$(text)" "$unchanged" && is "$(grep -c "^second+0x" "$tmp/told")" 2 && stop
}
check "replace: the calls of one caller" stands_for

refused() { # WORDS EXAMPLE ARGUMENT...
	local words=$1 example=$2
	shift 2
	! "$api/$example" "$@" > "$tmp/out" 2> "$tmp/err" && grep -q "^$example: .*$words" "$tmp/err" && is "$(grep -c . "$tmp/err")" 1
}
for example in disassemble registers graph callers; do
	check "$example: no such function" refused "no function 'nosuch'" $example "$shell" nosuch
done
check "predicate: an unknown name, with its column" refused "column 1: no name" predicate "$shell" execute_command 'nosuch > 1'
check "modules: no such process" refused "[Nn]o such process" modules 4194304
finish
