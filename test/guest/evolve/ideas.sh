#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst evolve --watch with all that it can try: groups of functions, versions for a value,
# layouts. Only what is better stays, it is in as it is said, and in the end nothing is left.
# Instructions are counted, so a verdict is about the code and not about the host.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
start
cd /tmp || exit 1
quick=(--json --for 0.3 --windows 5 --window 0.1 --again 2 --budget 50% --hottest 10)
modules() { grep -c '^kerninst_copy_' /proc/modules; }
load() { # without a pause in which nobody calls
	"$prog/calls" read 2000000000 > /dev/null &
	load=$!
}
exec {nobody}<> <(:) # who looks must not be what the kernel is busy with
# comes SECONDS PATTERN FILE: some line has it
comes() {
	local end=$((SECONDS + $1)) line
	while :; do
		while read -r line; do
			[[ ! $line =~ $2 ]] || return 0
		done < "$3"
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt 0.5 -u "$nobody"
	done
}
# What must be true of the news; then: ideas that are kept, each with its first function.
told() { # FILE
	python3 - "$1" <<'P'
import json, sys
kept = {}
for r in map(json.loads, open(sys.argv[1])):
    n, f = r['news'], r['function']
    judged = 'high' in r
    assert judged or n in ('refused', 'pauses', 'undone'), r
    assert not judged or r['idea'] in ('layout', 'group', 'version'), r
    assert not judged or r['functions'] == 1 or r['idea'] == 'group', r
    assert not judged or (r['high'] < 0) == (n == 'kept') or n in ('confirmed', 'undone'), r
    if n == 'kept':
        assert f not in kept, r
        kept[f] = r['idea']
    if n == 'undone':
        del kept[f]
    assert n not in ('kept', 'pauses') or r['kept'] == len(kept), r
print(*sorted(f'{i}:{f}' for f, i in kept.items()))
P
}
watch() { # FILE IDEAS
	"$ki" evolve --watch "${quick[@]}" --ideas "$2" > "$1" 2> watch.err &
	watch=$!
}
finished() { # NAME FILE
	kill -INT $watch
	wait $watch
	is "$1: Ctrl-C ends it well" "$? $(cat watch.err)" "0 "
	is "$1: no window is left" "$(field windows)" 0
	is "$1: no module is left" "$(modules)" 0
	soon "$1: nor a patch" 0 field heap_used
	ok "$1: the text is what it was" text_is_back
	sed 's/^/# /' "$2"
}

load
watch groups group
ok "a group is tried" comes 300 '"idea": *"group"' groups
ok "it has several functions" grep -qE '"functions": *([2-9]|1[0-9])' groups
ok "after all of them it pauses" comes 300 '"pauses"' groups
kill -STOP $watch # what it says now is what is in
cp groups stood
ok "only what is better is kept, and all is said" told stood
is "what is in is what was kept" "$("$ki" evolve --list | grep -c '^  ' | sed 's/[1-9][0-9]*/some/')" "$(told stood | sed 's/.\+/some/; s/^$/0/')"
kill -CONT $watch
ok "reads read meanwhile" "$prog/calls" read 20000
finished groups groups

watch versions version,layout
ok "a version is tried" comes 400 '"idea": *"version"' versions
ok "what that does not serve is laid out" comes 300 '"idea": *"layout"' versions
ok "after all of them it pauses" comes 400 '"pauses"' versions
kill -STOP $watch
cp versions stood
ok "only what is better is kept, and all is said" told stood
is "a module for each version that is kept" "$(modules)" "$(told stood | tr ' ' '\n' | grep -c '^version:')"
kill -CONT $watch
ok "reads read meanwhile" "$prog/calls" read 20000
finished versions versions
kill "$load"
wait "$load" 2> /dev/null
refused() { ! "$ki" evolve "$@" 2> /dev/null; }
ok "no such idea" refused --watch --ideas faster
ok "ideas are of --watch" refused --ideas group vfs_read
finish
