#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A proxy is tuned twice by what kerninst crosswalk says, as Squid was: its files are created for each
# request; then it waits in select. Then neither is found, and each time it answers more requests.
#
# usage: test/guest/crosswalk/proxies.sh
# promise: C9: Of a proxy that creates files, and one that waits in select, the cause is named;
#   without it more requests are answered.
# shellcheck disable=SC2317 # functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../process/program.sh"
. "$(dirname "$0")/walk_lib.sh"
start
cache=/tmp/disk
ok "a disk for the cache" make_disk $cache

answered() { od -An -td8 -N8 /tmp/count; }
# search VERSION: into $json; and how many requests it answers in 4 s, in $requests
search() {
	rm -f $cache/*.o /tmp/count
	run "$top/build/test/process/proxy" "$1" $cache /tmp/count
	sleep 1
	requests=$(answered)
	sleep 4
	requests=$(($(answered) - requests))
	echo "# $1: $requests requests in 4 s"
	ok "$1: it is searched" eval "\"\$ki\" crosswalk -q --json -T 0.5 $pid > $json"
	shown
	kill -9 "$pid"
	end
}
found() { of "$1" found | grep -x true || echo no; }
more() { [ "$requests" -gt $((before + before / 2)) ]; } # half as many again

search create
is "create: files are created" "$(found ext4_create)" true
ok "by the program's own function, through its system call" grep -Eq '^main serve_ready serve store_new .*open.* __x64_sys_open(at)? .*path_openat .*ext4_create$' <(chain ext4_create)
is "and unlinked" "$(found vfs_unlink)" true
ok "from there, too" grep -Eq '^main serve_ready serve store_new unlink .*__x64_sys_unlink .*vfs_unlink$' <(chain vfs_unlink)
is "it does not wait in select" "$(found do_select)" no

before=$requests
search reuse
ok "reuse: more is answered" more
is "no files are created" "$(found ext4_create)" no
is "nor unlinked" "$(found vfs_unlink)" no
is "it waits in select" "$(found do_select)" true
ok "where the program waits" grep -Eq '^main serve_ready wait_ready .*select .*__x64_sys_p?select6? .*do_select$' <(chain do_select)

before=$requests
search tuned
ok "tuned: more is answered" more
is "neither is found" "$(found ext4_create) $(found vfs_unlink) $(found do_select)" "no no no"
is "but what there is to do" "$(found serve)" true

umount $cache
finish
