#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/guest/kcov/kcov_cmp_host.sh KERNEL: test/guest/kcov/kcov_cmp.sh in a machine. The kernel's file, which
# objdump reads there, is made here, where the cache can be written.
# promise: N5: Comparison operands are recorded as objdump lists the comparisons, with their
#   sizes and constants. [test_kcov_comparison.c, test/guest/kcov/kcov.sh]
# not shown: N5: Comparisons that compilers make of other instructions than `cmp` and `test`.
cd "$(dirname "$0")/../../.." || exit 1
vm/kernel "$1" vmlinux > /dev/null || exit 1
exec vm/run --kernel "$1" --timeout 300 -- test/guest/kcov/kcov_cmp.sh "$1"
