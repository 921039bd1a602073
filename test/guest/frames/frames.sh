#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Traces are the same with and without patches: at every single instruction of what runs through
# them (ki_frames), in perf's samples, from dump_stack, and of sleeping tasks, with livepatch's
# unwinder too; also where functions are moved, and through long chunks and what these call. Frame
# 0, where the CPU is, may be in a patch; all others must be those of the same step without.
#
#   frames.sh [VARIANT [some]]	a driver of another build: one without the unwinder's rows must fail;
#		some: of windows by themselves only, and without perf
# promise: A stack trace from any instruction of a patch is complete, for every unwinder of the
#   kernel. [faults.sh, frames_must_fail.sh]
. "$(dirname "$0")/../common/lib.sh"
insmod "$top/build/kmod/$(uname -r)${1-}/kerninst.ko" || exit 1
insmod "$top/build/frames/$(uname -r)/ki_frames.ko" \
	heap_start="$(field heap_start)" heap_end="$(field heap_end)" || exit 1
start
whole() { [ "${some-}" != some ]; }
some=${2-}
export control=/proc/ki_frames
cover=$top/build/test/cover
state() { sed -n "s/^$1 //p" $control; }

# covered NAME FUNCTIONS FLAGS... [FUNCTION...] -- COMMAND: under cover, of whose functions so many
# must have been reached; moved where that was asked for
covered() {
	local name=$1 least=$2
	shift 2
	"$cover" "$@" > /tmp/cover 2>&1 || echo "# cover failed"
	sed 's/^/# /' /tmp/cover
	ok "$name: so many functions were reached" test "$(said 'functions were reached')" -ge "$least"
	[[ " $* " != *" -m "* ]] || ok "$name: so many were moved" test "$(said 'functions were moved')" -ge "$least"
	[[ " $* " != *" -l "* ]] || ok "$name: records were written" test "$(said 'records, .*')" -gt 0
}
said() { sed -n "s/^cover: \([0-9]*\) $1\$/\1/p" /tmp/cover; }

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
ok "callers were learnt: $(state learnt) times others in $(state steps) steps" test "$(state learnt)" -gt 150
is "uninstrumented: callers not found" "$(state lost)" 0
echo check > $control
is "uninstrumented, again: callers that were not there then" "$(state unknown)" 0
is "uninstrumented, again: all came" "$(state turn)" "$(state learnt)"
# At a bounce the unwinder takes what it knows of the place where the bounce stands. On 6.1 that is true
# of the window too at each bounce that is met here (doc/design.md, section 4.7); in few others it is not.
most=20
[[ $(uname -r) != 6.1.* ]] || most=0
stepped() { # NAME PLACES FLAGS...
	local name=$1 places=$2
	shift 2
	covered "stepped, $name" 20 "$@" "${printing[@]}" -- sh -c "echo check > $control"
	ok "$name: stepped through patches: $(state in_patch) of $(state steps) steps at $(state places) places" \
		test "$(state places)" -gt "$places"
	ok "$name: from inside patches: callers not found at $(state lost) steps, at most $most" \
		test "$(state lost)" -le $most
	is "$name: from inside patches: callers that were not there then" "$(state unknown)" 0
	is "$name: all came, in their order" "$(state turn)" "$(state learnt)"
	grep -A 20 '^wrong' $control | sed 's/^/# /'
}
stepped single 3000
whole && stepped moved 3000 -m
if whole && [ -e /proc/lockdep_stats ]; then
	skip "stepped, long" "so slow a kernel's clock goes on while it is being read in steps: it is read again for ever"
elif whole; then
	stepped long 3000 -l
	ok "in what long chunks call, too: $(state in_helper) steps" test "$(state in_helper)" -gt 1000
	stepped "moved, long" 3000 -m -l
fi

# ---- perf: timer interrupts in patches ----
hot=(vfs_read read_zero ksys_read __x64_sys_read fdget_pos __fget_light rw_verify_area
	iov_iter_zero clear_user_rep_good do_syscall_64 syscall_exit_to_user_mode
	security_file_permission __fdget_pos __fsnotify_parent)
