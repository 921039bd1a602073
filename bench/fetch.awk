# SPDX-License-Identifier: GPL-2.0-only
# Of two files: "window <TAB> NUMBER LOAD STATE OPERATIONS" for each window that counts, and the
# plugin's table. Prints, for each load, each value of one operation before and after.
FNR == NR { split($2, v, " "); of[v[1]] = v[2] " " v[3]; n[v[1]] = v[4]; next }
FNR == 1 { for (i = 2; i <= NF; i++) name[i] = $i; fields = NF; next }
$1 in of {
	split(of[$1], w, " ")
	if (!(w[1] in known)) { known[w[1]] = 1; loads[++nloads] = w[1] }
	for (i = 2; i <= fields; i++)
		value[w[1], w[2], i] = name[i] ~ /^distinct/ ? $i : $i / n[$1]
}
END {
	printf "%-7s %-15s %12s %12s %9s\n", "LOAD", "OF ONE", "BEFORE", "LAID OUT", "CHANGE"
	for (l = 1; l <= nloads; l++)
		for (i = 2; i <= fields; i++) {
			a = value[loads[l], "before", i]; b = value[loads[l], "after", i]
			printf "%-7s %-15s %12.3f %12.3f %8.1f%%\n", loads[l], name[i], a, b, a ? 100 * (b - a) / a : 0
		}
}
