# SPDX-License-Identifier: GPL-2.0-only
# From the rows of bench/analysis.sh to its table, and its verdict (exit status).
#
# -v seconds=LIMIT -v megabytes=LIMIT -v limit=0|1 -v kernel=RELEASE -v cpus=N -v load=LOADAVG

BEGIN {
	FS = "\t"
	printf "Analysis of all code, kernel %s (best of several runs; %d CPUs, load %s)\n\n",
		kernel, cpus, load
	printf "  %-22s %8s %8s   %s\n", "", "seconds", "MB", "what it finds out"
}

function fail(text) {
	problems[++nproblems] = text
}

$1 == "live" { live = $0; next }

$3 == "absent" {
	printf "  %-22s %8s %8s   %s\n", $1, "-", "-", $2
	if ($1 ~ /^kerninst/)
		fail($1 ": not measured")
	next
}

{ printf "  %-22s %8.3f %8.0f   %s\n", $1, $3, $4 / 1e6, $2 }

$1 ~ /^kerninst/ {
	printf "  %22s %8s %8s   read %.3f, parse %.3f, liveness %.3f; %d instructions\n", "", "",
		"", $6, $7, $8, $5
	if ($1 ~ /2 threads/ && $3 > seconds)
		fail(sprintf("%s: %.3f s, more than %s", $1, $3, seconds))
	if ($4 > megabytes * 1e6)
		fail(sprintf("%s: %.0f MB, more than %s", $1, $4 / 1e6, megabytes))
}

$1 ~ /^a plan/ {
	printf "  %22s %8s %8s   processors: blocks %.3f, windows %.3f, the rest %.3f; %d counters\n",
		"", "", "", $6, $7, $8, $5
}

END {
	if (live != "") {
		split(live, v, FS)
		print ""
		if (v[3] == "absent" || v[3] <= 0) {
			fail("the live kernel: not measured")
		} else {
			print "The live kernel, in instructions of the guest; a plain read of its text is 1"
			printf "\n  read %.1f, parse %.1f, liveness %.1f (%d instructions of code)\n",
				v[6] / v[3], v[7] / v[3], v[8] / v[3], v[5]
		}
	}
	if (nproblems)
		print ""
	for (i = 1; i <= nproblems; i++)
		print "bench: " problems[i]
	exit limit && nproblems > 0
}
