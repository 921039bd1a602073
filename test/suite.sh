#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run one suite of the tables test/suites.*.
#
# usage: test/suite.sh SUITE [KERNEL]	KERNEL: 6.1 ...: instead of the one that the table says
set -u
cd "$(dirname "$0")/.." || exit 1
name=${1:?usage: test/suite.sh SUITE [KERNEL]} kernel=${2:-}

command=$(awk -F '\t' -v name="$name" '$1 == name { print $2; exit }' test/suites.*)
if [[ -z $command ]]; then
	echo "test/suite.sh: no suite '$name'; there are:" >&2
	awk -F '\t' '!/^#/ && NF > 1 { print $1 }' test/suites.* | sort | column >&2
	exit 2
fi
if [[ $kernel ]]; then
	case $command in
	vm/run*' --kernel '*) command=$(sed -E "s/ --kernel [^ ]+/ --kernel $kernel/" <<< "$command") ;;
	vm/run*) command="vm/run --kernel $kernel ${command#vm/run }" ;;
	*) echo "test/suite.sh: '$name' chooses its kernels itself: $command" >&2 && exit 2 ;;
	esac
fi
goals=$(awk -F '\t' -v name="$name" '$1 == name { print $4; exit }' test/suites.*)
# shellcheck disable=SC2086 # several
[[ ! $goals ]] || make -s CI=1 $goals || exit
echo "# $command"
eval "$command"
