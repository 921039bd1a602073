#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Processes by the driver: exact counts, by jumps and by breakpoints, while two threads run; the
# text given back, however it ends; forks; breakpoints that nobody sees; what is refused.
#
# usage: test/guest/process/process_driver.sh STEPPED: what single steps have found (process_driver_host.sh)
# shellcheck disable=SC2016,SC2317 # words for eval; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start

# order [WORD]: what it says
order() {
	echo "${1-}" >&"$to"
	read -r -t 60 -u "$from" said && echo "$said"
}
export -f order
# stat WORD POINT...: while it does that; counts in /tmp/counts, its word in /tmp/said
stat() {
	local word=$1
	shift
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" stat -x, -o /tmp/csv "$@" -- bash -c 'order "$1" > /tmp/said' - "$word" 2> /tmp/words &&
		awk -F, 'NR > 1 { print $3, $1 }' /tmp/csv | sort > /tmp/counts
}
of() { awk -v p="$1" '$1 == p { print $2 }' /tmp/counts; }
text() { "$bin/oracle" text "$1" | cut -d ' ' -f 1; }
# Of the program's own code: is what is in memory what is in its file?
as_in_file() { # PID PROGRAM
	local range off
	read -r range _ off _ < <(grep -m 1 " r-xp .*/$(basename "$2")\$" "/proc/$1/maps")
	off=$((16#$off))
	cmp <(tail -c +$((off + 1)) "$2" | head -c $((16#${range#*-} - 16#${range%-*}))) \
		<(dd if="/proc/$1/mem" bs=4096 skip=$((16#${range%-*} / 4096)) \
			count=$(((16#${range#*-} - 16#${range%-*}) / 4096)) status=none) 2>&1 |
		grep -v EOF
	return "${PIPESTATUS[0]}"
}

# ---- counts ----
for form in pie cet static nopie; do
	run "$bin/$form" 2 20000
	before=$(text "$pid")
	want=$(order)
	ok "$form: counted" stat "" "$pid/$form:step" "$pid/$form:step:exit" "$pid/$form:leap" "$pid/$form:leap:blocks"
	is "$form: by the driver" "$(grep -c 'no thread was held' /tmp/words)" 1
	is "$form: two threads, each call once" \
		"$(of $form:step) $(of $form:step:exit) $(of $form:leap)" "40000 40000 10000"
	is "$form: the switch's arms" "$(of $form:leap:block/1) $(cat /tmp/said)" "7500 $want"
	is "$form: the text is as it was" "$(text "$pid")" "$before"
	is "$form: it works on" "$(order)" "$want"
	end
done

# Blocks and instructions as single steps have found them, places for breakpoints alone among them.
as_stepped() {
	run "$bin/nopie" 0 3000 || return
	stat "" "$pid/nopie:leap:blocks" "$pid/nopie:step:insns" "$pid/nopie:leap:insns" || return
	end
	awk -F, 'NR > 1 && $1 != "" && $4 ~ /^0x/ { print $4, $1 }' /tmp/csv | sort -u > /tmp/counted
	join /tmp/counted <(sort "$1") | awk '$2 != $3 { print; bad = 1 } END { exit bad || NR < 40 }'
}
ok "all blocks and instructions as single steps find them" as_stepped "$1"

# ---- who else has the same library ----
"$bin/pie" 2 1000 < /dev/zero > /dev/null 2>&1 &
other=$!
run "$bin/pie" 2 20000
others=$(text $other)
# shellcheck disable=SC2016 # for the other shell
watch() { to=$to from=$from bin=$bin "$ki" stat -x, -o /tmp/csv "$pid/libc.so.6:getppid" -- bash -c 'order > /dev/null; "$bin/oracle" text '"$other"' > /tmp/meanwhile'; }
ok "a function of the C library" watch
is "is counted in one process" "$(awk -F, 'NR > 1 { print $1 }' /tmp/csv)" 1250
is "the other's text is untouched meanwhile" "$(cut -d ' ' -f 1 /tmp/meanwhile)" "$others"
kill -9 $other
wait $other 2> /dev/null

# ---- the tool is killed ----
before=$(text "$pid")
changed() { [ "$(text "$pid")" != "$before" ]; }
same() { [ "$(text "$pid")" = "$before" ]; }
"$ki" stat -q "$pid/pie:leap:blocks" "$pid/pie:step" > /dev/null 2>&1 &
tool=$!
ok "another tool counts" until_true 30 changed
kill -9 $tool
then=$(date +%s%N)
ok "kill -9 gives the text back" until_true 10 same
echo "# within $((($(date +%s%N) - then) / 1000000)) ms"
wait $tool 2> /dev/null
ok "as the program's file has it" as_in_file "$pid" "$bin/pie"
soon "the session is gone" 1 field sessions

# ---- its memory is locked meanwhile ----
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
"$ki" stat -q "$pid/pie:leap:blocks" "$pid/pie:step" > /dev/null 2>&1 &
tool=$!
ok "one counts in a process" until_true 30 changed
"$prog/calls" getsid 1 # it is warm
begin_other() { "$ki" stat -q __x64_sys_getsid > /dev/null 2>&1 & other=$!; }
begin_other
ok "and one in the kernel" until_true 60 field_is windows 1
echo "hold $pid" > /proc/ki_mate &
holder=$!
sleep 0.5
seconds() { # COMMAND...: how many it takes, at most
	local then=$SECONDS
	"$@" > /dev/null 2>&1
	echo $((SECONDS - then))
}
ok "the memory is locked: eviction waits a moment" test "$(seconds "$ki" evict --all)" -le 4
is "and the kernel's text is back" "$(field windows)" 0
kill -INT $other
wait $other 2> /dev/null
kill -9 $tool
then=$SECONDS
wait $tool 2> /dev/null
ok "a killed tool ends" test $((SECONDS - then)) -le 4
is "its session too" "$(field sessions)" 1
"$ki" info --quick > /tmp/info
held="places of a process, the first at 0x[0-9a-f]*, by pie, task $pid \[PROCESS_LOCKED\]$"
ok "what is left is told: $(grep '^held' /tmp/info)" grep -q "^held  *[0-9]* $held" /tmp/info
ok "rmmod says that the driver is in use" eval "rmmod kerninst 2>&1 | grep -q 'in use'"
is "others count in it" "$("$ki" stat -q --json __x64_sys_getsid -- "$prog/calls" getsid 30 | value __x64_sys_getsid)" 30
echo "go 0" > /proc/ki_mate
wait $holder
ok "then its text comes back" until_true 10 same
soon "and nothing is held" 0 eval '"$ki" info --quick | grep -c ^held'
rmmod ki_mate

# ---- evicted ----
"$ki" stat -q "$pid/pie:step" > /dev/null 2>&1 &
tool=$!
ok "a third one counts" until_true 30 changed
ok "it is evicted" "$ki" evict --all
ok "and the text is back" same
kill $tool
wait $tool 2> /dev/null

# ---- the process is killed ----
"$ki" stat "$pid/pie:leap:blocks" > /dev/null 2> /tmp/words &
tool=$!
ok "a fourth one counts" until_true 30 changed
kill -9 "$pid"
wait $tool
is "whoever counts in a process that is killed ends" "$? $(grep -c 'has ended' /tmp/words)" "0 1"
end
soon "that session is gone too" 1 field sessions

# ---- forks, and SIGTRAP ----
run "$top/build/test/forks"
f=forks:step
ok "forks are counted" stat fork "$pid/$f" "$pid/$f:exit" "$pid/$f:blocks"
is "children and theirs: each call, all right, no signal" "$(of $f) $(of $f:exit) $(cat /tmp/said)" "8000 8000 4 0"
ok "a child stays" stat keep "$pid/$f:blocks"
kept=$(cut -d ' ' -f 1 /tmp/said)
ok "and has its text back when the session ends" as_in_file "$kept" "$top/build/test/forks"
is "it goes on" "$(order go)" "1 0"
ok "its own breakpoint" stat trap "$pid/$f"
is "is a signal" "$(cat /tmp/said)" "0 1"

# A debugger that is attached meanwhile.
(
	exec {to}>&- {from}<&- # else it would never see their end
	exec timeout 600 gdb -nx -batch -p "$pid" -iex "set auto-load no" -ex continue > /tmp/gdb 2>&1
) &
gdb=$!
ok "a debugger is there" until_true 60 grep -q "TracerPid:.[1-9]" "/proc/$pid/status"
ok "and it runs" until_true 60 grep -q "State:.[SR]" "/proc/$pid/status"
ok "counted under the debugger" stat work "$pid/$f" "$pid/$f:blocks"
is "each call" "$(of $f)" 1000
end
wait $gdb
is "the debugger has seen nothing" "$(grep -c SIGTRAP /tmp/gdb) $(grep -c 'exited normally' /tmp/gdb)" "0 1"

# ---- refused ----
cases "" 106 "$top/build/test/ask_process"
# refused NAME STATUS PATTERN COMMAND...: that exit status, and one line with the pattern
refused() {
	local name=$1 wanted=$2 pattern=$3 status
	shift 3
	"$@" > /dev/null 2> /tmp/words < /dev/null
	status=$?
	is "$name: refused, and says why" "$status $(wc -l < /tmp/words) $(grep -c -e "$pattern" /tmp/words)" "$wanted 1 1"
}
mkdir -m 777 /tmp/bin
cp "$ki" /tmp/bin
refused "another user's process" 3 "must not be traced" \
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon,+syslog --ambient-caps=-all,+perfmon,+syslog /tmp/bin/kerninst stat $$/bash:main
refused "a thread of the kernel" 1 "no such process" "$ki" stat 2/kthreadd:main
refused "a process that is gone" 1 "no such process" "$ki" stat "$kept/$f"
finish
