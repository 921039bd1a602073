# SPDX-License-Identifier: GPL-2.0-only
# Reads objdump -t, then objdump -drw of a relocatable file; prints "CALLER CALLEE COUNT" for each
# direct call. Calls of a cold part are its parent's.
function hex(s,    i, n) {
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n
}
# "vfs_read-0x4", or a place in a section: ".text+0x1a2cc"
function target(r,    section, offset) {
	if (!match(r, /[+-]0x[0-9a-f]+$/))
		return r
	section = substr(r, 1, RSTART - 1)
	offset = hex(substr(r, RSTART + 3))
	return substr(r, RSTART, 1) == "-" ? section : at[section, offset + 4]
}
FNR == NR {
	for (i = 2; i <= 3; i++)
		if ($i == "F")
			at[$(i + 1), hex($1)] = $NF
	next
}
/^Disassembly of section/ { skip = /altinstr/ }
/^[0-9a-f]+ <.*>:$/ {
	caller = substr($2, 2, length($2) - 3)
	sub(/\.cold$/, "", caller)
}
!/\tcall / || skip { next }
match($0, /R_X86_64_(PLT32|PC32)\t.*$/) {
	r = substr($0, RSTART, RLENGTH)
	sub(/^[^\t]*\t/, "", r)
	count[caller " " target(r)]++
	next
}
match($0, /<[^>+]*>$/) { count[caller " " substr($0, RSTART + 1, RLENGTH - 2)]++ }
END {
	for (c in count)
		if (c !~ / __x86_indirect_thunk/)
			print c, count[c]
}
