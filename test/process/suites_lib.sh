# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Test suites of programs of others, without a probe and with one in each block. After test/process/lib.sh; its user
# has a function `results FILE`: what a suite says of each test, sorted.
ki=$PWD/$ki bin=$PWD/$bin
cache=${KI_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kerninst}
limit=2000 # seconds that a suite has without a probe, a fourth of what it has with them
TIMEFORMAT='%3R %3U %3S'

# checks NAME COMMAND...: as check, and what COMMAND has left in $tmp/figures
checks() {
	rm -f "$tmp/figures"
	check "$@"
	[ ! -s "$tmp/figures" ] || sed 's/^/#   /' "$tmp/figures"
}

skip() { # NAME WHY
	count=$((count + 1))
	echo "ok $count $1 # SKIP $2"
}

# fetched ITEM: it is in $cache; where there is no network the test is skipped
fetched() {
	vm/fetch "$1" 2> "$tmp/words" && return
	if grep -qE 'cannot (read the index|download)' "$tmp/words"; then
		skip "tests of others" "$(tail -n 1 "$tmp/words")"
		finish
	else
		cat "$tmp/words" >&2
		false
	fi
	exit
}

# poor COMMAND...: it may not read what nobody may, else some suites do not run
poorly=()
[ "$(id -u)" != 0 ] || poorly=(setpriv --bounding-set=-all --inh-caps=-all)
poor() { "${poorly[@]}" "$@"; }

# totals KEY...: of $tmp/it.json
totals() {
	python3 -c '
import json, sys
t = json.load(open(sys.argv[1]))["totals"]
print(*(t[k] for k in sys.argv[2:]))' "$tmp/it.json" "$@"
}

# covered COMMAND...: all blocks of ${points[@]}, into $tmp/it.json; most of them are known
covered() {
	local hit known touchable blocks probes functions status
	rm -f "$tmp/it.json"
	{ time poor timeout -v "$((limit * 4))" "$ki" cover -q -o "$tmp/it.json" "${options[@]}" "${points[@]}" -- "$@" > "$tmp/with" 2>&1; } 2> "$tmp/time.with"
	status=$?
	[ $status = 0 ] || { tail -n 5 "$tmp/with"; return 1; }
	read -r hit known touchable blocks probes functions < <(totals hit known blocks_touchable blocks probes functions)
	echo "$functions functions, $blocks blocks: $touchable may have a probe, $probes have one, $known are known, $hit were executed" >> "$tmp/figures"
	sed -n '/NOT KNOWN BECAUSE/,/^$/{/^ *[0-9]/p}' "$tmp/with" | sed 's/^ */not known: /' >> "$tmp/figures"
	[ "$hit" -gt "${least_hit:-1000}" ] && [ $((1000 * known)) -ge $((995 * touchable)) ] && [ $((1000 * known)) -ge $((990 * blocks)) ]
}

# without COMMAND...: what it says, into $tmp/without; how it ends, if not well, into $tmp/status
without() {
	{ time poor timeout "$limit" "$@" > "$tmp/without" 2>&1; } 2> "$tmp/time.without" && return
	echo $? > "$tmp/status"
	tail -n 5 "$tmp/without"
	return 1
}

# seconds FILE: of a CPU, and all in all
seconds() { awk '{ printf "%.1f s of a CPU, %.1f s", $2 + $3, $1 }' "$1"; }

# same LEAST: both have said of each test the same, and of that many at least
same() {
	local n
	results "$tmp/without" > "$tmp/results.without"
	results "$tmp/with" > "$tmp/results.with"
	n=$(wc -l < "$tmp/results.without")
	echo "$n results; without: $(seconds "$tmp/time.without"); with: $(seconds "$tmp/time.with"), analysis included" >> "$tmp/figures"
	diff "$tmp/results.without" "$tmp/results.with" && [ "$n" -ge "$1" ]
}
