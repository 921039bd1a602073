# SPDX-License-Identifier: GPL-2.0-only
# From the rows of bench/guest.sh to the table of bench/run.sh, and its verdict
# (exit status).
#
# -v n=CALLS -v runs=RUNS -v limit=OURS -v kernel=RELEASE -v json=FILE

BEGIN {
	FS = "\t"
	most["count, for another process"] = 6.1
	least["count, for another process"] = 2 # else nothing was there
	most["walltime of a call"] = 30
	most["vtime of a call"] = 40
	most["latency, a histogram"] = 120
	most["page faults of a call"] = 430
	most["count by name"] = 170
	most["count by stack"] = 6200
	most["by the program's stack"] = 410
	most["a string of the kernel"] = 580
	most["a string of the program"] = 580
	most["a breakpoint as springboard"] = 380
	least["a breakpoint as springboard"] = 50 # else it was a jump
	least["fentry BPF, empty"] = 100	  # as the README says of others
	least["kprobe, int3"] = 300
	most["record of four values"] = 120
	most["the same, of one program"] = 125
	most["an instrument in C"] = 130
}

# What is not a row is the console's or a tool's.
$2 !~ /^(ok|failed|absent)$/ { next }

$1 == "base" {
	bases++
	low = bases == 1 || $3 < low ? $3 : low
	high = $3 > high ? $3 : high
	sum += $3
	next
}

{ name[++rows] = $1; state[rows] = $2; value[rows] = $3; hits[rows] = $4 }

function fail(text) {
	problems[++nproblems] = text
}

# Others read files too: a few hits more than our own are to be expected.
function judge(i) {
	if (state[i] == "failed")
		fail(name[i] ": " value[i])
	if (state[i] != "ok")
		return
	if (value[i] <= 0)
		fail(name[i] ": the workload was not measured")
	if (hits[i] < n * runs || hits[i] > n * runs + 256)
		fail(name[i] ": " hits[i] " hits, not " n * runs)
	cost[i] = (value[i] - base) / n
	if (name[i] ~ /^kerninst/ && sprintf("%.1f", cost[i]) + 0 > limit)
		fail(sprintf("%s: %.2f instructions per hit, more than %s", name[i], cost[i], limit))
	if (name[i] in least && cost[i] <= least[name[i]])
		fail(sprintf("%s: %.2f instructions, not more than %s", name[i], cost[i], least[name[i]]))
	if (name[i] in most && sprintf("%.1f", cost[i]) + 0 > most[name[i]])
		fail(sprintf("%s: %.2f instructions, more than %s", name[i], cost[i], most[name[i]]))
	if (!ours && name[i] ~ /^kerninst/)
		ours = cost[i]
}

function print_row(i) {
	if (state[i] != "ok")
		printf "  %-28s %10s %8s   %s\n", name[i], "-", "-", value[i]
	else
		printf "  %-28s %10.1f %8s\n", name[i], cost[i], ratio(i)
}

function ratio(i) {
	return ours > 0 ? sprintf("%.1f", cost[i] / ours) : "-"
}

function quoted(text) {
	gsub(/["\\]/, "\\\\&", text)
	return "\"" text "\""
}

function write_json(   i) {
	printf "{\n  \"kernel\": %s,\n  \"base\": %.2f,\n  \"probes\": [\n", quoted(kernel),
		base / n >json
	for (i = 1; i <= rows; i++) {
		printf "    {\"name\": %s, ", quoted(name[i]) >json
		if (state[i] == "ok")
			printf "\"instructions\": %.2f, \"hits\": %d}", cost[i], hits[i] >json
		else
			printf "\"%s\": %s}", state[i], quoted(value[i]) >json
		print i < rows ? "," : "" >json
	}
	print "  ]\n}" >json
}

END {
	if (!bases || !rows) {
		print "bench: nothing was measured"
		exit 1
	}
	base = sum / bases
	for (i = 1; i <= rows; i++)
		judge(i)
	if (bases < 4 || (high - low) / n > 0.5)
		fail(sprintf("the bare workload, %d times, took %.2f to %.2f instructions a call", \
			bases, low / n, high / n))
	printf "Instructions per hit, vfs_read, kernel %s\n", kernel
	printf "(median of %d runs of %d calls, less the bare call's %.2f)\n\n", runs, n, base / n
	printf "  %-28s %10s %8s\n", "", "per hit", "ratio"
	for (i = 1; i <= rows; i++)
		print_row(i)
	if (json)
		write_json()
	if (nproblems)
		print ""
	for (i = 1; i <= nproblems; i++)
		print "bench: " problems[i]
	exit nproblems > 0
}
