# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015
# Sourced by vm/fetch: which packages make an item, and how it is unpacked.

# QEMU 7.2 goes on executing stale code after a guest kernel has patched
# itself, which is all we are about: a suite with QEMU 10 is always taken.
choose_suites() {
	local codename
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
	case $codename in
	bookworm)
		suite_6_1=bookworm
		suite_6_12=bookworm-backports
		suite_qemu=bookworm-backports
		;;
	trixie)
		suite_6_1=
		suite_6_12=trixie
		suite_qemu=trixie
		;;
	*) die 1 "this is '$codename': Debian 12 (bookworm) or 13 (trixie) is needed" ;;
	esac
	suite_main=$codename
	apt_start "$codename"
}

fetch_item() {
	tmp=$(mktemp -d "$cache/tmp.XXXXXX") ||
		die 1 "cannot write to the cache $cache (KI_CACHE names another)"
	chmod 755 "$tmp"
	mkdir "$tmp/tree"
	case $1 in
	qemu) fetch_qemu ;;
	qemu-cache) fetch_qemu_cache ;;
	sqlite-tests) fetch_sqlite_tests ;;
	glib-tests) fetch_glib_tests ;;
	decoder-6.1) fetch_decoder "$1" "$suite_6_1" ;;
	decoder-6.12) fetch_decoder "$1" "$suite_6_12" ;;
	kernel-6.1) fetch_kernel "$1" "$suite_6_1" amd64 ;;
	kernel-6.1-cloud) fetch_kernel "$1" "$suite_6_1" cloud-amd64 ;;
	kernel-6.1-debug) build_debug "$1" "$suite_6_1" ;;
	kernel-6.1-rt) fetch_kernel "$1" "$suite_6_1" rt-amd64 ;;
	kernel-6.12) fetch_kernel "$1" "$suite_6_12" amd64 ;;
	kernel-7.2)
		fetch_newest "$1" sid
		export APT_CONFIG=$cache/apt/apt.conf
		;;
	*) die 2 "nothing to fetch is called '$1'" ;;
	esac
	rm -rf "$tmp"
}

# publish ITEM VERSION FACT...: from now on others see it. The directory is
# complete and on disk under its own name before the link is turned to it.
publish() {
	local item=$1 dir old
	dir=$(item_dir "$1" "$2")
	printf '%s\n' "version=$2" "${@:3}" >"$tmp/tree/facts" ||
		die 1 "cannot write to the cache $cache"
	rm -rf "$dir"
	mv "$tmp/tree" "$dir" &&
		ln -s "${dir##*/}" "$tmp/link" &&
		mv -T "$tmp/link" "$cache/$item" ||
		die 1 "cannot put $item into the cache $cache"
	for old in "$cache/$item"-[0-9]*; do
		[[ $old == "$dir" ]] || rm -rf "$old"
	done
}

# item_dir ITEM VERSION: make and library paths take no colon.
item_dir() {
	echo "$cache/$1-${2//[^0-9A-Za-z.+-]/_}"
}

# already ITEM VERSION: true if the cache holds this very version.
already() {
	have "$1" && [[ $(fact "$1" version) == "$2" ]] &&
		say "$1 $2 is the newest"
}

fetch_qemu() {
	local version list
	version=$(field "$suite_qemu" qemu-system-x86 Version)
	[[ $version ]] || die 1 "$suite_qemu has no package qemu-system-x86: see $cache/apt/sources.list"
	already qemu "$version" && return
	say "fetching QEMU $version (36 MB, unpacks to 200 MB)"
	list=$(closure "$suite_qemu" qemu-system-x86 kmod busybox-static 2>&1) ||
		die 1 "cannot work out what QEMU needs: ${list##*$'\n'}"
	# shellcheck disable=SC2086
	try "download QEMU" download "$suite_qemu" "$tmp/debs" $list
	try "unpack QEMU below $cache" unpack "$tmp/debs" "$tmp/tree"
	fetch_virtiofsd
	publish qemu "$version"
}

# Debian 13 packages the daemon by itself; in Debian 12 it is one file of
# QEMU 7.2, which works as well with QEMU 10.
fetch_virtiofsd() {
	local package=virtiofsd deb file=usr/lib/qemu/virtiofsd
	if [[ $suite_qemu == bookworm-backports ]]; then
		package=qemu-system-common
		try "download virtiofsd" download bookworm "$tmp/debs" $package
		for deb in "$tmp"/debs/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tmp/tree" "./$file"
		done
	else
		try "download virtiofsd" download "$suite_qemu" "$tmp/debs" $package
		try "unpack virtiofsd" unpack "$tmp/debs" "$tmp/tree"
		ln -sf ../../libexec/virtiofsd "$tmp/tree/$file"
	fi
	rm -rf "$tmp/debs"
	[[ -x $tmp/tree/$file ]] || die 1 "package $package holds no virtiofsd"
}

# fetch_kernel ITEM SUITE FLAVOUR
fetch_kernel() {
	local item=$1 suite=$2 flavour=$3 image headers version release pkgs
	[[ $suite ]] || die 1 "this Debian has no kernel ${item#kernel-}: choose 6.12"
	image=$(depends "$suite" "linux-image-$flavour" | grep -m1 ^linux-image)
	headers=$(depends "$suite" "linux-headers-$flavour" | grep -m1 ^linux-headers)
	[[ $image && $headers ]] ||
		die 1 "$suite has no package linux-image-$flavour: see $cache/apt/sources.list"
	version=$(field "$suite" "$image" Version)
	release=${image#linux-image-}
	already "$item" "$version" && return
	pkgs=$(depends "$suite" "$headers" | grep -E '^linux-(headers|kbuild)-')
	say "fetching kernel $release, $version (100 MB, unpacks to 500 MB)"
	# shellcheck disable=SC2086
	try "download kernel $release" \
		download "$suite" "$tmp/debs" "$image" "$headers" $pkgs
	try "unpack kernel $release below $cache" unpack "$tmp/debs" "$tmp/tree"
	relocate_headers "$(item_dir "$item" "$version")" "$release"
	try "index the modules of $release" \
		"$vm/lib/unpacked" sbin/depmod -b "$tmp/tree" "$release"
	publish "$item" "$version" "release=$release"
}

# The headers name each other by absolute path: give them the place where they
# will be, and let the tools be found beside them. The types of the kernel that
# come with some (vmlinux) would only make each build ask for pahole.
relocate_headers() {
	local dir=$1 src=$tmp/tree/usr/src file link to
	grep -rlI --include=Makefile --include='*.mk' -e '/usr/src/linux-' "$src" |
		while read -r file; do
			sed -i "s|/usr/src/linux-|$dir/usr/src/linux-|g" "$file"
		done
	find "$tmp/tree/usr" -type l | while read -r link; do
		to=$(readlink "$link")
		[[ $to != /* ]] || ln -sfn "$dir$to" "$link"
	done
	rm -f "$tmp/tree/usr/src/"*/vmlinux
}
