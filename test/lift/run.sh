#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Real functions of a kernel, laid out, do what they did (layouts.c). Native: no guest.
#
# usage: test/lift/run.sh KERNEL CALLS [SEED]
# promise: Layouts of the kernel's real functions do what the functions did, executed in random
#   states.
set -u
cd "$(dirname "$0")/../.." || exit 1
kernel=${1:?usage: test/lift/run.sh KERNEL CALLS [SEED]} calls=${2:?}
layouts=build/test/lift-layouts
[ -x $layouts ] || { echo "not ok 1 lift: make test-lift first"; exit 1; }
if ! { vmlinux=$(vm/kernel "$kernel" vmlinux) && map=$(vm/kernel "$kernel" system-map); }; then
	echo "not ok 1 lift: there is no kernel to lift"
	exit 1
fi
exec $layouts "$vmlinux" "$map" "$calls" "${3:-1}"
