# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/fetch: QEMU's own plugin that models caches, as source, of the QEMU that is in the
# cache, and the headers that it is compiled with (test/plugin/fetch_test.sh). Nothing else is kept of
# the source's package, which apt checks by the archive's signature as it does all others.

# The index of sources, of the suites that QEMU may be from. It is read for this item alone.
source_apt() {
	local suite='[^ ]*'
	[[ $suite_qemu != *-backports ]] || suite=$suite_qemu
	sed -n "s/^deb \(.* $suite main\)\$/deb-src \1/p" "$cache/apt/sources.list" >"$tmp/sources.list"
	mkdir -p "$tmp/lists/partial" "$tmp/source" && cd "$tmp/source" || return
	apt-get -q -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::State::Lists="$tmp/lists" "$@"
}

unpack_qemu_cache() {
	local to=$tmp/tree
	tar -xJ -C "$to" --strip-components=1 --wildcards -f "$1" \
		'*/include/qemu/qemu-plugin.h' '*/contrib/plugins/cache.c' &&
		dpkg-deb --fsys-tarfile "$2" | tar -x -C "$to" ./usr/include/glib-2.0 \
			./usr/lib/x86_64-linux-gnu/glib-2.0/include
}

fetch_qemu_cache() {
	local item=qemu-cache version
	# What was built again, +b1, is of the same source.
	version=$(fact qemu version | sed 's/+b[0-9]*$//')
	already "$item" "$version" && return
	need_tools xz
	say "fetching the source of QEMU $version (40 MB, of which 2 MB are kept)"
	try "read the index of the Debian archive's sources" source_apt -o APT::Update::Error-Mode=any update
	try "download the source of QEMU $version" source_apt --download-only --tar-only source "qemu=$version"
	try "download the headers of GLib" download "$suite_qemu" "$tmp/debs" libglib2.0-dev
	try "unpack QEMU's plugin below $cache" unpack_qemu_cache "$tmp"/source/*.orig.tar.xz "$tmp"/debs/*.deb
	publish "$item" "$version"
}
