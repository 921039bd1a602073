#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
# Names each file of more than 500 lines, each function of more than 40, and each with more than
# 6 parameters, but for what test/lint/sizes.known has. Tests have 600 and 60, and any number of
# parameters.
FILENAME ~ /sizes\.known$/ {
	if (!/^#/)
		known[$1, $2] = 1
	next
}
FNR == 1 {
	file()
	name = FILENAME
	test = name ~ /^test\//
	start = 0
	head = ""
}
{ lines = FNR }
/^[a-z].*\(/ { head = "" }
/^[a-z]/ || head != "" { head = head $0 }
/^\{/ { start = FNR; parameters(head); head = "" }
/[;}]$/ { head = "" }
/^\}/ && start {
	if (FNR - start > (test ? 60 : 41))
		say("lines", name ":" start, "a function of " FNR - start - 1 " lines")
	start = 0
}
END {
	file()
	for (k in known)
		if (!(k in used) && k !~ /\*/) {
			split(k, part, SUBSEP)
			print "lint: test/lint/sizes.known: " part[1] " " part[2] ": not needed any more"
		}
}
function say(what, where, text,   folder) {
	folder = name
	sub(/[^\/]*$/, "*", folder)
	if ((name, what) in known)
		used[name, what] = 1
	else if (!((folder, what) in known))
		print "lint: " where ": " text
}
function file() {
	if (name != "" && lines > (test ? 600 : 500) && name !~ /^include\/uapi\//)
		say("lines", name, "a file of " lines " lines")
}
# Commas outside of inner parentheses.
function parameters(text,   i, depth, n, ch) {
	for (i = 1; i <= length(text); i++) {
		ch = substr(text, i, 1)
		if (ch == "(")
			depth++
		else if (ch == ")")
			depth--
		else if (ch == "," && depth == 1)
			n++
	}
	if (n > 5 && !test)
		say("parameters", name ":" FNR, "a function of " n + 1 " parameters")
}
