#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Replacements that would lead in a circle are refused, whoever asks for which part of it, and
# functions that must not be called, because they sleep or are no plain code, nor stand for another.
# promise: No replacement, by whichever sessions, ever leads in a circle.
# promise: Inserted code calls only the beginning of a plain function that cannot sleep.
#   [instruments.sh, permit.sh]
. "$(dirname "$0")/replace_lib.sh"
m=ki_replace
begin 1 ${m}_a=${m}_b "12 22 32 42"
ok "two functions for each other" refuses 1 "closes a circle.*leads back" ${m}_b=${m}_a
begin 2 ${m}_b=${m}_c "13 23 33 43"
ok "three, by three sessions" refuses 1 "closes a circle" ${m}_c=${m}_a
begin 3 ${m}_a=${m}_c "13 23 33 43"
ok "also by one that is not effective now" refuses 1 "closes a circle" ${m}_b=${m}_a
end 3 "13 23 33 43"
end 1 "11 21 31 41"
ok "the first has gone: it is none any more" "$ki" replace -q ${m}_c=${m}_a -- true
end 2 "11 21 31 41"
ok "in one request" refuses 1 "closes a circle" ${m}_a=${m}_b ${m}_b=${m}_c ${m}_c=${m}_a
ok "of one function" refuses 1 "closes a circle" "${m}_first->${m}_a=${m}_first"
begin 1 ${m}_b=${m}_second "11 21 31 41"
ok "through a call" refuses 1 "closes a circle" "${m}_second->${m}_a=${m}_b"
is "another call of it is none" "$(replaced_while "${m}_first->${m}_a=${m}_c" --)" "13 21 31 41"
end 1 "11 21 31 41"
for round in 1 2 3 4 5; do
	"$ki" replace -q ${m}_a=${m}_b < /dev/null > /dev/null 2> /tmp/one &
	one=$!
	"$ki" replace -q ${m}_b=${m}_a < /dev/null > /dev/null 2> /tmp/two &
	two=$!
	wait -n $one $two
	is "two sessions at once, round $round: one is refused" "$? $(cat /tmp/one /tmp/two | grep -c 'closes a circle')" "1 1"
	kill -INT $one $two 2> /dev/null
	wait $one $two
done
is "of circles nothing is left" "$(results)" "11 21 31 41"

# ---- what may not be called, nor stand for another ----
address() { awk -v s="$1" '$3 == s { print $1; exit }' /proc/kallsyms; }
# callees WHAT TAG FUNCTION...: those that this kernel has
callees() {
	local f a
	for f in "${@:3}"; do
		a=$(address "$f")
		if [ -n "$a" ]; then
			is "$f $1" "$("$top/build/test/callees" vfs_read "$a")" "$2"
		else
			echo "# this kernel has no $f"
		fi
	done
}
callees "is not to be called" NOT_CALLABLE asm_exc_int3 exc_int3 native_write_msr __x86_indirect_thunk_rax \
	notify_die preempt_schedule_notrace start_secondary __SCT__might_resched
# What sleeps, itself or in what it calls, and what calls wherever a pointer says.
callees "may sleep" MAY_SLEEP schedule mutex_lock mutex_lock_nested msleep synchronize_rcu kmem_cache_alloc filp_close vfs_write
callees "does not" OK ktime_get_mono_fast_ns get_state_synchronize_rcu strlen memcmp jiffies_to_msecs int_sqrt
for f in exc_int3 native_write_msr; do
	ok "$f does not stand for another" refuses 1 "must not be called" ${m}_a=$f
done
ok "the text is what it was" text_is_back
ok "the test module unloads" goes ki_replace
finish
