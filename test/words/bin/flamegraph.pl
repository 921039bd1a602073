#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each line is a stack and a number, and there are some.
awk '$NF !~ /^[0-9.]+$/ { bad = 1 } END { exit bad || !NR }'
