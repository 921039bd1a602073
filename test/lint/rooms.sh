#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each folder of sources has a README of at most 15 lines, which says what is not there and names
# the file to begin with. Tests of a folder are in the folder of its name under test/unit, which one
# README tells. The five examples that a reader starts with have at most 60 lines.
cd "$(dirname "$0")/../.." || exit 1
failed=0
fail() {
	echo "lint: $*"
	failed=1
}

mapfile -t rooms < <(git ls-files kmod lib tools test | grep -E '\.([chS]|sh|py)$' | xargs -n 1 dirname | sort -u)
for room in "${rooms[@]}"; do
	case $room in
	test/unit/common | test/unit/shim/* | */prog | test/process/languages | test) continue ;;
	test/unit | test/unit/kmod) ;;
	test/unit/*) [ -d "lib/${room#test/unit/}" ] || fail "$room: lib/ has no folder of that name" ;;
	esac
	[[ $room == test/unit/* ]] && continue
	readme=$room/README.md
	[ -f "$readme" ] || {
		fail "$room has no README.md: what lives there, what does not, where to begin"
		continue
	}
	lines=$(wc -l < "$readme")
	[ "$lines" -le 15 ] || fail "$readme has $lines lines, more than 15"
	grep -q 'Not here: ' "$readme" || fail "$readme does not say what is not there ('Not here: ...')"
	# shellcheck disable=SC2016 # marks of the README
	first=$(tr '\n' ' ' < "$readme" | sed -n 's/.*Begin with [^`]*`\([^`]*\)`.*/\1/p')
	[ -e "$room/$first" ] || [ -e "$first" ] || [ -e "include/$first" ] || [[ $first == make* ]] ||
		fail "$readme begins with '$first', which is not there"
	[ -n "$first" ] || fail "$readme does not say where to begin"
done

for example in count time coverage record replace; do
	lines=$(wc -l < "examples/api/$example.c")
	[ "$lines" -le 60 ] || fail "examples/api/$example.c has $lines lines, more than 60"
done

# Engines are in the library: the tool is at most a third of what it was before they went there, but
# for verbs that have come since.
lines=$(git ls-files tools/kerninst | grep -E '\.[ch]$' | grep -v verbs/crosswalk.c | xargs cat | wc -l)
[ "$lines" -le 7567 ] || fail "tools/kerninst has $lines lines, more than 7567"

words=$(grep -c '^| [a-z]' doc/glossary.md)
[ "$words" -le 41 ] || fail "doc/glossary.md has $((words - 1)) words, more than 40"
exit $failed
