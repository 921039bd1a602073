#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Metrics of functions that take known times (test/guest/metrics/): against the kernel's clock read
# around the calls, against what the scheduler has booked for the thread (own), against counts.
# promise: P3, P4, P5, P6, P12, P13, P16, P23: Metrics of functions are exact across sleep,
#   migration, recursion, interrupts and tail jumps. [metrics_cpus.sh, test_measure.c,
#   test_measure_more.c, test_plan_stages.c]
# shellcheck disable=SC2317 # functions are called through ok and until_true
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/metrics_lib.sh"
. "$(dirname "$0")/../common/switches_lib.sh"
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
start
# ---- against the kernel's clock around the calls ----
work() {
	command reset
	command "sleep 100 10"
	command "spin 2000 150"
	command "tail 50 10"
	command "recurse 50 5000"
}
export -f work command
export control
ok "known calls, measured" stat -m calls,exits,returns,walltime,walltime/call,vtime,latency,vlatency,concurrency,running \
	${f}_{sleep,spin,tail,recurse} -- bash -c work
for m in calls exits returns; do
	is "$m" "$(got $m sleep) $(got $m spin) $(got $m tail) $(got $m recurse)" "20 150 10 51"
done
about "walltime asleep" "$(got walltime sleep)" "$(sum "$(seconds sleep) + $(seconds tail)")"
about "walltime running" "$(got walltime spin)" "$(seconds spin)"
about "walltime to when the caller has control back, not to the jump" "$(got walltime tail)" "$(seconds tail)"
about "of recursion, once" "$(got walltime recurse)" "$(seconds recurse)"
about "a call" "$(got walltime/call sleep)" "$(sum "($(seconds sleep) + $(seconds tail)) / 20")"
about "vtime running" "$(got vtime spin)" "$(seconds spin)"
about "CPUs that are busy with it" "$(got running spin)" "$(sum "$(seconds spin) * $(got concurrency spin) / $(got walltime spin)")"
ok "asleep no vtime" awk -v v="$(got vtime sleep)" 'BEGIN { exit !(v > 0 && v < 0.1) }'
for m in latency vlatency; do
	is "$m: each call is in the histogram" "$(got $m sleep) $(got $m spin) $(got $m tail) $(got $m recurse)" "20 150 10 1"
done
# Its bounds times its counts have the total between them.
bracket() {
	grep -F '"metric":"latency","point":"'"${f}_$1"'"' "$json" | grep -o '"from":[0-9]*,"to":[0-9]*,"count":[0-9]*' |
		awk -F '[:,]' -v w="$(got walltime "$1")" '{ l += $2 * $6; h += $4 * $6 } END { exit !(l <= w * 1e9 && w * 1e9 <= h) }'
}
for i in sleep spin tail recurse; do ok "$i: histogram and total agree" bracket $i; done

# ---- by no clock but the timer's that wakes it ----
stat -m walltime/call ${f}_sleep -- sh -c "echo sleep 100 10 > $control"
if watches_itself; then # and has no time of its own: one that is late is the host's
	ok "a call that sleeps for 100 ms" awk -v g="$(got walltime/call sleep)" 'BEGIN { exit !(g >= 0.0999) }'
else
	about "a call that sleeps for 100 ms" "$(got walltime/call sleep)" 0.1
fi

# ---- deeper inside itself than can be counted ----
command reset
ok "a deep recursion" "$ki" stat --json -o "$json" -m calls,walltime ${f}_recurse -- sh -c "echo recurse 99 1000 > $control; echo recurse 149 1000 > $control"
is "its calls" "$(got calls recurse)" 250
is "are more than can be timed, and that is said" "$(sed -n 's/.*"metric":"walltime".*"too_deep": *\([0-9]*\).*/\1/p' "$json")" 22
about "the time is that of the first 128" "$(got walltime recurse)" "$(sum "$(seconds recurse) / 250 * 228")" 5

# ---- against what is booked for the thread ----
booked "running and sleeping" 10
stat -m faults,faults/call,major-faults,calls ksys_read -- "$prog/own" --read /dev/zero 8388608 > /tmp/own
faults=$(sed -n 's/.*"metric":"faults",.*"value": *\([0-9]*\).*/\1/p' "$json")
about "page faults inside" "$faults" "$(cat /tmp/own)"

