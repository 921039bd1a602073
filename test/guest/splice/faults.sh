#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Faults in patches. With a counter at every instruction of the kernel that has an exception row:
# a program whose system calls get bad pointers sees what it sees without; a task that sleeps in
# a fault, in a patch or in what a patch displaces, goes on well, however late. And a warning
# whose ud2 is displaced is the same warning.
# promise: Instructions that may fault, BUG and WARN sites are displaced correctly, or stay and
#   say why. [busy.sh]
. "$(dirname "$0")/../common/lib.sh"
start
faults_met() { sed -n 's/^cover: \([0-9]*\) faults$/\1/p' /tmp/cover; }
cover=$top/build/test/cover
badptr=$prog/badptr
ok "bad pointers, uninstrumented" bash -c "'$badptr' > /tmp/before"
ok "faults and no faults" test "$(grep -c EFAULT /tmp/before)" -gt 500 -a "$(grep -vc EFAULT /tmp/before)" -gt 500
ok "instrumented" bash -c "'$cover' -e -- bash -c '$badptr > /tmp/after; ls -lR /usr/bin > /dev/null' > /tmp/cover"
sed 's/^/# /' /tmp/cover
ok "the same results" diff /tmp/before /tmp/after
ok "counters were hit" test "$(sed -n 's/.* \([0-9]*\) hits/\1/p' /tmp/cover)" -gt 1000
ok "instructions with a row were instrumented" test \
	"$(sed -n 's/.* \([0-9]*\) sites of.*/\1/p' /tmp/cover)" -gt 300
ok "and faults met on their way to the fixups" test "$(faults_met)" -gt 400

copying=(copy_user_generic_unrolled copy_user_generic_string copy_user_enhanced_fast_string
	rep_movs_alternative copy_user_generic _copy_from_user _copy_to_user raw_copy_from_user
	clear_user_original clear_user_rep_good clear_user_erms rep_stos_alternative
	fault_in_readable copy_page_from_iter_atomic _copy_from_iter _copy_to_iter strncpy_from_user
	strnlen_user __get_user_1 __get_user_2 __get_user_4 __get_user_8 __put_user_1 __put_user_2
	__put_user_4 __put_user_8 __get_user_nocheck_4 __put_user_nocheck_4)
for how in "" -m -l "-m -l"; do
	ok "every instruction of what copies, instrumented${how:+, $how}" \
		bash -c "'$cover' $how ${copying[*]} -- bash -c '$badptr > /tmp/after' > /tmp/cover"
	sed 's/^/# /' /tmp/cover
	ok "the same results${how:+, $how}" diff /tmp/before /tmp/after
	ok "and faults met${how:+, $how}" test "$(faults_met)" -gt 200
done

# ---- edges to fixups, which nothing else would tell: they are where it goes on anyhow ----
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
fault=ki_mate:ki_mate_fault
faults() {
	echo "fault 300" > /proc/ki_mate
	cat /proc/ki_mate
}
export -f faults
faults > /tmp/plain
is "a hundred faults among 300" "$(sed -n 's/^sum //p' /tmp/plain)" "$(printf %x $((3 * (100 * 5 + 200 * 7))))"
edge() { # KIND < rows: how often edges of this kind were taken, where there is but one
	python3 -c 'import json, sys
v = [r for r in map(json.loads, sys.stdin) if r.get("kind") == sys.argv[1]]
assert len(v) == 1, v
print(v[0]["value"])' "$1"
}
for also in "" $fault:blocks; do
	"$ki" stat -q --json $fault:edges ${also:+"$also"} -- bash -c 'faults > /tmp/after' > /tmp/edges
	sed 's/^/# /' /tmp/edges
	is "faults are counted${also:+, and all blocks}" "$(edge fixup < /tmp/edges)" 100
	is "and all else falls through${also:+, and all blocks}" "$(edge fall < /tmp/edges)" 200
	is "and the same is read${also:+, and all blocks}" "$(sed -n 's/^sum //p' /tmp/after)" \
		"$(sed -n 's/^sum //p' /tmp/plain)"
