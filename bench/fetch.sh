#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a layout changes: for each load, what one operation takes of the kernel, as it was and laid
# out: instructions, taken branches, and what a modelled processor fetches and misses
# (test/plugin/fetch.c says how it is modelled).
#
# Time is what is executed (-icount), so that a load of one second is the same before and after.
#
# usage: bench/fetch.sh [--kernel 6.1] [LOAD...]
set -u
cd "$(dirname "$0")/.." || exit 1
kernel=6.1
[ "${1:-}" != --kernel ] || { kernel=$2; shift 2; }
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
vm/run --kernel "$kernel" --cpus 1 --icount --timeout 7000 --plugin "build/test/fetch.so,out=$out/fetch" -- \
	bench/fetch_guest.sh "$@" > "$out/said" || { cat "$out/said" >&2; exit 1; }
grep '^#' "$out/said"
awk -F'\t' -f bench/fetch.awk <(grep '^window' "$out/said") "$out/fetch"
