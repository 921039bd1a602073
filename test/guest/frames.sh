#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Traces are the same with and without patches: at every single instruction of what runs through
# them (ki_frames), in perf's samples, and of sleeping tasks, with livepatch's unwinder too.
#
#   frames.sh [VARIANT]	a driver of another build: one without the unwinder's rows must fail
. "$(dirname "$0")/lib.sh"
insmod "$top/build/kmod/$(uname -r)${1-}/kerninst.ko" || exit 1
insmod "$top/build/frames/$(uname -r)/ki_frames.ko" || exit 1
start
control=/proc/ki_frames
cover=$top/build/test/cover
state() { sed -n "s/^$1 //p" $control; }

# ---- at every instruction ----
printing=(ki_frames_work snprintf vsnprintf format_decode pointer string number string_nocheck
	put_dec put_dec_trunc8 put_dec_full8 widen_string special_hex_number symbol_string
	sprint_symbol __sprint_symbol.constprop.0 __sprint_symbol.isra.0 __sprint_symbol
	sprint_symbol_no_offset kallsyms_lookup_buildid kallsyms_expand_symbol.constprop.0
	get_symbol_pos kallsyms_lookup_names ip_addr_string ip4_string ip4_addr_string
	hex_string uuid_string ptr_to_id restricted_pointer kstrtoull _kstrtoull _parse_integer
	_parse_integer_fixup_radix _parse_integer_limit kstrtoul hex_dump_to_buffer check_pointer
	error_string enable_ptr_key_workfn __ptr_to_hashval)
echo learn > $control
ok "callers were learnt: $(state learnt) at $(state steps) steps" test "$(state learnt)" -gt 15
is "uninstrumented: callers not found" "$(state lost)" 0
echo check > $control
is "uninstrumented, again: callers not learnt" "$(state unknown)" 0
"$cover" "${printing[@]}" -- sh -c "echo check > $control" > /tmp/cover || echo "# cover failed"
sed 's/^/# /' /tmp/cover
ok "stepped through patches: $(state in_patch) of $(state steps) steps at $(state places) places" \
	test "$(state places)" -gt 3000
# At a bounce the unwinder takes what it knows of the place where the bounce stands. On 6.1 that is true
# of the window too at each bounce that is met here (doc/design.md, section 4.7); in few others it is not.
most=20
[[ $(uname -r) != 6.1.* ]] || most=0
ok "from inside patches: callers not found at $(state lost) steps, at most $most" test "$(state lost)" -le $most
is "from inside patches: callers not learnt" "$(state unknown)" 0
grep -A 20 '^wrong' $control | sed 's/^/# /'

# ---- perf: timer interrupts in patches ----
hot=(vfs_read read_zero ksys_read __x64_sys_read fdget_pos __fget_light rw_verify_area
	iov_iter_zero clear_user_rep_good do_syscall_64 syscall_exit_to_user_mode
	security_file_permission __fdget_pos __fsnotify_parent)
"$cover" "${hot[@]}" -- perf record -q -o /tmp/perf.data -e cpu-clock -F 2000 -g \
	-- "$prog/calls" read 400000 1 > /tmp/cover 2>&1 || echo "# cover failed"
sed 's/^/# /' /tmp/cover
# Of each sample whose first frame is in a patch, the last one of the kernel.
perf script -i /tmp/perf.data -F comm,ip,sym 2> /dev/null | awk '
	BEGIN { RS = ""; FS = "\n" }
	$2 ~ / ki_heap_start$/ { last = ""; for (i = 2; i <= NF; i++) if ($i ~ /^[ \t]*ffffffff/) last = $i
		split(last, w, " "); print w[2] }' | sort | uniq -c | sort -rn > /tmp/outermost
sed 's/^/# /' /tmp/outermost
ok "samples were taken in patches" test "$(awk '{ n += $1 } END { print n + 0 }' /tmp/outermost)" -gt 20
is "and none ends elsewhere than at the system call's entry" \
	"$(grep -vcE ' entry_SYSCALL_64(_after_hwframe)?$' /tmp/outermost)" 0

# ---- tasks that sleep ----
sleeping=(__x64_sys_clock_nanosleep common_nsleep hrtimer_nanosleep do_nanosleep schedule
	hrtimer_start_range_ns do_syscall_64 __schedule)
stack_of_sleeper() { # -> /tmp/stack, /tmp/reliable
	sleep 1000 &
	sleeper=$!
	until grep -q nanosleep /proc/$sleeper/stack; do sleep 0.1; done
	cat /proc/$sleeper/stack > /tmp/stack
	echo $sleeper > $control
	sed -n 's/^frame //p' $control > /tmp/reliable
	state reliable > /tmp/reliable.result
	kill $sleeper
	wait $sleeper 2> /dev/null || true
}
export -f stack_of_sleeper state
export control
stack_of_sleeper
cp /tmp/stack /tmp/stack.before
cp /tmp/reliable /tmp/reliable.before
ok "a sleeper's stack is known" test "$(wc -l < /tmp/stack)" -ge 4
ok "reliably so" test "$(cat /tmp/reliable.result)" -ge 4
"$cover" "${sleeping[@]}" -- bash -c stack_of_sleeper > /tmp/cover 2>&1 || echo "# cover failed"
sed 's/^/# /' /tmp/cover
ok "instrumented, it has the same stack" diff /tmp/stack.before /tmp/stack
ok "reliably so" test "$(cat /tmp/reliable.result)" -ge 4
ok "and the same to livepatch" diff /tmp/reliable.before /tmp/reliable
ok "the module of the test unloads" rmmod ki_frames
finish
