#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst cover: what it says of known loads, conditions, removing, room, and how it ends.
# shellcheck disable=SC2016,SC2317 # for eval; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
start
work=$(mktemp -d)
cd "$work" || exit 1
into() { "$ki" cover -q -o "$@" > table; } # FILE ARGUMENT...
# blocks FILE FUNCTION: "OFFSET COUNT HOW" of each block; total FILE NAME
blocks() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		for f in json.load(open(sys.argv[1]))["functions"]:
		    if f["name"] == sys.argv[2]:
		        for b in f["blocks"]:
		            b += [0] * (5 - len(b))
		            print(b[0], b[2], b[3] or "probed")
	END
}
total() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["totals"][sys.argv[2]])' "$@"; }
refused() { python3 -c 'import json, sys; print(sum(json.load(open(sys.argv[1]))["reasons"].values()))' "$1"; }
first() { blocks "$1" "$2" | awk '$1 == 0 { print $2 }'; }

cases "what a probe may write: " 16 "$top/build/test/marks"
ok "hits" into hits __x64_sys_getsid __x64_sys_getpgid 'vfs_*' -- "$prog/calls" getsid 3
is "what was called was hit" "$(first hits __x64_sys_getsid)" 1
is "what was not was not" "$(first hits __x64_sys_getpgid)" 0
ok "some blocks are implied, and known" test "$(total hits known)" -gt "$(total hits probes)"
ok "counts" into counts --mode count __x64_sys_getsid -- "$prog/calls" getsid 1000
is "each call" "$(first counts __x64_sys_getsid)" 1000
ok "the same with a probe in each block" into each --mode count --every __x64_sys_getsid -- "$prog/calls" getsid 1000
is "counts that others tell are those of probes" "$(blocks counts __x64_sys_getsid | cut -d ' ' -f 1,2)" "$(blocks each __x64_sys_getsid | cut -d ' ' -f 1,2)"
if [ -e /proc/lockdep_stats ]; then
	skip "there are some, so fewer probes" "lockdep takes an address inside of this function, which may then be entered there"
else
	ok "there are some" test "$(blocks counts __x64_sys_getsid | grep -c 'implied$')" -gt 0
	ok "so fewer probes" test "$(total counts probes)" -lt "$(total each probes)"
fi
ok "a probe in each block" into every --every 'vfs_*' -- true
is "all that is known has its own" "$(($(total every probes) + $(refused every)))" "$(total every blocks_touchable)"
ok "more than without" test "$(total every probes)" -gt "$(total hits probes)"

ok "edges" into edges --mode edges 'vfs_*' __x64_sys_getsid -- ls -R /usr/include
is "are in it, and add up" "$(python3 "$top/test/guest/cover/coverage_edges.py" edges)" "ok"

# Ways through a function of a module, each so often: its conditionals go both ways so often.
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
ways() { for i in 0,3 1,50 2,2 3,400; do echo "paths 1 ${i/,/ }" > /proc/ki_metrics; done; }
export -f ways
# forks FILE: what each conditional's edges were taken; a compiler may ask the second one twice, behind each way of the first
forks() {
	python3 - "$1" <<-'END'
		import json, sys
		forks = {}
		for e in next(f for f in json.load(open(sys.argv[1]))["functions"] if f["name"] == "ki_metrics_paths")["edges"]:
		    assert "unknown" not in e, e
		    forks.setdefault(e[0], []).append(int((e + [0])[3]))
		found = sorted(tuple(sorted(v)) for v in forks.values() if len(v) > 1)
		print("ok" if found in ([(5, 450), (53, 402)], [(2, 3), (5, 450), (50, 400)]) else found)
	END
}
for i in "" --every; do
	# shellcheck disable=SC2086 # none, or one
	ok "edges of known ways $i" into ways --mode edges $i ki_metrics_paths -- bash -c ways
	is "each of a conditional was taken as often as is known" "$(forks ways)" ok
done
rmmod ki_metrics

