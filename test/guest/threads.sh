#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads' words: each thread has its own, wherever it runs; they go with it; its own clock; who is
# inside; sessions that end or are killed.
#
# usage: test/guest/threads.sh [PART...]: counts, clocks, sessions; cost needs -icount
. "$(dirname "$0")/lib.sh"
[ $# != 0 ] || set -- counts clocks sessions
field() { "$ki" info --quick --json | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }
lines() { # PART OUTPUT: its cases, each as one of ours
	while read -r line; do
		case $line in
		"ok "*) ok "$1: ${line#ok }" true ;;
		"not ok "*) ok "$1: ${line#not ok }" false ;;
		*) echo "$line" ;;
		esac
	done < "$2"
}
start
for part in "$@"; do
	"$top/build/test/threads" "$part" > /tmp/threads.out 2> /tmp/threads.err
	is "$part: exit status" $? 0
	sed 's/^/# /' /tmp/threads.err
	lines "$part" /tmp/threads.out
done
soon "no words are left" 0 field words_used
finish
