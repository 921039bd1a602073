#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Instruments written in C: arguments and results, order, records, contexts, recursion, the life of
# their module, and what is refused; one that could sleep.
# promise: F13: An instrument or helper that would be called inside itself is skipped, and that
#   is counted.
# promise: G4, G12, F12: C functions of users' modules are called with arguments, return values
#   and write described records.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
cd /tmp || exit 1
dir=$top/build/instruments/$(uname -r)
kit=/sys/module/ki_kit/parameters
start

load() { "$ki" load -q "$dir/$1.ko"; }
refuses() { # STATUS TEXT ARGUMENT...
	local status=$1 text=$2
	shift 2
	"$ki" "$@" > refused.out 2>&1
	if [ $? != "$status" ] || ! grep -q -- "$text" refused.out; then
		cat refused.out
		return 1
	fi
}
go() { echo "$*" > $kit/go; }
export kit
run() { printf 'echo %s > %s/go' "$*" "$kit"; }
stat() { "$ki" stat -q --json "$@" > stat.out 2> stat.err || cat stat.err; }
# counted EXPRESSION CONTEXT N: hits of the target for which it held, while it was called N times
counted() { stat --if "$1" ki_kit:ki_kit_target -- sh -c "$(run "$2")"; value ki_kit:ki_kit_target < stat.out; }
record() { "$ki" record "$@" > record.out 2>&1 || cat record.out; }
skipped() { field skipped; }

# ---- load and list ----
ok "a dry run lists what is in the file" grep -q '^kit_six .* ki_kit .*(s8 a, u16 b, int c, long d, u64 e, void \*f) .*each argument in its place' <("$ki" load -n "$dir/ki_kit.ko")
ok "and loads nothing" test ! -e /sys/module/ki_kit
ok "the module loads" load ki_kit
ok "not twice" refuses 1 "loaded already" load -q "$dir/ki_kit.ko"
ok "a module without instruments is not loaded" refuses 1 "no instruments in it" load -q "$top/build/kmod/$(uname -r)/kerninst.ko"
is "the loaded ones are listed" "$("$ki" instruments --json | grep -c '"type":"instrument".*"module":"ki_kit"')" 12
ok "the driver stays loaded meanwhile" eval '! rmmod kerninst 2> /dev/null'

# ---- arguments and results ----
n=300
go task $n
is "the target is called so often, and right" "$(cat $kit/go)" "$n 0"
is "an instrument is called each time, its result is right" "$(counted 'kit_add(arg0, arg1) == arg0 + 2 * arg1' "task $n")" $n
is "exactly" "$(cat $kit/hits)" $n
is "as a condition" "$(counted 'kit_add(arg0, 0) < 10' "task $n")" 10
h=$(cat $kit/hits)
is "if it is needed for some only" "$(counted 'arg0 < 5 && kit_add(arg0, 1)' "task $n")" 5
is "it is called for these only" "$(($(cat $kit/hits) - h))" 5
half=$((n / 2))
h=$(cat $kit/hits)
stat --by 'odd:kit_add(arg0, 1) & 1' --hist 'kit_add(arg0, 0)' ki_kit:ki_kit_target -- sh -c "$(run "task $n")"
is "as a key and as a value of a distribution: twice" "$(($(cat $kit/hits) - h))" $((2 * n))
is "with right sums" "$(sed -n 's/.*"odd":"\([01]\)".*"count":\([0-9]*\),"sum":\([0-9]*\),.*/\1 \2 \3/p' stat.out | sort | xargs)" \
	"0 $half $((half * (half - 1))) 1 $half $((half * half))"
