#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/cover.sh [KERNINST]
# kerninst cover of programs that were built without anything for it: which blocks and source lines
# were executed, how often, against gcov's counts of the same program built for that; against single
# steps; of one that runs already.
# promise: A program not built for coverage gets it, as gcov counts the same program.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# covered OPTION... -- COMMAND...: into $tmp/it.json
covered() { "$ki" cover -q -o "$tmp/it.json" "$@" <<< "" > "$tmp/its" 2> "$tmp/said" || { cat "$tmp/said"; false; }; }

# during OPTION...: while one round goes, whose word is in $tmp/sum
during() {
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" cover -q -o "$tmp/it.json" "$@" -- bash -c 'round > "$0"' "$tmp/sum" > "$tmp/said"
}

# counts INFO: of lcov's lines of target.c, "FUNCTION:name count" and "LINE:number count"
counts() {
	awk -F '[:,]' '/^SF:/ { on = /target\.c$/ } !on { next } /^FNDA:/ { print "FUNCTION:" $3, $2 } /^DA:/ { print "LINE:" $2, $3 }' "$1" | sort -u
}
# Gcov begins a function at its name, the debug information at its brace, and gcov counts labels: what
# both know of is the same.
like_gcov() {
	local build=(gcc -std=gnu11 -O0 -g -D_GNU_SOURCE -pthread "$PWD/test/process/target.c")
	"${build[@]}" -o "$tmp/plain" && (cd "$tmp" && "${build[@]}" --coverage -o counted) || return
	covered --mode count 'command/plain:*' -- "$tmp/plain" 0 8000 &&
		"$ki" cover -q --from "$tmp/it.json" --lcov "$tmp/ours.info" --debug "$tmp/plain" > "$tmp/said" || return
	"$tmp/counted" 0 8000 <<< "" > "$tmp/its" && (cd "$tmp" && gcov -b -t counted-target.gcda) > "$tmp/gcov" 2> "$tmp/said" || return
	awk '/^function/ { print "FUNCTION:" $2, $4 }
		/^ *[0-9#]+\*?: *[0-9]+:/ { split($0, f, ":"); gsub(/[ *]/, "", f[1]); gsub(/ /, "", f[2]); print "LINE:" f[2], f[1] + 0 }' \
		"$tmp/gcov" | sort -u > "$tmp/theirs"
	counts "$tmp/ours.info" > "$tmp/ours"
	is "$(grep FUNCTION "$tmp/ours")" "$(grep FUNCTION "$tmp/theirs")" || return
	join "$tmp/ours" "$tmp/theirs" | awk '$2 != $3 { print; bad = 1 } END { print NR; exit bad || NR < 60 }'
}
check "source lines and functions as gcov has them" like_gcov

# Every known block's count as single steps find its first instruction.
stepped() { # FORM
	start "$1" 0 3000 && during --mode count "$pid/$1:leap" "$pid/$1:step" "$pid/$1:work" || return
	stop
	python3 - "$tmp/it.json" > "$tmp/counted" <<-'END' || return
		import json, sys
		for f in json.loads(open(sys.argv[1]).read())["functions"]:
		    for b in f["blocks"]:
		        b += [0, "probed"][len(b) - 2:]
		        if b[3] != "unknown":
		            print("0x%x" % (int(f["addr"], 16) + b[0]), b[2])
	END
	sort -u -o "$tmp/counted" "$tmp/counted"
	awk '{ print $1 }' "$tmp/counted" > "$tmp/addresses"
	[ "$(wc -l < "$tmp/counted")" -ge 15 ] || { cat "$tmp/counted"; return 1; }
	echo | setarch -R $bin/oracle steps "$tmp/addresses" "$bin/$1" 0 3000 2> /dev/null | sort > "$tmp/stepped" &&
		join "$tmp/counted" "$tmp/stepped" | awk '$2 != $3 { print; bad = 1 } END { exit bad || NR < 15 }'
}
for form in pie static; do
	check "$form: blocks as single steps find them" stepped $form
done

# shellcheck disable=SC2016 # for the other shell
whole() { covered 'command/bash:*' -- bash -c 'for i in 1 2 3; do echo $i; done' && is "$(head -n 3 "$tmp/its" | xargs)" "1 2 3" && at_least 99 && hit_some && grep -q "^Program bash, kernel .*: which blocks were hit" "$tmp/its"; }
total() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$tmp/it.json" | head -n 1; }
at_least() { [ $((100 * $(total known))) -ge $(($1 * $(total blocks_touchable))) ] || { head -c 900 "$tmp/it.json"; false; }; }
hit_some() { [ "$(total hit)" -gt 1000 ]; }
check "all of bash: 99 % of its blocks are known" whole

restored() {
	start pie 2 20000 || return
	before=$(text)
	during "$pid/pie:*" && is "$(text)" "$before" && is "$(round)" "$(cat "$tmp/sum")" && stop
}
check "one that runs: its text is what it was" restored

died() {
	start pie 0 100 || return
	"$ki" cover -q -o "$tmp/it.json" "$pid/pie:*" > "$tmp/said" {to}>&- {from}<&- &
	local tool=$!
	sleep 1
	stop
	wait $tool && [ "$(total hit)" -ge 1 ]
}
check "it ends: what it has executed is known" died

refused() { # STATUS WORDS ARGUMENT...
	"$ki" cover "${@:3}" > "$tmp/out" 2> "$tmp/said"
	is "$? $(grep -c "$2" "$tmp/said")" "$1 1"
}
check "no such function" refused 1 "no function" command/nothing -- true
check "no command" refused 2 "command/FUNCTION" command/main
check "what is for the kernel" refused 2 "of a process" --once command/main -- true
finish
