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
# about NAME GOT WANTED [PER CENT]
about() {
	ok "$1: $2 is near $3" awk -v g="$2" -v w="$3" -v p="${4:-2}" \
		'BEGIN { d = g - w; exit !(g != "" && w > 0 && (d < 0 ? -d : d) <= w * p / 100) }'
}
sum() { awk "BEGIN { print $1 }"; }
stat() { "$ki" stat -q --json -o "$json" "$@"; }
