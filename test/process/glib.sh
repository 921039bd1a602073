#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/glib.sh [all | TEST...]
# GLib's own tests, as Debian's package has them ready: with a probe in each block of the test's program, of GLib's
# libraries and of the C library each test says what it says without. Those of threads: mutexes, conditions, pools,
# queues, locks of bits, references that are counted by several threads, main loops, children; all: each one there is.
# A test that fails without a probe is named, and left out.
# promise: GLib's tests of threads end as they do without a probe in each block of it and of the C library.
# shellcheck disable=SC2015 # who fails says so
set -u
cd "$(dirname "$0")/../.." || exit 1
wanted=("$@")
shift $#
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
# shellcheck source=test/process/suites_lib.sh
. test/process/suites_lib.sh
fetched glib-tests
tree=$(realpath "$cache/glib-tests")/usr
tests=$tree/libexec/installed-tests/glib
export LD_LIBRARY_PATH=$tree/lib/x86_64-linux-gnu G_TEST_SRCDIR=$tests G_TEST_BUILDDIR=$tests HOME=$tmp/home LC_ALL=C.UTF-8
unset DISPLAY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
case ${wanted[*]} in
'') wanted=(1bit-mutex asyncqueue atomic bitlock closure-refcount cond gsubprocess mainloop mutex objects-refcount1 once
	onceinit private properties-refcount2 rec-mutex rwlock signals-refcount1 slice-color slice-concurrent
	spawn-multithreaded thread thread-pool timeout unix) ;;
all) mapfile -t wanted < <(cd "$tree/share/installed-tests/glib" && printf '%s\n' *.test | sed 's/\.test$//') ;;
esac

results() { grep -aE '^ *(not )?ok ' "$1" | sort; }
least_hit=100 limit=300
# afresh: each run in a folder of its own
afresh() { rm -rf "$tmp/work" "$HOME" && mkdir "$tmp/work" "$HOME" && cd "$tmp/work" || return; }
# libraries TEST: GLib's that it is linked with, as files are named
libraries() { ldd "$tests/$1" | awk -v tree="$tree" 'index($3, tree) { print $3 }' | xargs -r realpath | xargs -r -n 1 basename; }
probed() { # TEST
	local l
	points=("command/$1:*" 'command/libc.so.6:*')
	for l in $(libraries "$1"); do points+=("command/$l:*"); done
	afresh && covered "$tests/$1" --tap && same 0
}
if ldd "$tests/thread" | grep -q 'not found'; then
	skip "GLib's tests" "libraries are missing here: $(ldd "$tests/thread" | sed -n 's/ => not found//p' | xargs)"
	finish
	exit
fi
for t in "${wanted[@]}"; do
	# What is a script is a test of other programs.
	[ "$(head -c 4 "$tests/$t" | tail -c 3)" = ELF ] || continue
	if afresh && without "$tests/$t" --tap > "$tmp/said"; then
		checks "GLib's $t with a probe in each block" probed "$t"
	else
		skip "GLib's $t" "it ends with $(cat "$tmp/status") without a probe"
	fi
done
finish
