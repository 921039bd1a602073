#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the unit tests of one build: all, or those named.
#
# usage: test/unit/run.sh VARIANT [NAME...]	release, asan, tsan: build/VARIANT/test/unit/test_NAME
#
# A test that ends without having said what failed, as one does that a sanitizer stops, is a
# failure with its name, and its last words behind it.
set -u
cd "$(dirname "$0")/../.." || exit 1
shopt -s nullglob extglob
out=$(mktemp) status=0
trap 'rm -f "$out"' EXIT

dir=build/$1/test/unit
shift
tests=("$dir"/test_!(*.o|*.d))
[ $# = 0 ] || tests=("${@/#/$dir/test_}")
[ ${#tests[@]} != 0 ] || { echo "no tests in $dir: make check-build" >&2; exit 1; }
for t in "${tests[@]}"; do
	CMOCKA_MESSAGE_OUTPUT=TAP "$t" > "$out" 2>&1
	ended=$?
	cat "$out"
	[ $ended != 0 ] || continue
	status=1
	grep -qE '^not ok [0-9]+' "$out" && continue
	echo "not ok 1 - ${t##*/} ended with $ended"
	grep -vE '^(ok|1\.\.)' "$out" | tail -n 10 | sed 's/^/  /'
done
exit $status
