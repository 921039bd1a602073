#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The examples of the library (examples/api) do what they say, and leave the kernel as it was.
# promise: A3 (in part), A5, A7 (in part), A9, A12 (in part), A16 (in part): Programs of at most 100 lines of C
#   see and instrument the kernel. [test_program.c, test_plan.c, oracles.sh]
# not shown: A3, A12, A16: What these rows ask of the old interfaces beyond these programs.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
start
api=$top/build/examples/api
reads() { while :; do cat /proc/self/comm > /dev/null; done; }
reads &
load=$!

counted() { "$api/count" vfs_read vfs_write:exit | awk '$2 == "vfs_read" && $1 > 10 { n++ } END { exit !n }'; }
timed() { "$api/time" vfs_read | grep -E '^vfs_read walltime/call: [0-9.]+ (ns|us|ms)$'; }
drawn() { "$api/time" vfs_read | grep -E '\.\. .* \|@'; }
# covered TIMES ARGUMENT...: each of three blocks at least
covered() { "$api/coverage" "${@:2}" | awk -v least="$1" '$1 == "block" && $3 >= least { n++ } END { exit n < 3 }'; }
recorded() { "$api/record" vfs_read | grep -cE '^[0-9]+ pid [0-9]+ cpu [0-9]+$'; }

ok "count: a function that is called" counted
both() {
	"$api/count" vfs_read "$load/execute_command_internal" > /tmp/told &&
		awk '($2 == "vfs_read" || $2 ~ /execute_command_internal$/) && $1 > 1 { n++ } END { exit n != 2 }' /tmp/told
}
ok "count: of the kernel and of a process, by the same lines" both
ok "time: how long its calls took" timed
ok "time: a histogram" drawn
ok "coverage: blocks that were executed" covered 11 vfs_read
ok "coverage: of a process, by the same lines" covered 1 "$load" execute_command_internal
ok "record: more than ten" test "$(recorded)" -gt 10
refused() { # PATTERN COMMAND...
	local said pattern=$1
	shift
	said=$("$@" 2>&1) && return 1
	grep -qE "$pattern" <<< "$said" && [ "$(grep -c . <<< "$said")" = 1 ]
}
# What comm's reader asked for: it has its file's descriptor, its buffer, and the length that cat takes.
passed() {
	"$api/params" ksys_read > /tmp/told && awk '$1 ~ /^[0-9]+$/ && $2 ~ /^\(0x/ && $4 == "0x20000)" { c[$1]++ }
		$2 == "=" && c[$1] { r++ } END { exit r < 10 }' /tmp/told
}
ok "params: arguments and results" passed
fallen() { "$api/events" vfs_read page-faults,context-switches > /tmp/told && [ "$(grep -cE '^vfs_read (page-faults|context-switches): [0-9]' /tmp/told)" = 2 ]; }
ok "events: in calls" fallen
itself() { "$api/replace" vfs_read rw_verify_area rw_verify_area | grep -qE '^vfs_read\+0x[0-9a-f]+$'; }
ok "replace: one call, by what it was" itself
ok "replace: no such function of a call" refused 'no such functions' "$api/replace" vfs_read rw_verify_arae rw_verify_area
toggled() { "$api/toggle" vfs_read 10 | grep -E '^[1-9][0-9]* calls; in: [0-9]+ us, out: [0-9]+ us$'; }
ok "toggle: in and out" toggled
taken() { "$api/ways" ksys_read | awk -F: '$1 > 10 { n++ } END { exit !n }'; }
ok "ways: of a function of the kernel" taken
# The file's own function, through its operations, and nothing that is none.
watched() { "$api/callees" vfs_read | awk '$1 ~ /^vfs_read\+0x/ && $2 != "?" && $3 > 10 { n++ } $2 == "?" { bad++ } END { exit !n || bad }'; }
ok "callees: what vfs_read calls through pointers" watched
pointed() {
	"$top/build/test/process/planted" pointer > /dev/null &
	local pid=$! status
	sleep 0.3
	"$api/callees" "$pid" choose > /tmp/told
	status=$?
	kill -9 "$pid"
	[ "$status" = 0 ] && awk '$2 == "chosen" { a = $3 } $2 == "other" { b = $3 } END { exit !(a > 1 && (a - b) ^ 2 <= (2 + a / 50) ^ 2) }' /tmp/told
}
ok "callees: of a process, by the same lines" pointed
known() { "$api/modules" | awk '$1 == "kernel" && $2 > 30000 { n++ } $1 == "kerninst" { n++ } END { exit n != 2 }'; }
ok "modules: the kernel and the driver" known
as_it_is() { # EXAMPLE PATTERN FUNCTION
	"$api/$1" "$3" > /tmp/told && grep -qE "$2" /tmp/told
}
ok "disassemble" as_it_is disassemble '^  ffffffff.* ret|jmp .*__x86_return_thunk' vfs_read
ok "registers: flags are free at an entry" as_it_is registers '^\+0x0 .*free: .*flags' vfs_read
ok "graph" as_it_is graph '^block 0 .*->.* (taken|fall):1' vfs_read
ok "callers" as_it_is callers '^call ksys_read\+0x' vfs_read
mine() { [ "$("$api/predicate" vfs_read "pid == $load")" = 0 ] && [ "$("$api/predicate" vfs_read "pid != $load")" -gt 10 ]; }
ok "predicate: what the shell itself does not do, others do" mine
sampled() { "$api/sample" vfs_read 200 3 | awk '$2 > 0 { n++ } END { exit n != 3 }'; }
ok "sample: each interval has some" sampled
improved() { "$api/policy" 25 > /tmp/told && grep -E '^[a-z_0-9:.]+: the hottest way: [+-][0-9.]+ % to [+-][0-9.]+ %: (not )?kept$' /tmp/told; }
ok "policy: one of its own decides what is tried" improved
sed 's/^/# /' /tmp/told
is "policy: in the end nothing is in" "$(field windows)" 0
ok "count: no such function" refused 'no function .*vfs_reed' "$api/count" vfs_reed
ok "replace: no such function" refused 'no such functions' "$api/replace" vfs_reed vfs_read
kill "$load"
wait "$load" 2> /dev/null
finish
