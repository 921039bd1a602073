#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/analysis.sh: how long it takes to know all code of a kernel, and what
# others do in their time with the same text.
# promise: K3 (in part): The kernel's symbols, blocks and free registers are known within half a
#   second and 150 MB. [know.sh]
# not shown: K3: The time of a daemon's start as a whole: the analysis has a limit.
set -u
cd "$(dirname "$0")/.." || exit 1

usage() {
	cat <<END
usage: bench/analysis.sh [--kernel NAME] [--no-guest] [--no-limit]

Prints a table; ends with 1 if ours takes more than $seconds s (best of 5, on two
threads) or more than $megabytes MB, or if it could not be measured.
Peers that this Debian does not have are listed so.

  --kernel NAME   a kernel of vm/kernel (default 6.1)
  --no-guest      without the part in the virtual machine
  --no-limit      only print
END
}

seconds=0.5
megabytes=150
kernel=6.1
guest=1
limit=1
while (($#)); do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--kernel) kernel=${2-}; shift ;;
	--no-guest) guest= ;;
	--no-limit) limit=0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

vmlinux=$(vm/kernel "$kernel" vmlinux) && map=$(vm/kernel "$kernel" system-map) &&
	release=$(vm/kernel "$kernel" release) || exit 1
rows=$(mktemp) || exit 1
trap 'rm -f "$rows"' EXIT

# row NAME WHAT RUNS COMMAND...: the run with the least seconds. The command
# prints what build/bench/analyze prints.
row() {
	local name=$1 what=$2 runs=$3 best
	shift 3
	best=$(for ((i = 0; i < runs; i++)); do "$@" || break; done | sort -n | head -n 1)
	printf '%s\t%s\t%s\n' "$name" "$what" "${best:-absent}" >>"$rows"
}

# timed COMMAND...: seconds and peak bytes of a program that prints text.
timed() {
	local log=$rows.time
	command -v "$1" >/dev/null && /usr/bin/time -o "$log" -f '%e %M' "$@" >/dev/null 2>&1 &&
		awk '{ printf "%s\t%.0f\t0\n", $1, $2 * 1024 }' "$log"
	rm -f "$log"
}

analyze=build/bench/analyze
everything='all: blocks, edges, call graph, jump tables, noreturn, liveness'
row 'kerninst, 1 thread' "$everything" 5 $analyze 1 "$vmlinux" "$map"
row 'kerninst, 2 threads' "$everything" 5 $analyze 2 "$vmlinux" "$map"
for t in 1 2; do
	row "a plan, $t thread$( ((t == 1)) || echo s)" 'a counter at each block: blocks, windows, places, copies' 5 \
		build/bench/plan "$t" "$vmlinux" "$map"
done
row 'Zydis' 'instructions, one after the other; no text' 5 $analyze zydis "$vmlinux"
row 'distorm3' 'the same' 5 $analyze distorm "$vmlinux"
row 'Capstone' 'the same, with text' 3 $analyze capstone "$vmlinux"
row 'objdump -d' 'the same, printed' 2 timed objdump -d "$vmlinux"
row 'llvm-objdump -d' 'the same, printed' 2 timed llvm-objdump -d "$vmlinux"

# QEMU counts the instructions, so the guest's seconds are exact and need no quiet machine.
if [[ $guest ]]; then
	live=$(vm/run --kernel "$kernel" --icount --timeout 900 -- $analyze live | tail -n 1)
	printf 'live\t\t%s\n' "${live:-absent}" >>"$rows"
fi

awk -f bench/analysis.awk -v seconds="$seconds" -v megabytes="$megabytes" -v limit="$limit" \
	-v kernel="$release" -v cpus="$(nproc)" -v load="$(cut -d' ' -f1-3 /proc/loadavg)" "$rows"
