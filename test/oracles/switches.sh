#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where the jumps by tables lead, against the tables that the compiler wrote: prog/switches.c is
# compiled to assembly, whose labels then are kept in the symbol table of the linked file.
# For each function: if it is parsed, its targets are exactly those of the tables that its
# assembly names; it has no indirect tail call, but for functions tail_*, which have one.
#
# usage: test/oracles/switches.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
[ -x build/release/test/oracles-bin ] || { echo "not ok 1 switches: make test-oracles first"; exit 1; }
failed=0 number=0

# "NAME LABEL" for each entry of each table that a function names.
tables_of() {
	awk '
	/^[A-Za-z_][A-Za-z0-9_.]*:/ || /^\.L[A-Za-z0-9_$.]*:/ { label = substr($1, 1, index($1, ":") - 1) }
	$1 == ".type" { split($2, t, ","); if (($2 $3) ~ /[@%]function/) is_function[t[1]] = 1 }
	/^[A-Za-z_][A-Za-z0-9_.]*:/ && is_function[label] { f = label }
	$1 == ".quad" || $1 == ".long" { if ($2 ~ /^\.L/) { entry = $2; sub(/[-+].*/, "", entry); entries[label] = entries[label] " " entry } ; next }
	$1 == ".size" { f = "" }
	/^\t[a-z]/ && f { line = $0
		while (match(line, /\.?[A-Za-z_][A-Za-z0-9_.$]*/)) {
			uses[f] = uses[f] " " substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH) } }
	END { for (f in uses) { n = split(uses[f], u, " ")
		for (i = 1; i <= n; i++) { m = split(entries[u[i]], e, " ")
			for (k = 1; k <= m; k++) print f, e[k] } } }' "$1" | sort -u
}

# Tables whose bound cannot be seen are read as far as there is something that may be an entry; so
# some have too many, which are counted. Without optimization the bound is never seen.
compare() {
	local unbounded=0
	case " $* " in *" -O0 "*) unbounded=1 ;; esac
	awk '
	FILENAME ~ /nm$/ { addr[$3] = $1; sub(/^0+/, "", addr[$3]); next }
	FILENAME ~ /want$/ { sub(/\.cold$/, "", $1); want[$1, addr[$2]] = 1; tables[$1]++; next }
	$1 == "function" { state[$2] = $3; next }
	$1 == "table" { sub(/\.cold$/, "", $2); got[$2, $3] = 1; next }
	$1 == "tail" { tails[$2]++ }
	END {
		for (k in want) { split(k, p, SUBSEP); if (state[p[1]] == "parsed" && !got[k]) { print "# " p[1] ": " p[2] " is missing"; bad++ } }
		for (k in got) { split(k, p, SUBSEP); if (!want[k]) { more++
			if (!unbounded && p[1] !~ /^(unreachable|interpreter|shifted|labels|label_offsets|half_bytes)$/) { print "# " p[1] ": " p[2] " is in no table"; bad++ } } }
		for (f in state) {
			if (state[f] != "parsed") { unparsed++; print "# " f ": " state[f]; if (!tables[f]) bad++ }
			else if (tails[f] && f !~ /^(tail_|__x86)/) { print "# " f ": taken for a tail call"; bad++ }
			if (!unbounded && f ~ /^tail_(array|checked|pointer)$/ && (state[f] != "parsed" || !tails[f])) { print "# " f ": no tail call"; bad++ }
			found += tables[f] > 0 && state[f] == "parsed" }
		for (k in got) n++
		printf "# %d functions with tables are parsed, %d are not; %d targets, %d too many\n", found, unparsed, n, more
		exit bad > 0 || found + unparsed < 25 || (!unbounded && unparsed > 2) }' unbounded=$unbounded "$tmp/nm" "$tmp/want" "$tmp/got"
}

try() { # COMPILER OPTION...
	local cc=$1 link=-no-pie
	shift
	number=$((number + 1))
	case " $* " in *" -fPIE "*) link=-pie ;; esac
	case $cc in clang) set -- "$@" -fno-addrsig ;; esac
	if ! $cc -std=gnu11 -fno-asynchronous-unwind-tables "$@" -S -o "$tmp/s.s" test/oracles/prog/switches.c ||
		! as --keep-locals -o "$tmp/s.o" "$tmp/s.s" ||
		! gcc -nostdlib $link -Wl,-e,0 -Wl,--discard-none -o "$tmp/s" "$tmp/s.o" "$tmp/thunks.o" 2> "$tmp/ld"; then
		echo "not ok $number switches: $cc $*: cannot be compiled"
		sed 's/^/# /' "$tmp/ld"
		failed=1
		return
	fi
	tables_of "$tmp/s.s" > "$tmp/want"
	nm "$tmp/s" > "$tmp/nm"
	if build/release/test/oracles-bin -t "$tmp/s" > "$tmp/got" && compare "$@" > "$tmp/verdict"; then
		echo "ok $number switches: $cc $*"
		tail -n 1 "$tmp/verdict"
	else
		echo "not ok $number switches: $cc $*"
		cat "$tmp/verdict"
		failed=1
	fi
}

# Stand-ins of the kernel's retpolines, so that the file can be linked.
for r in {,nt_}{rax,rcx,rdx,rbx,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,r14,r15}; do
	printf '.globl __x86_indirect_thunk_%s\n.type __x86_indirect_thunk_%s, @function\n' "$r" "$r"
	printf '__x86_indirect_thunk_%s: jmp *%%%s\n.size __x86_indirect_thunk_%s, . - __x86_indirect_thunk_%s\n.p2align 5\n' "$r" "${r#nt_}" "$r" "$r"
done > "$tmp/thunks.s"
echo '.section .note.GNU-stack' >> "$tmp/thunks.s"
gcc -c -o "$tmp/thunks.o" "$tmp/thunks.s" || exit 1

compilers=gcc
command -v clang > /dev/null && compilers="gcc clang"
for cc in $compilers; do
	for o in -O0 -O2 -Os; do
		try "$cc" $o -fno-pie
		try "$cc" $o -fPIE
		try "$cc" $o -fPIE -fcf-protection=full
		try "$cc" $o -fno-pie -mcmodel=kernel
		try "$cc" $o -fno-pie -mcmodel=large
	done
done
for o in -O0 -O2 -Os; do
	try gcc $o -fno-pie -mcmodel=kernel -mindirect-branch=thunk-extern -fcf-protection=branch -fjump-tables
	try gcc $o -fPIE -mindirect-branch=thunk-extern -fjump-tables
done
exit $failed
