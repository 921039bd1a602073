#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/sampling.sh: what it takes kerninstd to sample 1,000 metrics ten times a second for a client,
# in instructions of the guest. QEMU counts them (-icount): there a nanosecond is an instruction, and
# so a thread's CPU time is what it has executed, in the kernel too.
set -u
cd "$(dirname "$0")/.." || exit 1

limit=1 # per cent of a CPU

. bench/options.sh bench/sampling.sh "Prints a table; ends with 1 if it could not be measured, or if it takes more than $limit per cent of
one CPU's instructions." "$@"
vm/run --kernel "$kernel" --icount --timeout 500 -- bench/sampling_guest.sh | awk -v kernel="$release" -v limit=$limit '
	$1 == "#" { v[$2] = $3 }
	END {
		if (v["metrics"] != 1000 || v["samples"] < 90) {
			printf "bench: %d metrics, %d samples: not measured\n", v["metrics"], v["samples"] > "/dev/stderr"
			exit 1
		}
		share = v["sampling"] / 1e9 * 100
		printf "kerninstd, instructions a second, kernel %s\n\n", kernel
		printf "  %-46s %12d\n", "one client, nothing measured", v["idle"]
		printf "  %-46s %12d\n", "1,000 metrics, ten samples a second", v["sampling"]
		printf "  %-46s %12.1f\n", "for each value", (v["sampling"] - v["idle"]) / 10000
		printf "  %-46s %10.3f %%\n", "of one CPU", share
		exit share > limit
	}'
