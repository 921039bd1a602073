#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters of each thread in a process, by the driver: what is emitted; exact counts while threads
# are born and die, more than have counters of their own, with forks of which both sides count at
# once; where a thread cannot be known by the word at its FS base, and in static programs, the lock.
# promise: By the driver, too, a bare counter in a process is one of each thread, without a lock, and
#   exact.
# shellcheck disable=SC2016,SC2317 # for other shells; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start

# The instructions of all patches in process $pid, of sessions before, too: how many add with a lock to
# a counter of all, and how many to one of a thread.
emitted() {
	local range
	: > /tmp/code
	while read -r range; do
		dd if="/proc/$pid/mem" bs=4096 skip=$((16#${range%-*} / 4096)) \
			count=$(((16#${range#*-} - 16#${range%-*}) / 4096)) of=/tmp/patches status=none
		objdump -D -b binary -m i386:x86-64 --no-show-raw-insn /tmp/patches >> /tmp/code
	done < <(sed -n 's/^\([0-9a-f-]*\) r-xs .*kerninst.*/\1/p' "/proc/$pid/maps")
	echo "$(grep -c 'lock incq .*(%rip)' /tmp/code) $(grep -c 'incq *(%rdx,%rcx' /tmp/code)"
}
export -f emitted
# What has come since then.
emits() { paste -d ' ' /tmp/emitted /tmp/before | awk '{ print $1 - $3, $2 - $4 }'; }
# stat "COMMAND" OPTION|POINT...: while that is done; by who may less: as=(COMMAND...)
as=()
stat() {
	rm -f /tmp/csv /tmp/answer /tmp/emitted
	emitted > /tmp/before
	env to="$to" from="$from" pid="$pid" "${as[@]}" "$ki" stat -x, -o /tmp/csv "${@:2}" -- \
		bash -c "emitted > /tmp/emitted; $1" 2> /tmp/words
}
counted() { awk -F, 'NR > 1 { print $1 }' /tmp/csv | sort -u; }
places() { awk 'NR > 1' /tmp/csv | wc -l; }
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
same() { [ "$(text)" = "$before" ]; }
changed() { ! same; }
by_driver() { is "$1: by the driver" "$(grep -c 'no thread was held' /tmp/words)" 1; }

# ---- whose threads are told apart ----
cases "" 9 "$top/build/test/ask_apart"

# ---- what is emitted ----
for form in pie cet nopie static; do
	run "$bin/$form" 2 2000
	ok "$form" stat : "$pid/$form:step:insns"
	by_driver "$form"
	[ "$form" = static ] && wanted="$(places) 0" || wanted="0 $(places)"
	is "$form: with a lock, and of each thread" "$(emits)" "$wanted"
	ok "$form: that is several" test "$(places)" -ge 5
	end
done

# ---- exact ----
run "$bin/churn" "$bin/libturned.so"
before=$(text)
# exact NAME "WORDS" [COUNT [CODE]]: each call as the program says, or so many
exact() {
	ok "$1" stat "ask $2" "$pid/churn:step"
	by_driver "$1"
	is "$1: each call" "$(counted)" "${3-$(cat /tmp/answer)}"
	is "$1: with a lock, and of each thread" "$(emits)" "${4-0 1}"
	ok "$1: the text is as it was" same
}
exact "eight threads at once" "stand 1"
exact "threads that are born and die" "threads 20" 16000
exact "a hundred threads, signals, forks of handlers" "throng 1"
exact "a child and its parent at once" "twins 10"
exact "children of vfork, until they are another program" "spawns 10" 1000

# ---- a command that is started ----
end
echo 0 0 > /tmp/before
run "$ki" stat -x, -o /tmp/csv command/churn:step -- "$bin/churn" "$bin/libturned.so"
pid=$(pgrep -x churn) emitted > /tmp/emitted
ok "a command, eight threads at once" ask stand 1
end
is "a command: each call" "$(counted)" "$(cat /tmp/answer)"
is "a command: with a lock, and of each thread" "$(emits)" "0 1"

# ---- what it costs ----
ok "single-stepped" eval '"$bin/priced" calls > /tmp/priced'
is "--cost says as many instructions" "$(sed -n 's/^said //p' /tmp/priced)" "$(sed -n 's/^stepped //p' /tmp/priced)"
ok "which are those without a lock" test "$(sed -n 's/^said //p' /tmp/priced)" -ge $((50 * 17))

# ---- the end ----
run "$bin/churn" "$bin/libturned.so"
before=$(text)
for i in 1 2; do
	"$ki" stat -q "$pid/churn:step" > /dev/null 2>&1 &
	tool=$!
	ok "kill $i: it counts" until_true 30 changed
	echo "stand 1" >&"$to"
	sleep 0.2
	kill -9 $tool
	wait $tool 2> /dev/null
	ok "kill $i: the text comes back" until_true 10 same
	read -r -t 200 -u "$from" answer
	is "kill $i: the program works on" "$answer" 800000
done

# ---- no more pages than a session may have ----
limit=/sys/module/kerninst/parameters/session_pages
was=$(cat $limit)
echo 2 > $limit
as=(setpriv --bounding-set -sys_resource --inh-caps -sys_resource)
exact "two pages for a session" "stand 1" 800000 "1 0"
as=()
echo "$was" > $limit

# ---- threads that cannot be known ----
ok "two threads with another FS base" ask strays 1
exact "they and another at once" "beside 5" 1500000 "1 0"
end

# ---- another program ----
run "$bin/churn" "$bin/libturned.so"
ok "it becomes another program" stat 'echo become 3 >&"$to"; sleep 1' "$pid/churn:step"
is "which is not counted" "$(counted)" 100
wait "$pid"
is "and ends well" $? 34
end
soon "no session is left" 1 field sessions
finish
