#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Licence lines, formatting, sizes, names, shell scripts, man pages, the version map.
set -u
failed=0
fail() {
	echo "lint: $*"
	failed=1
}

mapfile -t files < <(git ls-files 2>/dev/null || find . -type f -not -path './build/*' -not -path './.git/*')
mapfile -t licensed < <(printf '%s\n' "${files[@]}" |
	grep -vE '^(LICENSES/.*|LICENSE|.*\.(md|json)|\.gitignore|.*/corpus/.*|web/dist/.*|test/dlang/programs/.*\.out)$')
mapfile -t c < <(printf '%s\n' "${files[@]}" | grep -E '\.[ch]$')

awk '
FNR == 1 { check(); name = FILENAME; text = "" }
FNR <= 3 { text = text $0 "\n" }
FNR == 3 { nextfile }
function check(   want) {
	if (name == "")
		return
	want = name ~ /^(lib|include)\// ? "LGPL-2.1-only OR BSD-2-Clause" : "GPL-2.0-only"
	if (text !~ /SPDX-License-Identifier:/)
		print "lint: " name " has no SPDX line"
	else if (!index(text, want))
		print "lint: " name " is not under " want
}
END { check() }' "${licensed[@]}" | grep . && failed=1

printf '%s\0' "${c[@]}" | xargs -0 -n 64 -P 2 clang-format --dry-run -Werror 2>&1 |
	grep -E 'error:' | head -n 20 | grep . && fail "clang-format"

# clang-format leaves comments as they are, so that it tears no block. Here is seen whether one is torn
# or too wide.
awk '
/^ \*[A-Za-z(]/ { print "lint: " FILENAME ":" FNR ": a torn comment: " $0 }
{
	line = $0
	if (line !~ /^[ \t]*(\/\*|\*)/)
		next
	while (i = index(line, "\t"))
		line = substr(line, 1, i - 1) sprintf("%*s", 8 - (i - 1) % 8, "") substr(line, i + 1)
	if (length(line) > 100)
		print "lint: " FILENAME ":" FNR ": a comment of " length(line) " columns, more than 100"
}' "${c[@]}" | grep . && failed=1

test/lint/sizes.awk test/lint/sizes.known "${c[@]}" | grep . && failed=1
printf "%s\n" "${c[@]}" | grep -E "^(include/kerninst|lib|tools)/" | xargs test/lint/names.awk | grep . && failed=1

grep -rl LINUX_VERSION_CODE kmod --include='*.[ch]' | grep -vx kmod/compat.h | sed 's/^/lint: differences of kernels belong into kmod\/compat.h: /' |
	grep . && failed=1

grep -rn stop_machine kmod --include='*.[ch]' | sed 's/^/lint: nothing is stopped (doc\/design.md, section 4.11): /' | grep . && failed=1

mapfile -t sh < <(awk 'FNR == 1 { if ($0 ~ /^#!\/bin\/bash/) print FILENAME; nextfile }' "${licensed[@]}")
printf '%s\0' "${sh[@]}" | xargs -0 -n 16 -P 2 shellcheck -x -P SCRIPTDIR || fail "shellcheck"

for m in man/*.[1-8]; do
	mandoc -Tlint -W warning "$m" || fail "$m"
done

public=$(sed -n '/^typedef\|^static/d; s/^[a-z].*[ *]\(ki_[a-z_0-9]*\)(.*/\1/p' include/kerninst/*.h | sort -u)
mapped=$(grep -o 'ki_[a-z_0-9]*' lib/libkerninst.map | sort -u)
[ "$public" = "$mapped" ] || {
	fail "lib/libkerninst.map and include/kerninst differ:"
	diff <(echo "$public") <(echo "$mapped") | head
}
exit $failed
