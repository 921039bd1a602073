#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/jumps.sh [STEPS]
# Where jumps by tables lead, of programs that are executed instruction by instruction: always to a place that the
# analysis knows. printf's and an interpreter's, which keep their tables' addresses in registers, are among them.
# promise: F9: Single steps of bash and Python find no jump by a table that the analysis does not know.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
steps=${1:-400000}
shift $#
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

number() { awk -v n="$1" '$1 == n { print $2 }' "$tmp/jumps"; }
# jumps FUNCTION COMMAND...: it goes on for ever; this function of it is seen to jump by a table
jumps() {
	local ret
	"${@:2}" > /dev/null 2>&1 &
	sleep 2
	"$bin/jumps" "$steps" $! > "$tmp/jumps" 2>&1
	ret=$?
	kill $!
	wait $! 2> /dev/null
	echo "# $2: $(number jumps) jumps, $(number ways) ways, $(number guessed) functions of unknown tables" >> "$tmp/table"
	[ $ret = 0 ] && [ "$(number wrong)" = 0 ] && [ "$(number jumps)" -ge 100 ] && grep -q "^$1 " "$tmp/jumps" ||
		{ cat "$tmp/jumps"; return 1; }
}
check "printf of bash" jumps __vfprintf_internal bash -c 'while :; do printf "%d %s %5x %-8s|%c %+d %o\n" $RANDOM abc 12 x y 3 7; done'
if command -v python3 > /dev/null; then
	check "Python's interpreter" jumps _PyEval_EvalFrameDefault python3 -c '
import json, re
n = 0
while True:
    n += 1
    s = "%d %s %x %5.2f %-8s %e" % (n, "ab", n, 1.5, "q", 2.5)
    json.loads(json.dumps({"a": [1, 2, {"b": None}], "c": (n, s)}))
    re.sub(r"(\w+)\s+(a|b|c)*?[x-z]{0,3}$", lambda m: m.group(0), s)
    re.findall(r"(?i)(?:a|b)+|\d{2,}|[^\s]+(?=e)", s * 3)
    try:
        sorted([x for x in map(lambda v: v * 2, range(20)) if x % 3], key=lambda x: -x)
        list(k for k in {k: v for k, v in zip(s, s)})
        raise ValueError(f"{n:>10}{s!r}")
    except ValueError:
        pass'
else
	count=$((count + 1))
	echo "ok $count Python's interpreter # SKIP no python3 here"
fi
# The library's memcpy for processors with SSSE3 and without AVX jumps by lengths of code.
without=-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Copy,-AVX512F,-AVX512VL,-Prefer_FSRM,-Prefer_ERMS
if "$(ldd $bin/moved | awk '/ld-linux/ { print $1 }')" --list-tunables 2> /dev/null | grep -q x86_non_temporal_threshold &&
	grep -qw ssse3 /proc/cpuinfo; then
	check "memcpy by SSSE3" jumps __memcpy_ssse3 env GLIBC_TUNABLES="glibc.cpu.hwcaps=$without:glibc.cpu.x86_shared_cache_size=0x4000:glibc.cpu.x86_non_temporal_threshold=0x4040" $bin/moved
	check "all of its 48 ways are seen" grep -q "^__memcpy_ssse3 48 of 48" "$tmp/jumps"
else
	count=$((count + 1))
	echo "ok $count memcpy by SSSE3 # SKIP no such library, or processor"
fi
cat "$tmp/table"
finish
