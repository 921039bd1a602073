#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the kernel does elsewhere while kerninst crosswalk searches a process: a work, a tasklet and an
# interrupt's timer that run for known times; and the worker of a disk from which page faults read.
#
# usage: test/guest/crosswalk/elsewhere.sh
# promise: C12: Work queues, tasklets and interrupts' timers that no process asked for are named beside the
#   tree, each with its share of a CPU.
# promise: C12: Page faults that read a file are followed from the program to where they wait for the disk.
# shellcheck disable=SC2317 # functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../process/program.sh"
. "$(dirname "$0")/walk_lib.sh"
start
bin=$top/build/test/process
took=/sys/module/ki_elsewhere/parameters

now() { # nanoseconds that have passed, that each has taken
	sed 's/\.\(..\) .*/\10000000/' /proc/uptime
	cat $took/{work,soft,hard}_ns
}
# others: KIND FUNCTION SHARE of what was elsewhere
others() { of_rows '
for r in everything:
	if r["kind"] != "function":
		print(r["kind"], r["function"] or r["thread"], r["share"], r["calls_per_second"])'; }
# is_near KIND FUNCTION LINE: its share is within 15 % of what it has taken, by itself
is_near() {
	local got wanted
	got=$(others | awk -v k="$1" -v f="$2" '$1 == k && $2 == f { print $3 }')
	wanted=$(paste /tmp/before /tmp/after | awk -v n="$3" '{ d = $2 - $1 } NR == 1 { all = d } NR == n { print d / all }')
	echo "# $1 $2: $got, by itself $wanted"
	ok "the $1 $2 is named, and its share is right" awk -v g="$got" -v w="$wanted" \
		'BEGIN { exit !(g > 0 && g >= 0.85 * w && g <= 1.15 * w) }'
}

ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_elsewhere.ko" work=2000 soft=1000 hard=500
run "$bin/planted" nap
now > /tmp/before
ok "a process that sleeps is searched" eval "\"\$ki\" crosswalk -q --json $pid > $json"
now > /tmp/after
others | sed 's/^/# /'
is_near work ki_elsewhere_work 2
is_near tasklet ki_elsewhere_tasklet 3
is_near timer ki_elsewhere_hard 4
ok "so is the interrupt that brings the timer" eval 'others | grep -q "^interrupt __sysvec_apic_timer_interrupt "'
ok "and the tasklets' softirq" eval 'others | grep -q "^softirq tasklet_action "'
is "none of them in the tree" "$(of_rows 'print(*[r["function"] for r in rows if r["module"] == "ki_elsewhere"])')" ""
ok "in a list of their own" eval "\"\$ki\" crosswalk -q -T 0.3 $pid > /tmp/list; sed -n '/^elsewhere in the kernel/,\$p' /tmp/list | grep -Eq '^ki_elsewhere:ki_elsewhere_work +work +[0-9.]+ % +[0-9]+/s\$'"
sed 's/^/# /' /tmp/list
ok "the program alone" eval "\"\$ki\" crosswalk -q --user --json $pid > $json"
is "has none" "$(others)" ""
kill -9 "$pid"
end
ok "the test module goes" rmmod ki_elsewhere

ok "a disk" make_disk /tmp/disk
ok "a file on it" dd if=/dev/urandom of=/tmp/disk/file bs=1M count=16 status=none
sync
echo 3 > /proc/sys/vm/drop_caches
run "$bin/planted" reader /tmp/disk/file
ok "a reader of more than there is in memory is searched" eval "\"\$ki\" crosswalk -q --json -T 0.5 -t 10% $pid > $json"
shown
others | sed 's/^/# /'
waits=$(of_rows 'print(next((n for n in ("io_schedule", "folio_wait_bit_common") if by(n) and by(n)["found"] == "true"), ""))')
ok "from the program by its page faults to where they wait" grep -Eq '^main scans handle_mm_fault .*filemap_fault .*(folio_wait_bit_common|io_schedule)$' <(chain "$waits")
is "by page faults" "$(how handle_mm_fault)" fault
ok "and the worker that reads for them is named" eval 'others | grep -Eq "^work loop_(rootcg_)?workfn "'
kill -9 "$pid"
end
umount /tmp/disk
finish
