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
# The first callers of a function, up to main.
chain() {
	of_rows '
names, row, seen = [], by(sys.argv[1]), set()
while row and row["number"] not in seen:
	seen.add(row["number"])
	names.insert(0, row["function"])
	row = rows[row["callers"][0]["number"]] if row["callers"] else None
print(" ".join(names))' "$1"
}
# of FUNCTION KEY
of() { of_rows 'row = by(sys.argv[1]); print(row[sys.argv[2]] if row else "none")' "$@"; }
how() { of_rows 'row = by(sys.argv[1]); print(row["callers"][0]["how"] if row and row["callers"] else "none")' "$1"; }
share() { awk -v s="$(of "$1" share)" -v low="$2" -v high="$3" 'BEGIN { exit !(s >= low && s <= high) }'; }
shown() { # what is true, for the log
	of_rows '
for r in rows:
	if r["found"] != "false":
		print("#", r["level"], r["module"], r["function"], r["found"], r["reason"] or "", r["share"],
		      r["calls_per_second"], [(rows[c["number"]]["function"], c["how"]) for c in r["callers"]])'
}

# make_disk DIRECTORY: a file system of its own there, whose directories are written at once
make_disk() {
	modprobe loop && modprobe ext4 && truncate -s 64M "$1.image" &&
		mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$1.image" &&
		mkdir "$1" && mount -o loop,dirsync "$1.image" "$1"
}
