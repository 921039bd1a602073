#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Others who change the kernel: kprobes that were there before, or that come on top of a window
# (they keep what stood there and write it back); CPUs that go and come while functions are
# counted, and start while what they run then is changed.
#
# usage: test/guest/others/others.sh [GLOB...]: functions that are counted together; all, in six parts
# promise: CPUs start hundreds of times while what they run then is counted.
. "$(dirname "$0")/../common/lib.sh"
start
events=/sys/kernel/tracing/kprobe_events
# shellcheck disable=SC2317 # called through ok
reads() { "$prog/calls" read 1000 1 > /dev/null; }
enable() { echo "$1" > /sys/kernel/tracing/events/kprobes/enable; }

# A window of vfs_read's first block: where it begins, and an instruction inside it.
"$ki" list -q -v vfs_read > /tmp/windows
read -r -d '' first inside < <(awk '/ block 1 / { exit } / window / { many = $5 > 1 && $NF == "jump" }
	/ no window/ { many = 0 } many && $1 ~ /^\+/ { print $1; if (++n == 2) exit }' /tmp/windows)
ok "a window of several instructions" test -n "$inside"
refused() { "$ki" stat "vfs_read$first" -- true 2>&1 > /dev/null | grep -o "another tool's" | head -n 1; }

echo "p:kx vfs_read$inside" > $events
is "registered, not armed, inside a window: refused" "$(refused)" "another tool's"
enable 1
is "armed: refused" "$(refused)" "another tool's"
ok "the probed function runs" reads
enable 0
echo > $events
ok "when it has gone: accepted" "$ki" stat "vfs_read$first" -- true

"$ki" stat "vfs_read$first" > /dev/null 2>&1 &
pid=$!
until [ "$(field windows)" = 1 ] || ! kill -0 $pid; do sleep 0.2; done
echo "p:kx vfs_read$first" > $events
enable 1
ok "a kprobe on top of a springboard: the function runs" reads
kill -9 $pid
wait $pid 2> /dev/null
is "then the window stays" "$(field windows)" 1
ok "and the function runs" reads
enable 0
ok "and when it is disarmed" reads
echo > $events
is "and goes with the kprobe" "$(field windows)" 0
dmesg -c | grep -q 'another tool has written' || ok "the driver has said so" false

is "code without per-CPU base: refused" "$("$ki" stat native_write_msr native_load_idt -- true > /dev/null 2>&1; echo $?)" 1

# What a CPU runs when it starts, first without a table of interrupts: breakpoints stand there during
# each wait.
starts=()
for part in 'cpu_init*' 'cr4_*' 'setup_*' 'cc_*' 'mem*' 'x2apic_*' 'identify_*' 'set_b*'; do
	! "$ki" list -q "kernel:$part" > /dev/null 2>&1 || starts+=("kernel:$part")
done
comes_and_goes() {
	while [ ! -e /tmp/enough ]; do
		echo 0 > /sys/devices/system/cpu/cpu1/online &&
			echo 1 > /sys/devices/system/cpu/cpu1/online && echo
	done > /tmp/times
}
if [ "$(nproc)" -gt 1 ]; then
	comes_and_goes &
	for _ in $(seq 12); do
		"$ki" stat -q -m blocks "${starts[@]}" -- true > /dev/null 2>&1 || echo refused
	done > /tmp/refused
	touch /tmp/enough
	wait
	is "what a CPU runs when it starts is counted twelve times" "$(cat /tmp/refused)" ''
	ok "while one starts again and again: $(wc -l < /tmp/times) times" test "$(wc -l < /tmp/times)" -ge 12
	is "and is there" "$(cat /sys/devices/system/cpu/cpu1/online)" 1
fi

[ $# != 0 ] || set -- '[a-d]*' '[e-i]*' '[j-n]*' '[o-r]*' '[s-t]*' '[A-Zu-z_0-9]*'
for part; do
	[ "$(nproc)" -gt 1 ] || break
	"$ki" stat -q -m calls "kernel:$part" > /dev/null 2>&1 &
	pid=$!
	until [ "$(field windows)" -gt 1000 ] || ! kill -0 $pid; do sleep 0.5; done
	for _ in 1 2; do
		echo 0 > /sys/devices/system/cpu/cpu1/online
		echo 1 > /sys/devices/system/cpu/cpu1/online
	done
	ok "a CPU goes and comes while $part is counted" kill -INT $pid
	wait $pid
done
finish
