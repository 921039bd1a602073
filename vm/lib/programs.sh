# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/fetch: programs of others whose own test suites run while all of their code is covered
# (test/process/sqlite.sh, test/process/glib.sh). SQLite's tests are only in its source; GLib's are a
# package of programs, which go with the library of the same version.

# The index of the release's sources, for one package: NAME, into $tmp/source.
fetch_source() {
	sed -n "s/^deb \(.* $suite_main\(-updates\|-security\)\? main\)\$/deb-src \1/p" "$cache/apt/sources.list" >"$tmp/sources.list"
	mkdir -p "$tmp/lists/partial" "$tmp/source" && cd "$tmp/source" || return
	apt-get -q -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::State::Lists="$tmp/lists" \
		-o APT::Update::Error-Mode=any update &&
		apt-get -q -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::State::Lists="$tmp/lists" \
			--download-only --tar-only source "$1"
}

fetch_sqlite_tests() {
	local item=sqlite-tests version
	version=$(field "$suite_main" sqlite3 Version)
	[[ $version ]] || die 1 "$suite_main has no package sqlite3: see $cache/apt/sources.list"
	already "$item" "$version" && return
	need_tools xz
	say "fetching the source of SQLite $version, with its tests (14 MB, unpacks to 65 MB)"
	try "download the source of SQLite $version" fetch_source "sqlite3=$version"
	try "unpack SQLite below $cache" tar -xJ -C "$tmp/tree" --strip-components=1 -f "$tmp"/source/sqlite3_*.orig.tar.xz
	publish "$item" "$version"
}

fetch_glib_tests() {
	local item=glib-tests version library
	version=$(field "$suite_main" libglib2.0-tests Version)
	[[ $version ]] || die 1 "$suite_main has no package libglib2.0-tests: see $cache/apt/sources.list"
	already "$item" "$version" && return
	library=$(depends "$suite_main" libglib2.0-tests | grep -m1 '^libglib2\.0-0')
	say "fetching GLib $version and its installed tests (4 MB, unpacks to 16 MB)"
	try "download GLib $version" download "$suite_main" "$tmp/debs" "libglib2.0-tests=$version" "$library=$version"
	try "unpack GLib below $cache" unpack "$tmp/debs" "$tmp/tree"
	publish "$item" "$version"
}
