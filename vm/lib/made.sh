# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/kernel: files that no package holds and that are made from a kernel when they
# are first asked for. They live and go with the kernel in the cache.

# made FILE COMMAND...: prints FILE; makes it with COMMAND, which writes to its last argument.
# Two at once: the second waits and finds it there. A file that is there is whole.
made() {
	local file=$1 lock
	shift
	if [[ ! -s $file ]]; then
		exec {lock}<"${file%/*}" || die 1 "cannot read the cache ${file%/*}"
		flock "$lock"
		if [[ ! -s $file ]]; then
			("$@" "$file.part") && sync "$file.part" && mv "$file.part" "$file" || {
				rm -f "$file.part"
				exit 1
			}
		fi
		exec {lock}<&-
	fi
	echo "$file"
}

# le FILE OFFSET BYTES: a little-endian number of FILE.
le() {
	od -An -v -tu"$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# unpacker MAGIC: the program for what begins with these bytes, in hex.
unpacker() {
	case $1 in
	fd377a58*) echo "xz -dc --single-stream" ;;
	28b52ffd*) echo "zstd -dcq" ;;
	02214c18*) echo "lz4 -dcq" ;;
	1f8b*) echo "gzip -dcq" ;;
	894c5a4f*) echo "lzop -dc" ;;
	5d0000*) echo "xz -dc --format=lzma" ;;
	425a68*) echo "bzip2 -dc" ;;
	esac
}

# The image is a setup part of whole sectors, then code that holds the compressed kernel (the
# payload) and unpacks it: Documentation/arch/x86/boot.rst. All formats but gzip, which ends
# with its size anyway, have the size behind them in 4 bytes.
unpack_vmlinux() {
	local image=$1 out=$2 sectors start length magic command size
	[[ -r $image && $(head -c 518 "$image" | tail -c 4) == HdrS ]] ||
		die 1 "$image is not a kernel image: vm/fetch --update brings it again"
	sectors=$(le "$image" 497 1)
	start=$((((sectors ? sectors : 4) + 1) * 512 + $(le "$image" 584 4)))
	length=$(le "$image" 588 4)
	(($(stat -c %s "$image") >= start + length)) ||
		die 1 "$image is cut off: vm/fetch --update brings it again"
	magic=$(od -An -v -tx1 -j "$start" -N 4 "$image" | tr -d ' ')
	size=$(le "$image" $((start + length - 4)) 4)
	command=$(unpacker "$magic")
	[[ $command ]] || die 1 "$image: the kernel in it is compressed in an unknown way ($magic)"
	need_tools "${command%% *}"
	[[ $magic == 1f8b* ]] || length=$((length - 4))
	# shellcheck disable=SC2086
	tail -c +$((start + 1)) "$image" 2>/dev/null | head -c "$length" | $command >"$out" 2>/dev/null ||
		die 1 "cannot unpack the kernel in $image to $out: is the disk full?"
	[[ $(stat -c %s "$out") == "$size" && $(head -c 4 "$out") == $'\x7fELF' ]] ||
		die 1 "the kernel unpacked from $image is not an ELF file of $size bytes"
}

# Debian's image packages hold a System.map of one line, which says that the real one is in a
# package of 0.8 GB. The running kernel tells the same symbols, init code's included.
ask_symbols() {
	local kernel=$1 out=$2
	say "booting kernel $kernel once for its symbols"
	KI_VM_QUIET=1 "$vm/run" --kernel "$kernel" --no-module --cpus 1 --append nokaslr --timeout 600 \
		-- grep -v ']$' /proc/kallsyms >"$out" </dev/null ||
		die 1 "cannot boot kernel $kernel for its symbols (vm/run --kernel $kernel -- true)"
	grep -q ' T _text$' "$out" || die 1 "kernel $kernel told no symbols: are they hidden?"
}
