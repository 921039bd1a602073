#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Snippets at points of the running kernel: predicates, parameters and return values, timers
# with words of threads, histograms, memory, calls; random trees against the interpreter.
# promise: A13 (in part): Snippets do the same in the running kernel, on all CPUs at once.
# not shown: A13: Stores to computed addresses: none is built, since no check could tell them
#   from harm. Vectors other than per CPU.
. "$(dirname "$0")/../common/lib.sh"
start
cases "" 30 "$top/build/test/snippets" "${1:-20}" "${2:-30}"
finish
