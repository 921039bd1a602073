#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The model of a first-level instruction cache against QEMU's own (contrib/plugins/cache.c, fetched
# from the source of the QEMU that is run, and compiled here): one guest boots and works under both,
# with the same parameters. Each makes its own of what QEMU tells it, so what each.h models as QEMU's
# does is the same to the last miss. What fetch.c models otherwise, and why, is counted there; that
# bounds by how much its misses may differ.
#
# Not compared: the second level, which QEMU's shares with data; the TLB and branch targets, which it
# does not model. They are the same code (lru.h, test_lru.c).
#
# usage: test/plugin/fetch_test.sh [VM_RUN_OPTION...]
# promise: The model of an instruction cache misses exactly what QEMU's own cache plugin does.
#   [test_lru.c]
set -u
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
cache=${KI_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kerninst}/qemu-cache
ways=8 tests=0 failed=0

# check NAME EXPRESSION: of bash's arithmetic
check() {
	tests=$((tests + 1))
	if (($2)); then
		echo "ok $tests $1"
	else
		echo "not ok $tests $1"
		echo "# $2"
		failed=1
	fi
}

if ! vm/fetch qemu-cache 2> "$out/words"; then
	if grep -qE 'cannot (read the index|download)' "$out/words"; then
		echo "ok 1 there is QEMU's own plugin # SKIP $(tail -n 1 "$out/words")"
		echo 1..1
		exit 0
	fi
	cat "$out/words" >&2
	exit 1
fi
cc -O2 -fPIC -shared -I"$cache/include/qemu" -I"$cache/usr/include/glib-2.0" \
	-I"$cache/usr/lib/x86_64-linux-gnu/glib-2.0/include" -o "$out/cache.so" "$cache/contrib/plugins/cache.c" || exit 1

KI_VM_PLUGIN_LOG=$out/theirs vm/run --no-module --timeout 2000 "$@" \
	--plugin "build/test/fetch.so,out=$out/ours,each=1,l1=32,l1ways=$ways" \
	--plugin "$out/cache.so,icachesize=32768,iassoc=$ways,iblksize=64,evict=lru,limit=1" -- \
	sh -c 'find /usr/share/doc | sort | sha1sum; ls -l /usr/bin | wc -l' > "$out/said" || {
	echo "not ok 1 the guest ran"
	exit 1
}

# Of several CPUs theirs has a line of sums, the last one of the table.
read -r accesses misses < <(awk '/^$/ { exit } { a = $5; m = $6 } END { print a, m }' "$out/theirs")
# The columns of ours, by their names.
# shellcheck disable=SC2046
declare -i $(awk -F'\t' 'NR == 1 { split($0, name) } NR == 2 { for (i in name) print name[i] "=" $i }' "$out/ours")
# shellcheck disable=SC2154
{
	echo "# QEMU's: $accesses instructions, $misses misses; ours, as it does: $each, $each_misses"
	echo "# ours by blocks: $instructions instructions ($turns more turns, $cut not executed)," \
		"$l1_misses misses ($extra lines in which no instruction began)"
	check "the load misses the cache" "misses > 100000 && misses < accesses"
	check "both saw the same instructions" "each == accesses"
	check "both have the same misses" "each_misses == misses"
	check "what blocks count differently is known" "instructions + turns - cut == each"
	check "blocks miss no less than lines in which nothing began may save" "l1_misses >= each_misses - extra"
	check "blocks miss no more than those lines may cost" "l1_misses <= each_misses + (ways + 1) * extra"
}
echo "1..$tests"
exit $failed
