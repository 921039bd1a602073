#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What KCOV records, block by block, against an independent witness: a QEMU plugin that writes down the
# order in which the kernel's instructions are executed. Runs on the host; boots a guest with it. Both
# see one isolated CPU, on which there is nothing but the traced task.
# promise: N5: KCOV's trace of blocks is in the order that a QEMU plugin saw.
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
functions=(__x64_sys_getppid __x64_sys_read ksys_read vfs_read __x64_sys_lseek __x64_sys_openat
	do_sys_openat2 do_filp_open path_openat link_path_walk.part.0.constprop.0 walk_component
	step_into path_init terminate_walk complete_walk lookup_fast do_open may_open vfs_open
	do_dentry_open getname_flags putname strncpy_from_user build_open_flags __x64_sys_close
	close_fd filp_close __x64_sys_newfstat vfs_fstat vfs_getattr_nosec cp_new_stat read_zero
	read_null alloc_empty_file inode_permission generic_permission security_file_open
	lookup_open.isra.0 open_last_lookups set_nameidata restore_nameidata)
map=$(vm/kernel 6.1 system-map) || exit 1

# Where they are, from the map alone: up to the next symbol.
awk -v names="${functions[*]}" 'BEGIN { n = split(names, v, " "); for (i = 1; i <= n; i++) want[v[i]] = 1 }
	{ if (at && $1 != at) { print at, $1; at = "" } if ($3 in want && tolower($2) == "t") { at = $1; print $3 > "/dev/stderr" } }' \
	<(sort "$map") > "$out/ranges" 2> "$out/names"
mapfile -t found < "$out/names"

# Boots the guest; what the two have seen, in the same order, is in passed and pcs.
record() {
	vm/run --cpus 2 --append "nokaslr isolcpus=1" --timeout 900 \
		--plugin "build/test/exec_order.so,out=$out/witness,ranges=$out/ranges,vcpu=1" -- \
		sh -c "build/release/bin/kerninst kcov --no-move --list /tmp/list ${found[*]} -- taskset -c 1 build/test/kcov order > /tmp/pcs || exit
			echo PCS; cat /tmp/pcs; echo BLOCKS; cat /tmp/list; echo END" > "$out/ours" 2> "$out/words" || {
		echo "not ok 1 the guest runs"
		sed 's/^/# /' "$out/words"
		exit 1
	}
	sed -n '/^PCS$/,/^BLOCKS$/p' "$out/ours" | grep '^0x' > "$out/pcs"
	sed -n '/^BLOCKS$/,/^END$/p' "$out/ours" | grep '^0x' > "$out/blocks"
	awk 'NR == FNR { block[$2] = 1; next } $1 in block' "$out/blocks" "$out/witness" > "$out/passed"
	diff "$out/passed" "$out/pcs" > "$out/diff"
}
record
same=$?

grep 'record themselves' "$out/words" | sed 's/^/# /'
echo "# $(wc -l < "$out/blocks") blocks of ${#found[@]} functions; $(wc -l < "$out/pcs") passed, $(sort -u "$out/pcs" | wc -l) different"
status=0
tests=0
verdict() { # STATUS NAME
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests $2"
	else
		echo "not ok $tests $2"
		status=1
	fi
}
[ "$(wc -l < "$out/pcs")" -ge 1500 ] && [ "$(sort -u "$out/pcs" | wc -l)" -ge 300 ]
verdict $? "enough was recorded"
verdict "$same" "the blocks that were recorded are those that the witness saw, in the same order"
head -n 20 "$out/diff" | sed 's/^/# /'
! awk 'NR % 97 != 50' "$out/pcs" | cmp -s - "$out/passed"
verdict $? "a block that is missing is missed"
echo "1..$tests"
exit $status
