#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/run.sh: what a hit of each kind of probe costs, in instructions of the
# guest, all in one boot of one virtual machine. QEMU counts (-icount), so the
# numbers are exact, the same in every run, and need no quiet machine.
# promise: N3: A hit costs three instructions, and every other probe of the kernel is measured in
#   the same run.
# promise: Names, stacks, records, instruments, events and strings add no more to a hit than the
#   bench allows. [records.sh]
set -u
cd "$(dirname "$0")/.." || exit 1

usage() {
	cat <<END
usage: bench/run.sh [--kernel NAME] [--json FILE] [--no-module]

Prints a table; ends with 1 if a probe could not be measured, or if one of ours
costs more than $limit instructions. Peers that this Debian does not have are
listed with the reason.

  --kernel NAME   a kernel of vm/run (default 6.1)
  --json FILE     the same for programs
  --no-module     without the driver: the peers only (fails, for want of ours)

Environment: KI_BENCH_TOOL, the command that counts a point and says so in JSON
(default '$KI_BENCH_TOOL');
KI_BENCH_BLOCK, the point that is a block (default '$KI_BENCH_BLOCK').
END
}

limit=3.1
kernel=6.1
json=
options=()
export KI_BENCH_TOOL=${KI_BENCH_TOOL-build/release/bin/kerninst stat -q --json -m calls}
export KI_BENCH_BLOCK=${KI_BENCH_BLOCK-vfs_read:block/1}
while (($#)); do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--kernel) kernel=${2-}; shift ;;
	--json) json=${2-}; shift ;;
	--no-module) options+=(--no-module) ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

release=$(vm/kernel "$kernel" release) || exit 1
make -s bench-peers KERNEL="$kernel" || exit 1
rows=$(mktemp) || exit 1
trap 'rm -f "$rows"' EXIT
vm/run --kernel "$kernel" --icount --timeout 900 "${options[@]}" -- bench/guest.sh >"$rows" || {
	echo "bench: the guest ended with $?" >&2
	exit 1
}
awk -f bench/table.awk -v n=20000 -v runs=9 -v limit="$limit" -v kernel="$release" \
	-v json="$json" "$rows"
