#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Versions of functions for one value of an argument: calls with that value go there, by the guard
# or directly, and do what they did; all others do not come there; afterwards nothing is left.
# promise: E10: A version for a frequent value does what its original does, and goes without a
#   trace. [test_special.c, module.sh, test_module.c]
. "$(dirname "$0")/../common/lib.sh"
start
modules() { grep -c '^kerninst_copy_' /proc/modules; }
gone() { # NAME: all is as it was
	is "$1: no window is left" "$(field windows)" 0
	is "$1: no module is left" "$(modules)" 0
	soon "$1: nor a patch" 0 field heap_used
	ok "$1: the text is what it was" text_is_back
}
# fails STATUS PATTERN ARGUMENT...
# shellcheck disable=SC2317 # called through ok
fails() {
	local want=$1 pattern=$2 out status
	shift 2
	out=$("$ki" specialize "$@" 2>&1)
	status=$?
	echo "$status: $out"
	[ "$status" = "$want" ] && grep -qE "$pattern" <<< "$out"
}

# ---- which value, and what it would be ----
"$prog/calls" read 2000000 &
load=$!
ok "a dry run counts the values" sh -c "'$ki' specialize -n --for 2 --argument 2 vfs_read > /tmp/out"
kill $load
wait $load 2> /dev/null
sed 's/^/# /' /tmp/out
ok "the one that the load reads by is the most frequent" grep -qE '^vfs_read: argument 2 is 1 in [0-9.]+ % of' /tmp/out
is "and changes nothing" "$(field windows) $(modules)" "0 0"
ok "a value that decides nothing" fails 4 "decides no branch" -n --argument 1 --value 3 __wake_up
ok "a share that no value has" fails 4 "not called|below --share" -n --for 0.1 --share 100 vfs_fallocate
ok "what is no function of a compiler's" fails 1 "can be replaced" -n --value 1 copy_page_from_iter
ok "no such argument" fails 2 "from 0 to 5" --argument 6 vfs_read
ok "a value of 64 bits" fails 2 "32 bits" --value 0x100000000 vfs_read
ok "no function" fails 2 "one function" --value 1

# ---- the guard's way ----
# Mode 0 five times, mode 1 (keep the size) three times: sizes tell which was which.
cat > /tmp/allocate << 'END'
for i in 1 2 3 4 5; do fallocate -l 8192 /tmp/f0 && stat -c %s /tmp/f0 && rm /tmp/f0; done
for i in 1 2 3; do : > /tmp/f1; fallocate -n -l 8192 /tmp/f1 && stat -c '%s %b' /tmp/f1 && rm /tmp/f1; done
fallocate -o 0 -l 0 /tmp/f2 2>&1; fallocate -p -o 4096 -l 4096 /tmp/allocate.x 2>&1
END
sh /tmp/allocate > /tmp/wanted
counted() { "$ki" stat --json "$@" vfs_fallocate:entry -- sh /tmp/allocate 2> /dev/null | value vfs_fallocate:entry; }
calls=$(counted)
with_value=$(counted --if 'arg1 == 0')
ok "some calls have the value, and some have not ($with_value of $calls)" [ "$with_value" -ge 5 -a "$calls" -ge $((with_value + 3)) ]
cat > /tmp/with << END
sh /tmp/allocate > /tmp/got
"$ki" stat --json -o /tmp/counts vfs_fallocate:entry "\$(awk '\$4 ~ /kerninst_copy_/ && \$3 ~ /^vfs_fallocate/ { print \$3 }' /proc/kallsyms):entry" -- sh /tmp/allocate > /tmp/got2 2> /tmp/stat_err
"$ki" sessions -v > /tmp/sessions
END
ok "vfs_fallocate of mode 0" "$ki" specialize --argument 1 --value 0 vfs_fallocate -- sh /tmp/with
is "files are as they were" "$(cat /tmp/got)" "$(cat /tmp/wanted)"
is "and while somebody counts" "$(cat /tmp/got2)" "$(cat /tmp/wanted)"
tail -n 3 /tmp/stat_err | sed 's/^/# /'
jq -c '.' /tmp/counts 2> /dev/null | head -c 600 | sed 's/^/# /'
all=$(value vfs_fallocate:entry < /tmp/counts)
of_version=$(jq -r '.. | objects | select((.point? // "") | test("kerninst_copy")) | .value' /tmp/counts 2> /dev/null | head -n 1)
is "all calls come by the entry; those with the value, and no others, to the version" "$all ${of_version%.*}" "$calls $with_value"
ok "sessions tell of it" grep -q 'vfs_fallocate.*replaced by kerninst_copy_' /tmp/sessions
gone "the guard"

