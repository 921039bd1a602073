#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/suites.sh [all]
# Test suites that come with others' programs, with a probe in each block of the interpreter and the C library, or of
# the whole program: each of their tests ends as it does without. Python's, and those of packages of Go's, which run
# on many threads.
# promise: Test suites of Python and Go end as they do without a probe in each block.
# shellcheck disable=SC2015,SC2016,SC2317 # who fails says so; for other shells; the second results()
set -u
cd "$(dirname "$0")/../.." || exit 1
which=${1:-}
shift $#
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
# shellcheck source=test/process/suites_lib.sh
. test/process/suites_lib.sh
ends() { without "$@" && covered "$@" && same 20; } # COMMAND...: it says of each test the same, with and without

export PYTHONDONTWRITEBYTECODE=1
python=$(python3 -c 'import sys; print(sys.executable)' 2> /dev/null)
# What it is linked with has its code, or it has it itself.
interpreter=$(ldd "$python" 2> /dev/null | grep -o 'libpython[^ ]*' | head -n 1)
results() { grep -E ' \.\.\. |^Ran|^OK' "$1" | sed 's/ in [0-9.]*s$//' | sort; }
modules=("test_json test_struct test_queue" test_re)
[ "$which" ] && modules+=(test_dict test_thread test_set test_list test_heapq test_zlib test_hashlib test_sort test_exceptions
	test_generators test_decimal test_unicode test_bytes test_long test_float test_itertools test_functools test_copy)
points=("command/${interpreter:-$(basename "$(readlink -f "$python")")}:*" 'command/libc.so.6:*')
for m in "${modules[@]}"; do
	read -ra several <<< "$m"
	if "$python" -c 'import importlib, sys
for m in sys.argv[1:]: importlib.import_module(m)' "${several[@]/#/test.}" 2> /dev/null; then
		checks "Python's $m, with each block of it and of the C library" ends "$python" -m unittest -v "${several[@]/#/test.}"
	else
		skip "Python's $m" "it is not installed"
	fi
done

results() { grep -E '^ *--- |^PASS' "$1" | sed 's/ ([0-9.]*s)$//' | sort; }
packages=(sync sort)
[ "$which" ] && packages+=(strconv bytes strings math/big sync/atomic context)
goes() { # PACKAGE
	local program=$tmp/go.${1//\//.}
	GOCACHE=$tmp/cache GOFLAGS=-mod=mod HOME=$tmp go test -vet=off -c -o "$program" "$1" > "$tmp/said" 2>&1 || { cat "$tmp/said"; return 1; }
	points=("command/${program##*/}:*")
	cd "$root/src/$1" && ends "$program" -test.v -test.short
}
root=$(go env GOROOT 2> /dev/null)
for p in "${packages[@]}"; do
	if [ "$(find "${root:-/nonexistent}/src/$p/" -name '*_test.go' 2> /dev/null | head -n 1)" ]; then
		checks "Go's $p, with each block of the program" goes "$p"
	else
		skip "Go's $p" "there is no Go with its tests here"
	fi
done
finish