sampled() { # READS -> /tmp/perf.data
	perf record -q -o /tmp/perf.data -e cpu-clock -F 2000 -g -- "$prog/calls" read "$1" 1
}
export -f sampled
export prog
# A line for each sample of the kernel: whether it came to a patch, and the callers behind it: of
# what it came to, or of the patch whose helper, or interrupt, that was.
callers() {
	perf script -i /tmp/perf.data -F comm,ip,sym,symoff 2> /dev/null | awk '
	BEGIN { RS = ""; FS = "\n" }
	{
		n = 0
		for (i = 2; i <= NF; i++) {
			split($i, w, " ")
			if (w[1] ~ /^ffffffff/)
				name[++n] = w[2]
		}
		from = 1
		where = "text"
		for (i = 1; i <= n; i++)
			if (name[i] ~ /^(ki_heap_start|kerninst:)/ && (i == 1 || name[i - 1] ~ /^(ki_|asm_)/)) {
				from = i
				where = "patch"
			}
		line = ""
		for (i = from + 1; i <= n; i++)
			line = line " " name[i]
		if (n)
			print where " " substr(line, 2)
	}'
}
perf_in_patches() { # NAME FLAGS...
	local name=$1
	shift
	covered "perf, $name" 8 "$@" "${hot[@]}" -- bash -c "sampled 400000"
	callers | sed -n 's/^patch //p' | sort > /tmp/in_patches
	sed 's/.* //' /tmp/in_patches | sort | uniq -c | sort -rn | sed 's/^/# /'
	ok "perf, $name: $(wc -l < /tmp/in_patches) samples were taken in patches" \
		test "$(wc -l < /tmp/in_patches)" -gt 20
	is "perf, $name: and none ends elsewhere than at the system call's entry" \
		"$(grep -vcE '(^| )entry_SYSCALL_64(_after_hwframe)?\+0x[0-9a-f]*$' /tmp/in_patches)" 0
	# What is seen once in thousands of samples need not have been among those without.
	grep -vxFf /tmp/chains /tmp/in_patches | uniq -c > /tmp/others
	sed 's/^/# /' /tmp/others
	ok "perf, $name: the callers are those without patches" \
		test "$(awk '{ n += $1 } END { print n * 100 }' /tmp/others)" -le "$(wc -l < /tmp/in_patches)"
}
if whole; then
	sampled 4000000
	callers | cut -d' ' -f2- | sort -u > /tmp/chains
	ok "perf: callers were learnt" test "$(wc -l < /tmp/chains)" -ge 4
	perf_in_patches single
	perf_in_patches moved -m
	perf_in_patches "moved, long" -m -l
fi

# ---- dump_stack, called through patches ----
calling=(ki_frames_dump ki_frames_dump_middle ki_frames_dump_inner control_write proc_reg_write
	vfs_write ksys_write __x64_sys_write do_syscall_64)
dumped() { # -> /tmp/dump: the frames but for those that the kernel itself says are guessed
	dmesg -C
	echo dump > $control
	dmesg | sed 's/^\[[^]]*\] //' | grep -E '^ [^?][^ ]*\+0x[0-9a-f]+/0x' > /tmp/dump
	dmesg -C
}
export -f dumped
is "nothing in dmesg before dump_stack" "$(complaints)" ""
dumped
cp /tmp/dump /tmp/dump.before
sed 's/^/# /' /tmp/dump
ok "dump_stack shows who has called" test "$(grep -cE 'ki_frames_dump|write' /tmp/dump)" -ge 7
dumped_through() { # NAME FLAGS...
	local name=$1
	shift
	covered "dump_stack, $name" 8 "$@" "${calling[@]}" -- bash -c dumped
	ok "dump_stack, $name: the same lines" diff /tmp/dump.before /tmp/dump
}
dumped_through single
if whole; then
	dumped_through moved -m
	dumped_through long -l
	dumped_through "moved, long" -m -l
fi

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
stack_of_sleeper
cp /tmp/stack /tmp/stack.before
cp /tmp/reliable /tmp/reliable.before
ok "a sleeper's stack is known" test "$(wc -l < /tmp/stack)" -ge 4
ok "reliably so" test "$(cat /tmp/reliable.result)" -ge 4
sleeps_through() { # NAME FLAGS...
	local name=$1
	shift
	rm -f /tmp/stack /tmp/reliable
	covered "asleep, $name" 6 "$@" "${sleeping[@]}" -- bash -c stack_of_sleeper
	ok "asleep, $name: it has the same stack" diff /tmp/stack.before /tmp/stack
	ok "asleep, $name: reliably so" test "$(cat /tmp/reliable.result)" -ge 4
	ok "asleep, $name: and the same to livepatch" diff /tmp/reliable.before /tmp/reliable
}
sleeps_through single
if whole; then
	sleeps_through moved -m
	sleeps_through long -l
	sleeps_through "moved, long" -m -l
fi
ok "the module of the test unloads" rmmod ki_frames
finish
