# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# Sourced by the benchmarks that take nothing but a kernel: kernel is its name for vm/run, release its
# own. Its first argument is the file that is run, the second what it does; the rest are that file's arguments.

usage() {
	cat <<END
usage: $1 [--kernel NAME]

$2

  --kernel NAME   a kernel of vm/run (default 6.1)
END
}

kernel_chosen() {
	local self=$1 what=$2
	shift 2
	kernel=6.1
	while (($#)); do
		case $1 in
		-h | --help) usage "$self" "$what"; exit 0 ;;
		--kernel) kernel=${2-}; shift ;;
		*) usage "$self" "$what" >&2; exit 2 ;;
		esac
		shift
	done
	release=$(vm/kernel "$kernel" release) || exit 1
}
kernel_chosen "$@"
