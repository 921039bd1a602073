# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/fetch: the newest kernel, Debian's unstable one. Its modules are built by its own
# compiler, which this machine has not: so that comes with it, with its libraries, unpacked and
# not installed.

newest_tools=x86_64-linux-gnu- # what its compiler and binutils are called

# This machine's archive has the suite, though its own sources do not name it.
newest_sources() {
	local main opt=
	main=$(mirror "$(. /etc/os-release && echo "$VERSION_CODENAME")")
	[[ $main ]] || die 1 "apt on this machine knows no Debian archive: run 'apt-get update'"
	[[ -r $keyring ]] && opt="[signed-by=$keyring] "
	echo "deb $opt$main $1 main"
}

# fetch_newest ITEM SUITE: another archive than this machine's, so with an index of its own.
fetch_newest() {
	local item=$1 suite=$2 image headers version release list dir
	need_tools patchelf
	apt_start "$suite" newest_sources newest
	image=$(depends "$suite" linux-image-amd64 | grep -m1 ^linux-image)
	[[ $image ]] || die 1 "$suite has no package linux-image-amd64: see ${APT_CONFIG%.conf}"
	version=$(field "$suite" "$image" Version)
	release=${image#linux-image-} headers=linux-headers-${image#linux-image-}
	already "$item" "$version" && return
	say "fetching kernel $release, $version, and its compiler (230 MB, unpacks to 900 MB)"
	list=$(apt-get -qq -s install "$image" "$headers" | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\).*/\1=\2/p')
	# shellcheck disable=SC2086
	try "download kernel $release" download "$suite" "$tmp/debs" $list
	mkdir -p "$tmp/tree/usr/lib" "$tmp/tree/boot"
	ln -s usr/lib "$tmp/tree/lib"
	try "unpack kernel $release below $cache" unpack_newest "$tmp/debs" "$tmp/tree"
	ln -s "../usr/lib/modules/$release/vmlinuz" "$tmp/tree/boot/vmlinuz-$release"
	dir=$(item_dir "$item" "$version")
	relocate_headers "$dir" "$release"
	try "let the compiler of $release run here" relocate_tools "$dir" "$release"
	try "index the modules of $release" \
		"$vm/lib/unpacked" sbin/depmod -b "$tmp/tree" "$release"
	publish "$item" "$version" "release=$release" "cc=$dir/usr/bin/${newest_tools}gcc"
}

# Through links, as tar does not by itself: lib/ is one.
unpack_newest() {
	local deb
	for deb in "$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$2" || return 1
		rm "$deb"
	done
}

# The compiler and the kernel's own tools are told where their libraries are, and the headers where
# the tools are. (A path that libraries inherit, so they stay as they are.)
relocate_tools() {
	local dir=$1 release=$2 tree=$tmp/tree file
	find "$tree/usr/bin" "$tree/usr/libexec/gcc" "$tree"/usr/lib/linux-kbuild-* -type f -perm /111 |
		while read -r file; do
			patchelf --print-interpreter "$file" >/dev/null 2>&1 || continue
			patchelf --set-interpreter "$dir/usr/lib64/ld-linux-x86-64.so.2" \
				--force-rpath --set-rpath "$dir/usr/lib/x86_64-linux-gnu" "$file" || return 1
		done || return 1
	# The compiler looks for its assembler there.
	mkdir -p "$tree/usr/x86_64-linux-gnu/bin" &&
		ln -s ../../bin/${newest_tools}as "$tree/usr/x86_64-linux-gnu/bin/as" &&
		ln -s ../../bin/${newest_tools}ld "$tree/usr/x86_64-linux-gnu/bin/ld" &&
		(cd "$tree/usr/bin" && ln -s ${newest_tools}gcc-[0-9]* ${newest_tools}gcc) &&
		sed -i "s|^override CROSS_COMPILE = |override PAHOLE = $dir/usr/bin/pahole\n&$dir/usr/bin/|" \
			"$tree/usr/src/linux-headers-$release/.kernelvariables"
}
