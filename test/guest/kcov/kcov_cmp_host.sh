#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/guest/kcov/kcov_cmp_host.sh KERNEL: test/guest/kcov/kcov_cmp.sh in a machine. The kernel's file, which
# objdump reads there, is made here, where the cache can be written.
cd "$(dirname "$0")/../../.." || exit 1
vm/kernel "$1" vmlinux > /dev/null || exit 1
exec vm/run --kernel "$1" --timeout 300 -- test/guest/kcov/kcov_cmp.sh "$1"
