#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Is all that a kernel executes in our graph of it? A guest boots and works under a QEMU plugin
# that writes down each transfer of control, and writes the graph of its kernel; the two are
# compared here, when QEMU has ended. What the boot executes may be in the graph of the kernel's
# image instead: it is rewritten or freed later.
#
# usage: test/guest/code/trace_host.sh [KERNEL]
# promise: K5 (in part): Each transfer of control that QEMU sees the kernel execute is in the
#   graph.
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
kernel=${1-6.1}
check=build/release/test/check_transfers
vmlinux=$(vm/kernel "$kernel" vmlinux) && map=$(vm/kernel "$kernel" system-map) || exit 1
failed=0

# verdict STATUS NAME: a result, and what was said about it
verdict() {
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests $2"
	else
		echo "not ok $tests $2"
		failed=1
	fi
	sed 's/^/# /' "$out/words"
}

# Where the kernel stands in memory at first.
physical() {
	printf %x $((16#$(awk -v s="$1" '$3 == s { print $1; exit }' "$map") - 0xffffffff80000000))
}

vm/run --kernel "$kernel" --append nokaslr --timeout 1800 \
	--plugin "build/test/transfers.so,out=$out/trace,image=$(physical _text)-$(physical __init_end)" -- \
	test/guest/code/trace.sh > "$out/live.zst" 2> "$out/words"
status=$?
grep -E '^(not )?ok |^#' "$out/words"
tests=$(grep -cE '^(not )?ok ' "$out/words")
if [ $status != 0 ] || ! zstd -qd "$out/live.zst" -o "$out/live"; then
	verdict 1 "the guest ran"
	exit 1
fi
$check dump "$vmlinux" "$map" > "$out/image" 2> "$out/words"
verdict $? "the graph of the image"
$check check "$out/trace" "$out/live" "$out/image" > "$out/words" 2>&1
verdict $? "all that was executed is in the graph"
$check selftest "$out/trace" "$out/live" "$out/image" > "$out/words" 2>&1
verdict $? "what is taken out of the graph is missed"
echo "1..$tests"
[ -z "${KI_TRACE_KEEP-}" ] || cp "$out"/{trace,live,image} "$KI_TRACE_KEEP"
exit $failed
