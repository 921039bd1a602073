#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst evolve --watch: a kernel that goes on to improve itself keeps what is better, and only
# that; takes back what does not serve the load any more; pauses as its budget says; and leaves
# nothing behind. Instructions are counted, so a verdict is about the code and not about the host.
# promise: N9 (in part), E7 (in part), E11: The kernel goes on to improve itself within its
#   budget, and keeps only proven gains. [ideas.sh, api.sh]
# not shown: N9, E7: Gains in stalls of a cache, or of `tcp_rcv_established` alone: the virtual
#   time of any function is judged.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
start
cd /tmp || exit 1
# A layout of vfs_read saves 0.4 % of it: five windows prove that nearly always, three often do not.
quick=(--json --for 0.3 --windows 5 --window 0.1 --again 2)
load() { # without a pause in which nobody calls
	"$prog/calls" read 2000000000 > /dev/null &
	load=$!
}
unload() {
	kill "$load"
	wait "$load" 2> /dev/null
}
watch() { # FILE OPTION...
	local file=$1
	shift
	"$ki" evolve --watch "${quick[@]}" "$@" > "$file" 2> watch.err &
	watch=$!
}
# Who looks must not be what the kernel is busy with: nothing is started to look, or to wait.
exec {nobody}<> <(:)
news() { # WHAT FILE: *count
	local line
	count=0
	[ -e "$2" ] || return
	while read -r line; do
		[[ ! $line =~ \"news\":\ *\"$1\" ]] || count=$((count + 1))
	done < "$2"
}
comes() { # SECONDS WHAT FILE COUNT
	local end=$((SECONDS + $1))
	until news "$2" "$3" && [ "$count" -ge "$4" ] && return; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt 0.5 -u "$nobody"
	done
}
# As many were undone as had been kept.
all_undone() { # SECONDS FILE
	local end=$((SECONDS + $1)) kept
	while :; do
		news kept "$2"
		kept=$count
		news undone "$2"
		[ "$kept" -gt 0 ] && [ "$count" = "$kept" ] && return
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt 0.5 -u "$nobody"
	done
}
# What must be true of the news; and who is kept after them.
told() { # FILE
	python3 - "$1" <<'P'
import json, sys
kept = []
for r in map(json.loads, open(sys.argv[1])):
    n, f = r['news'], r['function']
    judged = 'high' in r
    assert judged or n in ('refused', 'pauses', 'undone'), r
    assert not judged or (r['high'] < 0) == (n == 'kept') or n in ('confirmed', 'undone'), r
    assert n != 'confirmed' or r['low'] <= 0, r
    assert n != 'undone' or (r['low'] > 0 if judged else r['why']), r
    assert n != 'refused' or r['why'], r
    if n == 'kept':
        assert f not in kept, r
        kept.append(f)
    if n == 'undone':
        kept.remove(f)
    assert n not in ('kept', 'pauses') or r['kept'] == len(kept), r
print(*sorted(kept))
P
}
refused() { ! "$ki" evolve --watch "$@" 2> /dev/null; }
listed() { "$ki" evolve --list | sed -n 's/^  *//p' | sort -u | xargs; }

load
watch news --budget 30% --hottest 8
ok "a layout is found that is better" comes 300 kept news 1
news pauses news
comes 300 pauses news $((count + 1))
kill -STOP $watch # what it says now is what is in
cp news stood
ok "only what is better is kept, and all is said" told stood
is "it is in" "$(listed)" "$(told stood)"
kill -CONT $watch
ok "reads read meanwhile" "$prog/calls" read 20000
unload
ok "its load is gone: it is taken out" all_undone 300 news
kill -STOP $watch
is "as it says" "$(told news)" ""
kill -CONT $watch
grep '"undone"' news | tail -n 1 | sed 's/^/# /'
is "and is not in" "$(comm -12 <(told stood | xargs -n 1) <(listed | xargs -n 1))" ""
kill -INT $watch
wait $watch
is "Ctrl-C ends it well" "$? $(cat watch.err)" "0 "
is "no window is left" "$(field windows)" 0
soon "nor a patch" 0 field heap_used
ok "the text is what it was" text_is_back
sed 's/^/# /' news

load
watch worse --policy reverse --budget 5% --hottest 5
ok "layouts that are worse" comes 300 pauses worse 1
news kept worse
is "are not kept" "$count" 0
ok "some were tried" comes 0 dropped worse 1
# A round has sampled, profiled, and measured each of those ten times.
ok "it pauses five times as long as it has measured" python3 -c "
import json
rows = list(map(json.loads, open('worse')))
n = sum(r['news'] == 'dropped' for r in rows[:[r['news'] for r in rows].index('pauses')])
rest = next(r['seconds'] for r in rows if r['news'] == 'pauses')
assert rest >= 5 * (0.3 + 0.3 + n * 10 * 0.1) * 0.99, (rest, n)"
ok "and has nothing in then" field_is windows 0
kill -9 $watch
wait $watch 2> /dev/null
unload
ok "not with --keep" refused --keep
is "it is said why" "$("$ki" evolve --watch --keep 2>&1 | head -n 1)" "kerninst: --watch chooses and decides by itself: without --keep; try: kerninst evolve --help"
soon "nothing is left" 0 field heap_used
finish
