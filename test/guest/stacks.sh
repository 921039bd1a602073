#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stacks and strings: a kernel's stack as the kernel shows it, in plain code, in code that is
# instrumented all over, and in functions that are moved; in interrupts and NMIs; a program's own; a
# table that is too small; strings as they were passed.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/lib.sh"
start
out=/tmp/stacks.out
cover=$top/build/test/cover
path=(proc_single_show seq_read_iter vfs_read ksys_read __x64_sys_read do_syscall_64)

# cases HOW COUNT COMMAND...: its lines are our cases; there must be so many
cases() {
	local how=$1 count=$2 status line
	shift 2
	"$@" > $out 2>&1
	status=$?
	while read -r line; do ok "$how$line" true; done < <(sed -n 's/^ok //p' $out)
	while read -r line; do ok "$how$line" false; done < <(sed -n 's/^not ok //p' $out)
	grep -v -e '^ok ' -e '^not ok ' $out | sed 's/^/# /'
	is "${how}all cases were tried" "$status $(grep -c '^ok ' $out)" "0 $count"
}

cases "" 22 "$top/build/test/stacks"
cases "instrumented: " 3 "$cover" "${path[@]}" -- "$top/build/test/stacks" kernel
cases "moved: " 3 "$ki" stat -q -o /dev/null -m blocks "${path[@]}" -- "$top/build/test/stacks" kernel
hot=(vfs_read read_zero __x64_sys_pread64 ksys_pread64 iov_iter_zero rw_verify_area)
cases "instrumented: " 2 "$cover" "${hot[@]}" -- "$top/build/test/stacks" contexts
cases "moved: " 2 "$ki" stat -q -o /dev/null -m blocks "${hot[@]}" -- "$top/build/test/stacks" contexts
cases "" 1 "$top/build/test/stacks" nmi
dmesg -C # what the kernel says of these NMIs was asked for
finish
