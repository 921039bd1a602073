#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run a suite many times, each in a machine of its own: what fails once in fifty times fails.
#
# usage: test/soak.sh N [SUITE]	SUITE: else all those that make check may run. BUSY=1: beside a loop that
# keeps a CPU busy, the last one
set -u
cd "$(dirname "$0")/.." || exit 1
n=${1:?usage: test/soak.sh N [SUITE]} suite=${2-}
mkdir -p build/test
if [ "$suite" ]; then tables=(test/suites.*); else tables=(test/suites.{host,guest,parts}); fi
awk -F '\t' -v n="$n" -v suite="$suite" '/^#/ || NF < 2 || (suite != "" && $1 != suite) || seen[$1]++ { next }
	{ for (i = 1; i <= n; i++) print $1 "-" i "\t" $2 }' "${tables[@]}" > build/test/soak
[ -s build/test/soak ] || { echo "test/soak.sh: no suite '$suite' in test/suites.*; test/suite.sh lists them" >&2; exit 2; }
busy=
if [ "${BUSY-}" ]; then
	taskset -c "$(($(nproc) - 1))" sh -c 'while :; do :; done' &
	busy=$!
	trap 'kill $busy 2> /dev/null' EXIT
fi
test/run.sh build/test/soak
