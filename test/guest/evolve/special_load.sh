#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Versions of functions that a load calls all the time, each for its own most frequent value, come and
# go; nothing is left.
# promise: E10: A version for a frequent value comes and goes while programs call its function all the time.
. "$(dirname "$0")/../common/lib.sh"
start

while :; do ls -lR /usr/share/doc; done > /dev/null 2>&1 &
load=$!
while :; do grep -r x /etc; done > /dev/null 2>&1 &
readers=$!
# one_of NAME...: which of them this kernel has
one_of() { awk -v names=" $* " 'index(names, " " $3 " ") { print $3; exit }' /proc/kallsyms; }
for f in "$(one_of __alloc_pages __alloc_pages_noprof) 1" "inode_permission 2" "vfs_read 2" "$(one_of __kmalloc __kmalloc_noprof) 0" "step_into 1" "path_lookupat 1"; do
	# shellcheck disable=SC2086 # two words
	set -- $f
	ok "$1 under load" "$ki" specialize --for 3 --share 1 --callers --argument "$2" "$1" -- sleep 2
done
kill $load $readers
wait $load $readers 2> /dev/null
is "no window is left" "$(field windows)" 0
is "no module is left" "$(grep -c '^kerninst_copy_' /proc/modules)" 0
soon "nor a patch" 0 field heap_used
finish
