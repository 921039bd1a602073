#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs of test/dlang/programs, each with all that it prints (NAME.out): the language part by part, as
# the reference of D says.
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
shopt -s nullglob

# prints PROGRAM: the standard output, then what is said besides how many probes there are; the CPU is any
prints() {
	local -a arguments
	eval "arguments=($(sed -n 's|^// arguments: ||p' "$1"))"
	timeout 60 "$kd" -s "$1" "${arguments[@]}" 2> /tmp/kd.err | sed -E 's/^ +[0-9]+( +[0-9]+ +:)/  0\1/'
	grep -v ' matched [0-9]* probe' /tmp/kd.err | sed -E 's/\(0x[0-9a-f]{6,}\)/(AN ADDRESS)/'
}

for program in "$top"/test/dlang/programs/*.d; do
	name=$(basename "$program" .d)
	prints "$program" > /tmp/kd.out
	ok "$name" diff "${program%.d}.out" /tmp/kd.out
done
ok "each has been tried" test $tests -ge 21
finish
