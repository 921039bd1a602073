#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What README.md shows, step by step. Run it in the virtual machine:
#
#	vm/run -- examples/instrument/try.sh [DIRECTORY]
#
# What is made on the way is kept in the directory, if one is given.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=${1:-}
if [ -z "$work" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
ln -s "$top/examples" "$work/examples"
sed -n '/^```sh$/,/^```$/p' "$top/examples/instrument/README.md" | grep -v '^```' > "$work/steps"
cd "$work"
while IFS= read -r step; do
	case $step in
	"#"*) printf '\n%s\n' "$step" ;;
	*)
		printf '$ %s\n' "$step"
		eval "$step" < /dev/null
		;;
	esac
done < steps
