# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a search has found, in $json.
json=/tmp/walk.json

# of_rows SCRIPT ARGUMENT...: with the rows
of_rows() { python3 -c "
import json, sys
everything = [json.loads(line) for line in open('$json')]
rows = [r for r in everything if r.get('kind', 'function') == 'function']
by = lambda name: next((r for r in rows if r['function'] == name), None)
$1" "${@:2}"; }
# table: the file of what the checks want to know of all rows; Python has to begin but once for it.
table=/tmp/walk.table
table() {
	[ ! $table -nt $json ] || return 0
	of_rows '
def callers(row):
	names, seen = [], set()
	while row and row["number"] not in seen:
		seen.add(row["number"])
		names.insert(0, row["function"])
		row = rows[row["callers"][0]["number"]] if row["callers"] else None
	return " ".join(names)
print("function", "found", "module", "share", "sampled", "how", "chain", sep="\t")
for r in rows:
	how = r["callers"][0]["how"] if r["callers"] else "none"
	print(*[r[k] for k in ("function", "found", "module", "share", "sampled")], how, callers(r), sep="\t")' > $table
}
# of FUNCTION KEY
of() {
	table
	awk -F '\t' -v name="$1" -v key="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == name { print $at[key]; seen = 1; exit }
		END { if (!seen) print "none" }' $table
}
# The first callers of a function, up to main.
chain() { of "$1" chain; }
how() { of "$1" how; }
share() { awk -v s="$(of "$1" share)" -v low="$2" -v high="$3" 'BEGIN { exit !(s >= low && s <= high) }'; }
shown() { # what is true, for the log
	of_rows '
for r in rows:
	if r["found"] != "false":
		print("#", r["level"], r["module"], r["function"], r["found"], r["reason"] or "", r["share"],
		      r["calls_per_second"], [(rows[c["number"]]["function"], c["how"]) for c in r["callers"]])'
}
# walk MODE OPTION...: of the program that does that, into $json; $bin and $ki are where they are
text() { "$bin/oracle" text "$pid" | cut -d " " -f 1; } # our memory stays mapped
walk() {
	run "$bin/planted" "$1"
	before=$(text)
	"$ki" crosswalk -q --json -T 0.5 "${@:2}" "$pid" > "$json" 2> /tmp/words
	status=$?
	cat /tmp/words
	is "$1: the program's text is as it was" "$status $(text)" "0 $before"
	kill -9 "$pid"
	end
}

# make_disk DIRECTORY: a file system of its own there, whose directories are written at once
make_disk() {
	modprobe loop && modprobe ext4 && truncate -s 64M "$1.image" &&
		mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$1.image" &&
		mkdir "$1" && mount -o loop,dirsync "$1.image" "$1"
}
