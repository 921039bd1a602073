# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/fetch: a kernel's decoder of instructions, as source, for tests that run in a process
# what the driver runs over it. The headers' packages hold its declarations only; so it is taken out of
# the source's package, of which nothing else is kept.

# fetch_decoder ITEM SUITE
fetch_decoder() {
	local item=$1 suite=$2 name=linux-source-${1#decoder-} version deb
	[[ $suite ]] || die 1 "this Debian has no kernel ${item#decoder-}: choose 6.12"
	version=$(field "$suite" "$name" Version)
	[[ $version ]] || die 1 "$suite has no package $name: see $cache/apt/sources.list"
	already "$item" "$version" && return
	need_tools xz
	say "fetching the decoder of kernel ${item#decoder-}, $version (150 MB, of which 200 kB are kept)"
	try "download the source of kernel ${item#decoder-}" download "$suite" "$tmp/debs" "$name=$version"
	deb=$(echo "$tmp"/debs/*.deb)
	try "unpack the decoder below $cache" unpack_decoder "$deb" "$name"
	rm -rf "$tmp/debs"
	publish "$item" "$version"
}

unpack_decoder() {
	local dir=$2/arch/x86
	dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$2.tar.xz" |
		tar -xJ -C "$tmp/tree" --strip-components=3 "$dir/lib/insn.c" "$dir/lib/inat.c" \
			"$dir/lib/x86-opcode-map.txt" "$dir/tools/gen-insn-attr-x86.awk" "$dir/include/asm/insn.h" \
			"$dir/include/asm/inat.h" "$dir/include/asm/inat_types.h" "$dir/include/asm/emulate_prefix.h"
}