# ---- past the guard ----
# swapoff(2) asks for CAP_SYS_ADMIN, 21, before it looks at the name: ENOENT, or EPERM.
cat > /tmp/asks << 'END'
for i in 1 2 3 4 5; do perl -e '$p = "/none"; syscall(168, $p); print $! + 0, "\n"'; done
setpriv --reuid 65534 --clear-groups perl -e '$p = "/none"; syscall(168, $p); print $! + 0, "\n"'
END
sh /tmp/asks > /tmp/wanted
cat > /tmp/with << END
sh /tmp/asks > /tmp/got
"$ki" stat --json -o /tmp/counts capable:entry -- sh /tmp/asks > /dev/null 2>&1
END
"$ki" stat --json -o /tmp/before capable:entry -- sh /tmp/asks > /dev/null 2>&1
ok "capable of 21, its calls too" sh -c "'$ki' specialize --callers --value 21 capable -- sh /tmp/with > /tmp/out"
sed 's/^/# /' /tmp/out
ok "many calls have that constant" sh -c "[ \"\$(sed -n 's/^\([0-9]*\) calls lead there.*/\1/p' /tmp/out)\" -ge 50 ]"
is "who may and who may not is as it was" "$(cat /tmp/got)" "$(cat /tmp/wanted)"
echo "# capable: $(value capable:entry < /tmp/before) calls before, then $(value capable:entry < /tmp/counts) by its entry"
ok "such calls do not come by the entry" [ "$(value capable:entry < /tmp/counts)" -lt "$(value capable:entry < /tmp/before)" ]
gone "direct calls"

# Whoever traces the function sees them, too.
T=/sys/kernel/tracing
"$ki" specialize --callers --value 21 capable > /tmp/out 2>&1 < /dev/null &
tool=$!
until_true 120 grep -q 'is in, until' /tmp/out
full=$(field windows)
# shellcheck disable=SC2317 # called through ok
few() { [ "$(field windows)" -lt $((full / 2)) ]; }
# shellcheck disable=SC2317
as_before() { [ "$(field windows)" = "$full" ]; }
echo capable > $T/set_ftrace_filter
echo function > $T/current_tracer
ok "$full windows: calls give way to a tracer" until_true 20 few
echo nop > $T/current_tracer
echo > $T/set_ftrace_filter
ok "and lead there again when it has gone" until_true 20 as_before
kill -INT $tool
wait $tool
gone "who gave way"

# ---- somebody sleeps in it ----
mkfifo /tmp/fifo
exec 9<> /tmp/fifo
"$ki" specialize --argument 2 --value 1 vfs_read > /tmp/out 2>&1 < /dev/null &
tool=$!
ok "vfs_read of a byte is in" until_true 120 grep -q "until Ctrl-C" /tmp/out
dd if=/tmp/fifo of=/dev/null bs=1 count=1 2> /dev/null &
sleeper=$!
ok "a task sleeps in it" until_true 60 grep -q kerninst_copy /proc/$sleeper/stack
sed 's/^/# /' /proc/$sleeper/stack
ok "its stack goes on to the beginning" grep -q entry_SYSCALL_64 /proc/$sleeper/stack
kill -INT $tool
wait $tool
is "it cannot be unloaded now" $? 1
tail -n 1 /tmp/out | sed 's/^/# /'
is "the text is back all the same" "$(field windows) $(modules)" "0 1"
ok "rmmod does not get it out either" sh -c "! rmmod \$(sed -n 's/^\(kerninst_copy_[^ ]*\).*/\1/p' /proc/modules)"
echo >&9
wait $sleeper
is "the task has read" $? 0
# shellcheck disable=SC2317 # called through ok
reset_ends() { "$ki" reset > /tmp/reset 2>&1; [ "$(modules)" = 0 ]; }
ok "when the task has gone, reset unloads it" until_true 60 reset_ends
gone "the sleeper"

# ---- killed ----
"$ki" specialize --argument 2 --value 1 vfs_read > /tmp/out 2>&1 < /dev/null &
tool=$!
ok "vfs_read is in" until_true 120 grep -q "until Ctrl-C" /tmp/out
"$prog/calls" read 20000
kill -9 $tool
wait $tool 2> /dev/null
soon "after kill -9 the text is back" 0 field windows
is "the module is left" "$(modules)" 1
ok "reads read" "$prog/calls" read 20000
ok "the next one unloads it" until_true 60 sh -c "'$ki' specialize --argument 2 --value 1 vfs_read -- '$prog/calls' read 1000"
gone "kill -9"

finish
