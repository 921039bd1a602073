#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/d.sh [--kernel NAME]: what a hit of a D clause costs, and how long programs take to start, in
# instructions of the guest, all in one boot (-icount), beside bpftrace, and dtrace if there is one.
# Ends with 1 if one of ours could not be measured, or costs more than its bound.
# promise: A hit of a D clause, and starting a D program, take no more instructions than allowed.
#   [test_entries.c]
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=bench/options.sh
. bench/options.sh bench/d.sh "What a hit of a D clause costs, beside bpftrace and dtrace." "$@"
rows=$(mktemp) || exit 1
trap 'rm -f "$rows"' EXIT
vm/run --kernel "$kernel" --icount --timeout 1500 -- bench/d_guest.sh > "$rows" || {
	echo "bench-d: the guest ended with $?" >&2
	exit 1
}
awk -F '\t' -v kernel="$release" '
	BEGIN { n = 20000 }
	$1 == "base" { base = $3 / n; next }
	$2 == "hit" { name[++hits] = $1; most[hits] = $3; for (i = 4; i <= NF; i++) cell[hits, i - 3] = $i; next }
	$2 == "start" { start[++starts] = $1; limit[starts] = $3; for (i = 4; i <= NF; i++) time[starts, i - 3] = $i }
	function cost(x) { return x ~ /^[0-9.]+$/ ? sprintf("%.1f", x / n - base) : x }
	END {
		printf "Instructions a hit of a D clause, vfs_read, kernel %s (less the bare call, %.1f)\n\n", kernel, base
		printf "  %-34s %8s %8s %10s %10s\n", "", "at most", "kdtrace", "bpftrace", "dtrace"
		for (i = 1; i <= hits; i++) {
			ours = cost(cell[i, 1])
			printf "  %-34s %8s %8s %10s %10s\n", name[i], most[i], ours, cost(cell[i, 2]), cost(cell[i, 3])
			if (ours !~ /^[0-9.]+$/ || ours + 0 > most[i])
				bad = bad "bench-d: " name[i] ": " ours ", at most " most[i] "\n"
		}
		printf "\nMillion instructions until all is in, and out again\n\n"
		for (i = 1; i <= starts; i++) {
			printf "  %-34s %8s %8s %10s %10s\n", start[i], limit[i], time[i, 1], time[i, 2], time[i, 3]
			if (time[i, 1] !~ /^[0-9]+$/ || (limit[i] != "-" && time[i, 1] + 0 > limit[i] + 0))
				bad = bad "bench-d: start of " start[i] ": " time[i, 1] ", at most " limit[i] "\n"
		}
		if (!hits || !starts)
			bad = "bench-d: nothing was measured\n"
		printf "%s", bad
		exit bad != ""
	}' "$rows"
