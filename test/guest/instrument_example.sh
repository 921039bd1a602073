#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The example of an instrument: its README's commands, as they stand there, and what they print.
# shellcheck disable=SC2317,SC2016 # functions are called through ok; awk has its own variables
. "$(dirname "$0")/lib.sh"
start
PATH=${ki%/*}:$PATH
printed=/tmp/example.out
steps() { "$top/examples/instrument/try.sh" > "$printed" 2>&1; }
ok "all steps" steps
has() { grep -q -- "$1" "$printed" || { cat "$printed"; false; }; }
ok "the file is built and listed" has '^read_size  *reads  *(struct file \*file, size_t size)'
ok "whoever loads it is warned" has 'reads.ko runs in the kernel from now on, unchecked'
ok "its records are in the file, by their fields" has 'magic'
ok "all reads of the load have been recorded" has 'size (bytes): min 8192 .* max [0-9]*'
# A thousand of dd's, and a few of the system's.
big=$(awk '$3 == "vfs_read" && $1 ~ /^[0-9]+$/ { print $1 }' $printed)
ok "and counted, as a condition ($big)" test "${big:-0}" -ge 1000 -a "${big:-0}" -lt 1200
ok "its own histogram has both loads" awk '/^magic 0x1021994:/ { for (i = 3; i <= NF; i++) if ($i ~ /^8192\+:/) { split($i, v, ":"); exit !(v[2] >= 2000) } exit 1 }' $printed
ok "it is gone" test ! -e /sys/module/reads

# The file has 4 MiB; the file system's own blocks come on top of that.
asked=$(sed -n '/=disk_io:/,/^\$/s/.*bytes: min.* sum \([0-9]*\).*/\1/p' $printed)
ok "requests to the disk ask for the file ($asked bytes)" test "${asked:-0}" -ge 4194304 -a "${asked:-0}" -lt 4718592
pages=$(awk '/=page_in / { for (i = 4; i <= NF; i++) if (sub(/^bytes=/, "", $i) && $1 * $i > most) most = $1 * $i } END { print most }' $printed)
is "and all of it comes into the page cache, once" "$pages" 4194304
ok "they are gone" test ! -e /sys/module/storage
finish
