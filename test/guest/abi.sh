#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver of another version, a second driver, no driver at all: status 3 and one line.
. "$(dirname "$0")/lib.sh"
ko=$top/build/kmod/$(uname -r)
says() { # NAME STATUS PATTERN
	local out status
	out=$("$ki" info 2>&1 > /dev/null)
	status=$?
	is "$1: exit status" $status "$2"
	ok "$1: says why" grep -qE "$3" <<< "$out"
	is "$1: lines" "$(grep -c . <<< "$out")" 1
}
says "no driver" 3 "not loaded"
insmod "$ko-abi/kerninst.ko"
says "another version" 3 "different version"
ok "a second driver is refused" bash -c "! insmod '$ko/kerninst.ko'"
rmmod kerninst
insmod "$ko/kerninst.ko"
start
finish
