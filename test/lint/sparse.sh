#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Look at the driver's files with sparse; any word of it about them fails. The kernel's build has
# left how it compiled each (.NAME.o.cmd); sparse is called as it would do that with C=2, so that
# nothing is compiled once more.
set -u
cd "$(dirname "$0")/../.." || exit 1
headers=$(vm/kernel 6.1 headers) && make -s kmod KERNEL=6.1 || exit 1
top=$PWD
obj=$top/build/kmod/$(vm/kernel 6.1 release)/obj
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cd "$headers" || exit 1

flags_of() { sed -nE '1 { s/^[^ ]* := [^ ]* //; s/ -c -o .*//; p }' "$1"; } # COMMAND-FILE
looked=0
for source in "$top"/kmod/*.c "$top"/kmod/*/*.c; do
	file=$obj/${source#"$top"/kmod/}
	command=${file%/*}/.$(basename "$file" .c).o.cmd
	[ -e "$command" ] || continue # it is of a variant
	# The shell reads the flags, as the kernel's make lets it.
	eval "sparse -D__linux__ -Dlinux -D__STDC__ -Dunix -D__unix__ -Wbitwise -Wno-return-void \
		-Wno-unknown-attribute -D__x86_64__ --arch=x86 -mlittle-endian -m64 $(flags_of "$command") $file" >> "$log" 2>&1 ||
		{ cat "$log"; exit 1; }
	looked=$((looked + 1))
done
[ $looked -gt 100 ] || { echo "only $looked files were compiled"; exit 1; }
! grep -E "$obj/.*(warning|error)" "$log"
