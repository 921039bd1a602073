#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Comparisons in KCOV's file (`kerninst kcov --comparisons`): the documentation's program runs as it
# is; what is recorded is what objdump sees in the kernel's file, with the values that calls were
# given and the constants of the headers; tasks that want blocks and tasks that want comparisons have
# each their own; kill -9 gives the text back.
#
# usage: test/guest/kcov/kcov_cmp.sh KERNEL
. "$(dirname "$0")/../common/lib.sh"
kcov=$top/build/test/kcov
vmlinux=$("$top/vm/kernel" "$1" vmlinux) || exit 1
calls=(__x64_sys_read ksys_read __fdget_pos __fdget __fget_light __fget_files fdget_pos fdget
	ksys_lseek __x64_sys_lseek do_fcntl __x64_sys_fcntl fcntl_rw_hint fcntl_set_rw_hint
	__do_sys_prctl __x64_sys_prctl __sys_socket __sys_socket_create)
ticks=(update_process_times account_process_tick run_timer_softirq rcu_sched_clock_irq)
rm -f /tmp/kcov.*

mapfile -t functions < <(awk 'NR == FNR { want[$1] = 1; next } tolower($2) == "t" && $3 in want && !seen[$3]++ { print $3 }' \
	<(printf '%s\n' "${calls[@]}" "${ticks[@]}") /proc/kallsyms)
with() { # OPTION... COMMAND...: while comparisons are recorded
	local options=()
	while [[ $1 == -* ]]; do options+=("$1") && shift; done
	"$ki" kcov -q --comparisons --list /tmp/kcov.list "${options[@]}" "${functions[@]}" -- "$@"
}
# Address and end of each function, as it was linked: up to the next symbol.
ranges() {
	local text
	text=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)
	awk -v names="${functions[*]}" 'BEGIN { n = split(names, v, " "); for (i = 1; i <= n; i++) want[v[i]] = 1 }
		{ if (at && $1 != at) { print at, $1; at = "" } if ($3 in want && tolower($2) == "t") at = $1 }' /proc/kallsyms |
		while read -r from to; do
			printf '%x %x\n' $((16#$from - 16#$text + 0xffffffff81000000)) $((16#$to - 16#$text + 0xffffffff81000000))
		done
}
# shellcheck disable=SC2317 # called through until_true
last_is() { test "$(tail -n +2 /tmp/kcov.hold | tail -n 1)" "$1" "$2" 2> /dev/null; } # -gt NUMBER
killed() { # PID
	kill -9 "$1"
	wait "$1" 2> /dev/null
	true
}

start
is "while nothing is installed, the documentation's program runs and prints nothing" \
	"$("$top/build/test/kcov_example_cmp" && echo ended)" ended
is "with blocks only, too" "$("$ki" kcov -q "${functions[@]}" -- "$top/build/test/kcov_example_cmp" && echo ended)" ended
with "$top/build/test/kcov_example_cmp" > /tmp/kcov.example
is "with comparisons it runs" $? 0
ok "and leaves some" test "$(wc -l < /tmp/kcov.example)" -ge 4
with --no-move "$top/build/test/kcov_example_cmp" > /tmp/kcov.single
ok "what is moved and what is not record the same, but for where memory is" \
	cmp <(cut -d ' ' -f 1,4 /tmp/kcov.example) <(cut -d ' ' -f 1,4 /tmp/kcov.single)

with "$kcov" compared > /tmp/kcov.records
is "calls with known values are made" $? 0
ranges > /tmp/kcov.ranges
cases "" 16 "$top/test/guest/kcov/kcov_cmp.py" "$vmlinux" /tmp/kcov.ranges /tmp/kcov.list /tmp/kcov.records
cases "moved: " 7 with "$kcov" comparisons
cases "not moved: " 7 with --no-move "$kcov" comparisons

with sh -c 'echo; exec sleep 600' > /tmp/kcov.tool 2>&1 < /dev/null &
tool=$!
ok "it is installed" until_true 60 test -s /tmp/kcov.tool
"$kcov" hold-comparisons > /tmp/kcov.hold &
client=$!
ok "comparisons are recorded" until_true 60 last_is -gt 99
killed "$(pgrep -P $tool -x kerninst || echo $tool)"
ok "when kerninst was killed nothing is recorded any more" until_true 60 last_is -eq 0
ok "its code is gone" until_true 60 field_is windows 0
ok "the text is what it was" text_is_back
ok "the client goes on" kill -0 $client
killed $client
finish
