#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is measured, taken apart by predicates: the kernel's TCP input under a load over loopback, by
# port, by code path; the parts make the whole, which another session measures meanwhile.
# promise: P20: The time of a function is taken apart by predicates or a key, and the parts make
#   the whole. [test_measure.c]
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/metrics_lib.sh"
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
start
ip link set lo up 2> /dev/null || ifconfig lo up

# of FILE METRIC [TEXT]: the sum of the values in rows with that text
of() { grep -F "\"metric\":\"$2\"" "$1" | grep -F -- "${3:-}" | sed -n 's/.*"value": *\([0-9.e+-]*\).*/\1/p' | awk '{ s += $1 } END { print s + 0 }'; }
whole=/tmp/whole.json
# with_whole OPTION...: the same load, with another session around it that measures all of it
with_whole() {
	"$ki" stat -q --json -o "$whole" -m calls,walltime,vtime tcp_v4_rcv -- \
		"$ki" stat -q --json -o "$json" "$@" -- "$top/test/guest/metrics/split_load.py" 1500 900
}
data=$(awk '/^skb_data/ { print $2 }' $control)
header="*(u64 *)(arg0 + $data)"
to() { printf '*(u16 *)(%s + 2) == 0x%x' "$header" $((($1 & 255) << 8 | $1 >> 8)); }
from() { printf '*(u16 *)(%s) == 0x%x' "$header" $((($1 & 255) << 8 | $1 >> 8)); }
parts_make_the_whole() { # NAME
	is "$1: calls of all parts" "$(of "$json" calls)" "$(of "$whole" calls)"
	about "$1: walltime of all parts" "$(of "$json" walltime)" "$(of "$whole" walltime)" 3
	about "$1: vtime of all parts" "$(of "$json" vtime)" "$(of "$whole" vtime)" 3
}

# ---- by code path ----
ok "by code path" with_whole --split 'sending:inside(tcp_sendmsg)' -m calls,walltime,vtime tcp_v4_rcv
parts_make_the_whole "by code path"
for i in sending else; do
	ok "$i: $(of "$json" calls "\"part\":\"$i\"") calls" test "$(of "$json" calls "\"part\":\"$i\"")" -gt 0
done

# ---- by port ----
ok "by port" with_whole --split "web:$(to 8080) || $(from 8080)" --split "other:$(to 9090) || $(from 9090)" -m calls,walltime,vtime tcp_v4_rcv
parts_make_the_whole "by port"
is "nothing else came" "$(of "$json" calls '"part":"else"')" 0
web=$(of "$json" calls '"part":"web"') other=$(of "$json" calls '"part":"other"')
ok "1,500 and 900 messages with their answers: $web, $other" test "$web" -ge 3000 -a "$web" -le 4600 -a "$other" -ge 1800 -a "$other" -le 2800
ok "parts of less" "$ki" stat -q --json -o "$json" --if "$(to 8080)" --split "short:arg0 == 0" -m calls tcp_v4_rcv -- "$top/test/guest/metrics/split_load.py" 300 100
ok "are of what --if lets pass: $(of "$json" calls '"part":"else"')" test "$(of "$json" calls '"part":"else"')" -ge 300 -a "$(of "$json" calls)" -le 650

# ---- by a key: the port itself; its code, and the rows it changes, are in the whole, too ----
ok "by a key" with_whole --by "port:*(u16 *)($header + 2)" --agg sum:walltime,sum:vtime tcp_v4_rcv
keyed() { grep -o "\"$1\": *[0-9.e+-]*" "$json" | sed 's/.*: *//' | awk '{ s += $1 } END { print s + 0 }'; }
is "by a key: calls of all rows" "$(keyed count)" "$(of "$whole" calls)"
about "walltime of all rows" "$(keyed 'sum(walltime)')" "$(of "$whole" walltime)" 12
about "vtime of all rows" "$(keyed 'sum(vtime)')" "$(of "$whole" vtime)" 12
ok "both servers' ports are among them" test "$(grep -cE '"port":"(36895|33315)"' "$json")" = 2

