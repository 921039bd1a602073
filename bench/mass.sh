#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/mass.sh: what it takes to put 20,000 counters at blocks all over the kernel and to take
# them out again, in instructions of the guest that the process executes, in its own code and in the
# kernel's; and the same of one counter, at a kernel that knows its symbols and code already. QEMU
# counts them (-icount).
# promise: Putting 20,000 counters in and out takes no more instructions than the bench allows.
set -u
cd "$(dirname "$0")/.." || exit 1

. bench/options.sh bench/mass.sh "Prints a table; ends with 1 if it could not be measured." "$@"
{
	vm/run --kernel "$kernel" --icount --timeout 600 -- build/test/mass 20000 25
	vm/run --kernel "$kernel" --icount --timeout 100 -- build/test/mass 1 2000 20 | sed -n '/^again_/p'
} | awk -v kernel="$release" '
	{ v[$1] = $2 }
	function line(what, name) {
		printf "%-34s %8.1f %12.0f\n", what, v[name] * 1000, v[name] * 1e9 / v["counters"]
	}
	END {
		if (v["counters"] != 20000 || !v["cpu_install"] || !v["cpu_remove"] || !v["again_cpu_install"]) {
			print "bench: the mass operation was not measured" > "/dev/stderr"
			exit 1
		}
		printf "%d block counters in and out, kernel %s\n\n", v["counters"], kernel
		printf "%-34s %8s %12s\n", "", "million", "instructions"
		printf "%-34s %8s %12s\n", "", "in all", "a counter"
		line("symbols, analysis, planning", "cpu_analysis")
		line("installing", "cpu_install")
		line("taking out", "cpu_remove")
		printf "\n%-34s %8s %12.0f\n", "one counter: installing", "", v["again_cpu_install"] * 1e9
		printf "%-34s %8s %12.0f\n", "one counter: taking out", "", v["again_cpu_remove"] * 1e9
	}'
