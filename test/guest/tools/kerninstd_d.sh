#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D programs of kerninstd's clients: a known count, output while it comes, what is refused, how they
# end; and nothing of them is left in the kernel.
# shellcheck disable=SC2317,SC2154,SC2016 # functions are called through ok; stream sets id_* and pid_*; D and jq have $ too
. "$(dirname "$0")/../common/lib.sh"
. "$top/test/kerninstd_lib.sh"
kd=$top/build/release/bin/kerninstd
work=$(mktemp -d /tmp/kerninstd_d.XXXXXX)
calls() { "$prog/calls" getsid "$1" > /dev/null; }
quiet='#pragma D option quiet
'
counts='fbt::__x64_sys_getsid:entry /execname == "calls"/ { @ = count(); } END { printa("%@d calls\n", @); }'

# run_d CLIENT PROGRAM: the answer and its status, in a line
run_d() {
	curl -sS -m 120 -H "Authorization: Bearer $token" -w '\n%{http_code}\n' -d "$(jq -nc --arg c "$1" --arg p "$2" '{client: $c, program: $p}')" "$url/api/d" | jq -c . | xargs -d '\n'
}
stop_d() { post /api/d/stop "{\"client\":\"$1\"}" > /dev/null; }
said() { data d "$1" | jq -rj '.text // empty'; }
has() { data d "$1" | jq -es "[.[] | select($2)] | length >= ${3:-1}"; }
says() { wait_for 120 eval '[[ $(said '"$1"') == *"'"$2"'"* ]]'; }
start

daemon_start --socket none || { cat "$work/complaints"; exit 1; }
before="$(field windows) $(field sessions)"
stream a
stream b
is "a program runs" "$(run_d "$id_a" "$quiet$counts")" "{} 200"
ok "what it has matched is told" wait_for 120 has a '.matched == 2 and .left_out == 0'
calls 1234
is "one at a time" "$(run_d "$id_a" "$counts" | jq -rs '[.[0].error.reason, .[1]] | @csv')" '"PROGRAM_RUNS",409'
is "another client has one of its own" "$(run_d "$id_b" "$quiet"'tick-100ms { printf("beat %d\n", ++n); }')" "{} 200"
ok "its output comes while it runs" says b "beat 3"
calls 100
stop_d "$id_a"
ok "it ends when it is told to" wait_for 120 has a .ended
is "with a known count" "$(said a)" "1334 calls"
is "and says how" "$(data d a | jq -c '.ended // empty')" '{"status":0,"drops":{"records":0,"aggregations":0,"variables":0,"strings":0,"speculations":0,"refused":0,"signals":0}}'

is "a second program" "$(run_d "$id_a" "$quiet"'BEGIN { printf("%s\n", "é \"2\""); exit(3); }')" "{} 200"
ok "ends by itself" wait_for 120 has a '.ended.status == 3'
is "it has said what it says" "$(said a | grep . | tail -n 1)" 'é "2"'

# ---- the page's examples, each second what they print each few ----
stream e
awk -v to="$work/example" '/text: `/ { sub(/.*text: `/, ""); n++; on = 1 } /^`,$/ { on = 0 } on { gsub(/\\\\/, "\\"); gsub(/tick-[0-9]s/, "tick-1s"); print > (to "." n) }' "$top/web/src/d_examples.ts"
n=0
is "there are some" "$(find "$work" -name 'example.*' | wc -l)" 5
for f in "$work"/example.*; do
	heard=$(said e | wc -c)
	is "example ${f##*.} runs" "$(run_d "$id_e" "$(cat "$f")")" "{} 200"
	wait_for 120 has e .matched $((n + 1))
	ls -R /etc > /dev/null
	sleep 2
	cat /etc/hostname > /dev/null
	stop_d "$id_e"
	n=$((n + 1))
	ok "and ends" wait_for 120 has e .ended $n
	is "without a word about errors" "$(data d e | jq -c '.error // empty' | head -n 1)" ""
	ok "it has printed what it is about" test "$(said e | tail -c +$((heard + 1)) | grep -c '[0-9]')" -gt 2
	echo "# $(said e | tail -c +$((heard + 1)) | grep '[0-9]' | tail -n 2 | xargs -d '\n' | cut -c 1-200)"
