#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Our counts against an independent witness: a QEMU plugin that counts what is executed. Runs on
# the host; boots a guest with the plugin, and compares the two lists address by address.
#
# Both count what one isolated CPU executes, on which there is nothing but the load.
#
# usage: test/guest/code/oracle.sh CPUS [VM_RUN_OPTION...]
# promise: K8 (in part), P3 (in part): Counts at entries, exits, blocks and instructions are
#   those that a QEMU plugin sees. [basic.sh]
# not shown: K8, P3: Places that a reason refuses (`kerninst info` counts them).
set -u
cd "$(dirname "$0")/../../.." || exit 1
last=$(($1 - 1))
shift
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
functions=(__x64_sys_getppid vfs_read vfs_write ksys_read do_sys_openat2 do_filp_open path_openat
	path_parentat walk_component getname_flags vfs_statx __x64_sys_close filp_close
	unix_stream_sendmsg unix_stream_read_generic __sys_socketpair mmap_region do_mmap)

# Boots the guest; what the two say of each address, and whether that is the same.
compare() {
	vm/run --cpus $((last + 1)) --append isolcpus=$last "$@" --timeout 900 \
		--plugin "build/test/exec_count.so,out=$out/witness,vcpu=$last" -- \
		build/test/oracle "${functions[@]}" \
		> "$out/ours" 2> "$out/words" || {
		echo "not ok 1 the guest runs"
		sed 's/^/# /' "$out/words"
		exit 1
	}
	awk 'NR == FNR { seen[$1] = $2; next }
		{ w = seen[$1] + 0; total += $2; blocks++; hot += $2 > 0
		  into += $3 ~ /:into/; hot_into += $3 ~ /:into/ && $2 > 0
		  if (w != $2) { print "# " $3 " at " $1 ": ours " $2 ", witness " w; bad++ } }
		END { print "# " blocks " counts, " hot " of them executed, " total " executions"
		      print "# of these " into " by their edges, " hot_into " of them executed"
		      if (blocks < 400 || hot < 120 || into < 200 || hot_into < 60 || total < 10000) { print "# too little was seen"; bad++ }
		      exit bad > 0 }' <(grep -v '^#' "$out/witness") "$out/ours" > "$out/verdict"
}
compare "$@"
status=$?
[ "$status" = 0 ] && echo "ok 1 the counts of blocks, and of the edges to them, equal the witness's" || echo "not ok 1 the counts of blocks, and of the edges to them, equal the witness's"
head -n 30 "$out/verdict"
exit "$status"
