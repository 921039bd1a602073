#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# KCOV's file and `kerninst kcov`: the documentation's program runs as it is, each task has its own
# trace, each request is answered as the kernel answers it; whoever is killed or closes first, the text
# is what it was. The order of what is recorded is the witness's: kcov_host.sh.
#
# usage: test/guest/kcov/kcov.sh [cost]
# promise: N5: KCOV's interface answers on a stock kernel as its documentation says, each task
#   with its own trace. [test_kcov.c, fuzz.sh]
# promise of kcov-cost: N5: KCOV's blocks and comparisons cost traced and other tasks no more
#   than is allowed.
# not shown: N5: Remote coverage.
. "$(dirname "$0")/../common/lib.sh"
file=/sys/kernel/debug/kcov
kcov=$top/build/test/kcov
# What the clients' calls run; and what only interrupts do, hard and soft.
calls=(__x64_sys_getppid __x64_sys_read ksys_read __fdget_pos __fdget __fget_light __fget_files fdget_pos fdget)
ticks=(update_process_times account_process_tick run_timer_softirq rcu_sched_clock_irq)
rm -f /tmp/kcov.*

probe() { # FUNCTION...: those of them that this kernel has
	mapfile -t functions < <(awk 'NR == FNR { want[$1] = 1; next } tolower($2) == "t" && $3 in want && !seen[$3]++ { print $3 }' \
		<(printf '%s\n' "$@") /proc/kallsyms)
}

