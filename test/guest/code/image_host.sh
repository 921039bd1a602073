#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/guest/code/image_host.sh KERNEL: test/guest/code/image.sh in a machine. The files that it compares
# with are made here, where the cache can be written.
cd "$(dirname "$0")/../../.." || exit 1
vm/kernel "$1" vmlinux > /dev/null && vm/kernel "$1" system-map > /dev/null || exit 1
exec vm/run --kernel "$1" --append nokaslr --timeout 300 -- test/guest/code/image.sh "$1"
