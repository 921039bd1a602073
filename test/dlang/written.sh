#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Probes that are written into programs: the header of kdtrace -h compiles as C and C++, however
# that is asked for, and the notes in what is linked are those of written.d.
#
# usage: test/dlang/written.sh KDTRACE
cd "$(dirname "$0")" || exit 1
kd=$(readlink -f ../../"$1")
work=$(mktemp -d) || exit 1
trap 'rm -r "$work"' EXIT
n=0 failures=0
ok() { # NAME STATUS
	n=$((n + 1))
	[ "$2" = 0 ] && echo "ok $n $1" && return
	echo "not ok $n $1"
	failures=$((failures + 1))
}
is() {
	[ "$2" = "$3" ]
	ok "$1" $?
	[ "$2" = "$3" ] || printf 'got: %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /'
}
cp written.d written.c "$work" && cd "$work" || exit 1
cp written.c written.cc
"$kd" -h -s written.d
ok "a header" $?
: > any.o
"$kd" -G -64 -s written.d any.o && "$kd" -G -s written.d -o other.o
ok "an object" $?
is "it is the same by any name" "$(cmp written.o other.o 2>&1)" ""
while read -r compiler flags; do
	ext=c && [ "$compiler" = g++ ] && ext=cc
	# shellcheck disable=SC2086 # they are words
	$compiler $flags -Wall -Wextra -Werror -c written.$ext -o a.o 2> err && "$compiler" a.o written.o -o a > err 2>&1
	ok "$compiler $flags" $?
	is "it runs, and none is enabled" "$(./a)$(cat err)" 0
	is "its probes" "$(readelf -n a 2> /dev/null | awk '/Provider:/ { p = $2 } /Name:/ { print p ":" $2 }' | sort -u | tr '\n' ' ')" \
		"other:go test_prov:d-ash test_prov:go test_prov:many test_prov:none test_prov:place test_prov:stop test_prov:u_nder "
	is "its stack cannot be executed" "$(readelf -lW a | awk '/GNU_STACK/ { print $(NF - 1) }')" RW
	rm a a.o
done << 'END'
gcc -O0
gcc -std=gnu99 -O2
gcc -Os -fPIC
g++ -O0
g++ -std=c++17 -O2
END
fails() { # WHAT WANTED COMMAND...
	local what=$1 wanted=$2
	shift 2
	is "$what" "$("$kd" "$@" 2>&1 | head -n 1)" "$wanted"
}
echo 'provider a1 { probe p(); };' > digit.d
echo 'provider a { probe p(); probe p(); };' > twice.d
echo 'provider a { probe p(int i) : (int j); };' > map.d
echo 'provider test_12345678901234567890123456789012345678901234_prov { probe go(); };' > long.d
echo 'BEGIN { exit(0); }' > clause.d
fails "a name that ends with a digit" "kdtrace: failed to compile script digit.d: [D_PROV_BADNAME] line 1: a provider's name ends with no digit, as a1 does: the number of a process comes behind it" -xerrtags -h -s digit.d
fails "a probe twice" "kdtrace: failed to compile script twice.d: [D_PROV_PRDUP] line 1: the probe p is declared twice" -xerrtags -h -s twice.d
fails "an argument that there is not" "kdtrace: failed to compile script map.d: line 1: no argument of the probe has the name 'j'" -h -s map.d
fails "a long name" "kdtrace: failed to link script long: USDT provider name may not exceed 53 characters: test_12345678901234567890123456789012345678901234_prov" -G -s long.d
fails "a header of no provider" "kdtrace: failed to create header file for script clause: no provider is declared" -h -s clause.d
"$kd" -G -s clause.d && readelf -h clause.o > /dev/null
ok "an object without probes" $?
"$kd" -G -n 'BEGIN { exit(0); }' && readelf -h d.out > /dev/null
ok "an object of no script has the name d.out" $?
"$kd" -G -s - < written.d && cmp d.out written.o && rm d.out
ok "and of one whose name is not NAME.d" $?
fails "objects of another type" "kdtrace: failed to link script clause: link type 1 (DOF) no longer supported" -G -xlinktype=dof -s clause.d
is "and nothing is left of that" "$(ls clause.o 2> /dev/null)" ""
fails "an object that is not there" "kdtrace: failed to link script written: failed to open none.o: No such file or directory" -G -s written.d none.o
is "nothing is left of them" "$(ls long.o clause.o digit.h 2> /dev/null)" ""
echo "1..$n"
[ $failures = 0 ]
