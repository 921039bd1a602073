#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The race of a task that resumes inside a window (test/guest/race.sh), with our driver (must
# pass) or with one built without the wait (must be seen to fail). Runs on the host.
#
# usage: test/guest/race_host.sh wait|no-wait [KERNEL]
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2016 # expanded in the guest
inner='variant=$1; shift; insmod build/kmod/$(uname -r)$variant/kerninst.ko && exec test/guest/race.sh "$@"'
command=(build/release/bin/kerninst stat -m calls ki_race:ki_race_victim -- sleep 4)
# CPU 1 is for the race alone: what else waits there would wait behind the held task.
append="preempt=full isolcpus=managed_irq,domain,1"
[ "${1-}" = wait ] || append+=" oops=panic" # it will crash: let it be quick
guest=(vm/run --kernel "${2:-6.1}" --no-module --cpus 2 --thread single --append "$append"
	--timeout 600 --
	bash -c "$inner" race)
case ${1-} in
wait) test/ktap.sh "a task inside a window is waited for" "${guest[@]}" "" "${command[@]}" ;;
no-wait) test/ktap.sh "without the wait the race is lost" test/guest/race_must_fail.sh "${guest[@]}" -nowait "${command[@]}" ;;
*) exit 2 ;;
esac
