#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst paths: known ways of a test module's functions (test/guest/metrics/), recursion, calls by
# interrupts; functions of the kernel against counters in each of their blocks.
# promise: N2: Each way through a function is counted, across recursion and interrupts.
#   [test_paths.c]
# shellcheck disable=SC2016,SC2317 # for eval; functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../metrics/metrics_lib.sh"
work=$(mktemp -d)
cd "$work" || exit 1
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
start
paths() { "$ki" paths --json --top 0 "$@" > seen; }
# of EXPRESSION: in Python, of d, what was measured
of() { python3 -c 'import json, sys; d = json.load(open("seen")); print(eval(sys.argv[1]))' "$1"; }

# Each of the four ways, so often.
ways() {
	command "reset"
	command "paths 1 0 3"
	command "paths 1 1 50"
	command "paths 1 2 2"
	command "paths 1 3 400"
}
export -f ways command
export control
ok "known ways" paths ${f}_paths -- bash -c ways
is "as often as they were taken" "$(of '[p["count"] for p in d["paths"]]')" "[400, 50, 3, 2]"
is "each from call to return" "$(of 'sorted(set((p["begins"], p["ends"]) for p in d["paths"]))')" "[('call', 'return')]"
is "calls, and those that were left" "$(of 'd["calls"], d["left"], d["too_deep"], d["lost"]')" "(455, 455, 0, 0)"
is "all paths differ" "$(of 'len(set(tuple(p["offsets"]) for p in d["paths"]))')" 4
ok "the most frequent one" bash -c "'$ki' paths -n 1 ${f}_paths -- bash -c ways > out 2> words"
is "is all that is printed" "$(tail -n +2 out | wc -l) $(awk 'NR == 2 { print $1 }' out)" "1 400"
ok "totals beside it" grep -q "4 taken, 455 times; 455 calls, 455 left" words

ok "a recursion" paths ${f}_recurse -- bash -c 'command "recurse 7 10"'
is "each call of it, to the innermost" "$(of 'd["calls"], d["left"], d["too_deep"]')" "(8, 8, 0)"
ok "a deep one" paths ${f}_recurse -- bash -c 'command "recurse 50 10"'
is "is counted as deep as can be, and said" "$(of 'd["calls"], d["left"], d["too_deep"]')" "(8, 7, 44)"
ok "and one more" paths ${f}_recurse -- bash -c 'command "recurse 50 10"; command "recurse 1 10"'
is "is counted again" "$(of 'd["calls"], d["left"], d["too_deep"]')" "(10, 9, 44)"

command reset
ok "interrupts that call it while it runs" paths ${f}_tick -- bash -c 'command "tick 20000 50"'
is "all calls" "$(of 'd["calls"], d["left"], d["too_deep"]')" "($(calls tick), $(calls tick), 0)"
ok "interrupts came" test "$(awk '$1 == "ticks" { print $2 }' $control)" -gt 20

# Counted by process; and who was inside before does not count.
ok "only others" paths --comm nobody ${f}_paths -- bash -c ways
is "none" "$(of 'd["calls"], d["taken"], d["paths"]')" "(0, 0, [])"
# He sleeps so long that he is still inside when the counting begins, on a slow machine, too.
inside() { grep -q "State:.D" "/proc/$sleeper/status"; }
leave() {
	inside && echo inside > begun
	while inside; do sleep 0.2; done
	sleep 1
}
export -f inside leave
export sleeper
rm -f begun
for ms in 10000 60000; do
	bash -c "command 'sleep $ms 1'" &
	sleeper=$!
	until_true 120 inside
	ok "somebody is inside" paths ${f}_sleep -- bash -c leave
	wait $sleeper
	[ ! -e begun ] || break
	echo "# he had left before"
done
ok "when it begins, and leaves" test -e begun
is "and is not counted" "$(of 'd["calls"], d["taken"]')" "(0, 0)"

# Against counters in each block: what paths say of blocks, added up.
compare() {
	python3 - "$1" <<-'END'
		import json, sys
		d = json.load(open("seen"))
		want = {}
		for line in open("blocks"):
		    row = json.loads(line)
		    if ":block/" in row.get("point", ""):
		        want[int(row["point"].split("/")[1])] = int(row["value"])
		got = dict.fromkeys(want, 0)
		for p in d["paths"]:
		    for b in p["blocks"]:
		        if b in got:
		            got[b] += p["count"]
		wrong = {b: (got[b], want[b]) for b in want if got[b] != want[b]}
		hit = sum(1 for v in want.values() if v)
		print("#", sys.argv[1], len(want), "blocks,", hit, "executed,", d["possible"], "paths,", len(d["paths"]), "taken,", d["calls"], "calls, probes", d["probes"], file=sys.stderr)
		print("ok" if not wrong and hit and d["calls"] == d["left"] and not d["lost"] else wrong or "nothing was seen")
	END
}
load() { find /usr/include/linux -type f -exec head -c 100 {} + > /dev/null; }
export -f load
compared=0
for fn in __x64_sys_getsid ksys_read vfs_read vfs_write do_sys_openat2 path_openat \
	filp_close fput __fget_light step_into walk_component lookup_fast __d_lookup_rcu; do
	if ! "$ki" stat -q --json -o blocks --comm head "$fn:blocks" -- \
		"$ki" paths --json --top 0 -q --comm head "$fn" -- bash -c load > seen 2> why; then
		echo "# $(tail -n 1 why)"
		continue
	fi
	[ "$(of 'd["calls"]')" -gt 0 ] || continue
	compared=$((compared + 1))
	is "$fn: paths add up to its blocks" "$(compare "$fn")" ok
done
ok "functions were compared" test $compared -ge 5

# bad NAME STATUS WORD ARGUMENT...: one line with the word in it
bad() {
	local name=$1 status=$2 word=$3
	shift 3
	"$ki" paths "$@" > out 2> words
	is "$name" "$? $(wc -l < words) $(grep -c -e "$word" words)" "$status 1 1"
}
bad "no function" 2 "FUNCTION" -- true
bad "two functions" 2 "FUNCTION" vfs_read vfs_write -- true
bad "many functions" 2 "one is wanted" 'vfs_*' -- true
bad "no such function" 1 "no_such" no_such -- true
bad "no such number" 2 "--top" --top x vfs_read -- true
bad "no such condition" 2 "--if" --if 'pid ==' vfs_read -- true
bad "a path is no condition" 1 "inside" --if 'inside(vfs_read)' vfs_read -- true
soon "nothing is left" "0 0" eval 'echo $(field windows) $(field heap_used)'
rmmod ki_metrics
finish
