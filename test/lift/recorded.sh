#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Real functions of a kernel, laid out, do what they did (layouts.c), in states in which a kernel
# called them: a guest boots and works under a QEMU plugin that records registers and the memory that
# they lead to (test/plugin/states.c). The functions are then executed here.
#
# usage: test/lift/recorded.sh KERNEL CALLS [SEED]
# promise: Layouts of the kernel's real functions do what the functions did, executed in states that a
#   kernel called them in.
set -u
cd "$(dirname "$0")/../.." || exit 1
kernel=${1:?usage: test/lift/recorded.sh KERNEL CALLS [SEED]} calls=${2:?}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
map=$(vm/kernel "$kernel" system-map) || exit 1
awk '$2 ~ /[tT]/ && NF == 3 && length($1) == 16 && $1 ~ /^ffffffff/' "$map" > "$out/entries"
if ! vm/run --kernel "$kernel" --cpus 1 --append nokaslr --no-module --timeout 1500 \
	--plugin "build/test/states.so,out=$out/states,entries=$out/entries,most=3" -- \
	sh -c 'find /usr/share/doc | sort | sha1sum; tar -cf /tmp/a.tar /usr/share/perl5 /etc; cp /tmp/a.tar /tmp/b; rm /tmp/b
		mkdir /tmp/d; mount -t tmpfs none /tmp/d; echo 1 > /tmp/d/f; mv /tmp/d/f /tmp/d/g; umount /tmp/d; ps ax; dmesg' \
	> "$out/said"; then
	echo "not ok 1 the guest ran"
	exit 1
fi
KI_STATES=$out/states test/lift/run.sh "$kernel" "$calls" "${3:-1}"