done
number=$(python3 -c 'import json, sys
print(*(r["edge"] for r in map(json.loads, open("/tmp/edges")) if r.get("kind") == "fixup"))')
"$ki" record -q -o /tmp/faults "$fault:edge/$number=comm,stack" -- bash -c faults > /dev/null
is "each fault is recorded" "$("$ki" report -q --csv -p "$fault:edge/$number" /tmp/faults | tail -n +2 | wc -l)" 100
ok "the module unloads" goes ki_mate

# ---- a fault that the kernel mends by decoding the instruction, where it stands ----
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
pads() {
	echo "pad 50" > /proc/ki_mate
	cat /proc/ki_mate
}
export -f pads
pads > /tmp/plain
is "three bytes and zeros, each time" "$(sed -n 's/^sum //p' /tmp/plain)" "$(printf %x $((50 * 0x030201)))"
pad=ki_mate:ki_mate_pad
at=$("$ki" disas $pad | sed -n 's/.*+\(0x[0-9a-f]*\) .*; EXTABLE$/\1/p')
is "it is refused, as what it is" "$("$ki" stat $pad+"$at" -- true 2>&1 | grep -c 'exception-table entry')" 1
is "all else is counted" "$("$ki" stat -q --json $pad:exit -- bash -c 'pads > /tmp/padded' | value $pad:exit)" 50
ok "and the same is read" diff /tmp/plain /tmp/padded
ok "the module unloads" goes ki_mate

# ---- a task that sleeps in a fault ----
# shellcheck disable=SC2317 # both are called through ok
sleeper() { # NAME [FILE]: start one, and wait until it sleeps
	rm -f "/tmp/$1".*
	setsid sh -c "$badptr sleep /tmp/$1 ${2-}; echo \$? > /tmp/$1.status" &> /dev/null &
	until_true 120 test -e "/tmp/$1.asleep"
}
# shellcheck disable=SC2317 # called through ok
# shellcheck disable=SC2317
wake() {
	touch "/tmp/$1.wake"
	until_true 120 test -s "/tmp/$1.status" && test "$(cat "/tmp/$1.status")" = 0
}
export -f sleeper until_true
export badptr
soon "the heap is empty" 0 field heap_used

# In the original, while a patch is put on top of it.
ok "one sleeps in the original" sleeper original
ok "instrumented and taken out over it" "$cover" -e -- true
"$cover" "${copying[@]}" -- sh -c 'touch /tmp/installed; until [ -e /tmp/awake ]; do sleep 0.1; done' > /dev/null &
ok "instrumented again" until_true 120 test -e /tmp/installed
ok "it goes on in what is instrumented now" wake original
touch /tmp/awake
wait

# In a patch, that is taken out meanwhile.
ok "one sleeps in a patch" "$cover" "${copying[@]}" -- bash -c 'sleeper patch'
is "it is taken out" "$(field windows)" 0
# Which is when it has been looked at
soon "who is asleep there holds the driver" 1 cat /sys/module/kerninst/refcnt
ok "its patch stays: $(field heap_used) bytes" test "$(field heap_used)" -gt 0
is "and so does the driver" "$(rmmod kerninst 2> /dev/null; echo $?)" 1
ok "and new ones do not take its place" "$cover" -e -- true
ok "it goes on" wake patch
soon "then its patch goes" 0 field heap_used

# In a patch, that is taken out meanwhile, before a jump whose return is counted: he has not set
# out yet, and still may, so the return trampoline must stay there.
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
late=ki_mate:ki_mate_late
rm -f /tmp/count.*
"$ki" stat -q -o /dev/null --move $late:blocks $late:exit:after -- \
	sh -c 'touch /tmp/count.in; until [ -e /tmp/count.out ]; do sleep 0.1; done' 2> /dev/null &
counting=$!
ok "the return of what a function jumps to is counted" until_true 120 test -e /tmp/count.in
ok "one sleeps before the jump" sleeper jumper /proc/ki_mate
touch /tmp/count.out
wait $counting
is "it is taken out" $? 0
is "all of it" "$(field windows)" 0
sleep 3
is "the return trampoline is left over" "$(field leftovers)" 1
# Meanwhile another sleeps in a patch that is in use, and others' come and go: neither is in the way.
rm -f /tmp/installed /tmp/over
"$cover" "${copying[@]}" -- sh -c 'touch /tmp/installed; until [ -e /tmp/over ]; do sleep 0.1; done' > /dev/null &
covering=$!
ok "others are instrumented" until_true 120 test -e /tmp/installed
ok "one sleeps there" sleeper guest
"$top/build/test/toggle" 1000000 vfs_read vfs_write > /dev/null &
toggling=$!
ok "it goes on" wake jumper
soon "then the return trampoline goes" 0 field leftovers
ok "while windows come and go" kill -KILL $toggling
ok "and one sleeps" test ! -s /tmp/guest.status
wait $toggling 2> /dev/null
ok "in what is still in use" test "$(field windows)" -gt 0
ok "he goes on" wake guest
touch /tmp/over
wait $covering
soon "and the patches" 0 field heap_used
ok "and the module" goes ki_mate

# ---- warnings ----
is "nothing in dmesg before the warnings" "$(complaints)" "" # which clear it
insmod "$top/build/frames/$(uname -r)/ki_frames.ko"
# How often it was run into, what was said, and who had called, without what differs: frame 0 is
# the line that is skipped, because it may be in the patch; lines with ? the kernel has guessed.
warnings() {
	echo warn > /proc/ki_frames
	echo warn > /proc/ki_frames
	dmesg | sed 's/^\[[^]]*\] //' | sed -nE '
		s/.*(WARNING: ).* at (.*work.c:[0-9]*) .*/\1\2/p
		s/.*(ki_frames: .*)/\1/p
		/^Call Trace:|^ <\/?TASK>/p
		/^ [^?][^ ]*\+0x[0-9a-f]+\/0x/p'
	dmesg -C
}
export -f warnings
warnings > /tmp/plain
sed 's/^/# /' /tmp/plain
is "two warnings each time and one once" "$(grep -c WARNING /tmp/plain)" 3
is "each with its callers, down to the system call" \
	"$(grep -c '^ control_write+' /tmp/plain) $(grep -c '^ entry_SYSCALL_64_after_hwframe+' /tmp/plain)" "3 3"
warned_in_patches() { # NAME FLAGS... FUNCTION...
	local name=$1
	shift
	rmmod ki_frames
	insmod "$top/build/frames/$(uname -r)/ki_frames.ko"
	"$cover" "$@" -- bash -c 'warnings > /tmp/patched; warnings > /tmp/again' > /tmp/cover
	sed 's/^/# /' /tmp/cover
	ok "$name: the same warnings, of the same lines, with the same callers" diff /tmp/plain /tmp/patched
	is "$name: the one that speaks once has spoken" "$(grep -c once /tmp/again)" 0
}
warned_in_patches instrumented ki_frames_warn
ok "both sites were instrumented" grep -q ' 2 sites' /tmp/cover
callers=(ki_frames_warn control_write proc_reg_write vfs_write ksys_write __x64_sys_write)
warned_in_patches "its callers, too" "${callers[@]}"
ok "all were reached" grep -q ' 6 functions were reached' /tmp/cover
warned_in_patches moved -m "${callers[@]}"
ok "all were moved" grep -q ' 6 functions were moved' /tmp/cover
warnings > /tmp/again
is "also when the patch is gone" "$(grep -c once /tmp/again)" 0
is "and the other goes on" "$(grep -c 'each time' /tmp/again)" 2

# ---- a BUG, where a thread dies (and lockdep with it) ----
bugs() {
	echo bug > /proc/ki_frames
	until_true 60 eval "dmesg | grep -q 'end trace'"
	dmesg | sed 's/^\[[^]]*\] //' | sed -nE 's/.*(kernel BUG at .*work.c:[0-9]*).*/\1/p
		/^ (die_of_bug|kthread|ret_from_fork[a-z_]*)\+0x[0-9a-f]+\/0x/p'
	dmesg -C
}
export -f bugs until_true
if ! watches_itself; then
	bugs > /tmp/plain
	sed 's/^/# /' /tmp/plain
	is "a BUG, and its callers" "$(grep -cE 'kernel BUG|die_of_bug|kthread|ret_from_fork\+' /tmp/plain)" 4
	for how in "" -m; do
		# shellcheck disable=SC2086
		"$cover" $how ki_frames_bug die_of_bug kthread -- bash -c 'bugs > /tmp/patched' > /tmp/cover
		sed 's/^/# /' /tmp/cover
		ok "instrumented${how:+ and moved}: the same BUG, with the same callers" diff /tmp/plain /tmp/patched
		ok "instrumented${how:+ and moved}: it was reached" grep -qE ' [23] functions were reached' /tmp/cover
	done
fi
ok "the test module unloads" goes ki_frames
finish
