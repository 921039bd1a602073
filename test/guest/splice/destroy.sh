#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Liveness proved by destruction: what is reported dead is overwritten under load, at random
# points of every function that can be touched; nothing changes.
#
# usage: test/guest/splice/destroy.sh [SEED [STEP [POINTS]]]: POINTS of every STEPth function (2 of all)
# promise: K7 (in part), A10: A register or flag that is reported dead may be inverted at any
#   instruction, under load. [test_regexec.c, test_program_live.c]
# not shown: K7: Vector registers and system flags, which are never reported dead.
. "$(dirname "$0")/../common/lib.sh"
seed=${1:-$RANDOM} step=${2:-1} points=${3:-2}
insmod "$top/build/kmod/$(uname -r)-anycode/kerninst.ko"
start
"$top/build/test/destroy" 1 1 1 "id -u" __x64_sys_geteuid > /tmp/lied 2>&1
is "something alive is destroyed: exit status" $? 1
ok "and that is noticed" grep -q "results have changed" /tmp/lied
sed 's/^/# /' /tmp/lied
echo "# seed $seed"
"$top/build/test/destroy" "$seed" "$points" "$step" "$top/test/guest/splice/destroy_load.sh" > /tmp/destroyed 2> /tmp/words
status=$?
sed 's/^/# /' /tmp/words /tmp/destroyed
is "the results are what they were: exit status" $status 0
read -r _ planted _ executed _ executions _ functions _ registers _ flags < /tmp/destroyed
ok "$executed points of $functions functions were executed ($executions times)" test "$functions" -ge $((2000 / step))
ok "$planted points were planted, $registers whole registers and $flags sets of flags destroyed" test "$registers" -ge $((20000 / step))
finish
