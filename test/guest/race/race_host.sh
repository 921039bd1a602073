#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tasks held where springboards come and go (test/guest/race/race.sh), with our driver or with one built
# without the wait, which must be seen to fail. Runs on the host.
#
# usage: test/guest/race/race_host.sh wait|no-wait [KERNEL [PART...]]	parts: see race.sh
# promise: K9 (in part): A task held at any boundary of any springboard goes on correctly while
#   that springboard changes. [busy.sh, phase.sh, toggle.sh, memory_boards.sh, disturb.sh]
# promise of race-filled: K15: A patch is freed only when no task can be inside. [fuzz.sh]
# not shown: K9: Overwriting one instruction alone: a window may hold several. Where it cannot be
#   filled, tasks are waited for.
set -u
cd "$(dirname "$0")/../../.." || exit 1
mode=$1 kernel=${2:-6.1}
make -s race-module KERNEL="$kernel" > /dev/null 2>&1 || exit 1
case $mode in
wait) make -s kmod KERNEL="$kernel" ;;
no-wait) make -s kmod KERNEL="$kernel" KMOD_VARIANT=-nowait KI_CFLAGS=-DKI_TEST_NO_WAIT ;;
*) exit 2 ;;
esac || exit 1
timeout=2400
[[ $# -lt 3 ]] || timeout=800
[[ $kernel != *-debug ]] || timeout=4800
# CPU 1 is for the race alone: what else waits there would wait behind the held task.
exec vm/run --kernel "$kernel" --no-module --cpus 2 \
	--append "preempt=full isolcpus=managed_irq,domain,1" --timeout $timeout -- test/guest/race/race.sh "$mode" "${@:3}"
