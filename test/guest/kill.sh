#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of the tool at random moments, TIMES (50), under load: the text comes back by itself.
#
# usage: test/guest/kill.sh [SEED [TIMES [LONGEST]]]: LONGEST seconds until a kill (2)
. "$(dirname "$0")/lib.sh"
start
RANDOM=${1:-1}
times=${2:-50} longest=${3:-2}
"$prog/hammer" 3600 2 > /dev/null 2>&1 &
load=$!
clean=0
for i in $(seq "$times"); do
	"$ki" stat -m blocks vfs_read vfs_write do_sys_openat2 link_path_walk 'tcp_s*' kmem_cache_alloc > /dev/null 2>&1 &
	pid=$!
	sleep "$((RANDOM % longest)).$((RANDOM % 1000))"
	kill -9 $pid 2> /dev/null
	wait $pid 2> /dev/null
	# Whoever opens the device next waits for the session's end: the text is clean then.
	if [ "$(field windows)" = 0 ] &&
		{ [ $((i % 5)) != 0 ] || [ "$(text_hash)" = "$baseline" ]; }; then
		clean=$((clean + 1))
	fi
done
is "clean after a kill" $clean "$times"
kill $load
wait $load 2> /dev/null
finish
