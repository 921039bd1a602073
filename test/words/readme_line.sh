#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The first command of the README that looks at the kernel, as it stands there, on a host that lets a
# process have 1,024 descriptors: it lists more files than that, and each of them.
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
line=$(grep -m1 -x ' *vm/run -- kerninst stat .* -- ls -lR /usr/share' README.md)
n=0 failed=0
ok() { # NAME COMMAND...
	local name=$1
	shift
	n=$((n + 1))
	"$@" && echo "ok $n $name" && return
	echo "not ok $n $name"
	tail -n 5 "$out"/{out,err} | sed 's/^/# /'
	failed=1
}
ok "README has the line" test -n "$line"
prlimit --nofile=1024:1024 bash -c "$line" > "$out/out" 2> "$out/err"
ok "it ends with 0" test $? = 0
# What is in the guest's own memory is other there.
listed() { grep -c '^[-dlrwxst]\{10\}' "$1"; }
LC_ALL=C ls -lR /usr/share > "$out/here" 2> /dev/null
ok "$(listed "$out/here") files, and all are listed" test "$(listed "$out/here")" -gt 1024 -a \
	"$(listed "$out/here")" = "$(listed "$out/out")"
ok "no file could not be opened" sh -c "! grep -qi 'too many open files\|cannot open' $out/out $out/err"
ok "calls were counted" grep -qE '^ +[1-9][0-9]{3,} .* vfs_statx ' "$out"/{out,err}
exit $failed
