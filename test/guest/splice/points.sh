#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All points of many functions at once, over a known load: every instruction, both ends of every
# block, every edge, calls and returns, entry and exit. What they count must agree with each other
# (test/guest/splice/points_check.py) and with the number of calls; chunks run in their order. The load runs
# on an isolated CPU, and what is compared was counted there.
# promise: K8: A count at every point of 50 functions at once is exact, or the point is refused
#   with a reason. [springboards.sh, faults.sh, test_point_run.c]
# promise of points-thunks, points-inline: The same holds with aligned thunks and with calls and
#   returns all inline. [tail.sh, faults.sh, copies.sh, test/guest/torture/torture.sh]
. "$(dirname "$0")/../common/lib.sh"
start
json=/tmp/points.json
ok "there is an isolated CPU" test "$isolated_cpu"
functions=(__x64_sys_getppid ksys_read vfs_read read_zero rw_verify_area do_sys_openat2
	do_filp_open path_openat link_path_walk walk_component lookup_fast __d_lookup_rcu
	inode_permission generic_permission getname_flags getname_kernel putname open_last_lookups
	do_dentry_open may_open vfs_open memory_open alloc_empty_file path_init terminate_walk
	step_into try_to_unlazy complete_walk do_open handle_lookup_down filp_close fput
	filename_lookup path_lookupat vfs_statx vfs_getattr vfs_getattr_nosec cp_new_stat
	generic_fillattr do_faccessat mnt_want_write dput lockref_put_return lockref_get_not_dead
	__fput path_get path_put nd_jump_root user_path_at_empty vfs_fstatat set_nameidata
	restore_nameidata do_statx strncpy_from_user get_unused_fd_flags alloc_fd
	fd_install apparmor_file_open security_file_open security_inode_permission
	security_file_permission security_inode_getattr ksys_write vfs_write do_sys_open
	__close_fd_get_file close_fd_get_file pick_file security_file_alloc)

# shellcheck disable=SC2317 # called through ok
load() {
	"$prog/calls" getppid 500 && "$prog/calls" open 200 && "$prog/calls" read 300 &&
		for _ in 1 2 3; do [ -d /etc ] && [ ! -e /nonexistent/x ] || return 1; done
}
export -f load
export prog

have=()
for f in "${functions[@]}"; do
	grep -q " [tT] $f\$" /proc/kallsyms && have+=("$f")
done
points=()
for f in "${have[@]}"; do
	points+=("$f:entry" "$f:exit" "$f:calls" "$f:returns" "$f:blocks" "$f:blocks:post" "$f:edges"
		"$f:insns" "$f:insns:after")
done
ok "50 functions or more" test ${#have[@]} -ge 50

# all_agree [OPTION]
all_agree() {
	rm -f /tmp/verdict
	"$ki" stat --json -A -q "$@" -o $json "${points[@]}" -- taskset -c "$isolated_cpu" bash -c load &&
		"$top/test/guest/splice/points_check.py" "$isolated_cpu" < $json > /tmp/verdict
}
all_agree --no-move
ok "what the points count agrees" test -s /tmp/verdict -a "$(tail -n 1 /tmp/verdict)" = good
sed 's/^/# /' /tmp/verdict | tail -n 30
all_agree --move
ok "and when the functions are moved" test -s /tmp/verdict -a "$(tail -n 1 /tmp/verdict)" = good
sed 's/^/# /' /tmp/verdict | tail -n 30

exact() { # KIND N POINT [TIMES]
	local got
	got=$("$ki" stat --json "$3" -- "$prog/calls" "$1" "$2" | value "$3")
	is "$1 x $2: $3" "$got" $(($2 * ${4-1}))
}
exact getsid 7000 __x64_sys_getsid:entry
exact getsid 7000 __x64_sys_getsid:exit
exact getsid 7000 __x64_sys_getsid:block/0:post
exact getsid 7000 __x64_sys_getsid:entry/3
exact getsid 7000 __x64_sys_getsid:block/0:post/2

ok "chunks run in their order" "$top/build/test/order" vfs_read
edges=$("$ki" stat -m edges vfs_read -- "$prog/calls" read 1000 2> /dev/null)
ok "edges are shown from block to block" grep -Eq ' vfs_read:edge/[0-9]+ +0x[0-9a-f]+ +[0-9]+ +[0-9]+ +taken$' <<< "$edges"
call=$("$ki" stat --json vfs_read:call/rw_verify_area -- "$prog/calls" read 5000 2> /dev/null)
ok "calls of one function" test "$(sed -n 's/.*"value":\([0-9]*\).*/\1/p' <<< "$call" | sort -n | tail -n 1)" -ge 5000
# shellcheck disable=SC2317 # called through ok
refuses() { # STATUS PATTERN POINT
	local out status
	out=$("$ki" stat "$3" -- true 2>&1)
	status=$?
	echo "$status: $out"
	[ "$status" = "$1" ] && grep -qE "$2" <<< "$out"
}
ok "no such edge" refuses 1 'no such edge' vfs_read:edge/99999
ok "no edge between" refuses 1 'no such edge' vfs_read:edge/0-0
ok "no such call" refuses 1 'no such call' vfs_read:call/tcp_v4_rcv
ok "behind a jump or return is nothing" refuses 1 'no such side' \
	"__x64_sys_getppid+$("$ki" disas --json __x64_sys_getppid | python3 -c '
import json, sys
print(hex([i for i in json.load(sys.stdin)["instructions"] if i["kind"] == "return"][0]["offset"]))'):after"
finish
