#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The names of what runs commands: each suite of the tables, each goal of test/test.mk.
cd "$(dirname "$0")/../.." || exit 1
sed -n 's/^\([a-z][a-z0-9.-]*\)\t.*/\1/p' test/suites.*
sed -n 's/^\([a-z-]*\):.*/\1/p' test/test.mk
