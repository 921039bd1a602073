#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each script of examples/d is a program: it compiles, and says what it is for.
cd "$(dirname "$0")/.." || exit 1
kd=build/release/bin/kdtrace
n=0
failed=0
for f in examples/d/*.d; do
	operands=()
	case $f in
	*/slow_calls.d) operands=(10) ;;
	*/function_times.d) operands=(vfs_read) ;;
	esac
	n=$((n + 1))
	if [ -x "$f" ] && sed -n 4p "$f" | grep -q '^ \* .*[a-z]' && "$kd" -e -s "$f" "${operands[@]}"; then
		echo "ok $n $f"
	else
		echo "not ok $n $f"
		failed=1
	fi
done
echo "1..$n"
[ $n -ge 30 ] && exit $failed
