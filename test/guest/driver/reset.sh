#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst reset: two sessions of root's and one of another user's go at once, each is told, and the
# text is what it was; --dry-run changes nothing; who may not gets a reason. And the options of all
# verbs: what --timing counts against what was put in, what --priority makes of the process.
# promise: K23: kerninst reset takes out all sessions and says what each had; --timing tells each
#   step. [test_steps.c, test/kerninstd.sh, permit.sh]
# not shown: K23: EBUSY for a second opener: independent sessions with limits take its place.
# shellcheck disable=SC2016,SC2317 # for the tool; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
for_everyone "$prog/calls"
f=__x64_sys_getsid
g=__x64_sys_getpgid
start

other=(setpriv --reuid 65534 --regid 65534 --clear-groups '--inh-caps=-all,+perfmon,+syslog' '--ambient-caps=-all,+perfmon,+syslog')
chunks() { "$ki" sessions --json | jq -s '[.[] | select(.self | not) | .chunks] | add // 0'; }
all_in() { [ "$("$ki" sessions --json | jq -s '[.[] | select(.self | not) | select(.chunks > 0)] | length')" = 3 ]; }
pids=()
begin() {
	"$@" < /dev/null > /tmp/out 2> "/tmp/words_${#pids[@]}" &
	pids+=($!)
}
begin "$ki" stat -q -m blocks vfs_read vfs_write
begin "$ki" replace -q $g=__x64_sys_getpriority
begin "${other[@]}" "$ki" stat -q $f
ok "three sessions have put something in" until_true 90 all_in
before=$(chunks)

# ---- who may not ----
"${other[@]}" "$ki" reset --dry-run > /tmp/said 2> /tmp/words
is "another user's are not his, dry" "$? $(grep -c 'stays \[NOT_YOURS\]' /tmp/said) $(grep -c ': would go$' /tmp/said)" "3 2 1"
is "an argument is refused" "$("$ki" reset all 2>&1 > /dev/null | wc -l) $("$ki" reset all 2> /dev/null; echo $?)" "1 2"

# ---- dry ----
"$ki" reset --dry-run > /tmp/said
is "dry: each is told" "$? $(grep -c ': would go$' /tmp/said) $(tail -n 1 /tmp/said)" "0 3 3 sessions would go"
is "and nothing has gone" "$(chunks)" "$before"
ok "the text is not what it was" eval '! text_is_back > /dev/null 2>&1'

# ---- reset ----
"$ki" reset --json > /tmp/said
is "reset: status" "$?" 0
is "each session is out" "$(jq -sc '[.[] | .outcome // empty]' /tmp/said)" '["out","out","out"]'
is "what they had is told" "$(jq -s '[.[] | .chunks // 0] | add' /tmp/said) $(jq -s '[.[] | .replaced // 0] | add' /tmp/said)" "$before 1"
is "the text is compared" "$(jq -sc '.[-1] | [.sessions, .out, .differing, .compared > 10000000]' /tmp/said)" '[3,3,0,true]'
ok "the text is what was kept before anything went in" text_is_back
is "nothing is in" "$(chunks)" 0
is "again: there is nothing" "$("$ki" reset | sed 's/,.*//')" "0 of 0 sessions are out; text: equal"
"$ki" reset -q > /tmp/said
is "quiet" "$? $(wc -c < /tmp/said)" "0 0"
kill -INT "${pids[@]}" 2> /dev/null
wait "${pids[@]}" 2> /dev/null
is "each is told that it was evicted" "$(grep -l evicted /tmp/words_[012] | wc -l)" 3

# ---- --timing ----
"$ki" --timing stat -q -m blocks vfs_read -- true > /tmp/out 2> /tmp/said
is "timing: status" "$?" 0
told() { awk -v did="$1" '$3 == did { print $4 }' /tmp/said; }
blocks=$("$ki" stat -q --json -m blocks vfs_read -- true | jq -s '[.[] | select(.value?)] | length')
functions=$("$ki" info --quick --json | jq .functions)
ok "as many symbols are read ($(told read)) as there are functions ($functions), and aliases" test "$(told read)" -ge "$functions"
ok "one function at least ($(told parsed))" test "$(told parsed)" -ge 1
ok "chunks in ($(told installed)), of $blocks blocks" test "$(told installed)" -ge 10
is "and as many out" "$(told removed)" "$(told installed)"
ok "it was waited for ($(told waited))" test "$(told waited)" -ge 1
ok "the whole is more than its parts on one thread" awk '$3 == "installed" { part = $(NF - 1) } $3 == "all" { all = $(NF - 1) } END { exit !(part > 0 && all > part) }' /tmp/said
"$ki" --timing replace -n -q $g=__x64_sys_getpriority > /tmp/out 2> /tmp/said
is "dry: nothing is installed" "$? $(told installed)" "0 0"

# ---- --priority ----
policy() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f38,39; } # real-time priority, policy
"$ki" --priority 7 stat -q $f > /tmp/out 2>&1 &
pid=$!
ok "one in real time measures" until_true 60 measures $pid
is "at that priority" "$(policy $pid)" "7 2"
kill -INT $pid
wait $pid
is "its command is not" "$("$ki" --priority 9 stat -q -o /tmp/out $f -- sh -c 'sed "s/.*) //" /proc/self/stat | cut -d" " -f38,39')" "0 0"
for n in 0 100 -1 x ''; do
	is "priority '$n' is refused in one line" "$("$ki" --priority "$n" stat $f -- true 2>&1 | wc -l) $("$ki" --priority "$n" stat $f -- true 2> /dev/null; echo $?)" "1 2"
done
is "and one that the user may not have" "$("${other[@]}" "$ki" --priority 5 explain 2>&1 > /dev/null | grep -c CAP_SYS_NICE) $("${other[@]}" "$ki" --priority 5 explain > /dev/null 2>&1; echo $?)" "1 3"
finish
