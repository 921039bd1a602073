#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/guest/driver/sleep_host.sh [KERNEL]: a machine that has all it needs in its memory sleeps and wakes
# with windows all over the code that does it (vm/run's machine cannot: virtio-fs refuses to sleep).
# promise: The machine sleeps and wakes with thousands of windows in the code that does it.
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=vm/lib/common.sh
vm=$PWD/vm
. vm/lib/common.sh
kernel=${1-6.1}
item=$(item_of_kernel "$kernel")
need qemu "$item"
release=$(fact "$item" release)
make -s kmod KERNEL="$kernel" >&2 || exit 1
dir=$(mktemp -d "${TMPDIR:-/tmp}/ki-sleep.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

make_initrd() {
	local tree=$dir/tree file
	mkdir -p "$tree"/{bin,dev,proc,sys,tmp}
	cp "$cache/qemu/bin/busybox" "$tree/bin/" && cp build/release/bin/kerninst "$tree/bin/" || return 1
	cp "build/kmod/$release/kerninst.ko" "$tree/" && cp test/guest/driver/sleep_init "$tree/init" || return 1
	for file in $(ldd build/release/bin/kerninst | grep -o '/[^ ]*'); do
		mkdir -p "$tree/${file%/*}" && cp -L "$file" "$tree/$file" || return 1
	done
	(cd "$tree" && find . | "$cache/qemu/bin/busybox" cpio -o -H newc > "$dir/initrd" 2> /dev/null)
}

# wake QMP: whenever the machine has fallen asleep, wake it
wake() {
	exec python3 - "$1" <<'P'
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX)
while s.connect_ex(sys.argv[1]):
    time.sleep(0.1)
lines = s.makefile("rw")
def say(what):
    print(json.dumps({"execute": what}), file=lines, flush=True)
say("qmp_capabilities")
for line in lines:
    if json.loads(line).get("event") == "SUSPEND":
        say("system_wakeup")
P
}

make_initrd || { echo "cannot make the initramfs in $dir: is the disk full?" >&2; exit 1; }
data=$cache/qemu/usr/share
wake "$dir/qmp" &
waker=$!
trap 'kill $waker 2> /dev/null; rm -rf "$dir"' EXIT
timeout 600 vm/lib/unpacked usr/bin/qemu-system-x86_64 -L "$data/qemu" -L "$data/seabios" -nodefaults \
	-no-user-config -display none -no-reboot -cpu max -smp 2 -m 1G -machine q35,usb=off,vmport=off \
	-global ICH9-LPC.disable_s3=0 -accel tcg,thread=multi \
	-kernel "$(readlink -f "$cache/$item")/boot/vmlinuz-$release" -initrd "$dir/initrd" \
	-append "console=ttyS0 loglevel=5 panic=-1 no_timer_check tsc=reliable no_console_suspend watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60 sysctl.kernel.hung_task_timeout_secs=300" \
	-chardev "file,id=console,path=$dir/console" -serial chardev:console \
	-chardev "socket,id=qmp,path=$dir/qmp,server=on,wait=off" -mon chardev=qmp,mode=control < /dev/null > "$dir/qemu" 2>&1
tr -d '\r' < "$dir/console" > "$dir/text"
[ -z "${KI_VM_LOG-}" ] || cp "$dir/text" "$KI_VM_LOG"
grep -E '^(ok|not ok|#|1\.\.)' "$dir/text"
grep -q '^1\.\.' "$dir/text" || { cat "$dir/qemu"; tail -n 40 "$dir/text"; exit 1; } >&2
# The kernel writes to the same line: what it has torn is no result.
! grep -q '^not ok' "$dir/text" && [ "$(grep -c '^ok ' "$dir/text")" = "$(sed -n 's/^1\.\.//p' "$dir/text")" ]
