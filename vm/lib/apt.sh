# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2046,SC2016
# Sourced by vm/fetch: a private apt. It reads the mirrors and keys this
# machine trusts already, and keeps lists, archives and its (empty) idea of
# what is installed below the cache; the machine's own apt is not touched.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror SUITE: the address the machine's own sources name for a Debian suite.
mirror() {
	apt-get indextargets --format '$(REPO_URI)' \
		'Created-By: Packages' 'Origin: Debian' "Codename: $1" 2>/dev/null |
		head -n1
}

write_sources() {
	local suite=$1 main security opt=
	main=$(mirror "$suite")
	[[ $main ]] || die 1 "apt on this machine knows no Debian archive for" \
		"$suite: run 'apt-get update' (see /etc/apt/sources.list)"
	security=$(mirror "$suite-security")
	[[ -r $keyring ]] && opt="[signed-by=$keyring] "
	echo "deb $opt$main $suite main"
	echo "deb $opt$main $suite-updates main"
	echo "deb $opt$main $suite-backports main"
	[[ -z $security ]] || echo "deb $opt$security $suite-security main"
}

# apt_start SUITE [SOURCES DIR]: set up the private apt, with what SOURCES prints for the suite, below
# DIR of the cache, and read the archive's index.
apt_start() {
	local d=$cache/${3:+$3/}apt sources
	sources=$("${2:-write_sources}" "$1") || exit 1
	mkdir -p "$d/lists/partial" "$d/cache/archives/partial" 2>/dev/null ||
		die 1 "cannot write to the cache $cache (KI_CACHE names another)"
	: >"$d/status"
	echo "$sources" >"$d/sources.list"
	cat >"$d/apt.conf" <<-END
		Dir::Etc::SourceList "$d/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State "$d";
		Dir::State::Lists "$d/lists";
		Dir::State::status "$d/status";
		Dir::Cache "$d/cache";
		APT::Install-Recommends "0";
		APT::Get::Assume-Yes "1";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Debug::NoLocking "1";
	END
	export APT_CONFIG=$d/apt.conf
	say "reading the index of the Debian archive"
	try "read the index of the Debian archive (is there a network?)" \
		apt-get -q -o APT::Update::Error-Mode=any update
}

# target SUITE: apt's option to prefer a suite. Only backports need it: without
# it apt takes the newest of the release, its updates and its security suite.
target() {
	[[ $1 != *-backports ]] || echo "-t=$1"
}

# field SUITE PACKAGE NAME: a field of the newest version in a suite.
field() {
	apt-cache $(target "$1") show --no-all-versions "$2" 2>/dev/null |
		sed -n "s/^$3: //p" | head -n1
}

# depends SUITE PACKAGE: the names a package depends on, one a line.
depends() {
	field "$1" "$2" Depends | tr , '\n' | sed 's/^ *//; s/ .*//'
}

# closure SUITE PACKAGE...: the packages and all they need, as NAME=VERSION.
# The status file is empty, so nothing the machine has is taken for granted.
closure() {
	local suite=$1
	shift
	apt-get -qq -s $(target "$suite") install "$@" |
		sed -n 's/^Inst \([^ ]*\) (\([^ ]*\).*/\1=\2/p' |
		grep -v '^libc6='
}

# download SUITE DIR PACKAGE...
download() {
	local suite=$1 dir=$2
	shift 2
	mkdir -p "$dir" && cd "$dir" &&
		apt-get -q $(target "$suite") download "$@"
}

# unpack DIR TREE: all .deb files of DIR into TREE; they are not kept.
unpack() {
	local deb
	for deb in "$1"/*.deb; do
		dpkg-deb -x "$deb" "$2" && rm "$deb" || return 1
	done
}
