#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: [GUEST_SCRIPT=dlang/kdtrace_hits.sh] test/guest/process/process_driver_host.sh [ARGUMENT OF vm/run...]
# What single steps find in a program is found here, where a step costs little; what the driver
# counts there, in the guest: test/guest/process/process_driver.sh, or that script.
# promise: By the driver, hits in a process are exact, and no thread is stopped. [fuzz.sh]
set -u
cd "$(dirname "$0")/../../.." || exit 1
bin=build/test/process
script=${GUEST_SCRIPT:-process/process_driver.sh} # below test/guest
stepped=build/test/${script##*/}.stepped
for f in step leap; do objdump -d --no-show-raw-insn --disassemble=$f $bin/nopie; done |
	awk '/^ +[0-9a-f]+:/ { sub(/:/, "", $1); print "0x" $1 }' > "$stepped.at"
echo | setarch -R $bin/oracle steps "$stepped.at" $bin/nopie 0 3000 2> /dev/null > "$stepped" || exit 1
exec vm/run --cpus 2 --timeout 600 "$@" -- "test/guest/$script" "$PWD/$stepped"
