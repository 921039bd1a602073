#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Long chunks written by hand: what may run does what it says; what may not is refused for its
# reason; a helper that comes through instrumented code does not call itself for ever.
# promise: Inserted code may call functions that are instrumented themselves: none recurs, and
#   skipped hits are counted.
. "$(dirname "$0")/../common/lib.sh"
start
cases "" $(($(cat "$top"/test/guest/long/samples*.c | grep -c '^	sample ') + 2)) "$top/build/test/long"
finish
