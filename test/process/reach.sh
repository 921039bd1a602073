#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/reach.sh [LAYOUTS]
# How the instructions of programs can be reached, in so many layouts of the address space each: at least 99.8 %
# of those that are not reserved by a jump or a bounce, the others by a breakpoint, and there is room for patches of
# all of them. Programs that are not installed are looked for below $KI_PROGRAMS, where their packages are unpacked.
# promise: At least 99.8 % of displaceable instructions in processes take a jump or bounce.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
layouts=${1:-100}
shift $#
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
sources=$PWD/test/process/languages
programs=${KI_PROGRAMS:-/nonexistent}
libraries=$programs/usr/lib/x86_64-linux-gnu

number() { awk -v n="$1" '$1 == n { print $2 }' "$tmp/reach"; }
# reached NAME MODULE COMMAND...
reached() {
	LD_LIBRARY_PATH=$libraries "$bin/reach" -v "$2" "$layouts" "${@:3}" > "$tmp/reach" || return
	local jump bounce trap
	jump=$(number jump) bounce=$(number bounce) trap=$(number trap)
	awk -v n="$1" -v j="$jump" -v b="$bounce" -v t="$trap" -v r="$(number reserved)" -v u="$(number unknown)" -v s="$(number seconds)" \
		'BEGIN { printf "# %-10s %8d insns  %7.3f %% jump or bounce (%d and %d)  %4d breakpoint  %5d reserved  %5d unknown  %.2f s\n",
			n, j + b + t + r + u, 100 * (j + b) / (j + b + t), j, b, t, r, u, s }' >> "$tmp/table"
	is "$(number layouts) $(number room)" "$layouts $layouts" && [ $((1000 * (jump + bounce))) -ge $((998 * (jump + bounce + trap))) ] ||
		{ cat "$tmp/reach"; return 1; }
}
# program NAME WHY MODULE COMMAND...: where there is such a one
program() {
	if command -v "$4" > /dev/null; then
		check "$1: 99.8 % by a jump or bounce, with room in $layouts layouts" reached "$1" "${@:3}"
	else
		count=$((count + 1))
		echo "ok $count $1 # SKIP no $2 here"
	fi
}
# either NAME: installed, or unpacked
either() { command -v "$1" || echo "$programs/usr/sbin/$1"; }
built() { "$@" > "$tmp/said" 2>&1 || rm -f "${out:?}"; }

GOCACHE=$tmp/cache GO111MODULE=off HOME=$tmp out=$tmp/go built go build -o "$tmp/go" "$sources/counted.go"
out=$tmp/rust built rustc -O -g -o "$tmp/rust" "$sources/counted.rs"
out=$tmp/musl built musl-gcc -O2 -g -static -pthread -o "$tmp/musl" test/process/target.c
program bash bash bash bash -c true
program libc bash libc.so.6 bash -c true
program Go go go "$tmp/go"
program Rust rustc rust "$tmp/rust"
program musl musl-gcc musl "$tmp/musl"
program mariadbd mariadbd mariadbd "$(either mariadbd)" --version
program squid squid squid "$(either squid)" -v

# A program at a low address, with more patches than fit below it: those that reach it are above its heap.
high() {
	echo 2 | "$ki" stat -q -x, -o "$tmp/csv" 'command/go:*:insns' -- "$tmp/go" > "$tmp/its" 2> "$tmp/said" || { cat "$tmp/said"; return 1; }
	is "$(sed -n 2p "$tmp/its")" "$(echo 2 | "$tmp/go" | sed -n 2p)" && [ "$(wc -l < "$tmp/csv")" -gt 100000 ]
}
if [ -x "$tmp/go" ]; then check "Go: all of its instructions counted at once" high; fi
cat "$tmp/table"
finish
