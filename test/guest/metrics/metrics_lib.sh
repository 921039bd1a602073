# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2317 # for those who read this
# What the tests of metrics share: the module of functions that take known times
# (test/guest/metrics/), and values of what kerninst stat has written.
f=ki_metrics
json=/tmp/metrics.json
control=/proc/$f
command() { echo "$1" > "$control"; }
module() { awk -v f="$1" -v n="$2" '$1 == f { print $n }' $control; } # FUNCTION, 2: calls, 3: ns
calls() { module "$1" 2; }
seconds() { awk -v f="$1" '$1 == f { printf "%.6f", $3 / 1e9 }' $control; }

# all METRIC FUNCTION: its values, a line each; got: the last
all() { grep -F "\"metric\":\"$1\",\"point\":\"${f}_$2\"" "${3:-$json}" | sed -n 's/.*"value": *\([0-9.e+-]*\).*/\1/p'; }
got() { all "$@" | tail -n 1; }
# is_about GOT WANTED [PER CENT]; about NAME GOT WANTED [PER CENT]
is_about() {
	awk -v g="$1" -v w="$2" -v p="${3:-2}" \
		'BEGIN { d = g - w; exit !(g != "" && w > 0 && (d < 0 ? -d : d) <= w * p / 100) }'
}
about() { ok "$1: $2 is near $3" is_about "${@:2}"; }
sum() { awk "BEGIN { print $1 }"; }
stat() { "$ki" stat -q --json -o "$json" "$@"; }
# ran VTIME RAN OUTSIDE: vtime is what the thread ran by the trace of switches, or less by so much, in which it was on
# its way into the function and out of it
ran() { awk -v g="$1" -v w="$2" -v o="$3" 'BEGIN { exit !(g > 0 && g <= w * 1.02 && g >= (w - o) * 0.98) }'; }
# book OPTION...: a measurement, for booked
book() {
	command reset
	switches_trace
	stat -m "vtime,vtime/call,walltime,switches,switches/call${1:+,cpu-migrations}" ${f}_both -- "$prog/own" "$@" $control "both 100000 100 $n" > /tmp/own
	switches_end
	read -r wall own switches moves tid from to < /tmp/own
	by_trace=
	! switches_ran "$tid" "$from" "$to" || by_trace=$(awk -v khz="$khz" '{ print $2 / khz / 1e3 }' /tmp/switches)
	outside=$(sum "$wall / 1e9 - $(seconds both)")
}
# booked NAME CALLS OPTION...: vtime against what is booked for a thread that runs for 100 ms in each call and sleeps
# as long; those who source this need switches_lib.sh, too
booked() {
	local name=$1 n=$2 wall own switches moves tid from to khz by_trace outside times
	shift 2
	khz=$(field tsc_khz)
	book "$@"
	echo "# wall $wall, own $own, switches $switches, moves $moves"
	ok "$name: switches were traced" test "$by_trace"
	ok "$name: vtime $(got vtime both), by the trace of switches $by_trace, of which $outside may be outside" \
		ran "$(got vtime both)" "$by_trace" "$outside"
	if [ $# = 0 ]; then
		about "$name: vtime" "$(got vtime both)" "$(sum "$own / 1e9")"
		about "$name: vtime of a call" "$(got vtime/call both)" "$(sum "$own / 1e9 / $n")"
	else
		# Who is moved is charged by the kernel from when he is put into the other CPU's queue:
		# while that wakes up its clock is not read again (rq_clock_skip_update).
		ok "$name: vtime is not more than is booked" awk -v g="$(got vtime both)" -v w="$own" 'BEGIN { exit !(g <= w / 1e9 * 1.02) }'
		about "$name: vtime of a call" "$(got vtime/call both)" "$(sum "$(got vtime both) / $n")" 0.01
		times=$(got cpu-migrations both)
		ok "$name: $times times while it ran or slept" test "$times" -ge 100
	fi
	about "$name: walltime" "$(got walltime both)" "$(sum "$wall / 1e9")"
	about "$name: walltime, around each call" "$(got walltime both)" "$(seconds both)"
	# the write has a beginning and an end outside of the function
	ok "$name: $(got switches both) switches of $switches" test $((switches - $(got switches both))) -ge 0 -a \
		$((switches - $(got switches both))) -le 3
}
