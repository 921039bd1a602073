#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the analysis of whole files says, against other witnesses (test/oracles/oracles.h): the
# kernel, some of its modules, programs of this machine, and switches in all forms.
#
# usage: test/oracles.sh [--all]	--all: all modules, and more programs; takes minutes
# promise: K5 (in part): objdump's boundaries, the unwind table, symbol sizes and objtool's list
#   agree with each parsed function. [fuzz/run.sh]
# not shown: K5: The 0.01 % of stock 6.1's functions that are not parsed; each is listed with its
#   reason.
set -u
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
oracles=build/release/test/oracles-bin
[ -x $oracles ] || { echo "not ok 1 oracles: make test-oracles first"; exit 1; }
if ! { vmlinux=$(vm/kernel 6.1 vmlinux) && map=$(vm/kernel 6.1 system-map) && modules=$(vm/kernel 6.1 modules); }; then
	echo "not ok 1 oracles: there is no kernel to look at"
	exit 1
fi

# A few of every kind, and those with the strangest code.
sample() {
	local k=$modules/kernel
	ls "$k"/arch/x86/crypto/*.ko "$k"/arch/x86/kvm/*.ko "$k"/fs/{ext4/ext4,xfs/xfs,btrfs/btrfs,nfs/nfs,fuse/fuse}.ko \
		"$k"/net/{netfilter/nf_tables,netfilter/nf_conntrack,sctp/sctp,bluetooth/bluetooth,wireless/cfg80211}.ko \
		"$k"/drivers/{gpu/drm/i915/i915,gpu/drm/drm,md/raid456,nvme/host/nvme-core,usb/host/xhci-hcd}.ko \
		"$k"/drivers/net/ethernet/intel/{e1000e/e1000e,ice/ice}.ko \
		"$k"/lib/{raid6/raid6_pq,zstd/zstd_compress,crypto/libcurve25519-generic}.ko "$k"/crypto/*_generic.ko \
		"$k"/sound/core/snd-pcm.ko 2> /dev/null
}

# Programs that are there: the C library, a shell, and large ones of C++ with many tables.
programs() {
	local f
	ls /lib/x86_64-linux-gnu/libc.so.6 /bin/bash 2> /dev/null
	f=$(gcc -print-prog-name=cc1)
	[ -f "$f" ] && echo "$f"
	[ "$1" = all ] || return
	ls /usr/lib/gcc/x86_64-linux-gnu/*/cc1plus /usr/lib/x86_64-linux-gnu/{libcrypto.so.3,libstdc++.so.6,libLLVM-14.so.1} \
		/usr/bin/gdb /usr/bin/perf 2> /dev/null
}

scope=${1-}
scope=${scope#--}
if [ "$scope" = all ]; then
	find "$modules" -name '*.ko' | sort > "$tmp/modules"
else
	sample | sort -u > "$tmp/modules"
fi
programs "$scope" > "$tmp/programs"
mapfile -t modules_list < "$tmp/modules"
mapfile -t programs_list < "$tmp/programs"
[ ${#modules_list[@]} -ge 50 ] || echo "not ok 1 oracles: only ${#modules_list[@]} modules"

status=0
{ $oracles -m "$map" vmlinux "$vmlinux" && test/oracles/switches.sh; } > "$tmp/1" 2>&1 &
{ $oracles modules "${modules_list[@]}" && $oracles programs "${programs_list[@]}"; } > "$tmp/2" 2>&1
status=$?
wait $! || status=1
cat "$tmp/1" "$tmp/2"
exit $status
