#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Coverage against an independent witness: a QEMU plugin that counts what is executed. Runs on the
# host; boots a guest with the plugin, and compares the two lists block by block.
#
# usage: test/guest/cover/coverage_witness.sh hit|count [--cpus N] [OPTION...]	of the program bounds: -e, -s, -g GLOB
#
# In functions that are moved the witness sees only what is executed in the text: that must have been
# counted. -s: none is moved, and all is compared both ways.
# promise: N1: Blocks without a probe of their own are known as surely as QEMU sees them.
#   [test_cover_choice.c]
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
mode=$1
shift
cpus=1
if [ "${1-}" = --cpus ]; then
	cpus=$2
	shift 2
fi
wanted=100000 # blocks; of some functions there are fewer
case " $* " in *" -g "*) wanted=20000 ;; esac

# shellcheck disable=SC2016 # the guest's own
vm/run --cpus "$cpus" --mem 4G --timeout 900 --plugin "build/test/exec_count.so,out=$out/witness" -- \
	bash -c 'set -o pipefail; build/test/bounds "$@" -- test/guest/cover/coverage_load.sh | zstd -q' _ "$mode" "$@" \
	> "$out/ours.zst" 2> "$out/words" && zstd -qd "$out/ours.zst"
status=$?
if [ $status != 0 ]; then
	echo "not ok 1 the guest runs"
	sed 's/^/# /' "$out/words"
	exit 1
fi
awk -v mode="$mode" -v wanted=$wanted 'NR == FNR { seen[$1] = $2; next }
	{ w = seen[$1] + 0; blocks++; hit += $3 > 0; implied += $4 ~ /:implied/; exact += $2 == $3
	  moved = $4 ~ /:moved$/; away += moved; loop = $4 ~ /:loop/; loops += loop
	  less = mode == "hit" ? $2 && !w : w < $2 && !(loop && w) && $2
	  more = mode == "hit" ? w && !$3 : w > $3
	  wrong = more || (less && !moved)
	  if (wrong && bad++ < 30) print "# " $4 " at " $1 ": ours " $2 " to " $3 ", witness " w }
	END { print "# " blocks " blocks, " hit " of them executed, " exact " known exactly, " implied + 0 " of them without a probe, " loops + 0 " loops of one block, " away + 0 " in functions that are moved, " bad + 0 " wrong"
	      if (blocks < wanted || hit < wanted / 10 || exact < blocks * 0.9) { print "# too little was seen"; bad++ }
	      exit bad > 0 }' <(grep -v '^#' "$out/witness") "$out/ours" > "$out/verdict"
status=$?
[ $status = 0 ] && echo "ok 1 $mode: all blocks are as the witness has seen them" || echo "not ok 1 $mode: all blocks are as the witness has seen them"
cat "$out/verdict"
[ -z "${KI_COVERAGE_KEEP-}" ] || cp "$out"/{ours,witness} "$KI_COVERAGE_KEEP"
exit $status
