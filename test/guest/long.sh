#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Long chunks written by hand: what may run does what it says; what may not is refused for its
# reason; a helper that comes through instrumented code does not call itself for ever.
. "$(dirname "$0")/lib.sh"
start
out=/tmp/long.out
"$top/build/test/long" > $out 2>&1
status=$?
while read -r line; do
	case $line in
	"ok "*) ok "${line#ok }" true ;;
	*) echo "$line" ;;
	esac
done < <(grep -v '^not ok' $out)
while read -r line; do ok "${line#not ok }" false; done < <(grep '^not ok' $out)
is "all samples were tried" "$status $(grep -c '^ok' $out)" "0 $(($(cat "$top"/test/guest/long/samples*.c | grep -c '^	sample ') + 2))"
finish
