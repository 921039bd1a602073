#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: boot a stock Debian kernel in a virtual machine, load it, and look into it.
#
# usage: examples/demo.sh [OPTION of vm/run...]
#
# FUNC names the function whose blocks are shown (default: tcp_v4_rcv).
set -u
cd "$(dirname "$0")/.." || exit 1
export FUNC=${FUNC:-tcp_v4_rcv} KI_VM_QUIET=1
kernel=6.1
for ((i = 1; i < $#; i++)); do
	[ "${!i}" = --kernel ] && { n=$((i + 1)); kernel=${!n}; }
done

echo "demo: booting Debian's kernel $(vm/kernel "$kernel" release) ($(vm/kernel "$kernel" version), unmodified) in a virtual machine" >&2
vm/run --timeout 240 "$@" -- env FUNC="$FUNC" examples/demo-guest.sh || exit
echo "demo: a second machine, which counts instructions, measures what a hit costs" >&2
vm/run --kernel "$kernel" --icount --timeout 120 -- examples/demo-cost.sh
