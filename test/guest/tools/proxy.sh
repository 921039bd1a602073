#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The case study of examples/proxy finds what it must: opening takes the time, of that creating,
# and without it the proxy is faster and answers the same.
#
#   vm/run --icount -- test/guest/tools/proxy.sh
# promise: P22: The search finds by itself where a caching proxy loses its time, and removing
#   that cause helps.
. "$(dirname "$0")/../common/lib.sh"
start
out=/tmp/proxy.out
ok "the study is made" bash -c "'$top/examples/proxy/guest.sh' 100 > $out"
sed 's/^/# /' $out
# A line `LEVEL FUNCTION` for the slowest of each step.
walked=$(awk '/ calls$/ { match($0, /^ */); if (RLENGTH / 2 >= next_level + 0) { print RLENGTH / 2, $1; next_level = RLENGTH / 2 + 1 } }' $out)
chain() { awk '{ printf "%s ", $2 }' <<< "$1"; }
value() { awk -v n="$1" -v c="$2" 'index($0, n) == 1 { print $(NF - 2 + c) }' $out; }
is "the slowest call is the one that opens" "$(awk 'NR == 1 { print $2 }' <<< "$walked")" __x64_sys_openat
ok "what it spends its time in is creating: $(chain "$walked")" grep -q 'ext4:ext4_create' <<< "$walked"
ok "it comes behind the function that finds paths" awk '/path_openat/ { p = NR } /ext4_create/ { exit !(p && NR > p) }' <<< "$walked"
is "behind the change nothing is created" "$(value ext4:ext4_create 2)" 0.0
ok "looking up is less than a tenth of creating" awk "BEGIN { exit !($(value ext4:ext4_lookup 1) * 10 < $(value ext4:ext4_create 1)) }"
is "the answers are the same" "$(value answers 1) $(value hits 1)" "$(value answers 2) $(value hits 2)"
ok "a request takes less than a fifth: $(value 'a request' 1) us, $(value 'a request' 2)" \
	awk "BEGIN { exit !($(value 'a request' 2) * 5 < $(value 'a request' 1)) }"
finish