with() { # OPTION... COMMAND...: while the blocks are recorded
	local options=()
	while [[ $1 == -* ]]; do options+=("$1") && shift; done
	"$ki" kcov -q --list /tmp/kcov.list "${options[@]}" "${functions[@]}" -- "$@"
}
symbol() { awk -v s="$1" '$3 == s { print $1; exit }' /proc/kallsyms; }
linked() { printf '0x%x' $((16#$(symbol "$1") - 16#$(symbol _text) + 0xffffffff81000000)); }
# shellcheck disable=SC2317 # called through soon
users() { cat /sys/module/kerninst/refcnt; }

# The functions of addresses, each once as long as it goes on.
path() {
	awk 'NR == FNR { sub(/\+.*/, "", $3); f[$1] = $3; next }
		{ if (!($1 in f)) print "unknown " $1; else if (f[$1] != last) print last = f[$1] }' \
		/tmp/kcov.list "$1" | paste -sd ' '
}

background() { # OUT COMMAND...: and wait until it says something
	local out=$1
	shift
	"$@" > "$out" 2>&1 < /dev/null &
	pid=$!
	ok "a client begins" until_true 120 test -s "$out"
}
# The last count: the first line is the process number.
# shellcheck disable=SC2317 # called through until_true
last_is() { test "$(tail -n +2 /tmp/kcov.hold | tail -n 1)" "$1" "$2" 2> /dev/null; } # -gt NUMBER

killed() { # PID
	kill -9 "$1"
	wait "$1" 2> /dev/null
	true
}

if [ "${1-}" = cost ]; then
	probe __x64_sys_read ksys_read vfs_read rw_verify_area read_zero security_file_permission \
		__fdget_pos __fget_light fdget_pos __fsnotify_parent rep_stos_alternative
	start
	read -r none _ < <("$kcov" cost 20000)
	echo "# none $none"
	for how in --no-move ""; do
		# shellcheck disable=SC2086 # none, or one option
		read -r off n < <(with $how "$kcov" cost 20000)
		# shellcheck disable=SC2086
		read -r on _ < <(with $how "$kcov" cost 20000 on)
		echo "# off$how $off"
		echo "# on$how $on"
		echo "# blocks$how $n"
		ok "${how:-moved}: a block costs a task that is not traced at most 4.6 instructions, its function's coming and going included" \
			awk "BEGIN { print x = ($off - $none) / $n; exit !($n >= 15 && x > 1.9 && x < 4.6) }"
		ok "${how:-moved}: and one that is traced at most 50" \
			awk "BEGIN { print x = ($on - $none) / $n; exit !(x > 10 && x < 50) }"
	done
	# With comparisons too.
	read -r off _ < <(with --comparisons "$kcov" cost 20000)
	echo "# off-comparisons $off"
	echo "# comparisons $(grep -c ' comparison$' /tmp/kcov.list)"
	read -r on n < <(with --comparisons "$kcov" cost 20000 comparisons)
	echo "# on-comparisons $on"
	echo "# passed $n"
	ok "blocks and comparisons cost a task that is not traced at most half as many instructions more" \
		awk "BEGIN { print x = $off / $none; exit !(x > 1.05 && x <= 1.5) }"
	ok "and one whose comparisons are recorded at most 230 for each" \
		awk "BEGIN { print x = ($on - $off) / $n; exit !($n >= 15 && x > 20 && x <= 230) }"
	finish
fi

start
probe "${calls[@]}" "${ticks[@]}"
ok "the file is there with the driver" test -f $file
is "while no blocks are recorded, the documentation's program runs and prints nothing" \
	"$("$top/build/test/kcov_example" && echo ended)" ended
with "$top/build/test/kcov_example" > /tmp/kcov.pcs
is "with them it runs, too" $? 0
is "the first address is read's system call, as vmlinux has it" "$(head -n 1 /tmp/kcov.pcs)" "$(linked __x64_sys_read)"
path=$(path /tmp/kcov.pcs)
ok "it goes into ksys_read, into the table of files, and back: $path" \
	grep -qxE '__x64_sys_read ksys_read( (__fget_light|__fdget_pos|fdget_pos|__fget|__fget_files))+ ksys_read( __x64_sys_read)?' <<< "$path"
with --no-move "$top/build/test/kcov_example" > /tmp/kcov.single
ok "what is moved and what is not record the same" cmp /tmp/kcov.pcs /tmp/kcov.single

cases "" 43 "$kcov" errors
cases "moved: " 11 with "$kcov" cases
cases "not moved: " 11 with --no-move "$kcov" cases

says() { "$ki" kcov "$@" 2>&1; }
status_of() { "$ki" kcov -q "$@" > /dev/null 2>&1; echo $?; }
is "without functions" "$(status_of)" 2
is "with functions, and all" "$(status_of --all ksys_read)" 2
is "with one that there is not" "$(status_of no_such_function)" 1
is "with none left" "$(status_of -x 'ksys_*' ksys_read)" 1
is "its status is the command's" "$(status_of ksys_read -- sh -c 'exit 7')" 7
is "or says that there is none" "$(status_of ksys_read -- /no/such/command)" 127
ok "a dry run says what would be" grep -qE '^kerninst: ([0-9]+) of [0-9]+ blocks would record themselves, in 1 functions' <<< "$(says -n ksys_read)"
is "and nothing is there" "$(field windows)" 0
soon "nobody uses the driver" 0 users
background /tmp/kcov.tool "$ki" kcov -q "${functions[@]}" -- sh -c 'echo; exec sleep 600'
tool=$pid
background /tmp/kcov.hold "$kcov" hold
ok "it is recorded" until_true 120 last_is -gt 99
killed "$pid"
background /tmp/kcov.hold "$kcov" hold
ok "after it was killed the next one is" until_true 120 last_is -gt 99
killed "$tool"
pkill -x sleep # its command outlives it
ok "when kerninst was killed nothing is recorded any more" until_true 120 last_is -eq 0
ok "and its code is gone" until_true 120 field_is windows 0
ok "the client goes on" kill -0 "$pid"
killed "$pid"
soon "nobody uses the driver again" 0 users
background /tmp/kcov.open "$kcov" open
ok "an open file keeps the driver" eval '! rmmod kerninst 2> /dev/null'
killed "$pid"
background /tmp/kcov.pinned "$kcov" pinned
ok "and so does a task that is traced, without a file" eval '! rmmod kerninst 2> /dev/null'
killed "$pid"
soon "until it ends" 0 users
ok "the text is what it was" text_is_back
ok "the driver goes" goes kerninst
ok "and the file with it" test ! -e $file
ok "and comes again" insmod "$top/build/kmod/$(uname -r)/kerninst.ko"
ok "with the file" test -e $file
finish
