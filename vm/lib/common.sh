# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by vm/run, vm/fetch and vm/kernel: messages, the cache and its facts.

me=vm/${0##*/}
cache=${KI_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kerninst}
kernels="6.1 6.1-cloud 6.1-rt 6.1-debug 6.12 7.2"

say() {
	echo "$me: $*" >&2
}

# die STATUS MESSAGE...: one line that says what, why and what to do.
die() {
	local status=$1
	shift
	say "$*"
	exit "$status"
}

# What is built with or runs from the cache: make and library paths take no such
# characters. lib/unpacked and the programs we start read it too.
export KI_CACHE
KI_CACHE=$(realpath -m -- "$cache") cache=$KI_CACHE
[[ $cache != *[[:space:]:,]* ]] ||
	die 1 "the cache $cache must have no space, colon or comma in its path: set KI_CACHE"

need_tools() {
	local tool
	for tool; do
		[[ $(type -t "$tool") ]] ||
			die 1 "the program $tool is missing on this machine: install it (make deps)"
	done
}

# try WHAT COMMAND...: silent when it works; when it fails, one line with the
# reason the command itself gave: a full disk, what apt marks with E:, or what
# it said last.
try() {
	local what=$1 out why
	shift
	out=$("$@" 2>&1) && return
	why=$(grep -m1 -E '^E:|No space left' <<<"$out" || grep -v '^$' <<<"$out" | tail -n1)
	die 1 "cannot $what: ${why:-$1 failed without a message}"
}

known_kernel() {
	[[ " $kernels " == *" $1 "* ]] ||
		die 2 "no kernel is called '$1': choose one of ${kernels// /, }"
}

# Everything fetched is a directory $cache/ITEM (a link to ITEM-VERSION) with
# a file "facts" of KEY=VALUE lines, written last: no facts, no item.
item_of_kernel() {
	echo "kernel-$1"
}

have() {
	[[ -r $cache/$1/facts ]]
}

fact() {
	sed -n "s|^$2=||p" "$cache/$1/facts"
}

# need ITEM...: fetch what is missing.
need() {
	local item missing=()
	for item; do
		have "$item" || missing+=("$item")
	done
	((${#missing[@]} == 0)) || "$vm/fetch" "${missing[@]}" || exit 1
}
