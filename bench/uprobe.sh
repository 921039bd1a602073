#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/uprobe.sh [--kernel NAME]: what a call of a program's function takes with a probe of ours in it
# and with a uprobe, in instructions of the guest, the kernel's included, all in one boot (-icount).
# Ends with 1 if one of ours could not be measured, or costs more than its bound.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=bench/options.sh
. bench/options.sh bench/uprobe.sh "What a probe in a program costs, beside uprobes." "$@"
rows=$(mktemp) || exit 1
trap 'rm -f "$rows"' EXIT
vm/run --kernel "$kernel" --icount --timeout 600 -- bench/uprobe_guest.sh > "$rows" || {
	echo "bench-uprobe: the guest ended with $?" >&2
	exit 1
}
awk -F '\t' -v kernel="$release" '
	NF != 3 { next }
	!n++ { base = $3; printf "Instructions of a probe in a program, kernel %s (less the bare call, %s)\n\n  %-34s %8s %8s\n", kernel, base, "", "at most", "takes"; next }
	{
		known = $3 ~ /^[0-9]/
		printf "  %-34s %8s %8s\n", $1, $2, known ? sprintf("%.1f", $3 - base) : $3
		if ($2 != "-") {
			ours++
			if (!known || $3 - base > $2)
				bad = bad "bench-uprobe: " $1 ": " $3 " of " $2 "\n"
		}
	}
	END {
		if (ours != 5)
			bad = bad "bench-uprobe: " ours + 0 " of ours were measured\n"
		printf "%s", bad
		exit bad != ""
	}' "$rows"
