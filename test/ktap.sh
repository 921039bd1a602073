#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/ktap.sh NAME COMMAND...	one result line for a command that prints none
name=$1
shift
if out=$("$@" 2>&1); then
	echo "ok 1 $name"
else
	echo "not ok 1 $name"
	printf '%s\n' "$out" | tail -n 30 | sed 's/^/# /'
	exit 1
fi
