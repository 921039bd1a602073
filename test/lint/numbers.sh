#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The README's numbers are those that tests hold: each row is what it says, with N where the number
# stands, and a command that prints that number from where a test or a benchmark has its bound.
cd "$(dirname "$0")/../.." || exit 1
text=$(tr '\n' ' ' < README.md | tr -s ' ')
failed=0
of_suite() { # NAME FIELD: of a suite's command
	awk -F '\t' -v name="$1" -v field="$2" '$1 == name { split($2, word, " "); print word[field] }' test/suites.guest
}
bound() { # ROW: of the table of make bench
	sed -n "s/^\tleast\[\"$1\"\] = \([0-9]*\).*/\1/p" bench/table.awk
}
says() { # SENTENCE NUMBER
	local grouped
	grouped=$(printf '%s' "$2" | sed -E ':a; s/([0-9])([0-9]{3})(,|$)/\1,\2\3/; ta')
	[ -n "$2" ] && grep -qF -- "${1/N/$grouped}" <<< "$text" && return
	echo "lint: README.md does not say '${1/N/$grouped}', which is what is held"
	failed=1
}
says "**N instructions a hit**" "$(sed -n 's/^limit=\([0-9]*\)\..*/\1/p' bench/run.sh)"
says "BPF's fentry costs more than N" "$(bound 'fentry BPF, empty')"
says "a kprobe's breakpoint more than N" "$(bound 'kprobe, int3')"
says "N mutated requests" "$(of_suite fuzz-ioctl 6)"

# Of sentences none has another number, but for names of versions and parts of documents.
known='\*\*3 instructions a hit\*\*|fentry costs more than [0-9]+|breakpoint more than [0-9]+|[0-9,]+ mutated requests|x86-64|amd64|Debian 12|Debian.s 6\.1|and 6\.12|7\.2|gcc 12|kill -9|section [0-9]|[a-z-]+\([58]\)|LGPL-2\.1|GPL-2\.0|BSD-2|kerninst [0-9]|Exit status: 0 done, 1 error, 2 wrong usage, 3 not'
rest=$(grep -v '^    ' README.md | sed -E "s/\`[^\`]*\`//g; s/$known//g" | grep -nE '[0-9]') || exit $failed
echo "lint: numbers in README.md that nothing holds (test/lint/numbers.sh):"
printf '  %s\n' "$rest"
exit 1
