#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench/record.sh [--kernel NAME] [SECONDS]: what recording costs and loses, by mode and by rate.
# In a virtual machine whose clock is the number of instructions (-icount): a second is 10^9 of
# them. One processor does both, the hits (bench/peers/polls.c) and the writing of the file: what it
# cannot do in time is lost, or makes the load slower.
#
# Ends with 1 if a mode loses something at 10^5 a second, or wake or disk do at 10^6; if it does not
# account for each hit; or if a hit takes more instructions than it may, up to 10^6 a second.
# promise: F3: Up to a million records a second, the strategies wake and disk lose none.
set -u
cd "$(dirname "$0")/.." || exit 1
kernel=6.1
rates=(1000 10000 100000 1000000 10000000)
declare -A most=([totals]=16 [newest]=170 [ring]=125 [wake]=135 [disk]=135) # instructions a hit

# The number KEY of a line of JSON.
number() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" <<<"$2"; }

# measured MODE VALUES RATE SECONDS BARE: a row of the table
measured() {
	local n time cost said records lost
	"$ki" record -q --json -o b.rec --mode "$1" --comm polls "__fdget$2" -- "$polls" "$3" "$4" >out 2>err || {
		cat err >&2
		exit 1
	}
	read -r n time cost <out
	said=$(tail -n 1 out)
	records=$(number records "$said") lost=$(number lost "$said")
	[ "$1" != totals ] || records=$(number hits "$("$ki" report -q --json b.rec | grep '"hits"' | tail -n 1)")
	rm -f b.rec
	awk -v m="$1" -v r="$3" -v n="$n" -v t="$time" -v c="$cost" -v b="$5" -v k="$records" -v l="$lost" -v most="${most[$1]}" '
		BEGIN {
			printf "%-8s %10d %10.0f %10.1f %10d %10d %7.2f\n", m, r, n / t, c - b, k, l, 100 * l / n
			# Closing the last descriptors and the like comes through the same function.
			if (k + l < n || k + l > n + 20) {
				printf "record: %s: %d hits, but %d records and %d lost\n", m, n, k, l
				exit 1
			}
			if (l && m != "newest" && (r <= 1e5 || (r <= 1e6 && m != "ring"))) {
				printf "record: %s lost records at %d a second\n", m, r
				exit 1
			}
			if (r <= 1e6 && c - b > most) {
				printf "record: %s: %.1f instructions a hit, more than %d\n", m, c - b, most
				exit 1
			}
		}'
}

inside() {
	local rate mode n time bare failed=0
	# What is measured must wait for no file of the host.
	cp build/release/bin/kerninst build/bench/polls /tmp && cd /tmp || exit 1
	ki=/tmp/kerninst polls=/tmp/polls
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
