#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/languages.sh [KERNINST]
# Programs of other compilers and libraries: Go, Rust, musl, and one without any names. Each works, with
# all of its blocks covered while garbage is collected, stacks move and panics unwind; or it is said why not.
# promise: Programs of Go, Rust and musl work with a probe in each block, counted exactly.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
sources=$PWD/test/process/languages
target=$PWD/test/process/target.c
mkdir "$tmp/bin" && ln -s "$PWD/$bin/oracle" "$tmp/bin" && bin=$tmp/bin

# counts PROGRAM N POINT...: of a program that is started; its word in $tmp/sum, lines "POINT COUNT" in $tmp/counts
counts() {
	echo "$2" | "$ki" stat -q -x, -o "$tmp/csv" "${@:3}" -- "$bin/$1" > "$tmp/its" 2> "$tmp/said" || { cat "$tmp/said"; return 1; }
	sed -n '2p' "$tmp/its" > "$tmp/sum"
	awk -F, 'NR > 1 { print $3, $1 }' "$tmp/csv" | sort > "$tmp/counts"
}
# covered TIMES PROGRAM N: with a probe in each block, so often: its word is right each time
covered() {
	local i
	for ((i = 0; i < $1; i++)); do
		echo "$3" | "$ki" cover -q -o "$tmp/it.json" "command/$2:*" -- "$bin/$2" > "$tmp/its" 2> "$tmp/said" &&
			is "$(sed -n 2p "$tmp/its")" "$(echo "$3" | "$bin/$2" | tail -n 1)" || { head -c 3000 "$tmp/said"; return 1; }
	done
	local hit known touchable
	read -r hit known touchable < <(python3 -c '
import json, sys
t = json.load(open(sys.argv[1]))["totals"]
print(t["hit"], t["known"], t["blocks_touchable"])' "$tmp/it.json")
	echo "$hit hit, $known known, of $touchable"
	[ "$hit" -gt 300 ] && [ $((1000 * known)) -ge $((995 * touchable)) ]
}
# in_and_out TIMES PROGRAM N POINT...: while it works. Where a signal interrupts a thread in the middle of
# what would change, nothing has changed.
is_busy=$("$ki" explain PROCESS_BUSY | sed -n '2s,^ *,,p')
in_and_out() {
	local i times=$1 program=$2 n=$3 want busy=0
	shift 3
	want=$(echo "$n" | "$bin/$program" | tail -n 1)
	start "$program" || return
	before=$(text)
	for ((i = 0; i < times; i++)); do
		echo "$n" >&"$to"
		"$ki" stat -q "${@/#/$pid/}" -- sleep 0.0$i > "$tmp/out" 2> "$tmp/said" ||
			{ busy=$((busy + 1)) && grep -F "$is_busy" "$tmp/said"; } || { cat "$tmp/said"; return 1; }
		read -r -t 60 -u "$from" sum && is "$sum" "$want" && is "$(text | cut -d " " -f 1)" "${before% *}" || return
	done
	# How often a handler is interrupted inside is chance: some come in, and all leave the text as it was.
	[ $busy -le $((times - 3)) ] && stop
}

# ---- Go ----
go_build() { GOCACHE=$tmp/cache GOFLAGS=-mod=mod GO111MODULE=off HOME=$tmp go build "$@" "$sources/counted.go"; }
go_all() { go_build -o "$bin/go" && go_build -ldflags='-s -w' -o "$bin/gostripped" && go_build -buildmode=pie -o "$bin/gopie"; }
go_counts() { # PROGRAM
	local n=60 m=$1 deep
	deep=$(python3 -c "print(8 * sum(i * 37 % 500 + 1 for i in range($n)))")
	counts "$m" $n "command/$m":main.{sum,tree,deep,fail,work} "command/$m":main.{deep,fail}:exit &&
		is "$(cat "$tmp/sum")" "$(echo $n | "$bin/$m" | tail -n 1)" &&
		is "$(awk '{ printf "%s ", $2 }' "$tmp/counts")" "$deep $deep $((8 * n)) $((8 * n)) $((8 * n * 1023)) $((8 * n * 511)) 8 "
}
go_running() {
	start gostripped || return
	to=$to from=$from "$ki" stat -x, -o "$tmp/csv" "$pid"/gostripped:main.{fail,sum} "$pid/gostripped:main.*:blocks" -- \
		bash -c 'echo 40 >&"$to"; read -r -t 60 -u "$from" sum' 2> "$tmp/said" &&
		is "$(awk -F, '$3 ~ /main.(fail|sum)$/ { print $1 }' "$tmp/csv" | sort -u | xargs)" "320 327360" &&
		grep -q 'GO_RESUMED.*command/POINT' "$tmp/said" && stop
}
go_refused() {
	start gostripped || return
	"$ki" stat -m walltime "$pid/gostripped:main.fail" -- true > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c 'goroutines) move from one thread to another' "$tmp/said")" "1 1" || return
	"$ki" stat --if 'arg0 > 1' "$pid/gostripped:main.fail" -- true > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c 'ask for a register' "$tmp/said")" "1 1" || return
	"$ki" stat "$pid/gostripped:runtime.goexit+0x0" -- true > "$tmp/out" 2> "$tmp/said"
	grep -q "Go's scheduler may resume" "$tmp/said" && stop
}
go_condition() {
	counts go 60 --if '$rax >= 30' command/go:main.fail && is "$(awk '{ print $2 }' "$tmp/counts")" $((8 * 30))
}
# what NAME COMMAND...: where there is a compiler for it
compiler=
what() {
	if command -v "$compiler" > /dev/null; then
		check "$@"
	else
		count=$((count + 1))
		echo "ok $count $1 # SKIP no $compiler here"
	fi
}
compiler=go
what "Go: it is built" go_all
for form in go gostripped gopie; do
	what "$form: calls as the program knows them, stacks that grow included" go_counts $form
	what "$form: its blocks, while garbage is collected" covered 3 $form 60
