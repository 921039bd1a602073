#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A breakpoint that has gone when the driver is asked of it: QEMU's emulated CPUs meet such, and
# kernels since 6.8 die of it. What stands there now is done, of seven kinds (kmod/text/trap.c).
#
#   vm/run --no-module -- test/guest/splice/ghost.sh
# promise: A CPU that asks about a breakpoint that has gone executes what stands there now.
. "$(dirname "$0")/../common/lib.sh"
# First the one who takes it away, so that he is asked first.
ok "the module that takes it away loads" insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
insmod "$top/build/kmod/$(uname -r)/kerninst.ko" || exit 1
start
n=1000
ok "breakpoints are met that have gone" sh -c "echo ghost $n > /proc/ki_mate"
is "each time, and what stands there now is done" "$(xargs < /proc/ki_mate)" \
	"calls $n sum $(printf %x $n)"
ok "the module unloads" goes ki_mate
finish
