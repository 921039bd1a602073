#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The stable tier of lib/libkerninst.map has about 80 functions, which are enough to count, to time and
# to cover. Its structures of options begin with their size, and no function has more than 6 parameters.
# What the library hands out the library frees.
cd "$(dirname "$0")/../.." || exit 1
failed=0
fail() {
	echo "lint: $*"
	failed=1
}
stable=$(sed -n '/^KERNINST_1 {/,/^}/s/^\t\(ki_[a-z_0-9]*\);/\1/p' lib/libkerninst.map)
n=$(wc -w <<< "$stable")
if [ "$n" -lt 70 ] || [ "$n" -gt 90 ]; then
	fail "lib/libkerninst.map: the stable tier has $n functions, not about 80"
fi

mapped=$(grep -o 'ki_[a-z_0-9]*;' lib/libkerninst.map | tr -d ';' | sort)
[ -z "$(uniq -d <<< "$mapped")" ] || fail "lib/libkerninst.map: in both tiers: $(uniq -d <<< "$mapped" | xargs)"
for example in count time coverage; do
	for name in $(grep -oE 'ki_[a-z_0-9]+\(' "examples/api/$example.c" | tr -d '(' | sort -u); do
		grep -qx "$name" <<< "$mapped" || continue # inline
		grep -qx "$name" <<< "$stable" || fail "examples/api/$example.c calls $name, which is not in the stable tier"
	done
done

# The structures that stable functions take as options.
for struct in ki_points_how ki_cover_options ki_cover_diff_options ki_cover_html_options ki_table_options \
	ki_report_options; do
	first=$(cat include/kerninst/*.h | sed -n "/^struct $struct {/{n;p;q}")
	[[ $first =~ ^[[:space:]]size_t\ size\; ]] || fail "struct $struct does not begin with its size"
done

awk '
/^[a-z].*ki_[a-z0-9_]*\(/ && !/^(static|typedef)/ { head = "" ; on = 1 }
on { head = head $0 }
on && /;/ {
	depth = n = on = 0
	for (i = 1; i <= length(head); i++) {
		ch = substr(head, i, 1)
		if (ch == "(")
			depth++
		else if (ch == ")")
			depth--
		else if (ch == "," && depth == 1)
			n++
	}
	if (n > 5)
		print "lint: " FILENAME ":" FNR ": a function of " n + 1 " parameters"
}' include/kerninst/*.h | grep . && failed=1
grep -nE '(^|[^_])free\(\)' include/kerninst/*.h | sed 's/$/: say ki_free()/' | grep . && failed=1
exit $failed
