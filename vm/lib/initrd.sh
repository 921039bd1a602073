# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/run: the initramfs, made once for each kernel and init.

# with_deps MODULES NAME...: files of the modules that are not built in, each
# after those it depends on (modules.dep lists the deepest last).
with_deps() {
	local dir=$1 name line
	shift
	for name; do
		line=$(grep -m1 -E "/$name\.ko(\.xz)?:" "$dir/modules.dep") || continue
		line=${line/:/}
		tr ' ' '\n' <<<"$line" | grep . | tac
	done | awk '!seen[$0]++'
}

# copy_modules DIR LIST NAME...
copy_modules() {
	local dir=$1 list=$2 file base
	shift 2
	: >"modules/$list"
	for file in $(with_deps "$dir" "$@"); do
		base=${file##*/}
		[[ ! -e modules/${base%.xz} ]] || continue
		case $base in
		*.xz) $busybox unxz -c "$dir/$file" >"modules/${base%.xz}" ;;
		*) cp "$dir/$file" "modules/$base" ;;
		esac || return 1
		echo "${base%.xz}" >>"modules/$list"
	done
}

# build_initrd MODULES OUT, in an empty directory.
build_initrd() {
	local applet
	mkdir -p bin dev proc lower upper root modules
	cp "$busybox" bin/busybox || return 1
	for applet in sh mount umount mkdir insmod cp cat ln chmod grep ifconfig \
		switch_root; do
		ln -s busybox "bin/$applet"
	done
	cp "$vm/init" init && cp "$vm/lib/agent" agent && chmod 755 init || return 1
	copy_modules "$1" base virtio_pci virtiofs virtio_console overlay &&
		copy_modules "$1" net virtio_net || return 1
	find . | $busybox cpio -o -H newc >"$2" 2>/dev/null
}

# initrd RELEASE MODULES: prints the path.
initrd() {
	local key out tmp busybox=$cache/qemu/bin/busybox
	key=$(cat "$vm/init" "$vm/lib/agent" "$vm/lib/initrd.sh" \
		"$cache/$item/facts" "$cache/qemu/facts" | sha256sum | cut -c1-12)
	out=$cache/initrd/$1-$key.cpio
	# What is in use is not old: another run may be removing what is.
	[[ ! -r $out ]] || touch -c "$out" 2>/dev/null
	if [[ ! -r $out ]]; then
		mkdir -p "$cache/initrd"
		find "$cache/initrd" -mtime +7 -delete 2>/dev/null
		tmp=$(mktemp -d "$cache/initrd/tmp.XXXXXX") &&
			mkdir "$tmp/tree" &&
			(cd "$tmp/tree" && build_initrd "$2" "$tmp/cpio") &&
			mv "$tmp/cpio" "$out"
	fi
	[[ -z ${tmp-} ]] || rm -rf "$tmp"
	[[ -r $out ]] || die 1 "cannot make the initramfs $out: is the disk full?"
	echo "$out"
}