done
kill -9 "$pid_e"
wait "$pid_e" 2> /dev/null

# ---- what is refused ----
is "what is no program: where" "$(run_d "$id_a" "$(printf 'BEGIN\n{\n\ttrace(nonsense);\n}')" | jq -rcs '[.[0].error.reason, .[0].error.line, .[0].error.column, .[1]]')" '["D_IDENT_UNDEF",3,8,400]'
is "a probe that is not there" "$(run_d "$id_a" 'fbt::no_such_function:entry { }' | jq -rcs '[.[0].error.reason, .[1]]')" '["D_PDESC_ZERO",400]'
for p in 'BEGIN { system("touch /tmp/here"); }' 'BEGIN { stop(); }' 'BEGIN { freopen("/tmp/here"); }'; do
	is "what destroys, though it says it may: $p" "$(run_d "$id_a" "#pragma D option destructive
$p" | jq -rcs '[.[0].error.reason, .[1]]')" '["DESTRUCTIVE",400]'
done
is "nothing of it has run" "$(ls /tmp/here 2> /dev/null)" ""
is "no text" "$(status -H "Authorization: Bearer $token" -d "{\"client\":\"$id_a\"}" "$url/api/d")" 400
is "none of these has been begun" "$(data d a | jq -s '[.[] | select(.ended)] | length')" 2

# ---- no more than so many; how they end ----
for i in 1 2 3; do
	stream "c$i"
	id=id_c$i
	is "program $((i + 1)) of all" "$(run_d "${!id}" "$counts")" "{} 200"
done
is "and no more" "$(run_d "$id_a" "$counts" | jq -rcs '[.[0].error.reason, .[1]]')" '["TOO_MANY_PROGRAMS",429]'
post /api/clear "{\"client\":\"$id_a\"}" > /dev/null
for i in b c1 c2 c3; do ok "clear ends them all: $i" wait_for 120 has $i .ended; done
is "a program of who vanishes" "$(run_d "$id_b" 'tick-1s { } syscall::getppid:entry { }')" "{} 200"
wait_for 120 has b .matched 2
kill -9 "$pid_b"
wait "$pid_b" 2> /dev/null
soon "is taken out" "$before" eval 'echo "$(field windows) $(field sessions)"'

# ---- who reads slowly ----
is "one that prints more than anybody reads" "$(kill -STOP "$pid_a"; run_d "$id_a" "$quiet"'tick-1000hz { printf("%1000d\n", 7); printf("%1000d\n", 7); printf("%1000d\n", 7); printf("%1000d\n", 7); }')" "{} 200"
sleep 5
kill -CONT "$pid_a"
ok "is heard on" says a 7
stop_d "$id_a"
ok "to its end" wait_for 120 has a '.ended' 3
get "/api/recording?client=$id_a" > "$work/session"
is "a recording has it" "$(jq -r 'select(.event == "d").data.text // empty' "$work/session" | head -n 1)" "1334 calls"

# ---- the daemon ends ----
is "a program of who stays" "$(run_d "$id_a" "$counts")" "{} 200"
wait_for 120 has a .matched 4
daemon_stop
is "the daemon ends" $? 0
wait "$pid_a"
is "the program has ended before" "$(data d a | jq -s '[.[] | select(.ended)] | length')" 4
is "nothing is left in the kernel" "$(field windows)" 0

daemon_start --socket none --read-only
stream r
is "read-only" "$(run_d "$id_r" "$counts" | jq -rcs '[.[0].error.reason, .[1]]')" '["READ_ONLY",403]'
daemon_stop
rm -rf "$work"
finish
