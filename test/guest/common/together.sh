#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Several suites in one machine, one after the other, each as if it were the first: the driver is
# loaded (or is not) as it was at the start, and files in /tmp, mounts, control groups and modules
# that the one before has left are gone. What is left running is a failure of who left it, and so is
# what the kernel complains about after the suite's own end.
#
# usage: test/guest/common/together.sh [NAME SECONDS COMMAND]...
#
# test/run.sh takes the output apart at the lines "# together: begin NAME", "# together: end STATUS".
# A suite that is not over after its SECONDS is ended, with the status 124. If the machine cannot be
# brought back to what it was the rest is not begun.
. "$(dirname "$0")/lib.sh"
exec 2>&1
driver=$top/build/kmod/$(uname -r)/kerninst.ko

modules() { awk '{ print $1 }' /proc/modules | sort; }
mounts() { awk '{ print $5 }' /proc/self/mountinfo; }
files() { find /tmp -mindepth 1 -maxdepth 1; }
control_groups() { find /sys/fs/cgroup -mindepth 1 -type d | sort; }
# Those that are neither the kernel's nor our own.
processes() {
	cat /proc/[0-9]*/stat 2> /dev/null | awk -v me=$$ '
		{ pid = $1; sub(/.*\) /, ""); if ($1 != "Z") up[pid] = $2 }
		END {
			for (pid in up) {
				for (p = pid + 0; p > 2 && p != me; p = up[p] + 0) { }
				if (p == 1 || p == 0) print pid
			}
		}'
}
new_processes() { processes | grep -vxF "$there"; }
nobody_new() { [ -z "$(new_processes)" ]; }

was_loaded=$([ ! -e /sys/module/kerninst ] || echo yes)
had_modules=$(modules) had_mounts=$(mounts) had_groups=$(control_groups) had_files=$(files)
there=$(processes)

# fault TEXT: of the suite that has ended; its own numbers are behind us
fault() {
	echo "not ok $((1000 + (faults += 1))) $1"
	[ "$status" != 0 ] || status=1
}

end_processes() {
	until_true 10 nobody_new && return
	for pid in $(new_processes); do
		[ $status = 124 ] || fault "left running: $(tr '\0' ' ' < "/proc/$pid/cmdline" | cut -c 1-200)"
		kill -KILL "$pid"
	done
	until_true 60 nobody_new
}

# Twice, as one may use another.
remove_modules() {
	local module
	for module in $(modules | grep -vxF "$had_modules") $(modules | grep -vxF "$had_modules"); do
		[ "$module" = kerninst ] || rmmod "$module" 2> /dev/null
	done
}

new_driver() {
	[ ! -e /sys/module/kerninst ] || goes kerninst || return
	[ ! "$was_loaded" ] || insmod "$driver"
}

# as_before: false if the next suite would not have what the first had
as_before() {
	cd / || return
	end_processes || return
	mounts | grep -vxF "$had_mounts" | tac | xargs -r umount
	control_groups | grep -vxF "$had_groups" | tac | xargs -r rmdir
	files | grep -vxF "$had_files" | xargs -r -d '\n' rm -rf --
	remove_modules
	new_driver || return
	[ -z "$(complaints)" ] || fault "the kernel complained after the suite's end: $(complaints | head -n 1)"
	dmesg -C
	cd "$home" || return
}

home=$PWD
while [ $# != 0 ]; do
	faults=0
	echo "# together: begin $1"
	timeout -k 10 "$2" bash -c "exec $3" < /dev/null
	status=$?
	shift 3
	as_before || { fault "the machine is not what it was" && set --; }
	printf '\n# together: end %s\n' $status
done