# ---- who is inside ----
inside() { awk -v f=${f}_block 'BEGIN { n = 0 } $0 ~ f { n++ } END { print n }' /proc/[0-9]*/stack 2> /dev/null; }
are_inside() { [ "$(inside)" = "$1" ]; }
enter() { # COUNT: that many threads block inside
	local before i
	before=$(inside)
	for ((i = 0; i < $1; i++)); do
		sh -c "echo block > $control" &
	done
	ok "$1 threads go inside" until_true 60 are_inside $((before + $1))
}
wake() {
	command wake
	ok "all come back" until_true 60 are_inside 0
	command reset
}
watch() { # OUTPUT OPTION...: measure in the background
	local out=$1
	shift
	"$ki" stat -q --json -o "$out" "$@" < /dev/null > /dev/null 2>&1 &
	watcher=$!
	until_true 60 measures $watcher
}
stop_watching() {
	kill -"${1:-INT}" "$watcher"
	wait "$watcher" 2> /dev/null
	until_true 60 field_is windows 0
}
command reset
enter 2 # before the measurement: not seen
watch "$json" -i 1 -m concurrency,running,walltime,calls ${f}_block
enter 5
sleep 3.2
about "five threads asleep inside, in a whole interval" "$(got concurrency block)" 5
ok "and none of them runs" awk -v v="$(got running block)" 'BEGIN { exit !(v < 0.05) }'
about "and in the one before" "$(all concurrency block | tail -n 2 | head -n 1)" 5
wake
sleep 2.2
is "nobody is inside" "$(got concurrency block)" 0
enter 1
sleep 2.2
about "one" "$(got concurrency block)" 1
wake
stop_watching
is "calls" "$(all calls block | awk '{ s += $1 } END { print s }')" 6

# ---- by tasks and in the interrupt of a timer ----
ok "calls by a task and in interrupts" stat -m calls,walltime,latency,concurrency -i 1 ${f}_tick -- \
	sh -c "echo tick 500 1000 > $control; echo spin 200 1 > $control; echo tick 2000 100 > $control; sleep 2.2"
is "each is counted" "$(all calls tick | awk '{ s += $1 } END { print s }')" "$(calls tick)"
ok "interrupts were among them" test "$(awk '/^ticks/ { print $2 }' $control)" -ge 100
ok "those inside a task's call are a part of it" test "$(all latency tick | awk '{ s += $1 } END { print s }')" -lt "$(calls tick)"
is "afterwards nobody is inside" "$(all concurrency tick | tail -n 2 | head -n 1)" 0

# ---- under a condition ----
command reset
ok "one of two programs" stat -m calls,walltime --comm own ${f}_spin -- sh -c "$prog/own $control 'spin 1000 100'; cat $control > /tmp/own; echo spin 1000 50 > $control"
is "calls of it" "$(got calls spin)" 100
about "its time" "$(got walltime spin)" "$(awk '$1 == "spin" { printf "%.6f", $3 / 1e9 }' /tmp/own)"
command reset
paths() { command "sleep 50 4"; command "tail 50 6"; }
export -f paths
ok "a code path" stat -m calls,walltime --if "inside(${f}_tail)" ${f}_sleep -- bash -c paths
is "calls by that way" "$(got calls sleep)" 6
about "their time" "$(got walltime sleep)" "$(seconds tail)"
command reset
ok "all other code paths" stat -m calls,walltime --if "!inside($f:${f}_tail)" ${f}_sleep -- bash -c paths
is "calls by other ways" "$(got calls sleep)" 4
about "their time" "$(got walltime sleep)" "$(seconds sleep)"
command reset
ok "an argument" stat -m calls,walltime,latency --if "(int)arg0 == 9" ${f}_recurse -- sh -c "echo recurse 39 5000 > $control"
is "counts ask each time, times at the outermost call" "$(got calls recurse) $(got latency recurse)" "1 1"
about "the ten calls inside that one" "$(got walltime recurse)" "$(sum "$(seconds recurse) / 4")" 5

