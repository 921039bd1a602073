#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
# Names each ki_ struct, union, enum or function that is defined in two files: one word has one
# meaning. (A static function is a file's own.)
/^(struct|union|enum) ki_[a-z0-9_]+ \{/ { defined($2) }
/^[a-z].*[ *]ki_[a-z0-9_]+\(/ && !/^(static|typedef)/ && !/;/ {
	head = $0
	sub(/\(.*/, "", head)
	sub(/.*[ *]/, "", head)
	file = FILENAME
	line = FNR
	next
}
/^\{/ && head != "" { note(head "()", file, line); head = "" }
/[;}]/ { head = "" }
function defined(name) { note(name, FILENAME, FNR) }
function note(name, file, line) {
	if (name in where && whose[name] != file)
		printf "lint: %s:%d: %s is defined at %s too\n", file, line, name, where[name]
	where[name] = file ":" line
	whose[name] = file
}
