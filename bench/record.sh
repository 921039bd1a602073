#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/record.sh [--kernel NAME] [SECONDS]: what recording costs and loses, by mode and by rate.
# In a virtual machine whose clock is the number of instructions (-icount): a second is 10^9 of
# them. One processor does both, the hits (bench/peers/polls.c) and the writing of the file: what it
# cannot do in time is lost, or makes the load slower.
#
# Ends with 1 if a mode loses something at 10^5 a second, or does not account for each hit.
set -u
cd "$(dirname "$0")/.." || exit 1
kernel=6.1
rates=(1000 10000 100000 1000000 10000000)

# The number KEY of the last line that report --json prints.
of_end() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" <<<"$2"; }

# measured MODE VALUES RATE SECONDS BARE: a row of the table
measured() {
	local n time cost end records lost
	"$ki" record -q -o b.rec --mode "$1" --comm polls "__fdget$2" -- "$polls" "$3" "$4" >out 2>err || {
		cat err >&2
		exit 1
	}
	read -r n time cost <out
	end=$("$ki" report -q --json b.rec | tail -n 1)
	if [ "$1" = totals ]; then
		records=$("$ki" report -q --json b.rec | sed -n 's/.*"hits": *\([0-9]*\).*/\1/p' | tail -n 1)
		lost=0
	else
		records=$(of_end records "$end") lost=$(of_end lost "$end")
	fi
	rm -f b.rec
	awk -v m="$1" -v r="$3" -v n="$n" -v t="$time" -v c="$cost" -v b="$5" -v k="${records:-0}" -v l="${lost:-0}" '
		BEGIN {
			printf "%-8s %10d %10.0f %10.1f %10d %10d %7.2f\n", m, r, n / t, c - b, k, l, 100 * l / n
			# Closing the last descriptors and the like comes through the same function.
			if (k + l < n || k + l > n + 20) {
				printf "record: %s: %d hits, but %d records and %d lost\n", m, n, k, l
				exit 1
			}
			if (r <= 1e5 && l && m != "newest") {
				printf "record: %s lost records at %d a second\n", m, r
				exit 1
			}
		}'
}

inside() {
	local rate mode n time bare failed=0
	ki=$PWD/build/release/bin/kerninst
	cp build/bench/polls /tmp && cd /tmp || exit 1
	polls=/tmp/polls
	printf '%-8s %10s %10s %10s %10s %10s %7s\n' MODE ASKED/S REACHED/S NS/HIT RECORDS LOST 'LOST %'
	for rate in "${rates[@]}"; do
		read -r n time bare < <("$polls" "$rate" "$1")
		awk -v r="$rate" -v n="$n" -v t="$time" -v b="$bare" \
			'BEGIN { printf "%-8s %10d %10.0f %10s   (a hit is %.1f ns of the load)\n", "none", r, n / t, "-", b }'
		for mode in totals newest ring wake disk; do
			values='=pid,fd:arg0'
			[ $mode != totals ] || values=
			measured $mode "$values" "$rate" "$1" "$bare" || failed=1
		done
	done
	exit $failed
}

case ${1-} in
-h | --help) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit ;;
--inside) inside "$2" ;;
--kernel) kernel=$2; shift 2 ;;
esac
make -s build/bench/polls || exit 1
echo "Records of two values, kernel $(vm/kernel "$kernel" release): nanoseconds more for a hit, and what is lost"
echo "(1 ns is an instruction; one processor makes the hits and writes the file)"
echo
vm/run --kernel "$kernel" --icount --timeout 1800 -- bench/record.sh --inside "${1-0.2}"
