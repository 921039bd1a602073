#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/coverage.sh: what coverage of the whole kernel costs those who run under it: instructions of
# the guest for each turn of loops of system calls, and for a compile, with probes and without.
# QEMU counts them (-icount).
# promise: N1: System calls under a probe in each block take at most 1.28 times their
#   instructions.
set -u
cd "$(dirname "$0")/.." || exit 1

. bench/options.sh bench/coverage.sh "Prints a table; ends with 1 if it could not be measured, or if probes cost more than 0.25 times,
0.28 with one in each block, or 0.05 when those that were hit have gone; or if putting all in takes more than
45 G instructions, taking them out more than 10." "$@"
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
vm/run --kernel "$kernel" --icount --mem 4G --timeout 3000 -- bench/coverage_guest.sh > "$out" || {
	echo "bench: the guest failed" >&2
	exit 1
}
awk -v kernel="$release" '
	NF == 3 { v[$2, $1] = $3; if (!($2 in seen)) { seen[$2]; names[++n] = $2 } }
	# "totals HOW N probes, S s to install, S s to remove": a second of -icount is 1 G instructions
	$1 == "totals" && $2 != "removed" && !($5 > 0 && $5 <= 45 && $9 > 0 && $9 <= 10) {
		wrong = wrong sprintf("bench: %s: %s s to install and %s s to remove are not within 45 and 10\n", $2, $5, $9)
	}
	$1 == "totals" { what[$2] = $0; sub(/^totals [^ ]* /, "", what[$2]) }
	function cell(name, how, most,   times) {
		if (!v[name, how] || !v[name, "none"]) { bad = 1; return "-" }
		times = v[name, how] / v[name, "none"]
		if (times < 0.97 || times > most) wrong = wrong sprintf("bench: %s, %s: %.3f times is not in 0.97 to %s\n", name, how, times, most)
		return sprintf("%.3f", times)
	}
	END {
		printf "Coverage of the whole kernel, %s: instructions for each turn, and how many times as many\n\n", kernel
		printf "%-14s %12s %10s %10s %10s\n", "", "none", "hit", "every", "removed"
		for (i = 1; i <= n; i++)
			printf "%-14s %12.1f %10s %10s %10s\n", names[i], v[names[i], "none"], cell(names[i], "hit", 1.25), \
				cell(names[i], "every", 1.28), cell(names[i], "removed", 1.05)
		print ""
		for (how in what) printf "%s: %s\n", how, what[how]
		printf "%s", wrong > "/dev/stderr"
		if (bad || n < 6) { print "bench: coverage was not measured" > "/dev/stderr"; exit 1 }
		exit wrong != ""
	}' "$out"