# A script reads times as numbers, in seconds.
command reset
ok "times of a table for scripts" "$ki" stat -q -x, -o /tmp/times -m calls,walltime ${f}_sleep -- sh -c "echo sleep 3 1000 > $control"
about "are plain seconds" \
	"$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["POINT"] ~ /_sleep$/ && $at["WALLTIME"] ~ /^[0-9.]*$/ { print $at["WALLTIME"] }' /tmp/times)" \
	"$(seconds sleep)"

# ---- numbers of each interval: its rate is what was counted, by its length ----
command reset
ok "each half of a second" "$ki" stat -q -i 0.5 -x, -o /tmp/rates -m calls ${f}_sleep -- sh -c "echo sleep 3 1000 > $control"
# Of numbers that are printed: the rate to a tenth, times to a thousandth of a second.
rates() {
	awk -F, '
		{ for (i = 1; i <= NF; i++) if ($i == "TIME") { for (k = 1; k <= NF; k++) at[$k] = k; next } }
		{
			t = $at["TIME"]; n = $at["COUNT"]; r = $at["RATE/S"]; d = t - before; before = t
			off = r * d - n
			most = 0.051 * (d + 0.001) + r * 0.00101
			if (t == "" || n == "" || d <= 0 || off > most || -off > most) { print "wrong:", $0; bad = 1 }
			rows++; busy += n > 20; sum += n
		}
		END { print rows " intervals, " busy " with calls, " sum " calls"; exit bad || busy < 3 || sum != 1000 }' /tmp/rates
}
ok "count = rate x interval" rates
rates | sed 's/^/# /'

# ---- presets: what they name is measured; most of their functions are called ----
# measured FUNCTION|FUNCTION: by what
measured() {
	grep -E '"point":"([^":]*:)?('"$1"')(\.[a-z]+\.[0-9]+)?"' "$json" | grep '"value"' | sed -n 's/.*"metric":"\([^"]*\)".*/\1/p' | sort | xargs
}
# preset NAME COUNTED CALLED TIMED FUNCTION...: at least so many; each of the functions is among those
# that are measured; of some there is another name, behind a comma
preset() {
	local name=$1 i counted called timed
	"$ki" stat -q --json -o "$json" --preset "$name" -m calls,walltime,vtime -- bash -c 'ls -lR /etc > /dev/null; exec 3<> /dev/tcp/127.0.0.1/9' > /dev/null 2>&1
	counted=$(grep -c '"metric":"calls".*"value"' "$json")
	called=$(grep -c '"metric":"calls".*"value":[1-9]' "$json")
	timed=$(grep '"metric":"vtime".*"value"' "$json" | grep -vc '"value":0[,}]')
	echo "# $name: $called functions called of $counted that are counted; vtime of $timed"
	ok "preset $name" test "$counted" -ge "$2" -a "$called" -ge "$3" -a "$timed" -ge "$4"
	for i in "${@:5}"; do
		is "preset $name: $i is measured" "$(measured "${i/,/|}")" "calls vtime walltime"
	done
}
preset scheduling 12 8 6 __schedule try_to_wake_up pick_next_task_fair check_preempt_wakeup,check_preempt_wakeup_fair
preset memory 12 6 6 handle_mm_fault do_mprotect_pkey change_protection do_swap_page swapin_readahead
preset network 12 1 1 __inet_lookup_established tcp_sendmsg_locked tcp_write_xmit csum_partial vring_interrupt

# ---- several at once ----
command reset
watch /tmp/first.json -m walltime,calls ${f}_sleep
first=$watcher
ok "the second" stat -m walltime,latency,vtime ${f}_sleep -- sh -c "echo sleep 100 10 > $control"
kill -INT "$first"
wait "$first"
about "the second's time" "$(got walltime sleep)" "$(seconds sleep)"
about "the first's" "$(got walltime sleep /tmp/first.json)" "$(seconds sleep)"

# ---- ends of all kinds ----
command reset
watch "$json" -m walltime,latency,vtime ${f}_block ${f}_tail
enter 3
stop_watching KILL
soon "killed: all words are given back" 0 field words_used
watch "$json" -m walltime,latency,vtime ${f}_block
stop_watching
wake
ok "the text is what it was" text_is_back
ok "the test module unloads" goes $f
finish
