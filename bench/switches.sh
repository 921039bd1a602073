#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/switches.sh: what a switch between threads costs more while words of threads are in use, and
# what it takes to look who is inside, in instructions of the guest. QEMU counts them (-icount).
# promise: Threads' words cost a switch at most 100 instructions, however many there are.
#   [threads.sh]
set -u
cd "$(dirname "$0")/.." || exit 1

limit=100

. bench/options.sh bench/switches.sh "Prints a table; ends with 1 if it could not be measured, or if a switch costs more than $limit
instructions more, or not the same for any number of words." "$@"
vm/run --kernel "$kernel" --icount --timeout 300 -- build/test/threads cost | awk -v kernel="$release" -v limit=$limit '
	$1 == "#" { v[$2] = $3 }
	END {
		if (!v["without"] || !v["look"]) {
			print "bench: switches were not measured" > "/dev/stderr"
			exit 1
		}
		printf "Words of threads, instructions, kernel %s\n\n", kernel
		printf "  %-46s %10.1f\n", "a switch between threads", v["without"]
		printf "  %-46s %10.1f\n", "more, while one word is in use", v["one"] - v["without"]
		printf "  %-46s %10.1f\n", "more, while 1,000 are", v["thousand"] - v["without"]
		printf "  %-46s %10d\n", "looking at 1,000 words of all threads", v["look"]
		more = v["thousand"] - v["one"]
		exit v["one"] - v["without"] > limit || more > 1 || more < -1
	}'
