#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the driver with sparse as checker, in a copy; any word of sparse about our files fails.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=build/sparse
mkdir -p $dir/include/uapi
cp -r kmod/. $dir/ && cp include/uapi/* $dir/include/uapi/ || exit 1
find $dir -name '*.o' -delete
make -s -C "$(vm/kernel 6.1 headers)" M="$PWD/$dir" CC=gcc-12 C=2 CHECK=sparse W=1 \
	CONFIG_DEBUG_INFO_BTF_MODULES= modules > $dir/log 2>&1 || { cat $dir/log; exit 1; }
! grep -E "$dir/.*(warning|error)" $dir/log
