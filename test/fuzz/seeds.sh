#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/fuzz/seeds.sh: make the first files of the corpora anew, from seed.S. They are in the tree,
# so that a run does not depend on this machine's assembler.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
as -o "$tmp/object" seed.S
ld -o "$tmp/program" -e one -z max-page-size=4096 --unresolved-symbols=ignore-all "$tmp/object"
ld -o "$tmp/library" -shared -z max-page-size=4096 -z notext "$tmp/object" 2> /dev/null || true
objcopy --strip-all "$tmp/program" "$tmp/stripped"
mkdir -p corpus/image corpus/sysmap
cp "$tmp/object" "$tmp/program" "$tmp/stripped" corpus/image/
if [ -s "$tmp/library" ]; then cp "$tmp/library" corpus/image/; fi
{
	echo "0000000000000000 A __per_cpu_start"
	echo "ffffffff81000000 T _stext"
	echo "ffffffff81000000 T _text"
	echo "ffffffff81000010 t one"
	echo "ffffffff81000020 T __noinstr_text_start"
	echo "ffffffff81000040 T __noinstr_text_end"
	echo "ffffffff81000080 W notify_die"
	echo "ffffffff81000100 T _etext"
	for t in __ex_table __bug_table __jump_table; do
		echo "ffffffff82000000 R __start_$t"
		echo "ffffffff82000060 R __stop_$t"
	done | sort
	echo "ffffffff82000060 D __start_static_call_sites"
	echo "ffffffff82000080 D __stop_static_call_sites"
} > corpus/sysmap/kernel