done
what "Go: a condition on a register" go_condition
what "Go: one that runs: entries; what a goroutine might come back into is refused" go_running
what "Go: in and out while it works, ten times" in_and_out 10 gostripped 60 'gostripped:main.*' 'gostripped:main.*:blocks'
what "Go: what cannot be is said" go_refused

# ---- Rust ----
compiler=rustc
rust_counts() {
	counts rust 2000 command/rust:work command/rust:fall command/rust:fall:exit &&
		is "$(cat "$tmp/sum")" "$(echo 2000 | "$bin/rust" | tail -n 1)" &&
		is "$(cat "$tmp/counts")" "$(printf '%s\n' "rust:fall 8000" "rust:fall:exit 7200" "rust:work 8000")"
}
what "Rust: it is built" rustc -O -g -o "$bin/rust" "$sources/counted.rs"
what "Rust: calls, and those that are not left by a panic" rust_counts
what "Rust: its blocks, through which panics unwind" covered 3 rust 500

# ---- musl ----
compiler=musl-gcc
musl_all() {
	musl-gcc -O2 -g -static -pthread -o "$bin/muslstatic" "$target" && musl-gcc -O2 -g -pthread -o "$bin/musl" "$target"
}
musl_counts() { # PROGRAM
	echo | "$ki" stat -q -x, -o "$tmp/csv" "command/$1:step" "command/$1:leap" -- "$bin/$1" 4 20000 > "$tmp/its" &&
		is "$(echo | "$bin/$1" 4 20000)" "$(cat "$tmp/its")" &&
		is "$(awk -F, 'NR > 1 { print $3, $1 }' "$tmp/csv" | sort | xargs)" "$1:leap 20000 $1:step 80000"
}
what "musl: it is built" musl_all
what "musl, static: calls" musl_counts muslstatic
what "musl: calls" musl_counts musl

# ---- without any names ----
nameless() {
	printf '.globl _start\n_start: mov $34, %%eax\nsyscall\nmov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' |
		gcc -nostdlib -static -Wl,--build-id=none -x assembler - -o "$bin/nameless" && strip "$bin/nameless" || return
	"$bin/nameless" > "$tmp/its" 2>&1 &
	pid=$!
	echo "$pid" >> "$tmp/started"
	until grep -q nameless "/proc/$pid/comm"; do sleep 0.05; done
	"$ki" list "$pid/*" > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c "^kerninst: process $pid: its files say nothing of functions" "$tmp/said")" "1 1"
}
check "a program without any names" nameless
finish
