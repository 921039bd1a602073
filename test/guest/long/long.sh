#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Long chunks written by hand: what may run does what it says; what may not is refused for its
# reason; a helper that comes through instrumented code does not call itself for ever.
# promise: Inserted code may call functions that are instrumented themselves: none recurs, and
#   skipped hits are counted.
# promise: Code that differs in any byte from what has been accepted in the same request is judged as
#   it is alone.
. "$(dirname "$0")/../common/lib.sh"
start
samples() { cat "$top"/test/guest/long/samples*.c | grep -c "^	sample .*$1\$"; }
cases "" $(($(samples) + $(samples ', OK') + 2)) "$top/build/test/long" # each that may run is spoilt, too
finish
