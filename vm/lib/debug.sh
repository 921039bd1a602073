# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2015
# Sourced by vm/fetch: the kernel 6.1-debug, which watches itself: lockdep, KASAN, sleeping where one
# may not. No package holds one: it is built from Debian's source, with the configuration of Debian's
# 6.1 and what debug.config changes in it.
#
# A build takes most of an hour on a small machine, so what an interrupted one leaves is kept, in
# build-6.1-debug of the cache, and make goes on there. Nothing in the cache but the finished item
# is named like an item.

# Files that a build of modules needs, as make bindeb-pkg packs them, relative to the source.
list_headers() {
	find . arch/x86 -maxdepth 1 -name 'Makefile*'
	find include scripts arch/x86/include ! -type d
	find arch/x86 \( -name Kbuild.platforms -o -name Platform \)
	echo tools/objtool/objtool
	printf '%s\n' .config Module.symvers
}

need_build_tools() {
	local tool header missing=()
	for tool in gcc-12:gcc-12 make:make bc:bc bison:bison flex:flex perl:perl xz:xz-utils; do
		[[ $(type -t "${tool%:*}") ]] || missing+=("${tool#*:}")
	done
	for header in gelf.h:libelf-dev openssl/opensslv.h:libssl-dev; do
		[[ -r /usr/include/${header%:*} || -r /usr/include/x86_64-linux-gnu/${header%:*} ]] ||
			missing+=("${header#*:}")
	done
	((${#missing[@]} == 0)) ||
		die 1 "building kernel 6.1-debug needs packages: apt-get install ${missing[*]}"
}

# unpack_source SUITE VERSION: $build/linux, from the source's package. The tar file in it is
# unpacked last, and the directory gets its name when it is whole.
unpack_source() {
	[[ ! -d $build/linux ]] || return 0
	rm -rf "${build:?}"
	say "fetching the source of kernel 6.1, $2 (140 MB, unpacks to 1.5 GB)"
	try "download the source of kernel 6.1" \
		download "$1" "$build/debs" "linux-source-6.1=$2"
	try "unpack the source's package below $build" unpack "$build/debs" "$build/package"
	mkdir "$build/part" &&
		try "unpack the source below $build" tar -C "$build/part" --strip-components=1 -xf \
			"$build/package/usr/src/linux-source-6.1.tar.xz"
	rm -rf "$build/package" "$build/debs"
	mv "$build/part" "$build/linux" || die 1 "cannot write to the cache $cache"
}

# A build must end with us: it is a child of this very shell, and stop_build is called at the end.
maker=
stop_build() {
	[[ ! $maker ]] || kill "$maker" 2>/dev/null
}

# configure CONFIG: make sees what differs from the last time, and only that is built again.
configure() {
	{
		sed 's/=m$/=n/' "$1" && cat "$vm/lib/debug.config"
	} >"$build/linux/.config" || die 1 "cannot write to the cache $cache"
	try "configure kernel 6.1-debug" "${source_make[@]}" olddefconfig
}

tell_progress() {
	while sleep 120 >/dev/null 2>&1 && kill -0 "$1" 2>/dev/null; do
		say "  $(grep -c '^  [A-Z]' "$2") of some 2500 files"
	done
}

build_kernel() {
	local log=$build/log jobs=${JOBS:-$(nproc)} teller status
	say "building kernel 6.1-debug with $jobs job(s), half an hour to an hour (log: $log)"
	"${source_make[@]}" -j "$jobs" bzImage modules >"$log" 2>&1 &
	maker=$!
	tell_progress $maker "$log" 9>&- &
	teller=$!
	wait $maker
	status=$?
	maker=''
	kill $teller 2>/dev/null
	((status == 0)) ||
		die 1 "kernel 6.1-debug does not build: $(grep -m1 -E 'error:|Error|No space' "$log" ||
			tail -n 1 "$log") ($log)"
}

# install_kernel RELEASE DIR: into $tmp/tree, as the packages of other kernels are laid out; DIR is
# where the tree will be.
install_kernel() {
	local release=$1 tree=$tmp/tree headers=$tmp/tree/usr/src/linux-headers-$1
	mkdir -p "$tree/boot" "$headers" &&
		cp "$build/linux/arch/x86/boot/bzImage" "$tree/boot/vmlinuz-$release" &&
		cp "$build/linux/.config" "$tree/boot/config-$release" ||
		die 1 "cannot write to the cache $cache"
	try "install the modules of $release" "${source_make[@]}" INSTALL_MOD_PATH="$tree" INSTALL_MOD_STRIP=1 \
		DEPMOD=true modules_install
	(cd "$build/linux" && list_headers | sort -u | tar -cf - -T - | tar -xf - -C "$headers") ||
		die 1 "cannot copy the headers of $release"
	rm -f "$tree/lib/modules/$release/source"
	ln -sfn "$2/usr/src/linux-headers-$release" "$tree/lib/modules/$release/build"
	try "index the modules of $release" "$vm/lib/unpacked" sbin/depmod -b "$tree" "$release"
}

# build_debug ITEM SUITE
build_debug() {
	local item=$1 suite=$2 version release config build=$cache/build-6.1-debug source_make
	[[ $suite ]] || die 1 "this Debian has no kernel ${item#kernel-}: choose 6.12"
	version=$(field "$suite" linux-source-6.1 Version)
	[[ $version ]] || die 1 "$suite has no package linux-source-6.1: see $cache/apt/sources.list"
	already "$item" "$version" && return
	need_build_tools
	[[ $(cat "$build/version" 2>/dev/null) == "$version" ]] || rm -rf "$build"
	unpack_source "$suite" "$version"
	echo "$version" >"$build/version"
	# No word of where and when it was built: the same source makes the same kernel.
	# Nor of the make that may have called us: its flags and variables are not this one's.
	source_make=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$build/linux" CC=gcc-12
		LOCALVERSION= KBUILD_BUILD_USER=kerninst KBUILD_BUILD_HOST=kerninst "KBUILD_BUILD_TIMESTAMP=$(date -ur "$build/linux/Makefile")")
	config=$(readlink -f "$cache/kernel-6.1")/boot/config-$(fact kernel-6.1 release)
	configure "$config"
	build_kernel
	release=$("${source_make[@]}" -s kernelrelease)
	install_kernel "$release" "$(item_dir "$item" "$version")"
	publish "$item" "$version" "release=$release"
	rm -rf "$build"
}
