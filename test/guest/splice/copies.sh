#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every window of the running kernel, checked by the driver: its decoder and its relocator and the
# library's agree on all instructions that can be displaced.
. "$(dirname "$0")/../common/lib.sh"
start
"$top/build/test/copies" > /tmp/copies 2> /tmp/words
is "all windows are sent" $? 0
sed 's/^/# /' /tmp/copies /tmp/words
count() { awk -v what="$1" '$1 == what { n = $2 } END { print n + 0 }' /tmp/copies; }
ok "$(count windows) windows of $(count instructions) instructions" test "$(count windows)" -gt 300000
for reason in COPY_MISMATCH NOT_BOUNDARY BYTES_CHANGED BAD_REQUEST BAD_FIXUP BAD_CHUNK UNDECODABLE PRIVILEGED_INSN \
	STACK_CALL TOO_FAR; do
	is "the driver never says $reason" "$(count $reason)" 0
done
ok "nearly all may be installed" test $(($(count OK) * 100)) -gt $(($(count windows) * 90))
finish
