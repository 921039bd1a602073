#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/studies/run.sh: studies of what measuring does to what is measured, in one
# virtual machine.
set -u
cd "$(dirname "$0")/../.." || exit 1

usage() {
	cat <<END
usage: bench/studies/run.sh [OPTION...] [STUDY...]

Prints of each study the trials, means with their standard errors, differences
with 95 % intervals, and whether a difference is proven (Welch's t-test). A tick
is an instruction of the guest: QEMU counts them (-icount), so the numbers need no
quiet machine, and what varies is what the guest's kernel does beside.

  dd       dd of 10 MB while allocations are counted and recorded
  forks    forks while every block of kernel_clone is instrumented
  stamps   160 forks by our time stamps and by those of kprobe events

  --kernel NAME   a kernel of vm/run (default 6.1)
  --rounds N      at most so many rounds of 4 or 20 trials of each (default 12)
  --json FILE     the same for programs, an object a line

Ends with 1 if a study could not be made.
END
}

kernel=6.1
rounds=12
json=()
studies=()
while (($#)); do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--kernel) kernel=${2-}; shift ;;
	--rounds) rounds=${2-}; shift ;;
	--json) json=(--json "${2-}"); shift ;;
	-*) usage >&2; exit 2 ;;
	*) studies+=("$1") ;;
	esac
	shift
done
((${#studies[@]})) || studies=(dd forks stamps)

make -s test-studies || exit 1
rows=$(mktemp) || exit 1
trap 'rm -f "$rows"' EXIT
vm/run --kernel "$kernel" --icount --timeout 1800 -- bench/studies/guest.sh "$rounds" "${studies[@]}" >"$rows" || {
	echo "studies: the guest ended with $?" >&2
	exit 1
}
build/bench/ttest "${json[@]}" <"$rows"