# ran PID: it has run for a tenth of a second since
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
ran() {
	local begin
	begin=$(ticks "$1")
	until_true 120 eval "[ \$(ticks $1) -ge $((begin + 10)) ]"
}
export -f ticks ran until_true
"$prog/calls" getsid 1000000000000 > /dev/null &
other=$!
ok "only one process" into mine --mode count --pid $$ __x64_sys_getsid -- bash -c "ran $other"
is "the other's calls are not counted" "$(first mine __x64_sys_getsid)" 0
ok "only the other" into its --pid $other __x64_sys_getsid -- bash -c "ran $other"
is "are its hits" "$(first its __x64_sys_getsid)" 1

# No probe has gone at ten looks, a second between two: the rarest rounds are 4 s apart, and a
# machine that stands still, and then makes up for it, stands still at one look.
at_rest() {
	local last=-1 same=0 now
	for _ in $(seq 200); do
		now=$(field windows)
		[ "$now" = "$last" ] || same=0 last=$now
		[ $((same += 1)) -le 10 ] || break
		sleep 1
	done
}
hit() { # FILE: probes
	python3 -c 'import json, sys; print(sum(1 for f in json.load(open(sys.argv[1]))["functions"] for b in f["blocks"] if len(b) > 2 and b[2] and "implied" not in b))' "$1"
}
export -f at_rest field
export prog
ok "removing" into removed --once '*sys_getsid' 'vfs_*' -- bash -c 'ls -R /usr/include > /dev/null; at_rest'
ok "what has been hit took itself out" test "$(total removed removed)" -gt 10
ok "and nothing else: $(total removed removed) of $(hit removed)" test "$(total removed removed)" -le "$(hit removed)"
is "and is known" "$(first removed __x64_sys_getsid)" 1
# What only reads directories and asks for sessions, which neither looking nor ending does: all of
# it is hit before the rest.
ok "removing of what is at rest" into rested --once '*sys_getsid' '*sys_getdents64' iterate_dir filldir64 -- bash -c 'ls -R /usr/include > /dev/null; at_rest'
ok "all that was hit took itself out: $(total rested removed) of $(hit rested)" test "$(hit rested)" -ge 10 -a "$(total rested removed)" = "$(hit rested)"

"$ki" cover -q -o stopped '*sys_getsid' > table 2> words &
stopped=$!
until_true 120 measures $stopped
ran $other
kill -INT $stopped
wait $stopped
is "Ctrl-C: ends well" $? 0
is "with the result" "$(first stopped __x64_sys_getsid)" 1
kill $other

"$ki" cover 'vfs_*' > /dev/null 2>&1 &
until_true 120 installed
kill -9 $!
soon "kill -9: nothing is left" "0 0" eval 'echo $(field windows) $(field heap_used)'

# bad NAME WORD ARGUMENT...: one line with the word in it, exit status 2
bad() {
	local name=$1 word=$2
	shift 2
	"$ki" cover "$@" > out 2> words
	is "$name" "$? $(wc -l < words) $(grep -c -e "$word" words)" "2 1 1"
}
bad "all and some" "--all" --all vfs_read
bad "nothing" "functions" -- true
bad "counts do not heal" "--once" --once --mode count vfs_read
bad "no such mode" "--mode" --mode often vfs_read
bad "no such condition" "--if" --if 'pid ==' vfs_read
"$ki" cover no_such_function > out 2> words
is "no such function" "$? $(grep -c no_such_function words)" "1 1"
ok "a path is no condition" bash -c "! '$ki' cover --if 'inside(vfs_read)' vfs_read -- true"

# More than there is room for.
most=/sys/module/kerninst/parameters/heap
was=$(cat $most)
echo 1048576 > $most
"$ki" cover -o all 's*' 't*' 'v*' -- true > table 2> words
is "no room for all" "$? $(grep -c 'room for' words)" "0 1"
echo "# $(cat words)"
ok "what fits is there" test "$(total all probes)" -gt 15000
ok "the others say so" grep -q HEAP_FULL all
echo "$was" > $most
soon "nothing is left" "0 0" eval 'echo $(field windows) $(field heap_used)'
finish
