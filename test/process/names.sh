#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/names.sh [KERNINST]
# Names that are not in a file's symbol tables: entries of the PLT, what a file of debugging information says of a
# stripped program, and the vdso, which can be looked at and not changed.
# promise: PLT entries, stripped programs and the vdso have their names.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
names=$PWD/$bin/names
mkdir -p "$tmp/bin/.debug" "$tmp/away" && ln -s "$PWD/$bin/oracle" "$tmp/bin" && bin=$tmp/bin
objcopy --only-keep-debug "$names" "$tmp/away/names.debug" && strip -s -o "$bin/plain" "$names" &&
	strip -s -o "$bin/linked" "$names" && (cd "$tmp/away" && objcopy --add-gnu-debuglink=names.debug "$bin/linked") || exit 1

plt() {
	start plain && stat "$pid/plain:strtol@plt" "$pid/libc.so.6:strtol" && stop
	is "$(cat "$tmp/counts")" "$(printf '%s\n' "libc.so.6:strtol 1000" "plain:strtol@plt 1000")"
}
check "an entry of the PLT: what this program calls" plt
# The same in objdump's words.
entries() {
	start plain && "$ki" list "$pid/plain:*@plt" 2> "$tmp/said" > "$tmp/list" && stop || return
	is "$(awk 'NR > 1 { print $2 }' "$tmp/list" | sort)" "$(objdump -d "$names" | sed -n 's/.*<\(.*@plt\)>:$/\1/p' | sort)"
}
check "all entries are named as objdump names them" entries

inner() { # FORM
	start "$1" && stat "$pid/$1:inner" && stop && is "$(of "$1:inner")" 1000
}
nameless() { # FORM
	start "$1" || return
	"$ki" stat "$pid/$1:inner" -- true > "$tmp/out" 2> "$tmp/said"
	is $? 1 && grep -q "no function" "$tmp/said" && [ "$("$ki" list "$pid/$1:sub_*" 2> "$tmp/said" | wc -l)" -gt 1 ] && stop
}
check "a stripped program has no name for it" nameless plain
check "nor one whose file of debugging information is elsewhere" nameless linked
cp "$tmp/away/names.debug" "$bin/.debug/"
check "one below .debug: by its link" inner linked
mv "$bin/.debug/names.debug" "$bin/"
check "one beside it" inner linked
# What has another build id belongs to another program.
objcopy --update-section .note.gnu.build-id=<(objcopy -O binary --only-section=.note.gnu.build-id "$names" /dev/stdout | head -c 35; echo) \
	"$bin/names.debug" 2> "$tmp/said"
check "one of another build: it is left alone" nameless linked

vdso() {
	start plain || return
	"$ki" list "$pid/vdso:*" > "$tmp/list" 2> "$tmp/said" && grep -q '^vdso *__vdso_\|^vdso *clock_gettime' "$tmp/list" || return
	is "$(awk 'NR > 1 { print $NF }' "$tmp/list" | sort -u)" PROCESS_TEXT || return
	"$ki" disas "$pid/vdso:$(awk '/getcpu/ { print $2; exit }' "$tmp/list")" > "$tmp/out" 2>&1 && grep -q 'ret' "$tmp/out" || return
	before=$(text)
	"$ki" stat "$pid/vdso:$(awk '/getcpu/ { print $2; exit }' "$tmp/list")" -- true > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c 'that can be changed for it alone' "$tmp/said")" "1 1" && is "$(text)" "$before" && stop
}
check "the vdso: its functions and code; nothing is put there" vdso
finish
