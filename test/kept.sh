#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Files of the driver that keep every register (ki-keep in kmod/Kbuild) may call only what keeps them
# too: what a kernel's configuration or the compiler makes out of a harmless word does not. Looks into
# the objects that were built for these kernels.
#
# usage: test/kept.sh KERNEL...
# shellcheck disable=SC2016 # make's words, not ours; check evaluates
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.." || exit 1

# preempt_schedule_notrace is called by way of the kernel's own code that saves what C does not, and so is
# what pv_ops has for interrupt flags (BUG_func stands where that is filled in); __stack_chk_fail is the end.
keeping='ki_ring_wake __SCT__preempt_schedule_notrace preempt_schedule_notrace_thunk __x86_return_thunk
	__stack_chk_fail pv_ops BUG_func'

callees() { # OBJECT: what its calls and jumps name outside of it
	objdump -dr --no-show-raw-insn "$1" | awk '
		/R_X86_64_(PLT32|PC32)/ { if (branch) { sub(/[-+]0x[0-9a-f]+$/, "", $3); if ($3 !~ /^\./) print $3 } }
		{ branch = $2 ~ /^(call|j)/ }' | sort -u
}
defined() { nm --defined-only "$1" | awk '{ print $3 }' | sort -u; }
only_these() { # OBJECT
	local others
	others=$(comm -23 <(callees "$1") <(xargs -n 1 <<< "$keeping" | sort -u - <(defined "$1")))
	[ -z "$others" ] || { echo "$1 calls: $others"; false; }
}

mapfile -t kept < <(sed -n 's/^CFLAGS_\(.*\)\.o := $(ki-keep).*/\1/p' kmod/Kbuild)
check "there are such files" test ${#kept[@]} -gt 0
for kernel; do
	dir=build/kmod/$(vm/kernel "$kernel" release)/obj
	for name in "${kept[@]}"; do
		check "$kernel: $name.c has code" test -n "$(defined "$dir/$name.o")"
		check "$kernel: what $name.c calls keeps every register" only_these "$dir/$name.o"
	done
	check "$kernel: an object that calls others is seen" eval '! only_these "$dir/data/ring.o"'
done
finish