# sums COLUMN...: of the values that calls have recorded
sums() { for i; do column "$i" v.rec | awk '{ s += $1 } END { print s + 0 }'; done | xargs; }
record -o v.rec 'ki_kit:ki_kit_target=six:kit_six(-1, 0xfffe, -3, -4, 5, 6),other:kit_six(-1, 0xfffe, -3, -4, 6, 5),two:kit_add(kit_add(arg0, 1), 2) == arg0 + 6' -- sh -c "$(run "task $n")"
is "six arguments, and not others" "$(sums six other)" "$n 0"
is "two in one expression" "$(sums two)" $n
is "at the exit, with the return value" "$("$ki" stat -q --json --if 'kit_add(retval, 0) < 24' ki_kit:ki_kit_target:exit -- sh -c "$(run task $n)" | value ki_kit:ki_kit_target:exit)" 10
is "the target's results were right" "$(cat $kit/go)" "$n 0"
is "the text is back" "$(field windows)" 0

# ---- records ----
record -o r.rec 'ki_kit:ki_kit_target=x:kit_write(arg0,arg1),a:arg0' -- sh -c "$(run task $n)"
is "its result is a value: 0, so each was written" "$(column x r.rec ki_kit:ki_kit_target | sort -u)" 0
is "each record once" "$(column sum r.rec ki_kit:ki_kit_target=kit_write | wc -l)" $n
is "with its arguments" "$(column sum r.rec ki_kit:ki_kit_target=kit_write | head -n 3 | xargs) $(column sum r.rec ki_kit:ki_kit_target=kit_write | awk '{ s += $1 } END { print s }')" "-7 -6 -5 $((n * (n - 1) / 2 - 7 * n))"
is "shown as its module says" "$(column where r.rec ki_kit:ki_kit_target=kit_write | sort -u)" 0xabcd
is "the file has point and instrument" "$("$ki" report -q --json r.rec | grep -c '"name":"[^"]*ki_kit_target=kit_write","point":"ki_kit_target@0x[0-9a-f]*:entry=kit_write"')" 1
is "they have their own id" "$(column id r.rec ki_kit:ki_kit_target=kit_write | sort -u)" 2
ok "two that write records are refused" refuses 2 "both write records" record -o x.rec 'ki_kit:ki_kit_target=kit_write(1,2),kit_other()'
"$ki" record --json -o u.rec 'ki_kit:ki_kit_target=kit_uneven(arg0),a:arg0' -- sh -c "$(run task $n)" > u.json 2> record.out
is "records of another number of values do not end the recording" "$? $(of_end cut u.rec)" "0 false"
is "they are lost, and only they" "$(of_end lost u.rec) $(column b u.rec ki_kit:ki_kit_target=kit_uneven | wc -l) $(column a u.rec ki_kit:ki_kit_target | wc -l)" "$half $half $n"
is "it says so" "$(sed -n 's/.*"lost":\([0-9]*\).*/\1/p' u.json) $(grep -c "ki_kit_target=kit_uneven: $half of its records are lost" record.out)" "$half 1"
record -o n.rec --mode newest -b 4 'ki_kit:ki_kit_target=kit_write(arg0,arg1)' -- sh -c "$(run task $n)"
ok "what does not fit is counted" test "$(of_end lost n.rec)" -gt 0
is "without a recording there is no record" "$(counted 'kit_write(arg0, arg1) == -2' "task $n")" $n

# ---- records of a condition ----
written() { column sum "$1" "$2=kit_write" | wc -l; }
record -o w.rec --if 'kit_write(arg0, arg1) == 0 && arg0 < 10' ki_kit:ki_kit_target=a:arg0 -- sh -c "$(run task $n)"
is "an instrument in a condition writes its records" "$(written w.rec ki_kit:ki_kit_target)" $n
is "and the point those for which it holds" "$(column a w.rec ki_kit:ki_kit_target | xargs)" "0 1 2 3 4 5 6 7 8 9"
record -o w.rec --if 'kit_write(arg0, arg1)' ki_kit:ki_kit_target=a:arg0 -- sh -c "$(run task $n)"
is "also if it never does" "$(written w.rec ki_kit:ki_kit_target) $(column a w.rec ki_kit:ki_kit_target | wc -l)" "$n 0"
ok "another one among the values is refused" refuses 2 "both write records" record -o x.rec --if 'kit_write(1,2) == 0' 'ki_kit:ki_kit_target=kit_other()'

# ---- what it is told of its place ----
here() { column "$1" h.rec "$2=kit_here" | sort -u | xargs; }
record -o h.rec 'ki_kit:ki_kit_target:entry/3=x:kit_here(arg0)' 'ki_kit:ki_kit_target:exit/7=x:kit_here(retval)' -- sh -c "$(run task $n)"
entry=ki_kit:ki_kit_target:entry/3 exit=ki_kit:ki_kit_target:exit/7
target=0x$(awk '$3 == "ki_kit_target" { print $1; exit }' /proc/kallsyms)
is "each place once for each hit" "$(column point h.rec "$entry=kit_here" | wc -l) $(column point h.rec "$exit=kit_here" | wc -l)" "$n $n"
for point in "$entry" "$exit"; do
	is "$point: offset and address say the same" "$(($(here address "$point") - $(here offset "$point")))" "$((target))"
done
ok "the exit is behind the entry" test "$(here offset "$exit")" -gt "$(here offset "$entry")"
is "where, order, number of the entry" "$(here where "$entry") $(here order "$entry") $(here point "$entry")" "0 3 0"
is "and of the exit" "$(here where "$exit") $(here order "$exit") $(here point "$exit")" "0 7 1"
is "beside an id and arguments, and not others" "$(counted 'kit_all(-1, -2, 3) && !kit_all(-1, -2, 4)' "task $n")" $n
ok "it is not given, and takes the place of two" refuses 2 "3 arguments, not 4; the id is not given; the place is not given" stat --if 'kit_all(1, 2, 3, 4)' vfs_read

# ---- order ----
record -o o.rec 'ki_kit:ki_kit_target:entry/1=kit_first(arg0)' 'ki_kit:ki_kit_target:entry/2=kit_second(arg0)' -- sh -c "$(run task $n)"
is "two at one point come in their order" "$(of_end records o.rec) $(cat $kit/disorder)" "$((2 * n)) 0"
record -o o.rec 'ki_kit:ki_kit_target:entry/2=kit_first(arg0)' 'ki_kit:ki_kit_target:entry/1=kit_second(arg0)' -- sh -c "$(run task $n)"
is "and the other way round the other way round" "$(cat $kit/disorder)" $n

# ---- contexts, recursion ----
stat --by 'context:kit_context()' ki_kit:ki_kit_target -- sh -c "$(run "task $n"); $(run "irq $n"); $(run "nmi 50")"
is "in tasks, interrupts, NMIs" "$(sed -n 's/.*"context":"\([0-9]*\)".*"count":\([0-9]*\).*/\1 \2/p' stat.out | sort | xargs)" "0 $n 1 $n 2 50"
before=$(skipped)
h=$(cat $kit/hits)
"$ki" stat --json --if 'kit_recurse(arg0) == arg0 + 2' ki_kit:ki_kit_target -- sh -c "$(run "task $n")" > stat.out 2> record.out
is "one that calls what it is attached to" "$(value ki_kit:ki_kit_target < stat.out)" $n
is "is called once each time" "$(($(cat $kit/hits) - h))" $n
is "and the hits inside are counted as skipped" "$(($(skipped) - before))" $n
is "stat says how many" "$(grep '"skipped"' stat.out | value all) $(grep -c "$n hits were skipped" record.out)" "$n 1"
"$ki" record --json -o s.rec 'ki_kit:ki_kit_target=kit_recurse(arg0)' -- sh -c "$(run task $n)" > s.json 2> record.out
is "and record" "$(sed -n 's/.*"skipped":\([0-9]*\).*/\1/p' s.json) $(grep -c "$n hits were skipped" record.out)" "$n 1"
within_itself() { stat --if 'kit_add(arg0, 1) == arg0 + 2' ki_kit:ki_kit_target -- sh -c "$(run "task $n")"; }
export -f within_itself stat run
export ki n
before=$(skipped)
h=$(cat $kit/hits)
"$ki" stat -q --json -o itself.out --if 'kit_add(1, 2) == 5' ki_kit:ki_instrument_kit_add -- bash -c within_itself
is "one that is attached to itself works where else it is" "$? $(value ki_kit:ki_kit_target < stat.out)" "0 $n"
is "and is called there only" "$(($(cat $kit/hits) - h)) $(value ki_kit:ki_instrument_kit_add < itself.out)" "$n 0"
is "its own hits are counted as skipped" "$(($(skipped) - before))" $n

# ---- sleeping: they may not ----
ok "one that could sleep is refused" refuses 1 "may sleep" stat --if 'kit_sleep() == 0' ki_kit:ki_kit_target

# ---- the module's life ----
"$ki" stat -q --if 'kit_add(arg0, arg2) >= 0' vfs_read -- sleep 3000 > /dev/null 2>&1 &
pid=$!
until_true 120 measures $pid
ok "while it may be called its module stays" eval '! rmmod ki_kit 2> rmmod.err'
ok "and rmmod says why" grep -q "in use" rmmod.err
is "the list shows it" "$("$ki" instruments --json | sed -n 's/.*"name":"kit_add".*"chunks":"\([0-9]*\)".*/\1/p')" 1
chunks() { "$ki" instruments | awk '$1 == "kit_add" { print $3, $4 }'; }
is "in one piece of code" "$(chunks)" "1 chunk"
"$ki" stat -q --if 'kit_add(arg0, arg2) >= 0' vfs_write vfs_open > /dev/null 2>&1 &
more=$!
soon "in three, of two sessions" "3 chunks" chunks
kill -INT $more
wait $more
soon "in one again" "1 chunk" chunks
"$prog/hammer" 3000 2 > /dev/null 2>&1 &
load=$!
sleep 1
kill -9 $pid
wait $pid 2> /dev/null
ok "killed under load, it goes soon behind" goes ki_kit
kill $load
wait $load 2> /dev/null
ok "nobody calls one that is not loaded" refuses 2 "no function 'kit_add'" stat --if 'kit_add(1, 2)' vfs_read
ok "it comes again" load ki_kit
is "and works" "$(counted 'kit_add(arg0, arg1) == arg0 + 14' "task $n")" $n

# ---- what is refused ----
ok "too many arguments" refuses 2 'kit_add(long a, long b): 2 arguments, not 3' stat --if 'kit_add(1, 2, 3)' vfs_read
ok "too few" refuses 2 "2 arguments, not 1; the id is not given" stat --if 'kit_write(1)' vfs_read
ok "one that would be called twice" refuses 1 "loaded or called twice" record -o x.rec 'vfs_read=kit_add(1, 2) in (1, 2)'
ok "another version, from a file" refuses 1 "version 99, not 1" load -q "$dir/ki_old.ko"
ok "loaded nevertheless" insmod "$dir/ki_old.ko"
ok "it is listed as not usable" grep -q "not usable: version 99" <("$ki" instruments)
advice=$("$ki" explain INSTRUMENT_VERSION | sed -n 's/^ *hint: //p')
ok "and refused, with what to do" refuses 2 "version 99, not 1.*; $advice" stat --if 'old_one()' vfs_read
ok "it unloads" rmmod ki_old
address() { awk -v s="$1" '$3 == s { print $1; exit }' /proc/kallsyms; }
add=$(address ki_instrument_kit_add)
read -r init data < $kit/places
is "the beginning of functions only" "$("$top/build/test/callees" vfs_read "$add" "$(printf %x $((0x$add + 1)))" "$(printf %x $((0x$add + 4)))" "$init" "$data" "$(address vfs_write)" "$(address ki_splice)" 0 ffffffffffffffff | xargs)" \
	"OK NOT_A_FUNCTION NOT_A_FUNCTION NOT_TEXT NOT_TEXT MAY_SLEEP NOT_A_FUNCTION NOT_TEXT NOT_TEXT"
is "and nothing is held by what was refused" "$(cat /sys/module/ki_kit/refcnt)" 0

ok "the module unloads" goes ki_kit
finish
