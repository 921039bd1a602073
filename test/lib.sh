# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests in shell on the host share: a directory of their own, KTAP lines.

tmp=$(mktemp -d) && [[ $tmp ]] || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# check NAME COMMAND...: ok if COMMAND is true.
check() {
	local name=$1 said
	shift
	count=$((count + 1))
	if said=$("$@" 2>&1); then
		echo "ok $count $name"
	else
		echo "not ok $count $name"
		printf '%s\n' "$said" | tail -n 20 | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

# is GOT WANTED
is() { [[ $1 == "$2" ]] || { printf 'got:\n%s\nwanted:\n%s\n' "$1" "$2"; false; }; }

# The last command of a test: its status is the test's.
finish() {
	echo "1..$count"
	[[ $failed == 0 ]]
}
