#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/coverage.sh: what coverage of the whole kernel costs those who run under it: instructions of
# the guest for each turn of loops of system calls, and for a compile, with probes and without.
# QEMU counts them (-icount).
set -u
cd "$(dirname "$0")/.." || exit 1

. bench/options.sh bench/coverage.sh "Prints a table; ends with 1 if it could not be measured, or if probes cost more than 0.3 times,
also with one in each block, or 0.05 when those that were hit have gone." "$@"
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
vm/run --kernel "$kernel" --icount --mem 4G --timeout 3000 -- bench/coverage_guest.sh > "$out" || {
	echo "bench: the guest failed" >&2
	exit 1
}
awk -v kernel="$release" '
	NF == 3 { v[$2, $1] = $3; if (!($2 in seen)) { seen[$2]; names[++n] = $2 } }
	$1 == "totals" { what[$2] = $0; sub(/^totals [^ ]* /, "", what[$2]) }
	function cell(name, how, most,   times) {
		if (!v[name, how] || !v[name, "none"]) { bad = 1; return "-" }
		times = v[name, how] / v[name, "none"]
		if (times < 0.97 || times > most) wrong = wrong sprintf("bench: %s, %s: %.3f times is not in 0.97 to %s\n", name, how, times, most)
		return sprintf("%.3f", times)
	}
	END {
		printf "Coverage of the whole kernel, %s: instructions for each turn, and how many times as many\n\n", kernel
		printf "%-14s %12s %10s %10s %10s\n", "", "none", "hit", "every", "healed"
		for (i = 1; i <= n; i++)
			printf "%-14s %12.1f %10s %10s %10s\n", names[i], v[names[i], "none"], cell(names[i], "hit", 1.3), \
				cell(names[i], "every", 1.3), cell(names[i], "healed", 1.05)
		print ""
		for (how in what) printf "%s: %s\n", how, what[how]
		printf "%s", wrong > "/dev/stderr"
		if (bad || n < 6) { print "bench: coverage was not measured" > "/dev/stderr"; exit 1 }
		exit wrong != ""
	}' "$out"
