#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninstd as systemd starts it: by its unit, in all its confinement, with the kernel. The machine's
# first process is another, so systemd is the first one of a PID namespace.
# promise: P1: kerninstd works under systemd, in the confinement of its unit.
# shellcheck disable=SC2317 # functions are called through until_true and soon
. "$(dirname "$0")/../common/lib.sh"
unit=/etc/systemd/system/kerninstd.service
start
sed "s|@bindir@|/usr/local/bin|" "$top/tools/kerninstd/kerninstd.service" > $unit
cp "$top/build/release/bin/kerninstd" /usr/local/bin/
install -D -m 644 "$top/man/kerninstd.8" /usr/local/share/man/man8/kerninstd.8
is "systemd finds nothing wrong with the unit" "$(systemd-analyze verify $unit 2>&1 | grep kerninstd)" ""

# Of all else that a machine begins with, only the journal.
for u in /lib/systemd/system/sysinit.target.wants/* /etc/systemd/system/{sysinit,sockets,timers}.target.wants/*; do
	[[ $u = *journald* || ! -e $u ]] || ln -sf /dev/null "/etc/systemd/system/${u##*/}"
done
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs none /run
unshare --pid --fork --kill-child --mount --cgroup --mount-proc env container=lxc /lib/systemd/systemd --system \
	--unit=kerninstd.service --show-status=no --log-target=console > /tmp/systemd.log 2>&1 &
systemd=$!
# systemctl speaks with the first process of its own PID namespace.
ctl() { nsenter -t "$(pgrep -P $systemd)" -p -m systemctl "$@"; }
shows() { for name; do ctl show -P "$name" kerninstd; done | xargs; }
ask() { curl -sS -m 60 --unix-socket /run/kerninst/kperfmon.sock "$@"; }
is_up() { ask http://localhost/api/info 2> /dev/null; }
if ! until_true 90 is_up; then
	sed 's/^/# /' /tmp/systemd.log | tail -n 40
	ctl status kerninstd 2>&1 | sed 's/^/# /' | tail -n 20
fi
registers() { ask "http://localhost/api/function?name=vfs_read" | jq -r .registers; }
is "it begins to analyse all code" "$(registers)" pending
is "it is up, as it has told systemd" "$(shows ActiveState SubState)" "active running"
is "the token's file is for root alone" "$(stat -c '%a %U' /run/kerninst/token) $(wc -c < /run/kerninst/token)" "600 root 33"
curl -sSN --unix-socket /run/kerninst/kperfmon.sock http://localhost/api/events > /tmp/events 2> /dev/null &
reader=$!
until_true 30 grep -q '^data: ' /tmp/events
client=$(sed -n 's/^data: .*"client":"\([0-9a-f]*\)".*/\1/p' /tmp/events | head -n 1)
ask -d "{\"client\":\"$client\",\"curves\":[{\"metric\":\"calls\",\"point\":\"__x64_sys_getsid\"},{\"metric\":\"page-faults\",\"point\":\"vfs_read\"}]}" \
	http://localhost/api/curves > /tmp/answer
is "it measures, and counts the kernel's events" "$(jq -c '[.curves[].refused.reason]' /tmp/answer)" "[null,null]"
"$prog/calls" getsid 1000 > /dev/null
id=$(jq '.curves[0].id' /tmp/answer)
seen() { sed -n 's/^data: //p' /tmp/events | jq -s "[.[].values[\"$id\"]? // 0] | add"; }
soon "exactly" 1000 seen
soon "which it may do" known registers
kill $reader
ctl stop kerninstd
is "it ends when it is told to" "$(shows Result ActiveState)" "success inactive"
soon "nothing is left in the kernel" 0 field windows
is "nor in /run" "$(ls /run/kerninst 2> /dev/null)" ""
kill -KILL $systemd
wait $systemd 2> /dev/null
finish
