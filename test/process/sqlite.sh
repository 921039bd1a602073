#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/sqlite.sh [all]
# SQLite's own test suite, of its source: the library and the program that tests it are built here with nothing added,
# and run with a probe in each block. Of each test it says what it says without; or a part of it (all: what SQLite
# calls "veryquick", 255,000 tests). Then all of that is put in and taken out, again and again, while the suite runs.
# promise: SQLite's test suite ends as it does without a probe in each block.
# shellcheck disable=SC2015 # who fails says so
set -u
cd "$(dirname "$0")/../.." || exit 1
which=${1:-}
shift $#
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
# shellcheck source=test/process/suites_lib.sh
. test/process/suites_lib.sh
fetched sqlite-tests
if ! source=$(realpath -e "$cache/sqlite-tests") || ! command -v tclsh > /dev/null || [ ! -e /usr/include/tcl/tcl.h ]; then
	skip "SQLite's tests" "there is no Tcl with its headers here (tcl-dev)"
	finish
	exit
fi

# They are built where the next run finds them.
work=$PWD/build/test/${source##*/}
fixture=$work/testfixture
built() {
	mkdir -p "$work" && cd "$work" || return
	[ -e Makefile ] || "$source/configure" --disable-readline --disable-shared CFLAGS='-O2 -g' > "$work/log" 2>&1 ||
		{ tail -n 5 "$work/log"; rm -f Makefile; return 1; }
	make testfixture >> "$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
}
check "SQLite and the program that tests it are built" built

results() { grep -aE '\.\.\. ?Ok$|^! |errors out of|^Warning' "$1" | sed 's/^\.*//' | sort; }
points=('command/testfixture:*')
files=('thread00[45].test' 'thread[12].test' 'select[1-8].test' 'join[1-8]%' 'trans%' 'btree0%' 'fts5a%')
least=5000
[ -z "$which" ] || files=() least=250000
# afresh: each run in a folder of its own with the same name, whose length some tests have in theirs
afresh() { rm -rf "$tmp/work" && mkdir "$tmp/work" && cd "$tmp/work" || return; }
suite=("$fixture" "$source/test/permutations.test" veryquick "${files[@]}")
plain() { afresh && without "${suite[@]}" && grep -a '^0 errors out of' "$tmp/without"; }
probed() { afresh && covered "${suite[@]}" && same $least; }
check "its tests without a probe" plain
checks "its tests with a probe in each block" probed

# Where a thread does not stop in time, or waits for a child of vfork, nothing has changed.
is_stuck=$("$ki" explain PROCESS_STUCK | sed -n '2s,^ *,,p')
is_busy=$("$ki" explain PROCESS_BUSY | sed -n '2s,^ *,,p')
in_and_out() {
	local n=0 not=0 before
	afresh || return
	"${poorly[@]}" "${suite[@]}" > "$tmp/with" 2>&1 &
	pid=$!
	echo "$pid" >> "$tmp/started"
	until grep -qaF 'Ok' "$tmp/with"; do sleep 0.1; done
	before=$("$bin/oracle" text "$pid")
	while kill -0 "$pid" 2> /dev/null; do
		if "$ki" cover -q -o "$tmp/it.json" "$pid/testfixture:*" -- sleep 0.$((n % 10)) > "$tmp/out" 2> "$tmp/said"; then
			n=$((n + 1)) && [ "$(totals hit)" -gt 0 ] || return
		else
			grep -qF -e "$is_stuck" -e "$is_busy" "$tmp/said" || ! kill -0 "$pid" 2> /dev/null || { cat "$tmp/said"; return 1; }
			not=$((not + 1))
		fi
		text=$("$bin/oracle" text "$pid" 2> /dev/null) || break
		is "${text% *}" "${before% *}" || return
	done
	wait "$pid" || { tail -n 5 "$tmp/with"; return 1; }
	echo "in and out $n times, refused $not times" >> "$tmp/figures"
	results "$tmp/with" | diff "$tmp/results.without" - && [ $n -ge 10 ] && [ $not -lt $n ]
}
checks "all of that put in and taken out while they run" in_and_out
finish