# ---- what it costs ----
ok "with what it costs" with_whole --split "web:$(to 8080) || $(from 8080)" --cost -m calls,walltime tcp_v4_rcv
is "calls of all parts, with costs" "$(of "$json" calls)" "$(of "$whole" calls)"
ok "each part has its own" test "$(grep -F '"metric":"calls"' "$json" | grep -o '"cost_per_second": *[0-9.]*' | sort -u | wc -l)" = 2
ok "and together they are all that is inserted" python3 - "$json" "$(nproc)" << 'P'
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
all = next(r for r in rows if r["metric"] == "overhead")
seconds = all["inserted"] / sum(r["cost_per_second"] for r in rows if "part" in r)
spent = all["inserted"] + all["own_seconds"] * all["machine"] / int(sys.argv[2])
print("#", seconds, spent, all["cost_per_second"] * seconds)
assert abs(all["cost_per_second"] * seconds / spent - 1) < 0.02
P
ok "a budget for parts" "$ki" stat -q --json -o "$json" --split "web:$(to 8080)" --budget 0.0001% -m calls,walltime tcp_v4_rcv -- "$top/test/guest/metrics/split_load.py" 300 100
ok "what is shed is a part" grep -qE '"metric":"shed".*"of":"walltime","part":"(web|else)"' "$json"
ok "a part's cost in the table" "$ki" stat -q -o /tmp/split.txt --cost --split 'sending:inside(tcp_sendmsg)' tcp_v4_rcv -- "$top/test/guest/metrics/split_load.py" 100 100
# shellcheck disable=SC2016 # awk's own
ok "and the overhead, under the same titles" awk '/ MACHINE +PART +POINT/ { n = NF } $(NF - 1) == "overhead" { ok = NF == n } END { exit !ok }' /tmp/split.txt
ok "blocks as points" "$ki" stat -q --json -o "$json" --split 'sending:inside(tcp_sendmsg)' -m count tcp_v4_rcv:blocks -- "$top/test/guest/metrics/split_load.py" 100 100
ok "of each part" eval "[ \"\$(of $json count '\"block\":0' | cut -d. -f1)\" -ge 200 ] && grep -q '\"part\":\"sending\".*\"block\":0' $json"

# ---- shown ----
ok "a table" "$ki" stat -q -o /tmp/split.txt --split 'sending:inside(tcp_sendmsg)' -m calls,latency tcp_v4_rcv -- "$top/test/guest/metrics/split_load.py" 100 100
ok "with a row for each part" grep -qE '[0-9]+ +sending +tcp_v4_rcv ' /tmp/split.txt
ok "and for the rest" grep -qE '[0-9]+ +else +tcp_v4_rcv ' /tmp/split.txt
is "a histogram of each" "$(grep -cE '^tcp_v4_rcv (sending|else): latency of [0-9]+ calls' /tmp/split.txt)" 2
ok "the code of each" grep -q '=== tcp_v4_rcv  calls  else  at most' <("$ki" stat --dry-run --show-code --split 'sending:inside(tcp_sendmsg)' tcp_v4_rcv)
misuse() { ! "$ki" stat "${@:2}" tcp_v4_rcv -- true > /tmp/misuse 2>&1 && cat /tmp/misuse && grep -qF -- "$1" /tmp/misuse; }
ok "no predicate" misuse "--split 'foo'" --split web:foo
ok "twice the same name" misuse "two parts" --split 'a:pid == 1' --split 'a:pid == 2'
ok "by keys" misuse "--split and --by: a key" --split 'pid == 1' --by comm
ok "with blocks" misuse "no -m blocks" --split 'pid == 1' -m blocks
ok "the text is what it was" text_is_back
ok "the test module unloads" rmmod $f
finish
