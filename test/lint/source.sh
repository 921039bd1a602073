#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Licence lines, formatting, sizes, shell scripts, man pages, the version map.
set -u
failed=0
fail() {
	echo "lint: $*"
	failed=1
}

files=$(git ls-files 2>/dev/null || find . -type f -not -path './build/*' -not -path './.git/*')

for f in $files; do
	case $f in
	LICENSES/* | LICENSE | *.md | *.json | .gitignore | */corpus/* | web/dist/*) continue ;;
	esac
	[ -f "$f" ] || continue
	head -n 3 "$f" | grep -q 'SPDX-License-Identifier:' || fail "$f has no SPDX line"
	case $f in
	lib/* | include/*) want='LGPL-2.1-only OR BSD-2-Clause' ;;
	*) want='GPL-2.0-only' ;;
	esac
	head -n 3 "$f" | grep -q "$want" || fail "$f is not under $want"
done

c=$(printf '%s\n' "$files" | grep -E '\.[ch]$')
# shellcheck disable=SC2086
clang-format --dry-run -Werror $c 2>&1 | grep -E 'error:' | head -n 20 | grep . && fail "clang-format"

for f in $c; do
	n=$(wc -l < "$f")
	[ "$n" -le 600 ] || fail "$f has $n lines"
	awk -v f="$f" '/^\{/ { s = NR } /^\}/ && s { if (NR - s > 60) printf "lint: %s:%d: a function of %d lines\n", f, s, NR - s; s = 0 }' "$f"
done | grep . && failed=1

grep -l LINUX_VERSION_CODE kmod/*.[ch] | grep -vx kmod/compat.h | sed 's/^/lint: differences of kernels belong into kmod\/compat.h: /' |
	grep . && failed=1

grep -n stop_machine kmod/*.[ch] | sed 's/^/lint: nobody is stopped (doc\/design.md, section 4.11): /' | grep . && failed=1

sh=$(for f in $files; do head -n 1 "$f" 2>/dev/null | grep -q '^#!/bin/bash' && echo "$f"; done)
# shellcheck disable=SC2086
shellcheck -x -P SCRIPTDIR $sh || fail "shellcheck"

for m in man/*.[1-8]; do
	mandoc -Tlint -W warning "$m" || fail "$m"
done

public=$(sed -n '/^typedef/d; s/^[a-z].*[ *]\(ki_[a-z_0-9]*\)(.*/\1/p' include/kerninst/*.h | sort -u)
mapped=$(grep -o 'ki_[a-z_0-9]*' lib/libkerninst.map | sort -u)
[ "$public" = "$mapped" ] || {
	fail "lib/libkerninst.map and include/kerninst differ:"
	diff <(echo "$public") <(echo "$mapped") | head
}
exit $failed
