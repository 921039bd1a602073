#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver of another version, a second driver, no driver at all: status 3 and one line.
. "$(dirname "$0")/../common/lib.sh"
ko=$top/build/kmod/$(uname -r)
says() { # NAME STATUS TAG
	local out status
	out=$("$ki" info 2>&1 > /dev/null)
	status=$?
	is "$1: exit status" $status "$2"
	"$ki" explain "$3" > /tmp/words
	ok "$1: says where, why and what to do" grep -qF "/dev/kerninst$4: $(sed -n '2s/^ *//p' /tmp/words); $(sed -n 's/^ *hint: //p' /tmp/words)" <<< "$out"
	is "$1: lines" "$(grep -c . <<< "$out")" 1
}
says "no driver" 3 NO_DEVICE ""
insmod "$ko-abi/kerninst.ko"
says "another version" 3 ABI_MISMATCH " has ABI 99, not $("$ki" --version | tr -dc '0-9 ' | awk '{ print $NF }')"
ok "a second driver is refused" bash -c "! insmod '$ko/kerninst.ko'"
rmmod kerninst
insmod "$ko/kerninst.ko"
start
finish
