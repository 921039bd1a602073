#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stacks and strings: a kernel's stack as the kernel shows it, in plain code, in code that is
# instrumented all over, and in functions that are moved; in interrupts and NMIs; a program's own; a
# table that is too small; strings as they were passed.
# promise: Records and predicates have strings and stacks as the kernel and the process show
#   them. [report.sh]
# shellcheck disable=SC2016,SC2317 # for another shell; functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
start
cover=$top/build/test/cover
path=(proc_single_show seq_read_iter vfs_read ksys_read __x64_sys_read do_syscall_64)

cases "" 23 "$top/build/test/stacks"
cases "instrumented: " 3 "$cover" "${path[@]}" -- "$top/build/test/stacks" kernel
cases "moved: " 3 "$ki" stat -q -o /dev/null -m blocks "${path[@]}" -- "$top/build/test/stacks" kernel
hot=(vfs_read read_zero __x64_sys_pread64 ksys_pread64 iov_iter_zero rw_verify_area)
cases "instrumented: " 2 "$cover" "${hot[@]}" -- "$top/build/test/stacks" contexts
cases "moved: " 2 "$ki" stat -q -o /dev/null -m blocks "${hot[@]}" -- "$top/build/test/stacks" contexts
# Between stac and clac, where user memory is open: what goes there itself leaves it open.
open() { "$ki" stat -q -o /dev/null --comm ls "$@" strncpy_from_user:blocks -- ls /; }
ok "users' stacks where user memory is open" open --by ustack
ok "users' strings where user memory is open" open --by 'ustr(arg2)'
# ---- recordings ----
cd /tmp || exit 1
record() { "$ki" record "$@" > record.out 2>&1; }
report() { "$ki" report -q "$@"; }
# The names of a program that has ended before it was looked at are not known: what dd reads stops
# for 5 s after its first reads, a hundred times what record takes to look.
ok "record stacks and text" record -o s.rec --comm dd --if 'arg2 == 777' \
	ksys_read=tid,stack,user:ustack,rest:'stack(1)',buf:'str(0)' -- \
	bash -c 'for i in $(seq 50); do printf "%777s" x; [ $i != 9 ] || sleep 5; done | dd of=/dev/null bs=777 count=50 status=none'
off='(\+0x[0-9a-f]*)?'
kernel="ksys_read$off;do_syscall_64$off;entry_SYSCALL_64_after_hwframe$off"
is "the kernel's in CSV" "$(report --csv s.rec | grep -cE "(,|;)$kernel(,|;)")" 50
is "folded: the program's, then the kernel's" \
	"$(report --folded s.rec | grep -cE '(^|;)_*read;entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read')" 1
is "folded: all of them" "$(report --folded s.rec | awk '{ s += $NF } END { print s }')" 50
frames() {
	python3 - <<'P'
import json, subprocess
rows = [json.loads(l) for l in subprocess.run(['/bin/sh', '-c', 'exec "$KI" report -q --json s.rec'],
        capture_output=True, text=True, check=True).stdout.splitlines()]
f = [r['fields'] for r in rows if r['type'] == 'record']
assert len(f) == 50, len(f)
for x in f:
    assert x['stack'][1:] == x['rest'] and x['stack'][0].split('+')[0] == 'ksys_read', x
    assert 'read' in x['user'][0] and x['buf'] == '', x
P
}
# Inside, the library's path leads to the C library; here to another one.
mkdir libs libs.inside
cp /lib/x86_64-linux-gnu/libc.so.6 libs.inside/libc.so.6
cp /lib/x86_64-linux-gnu/libm.so.6 libs/libc.so.6
ok "record a process with mounts of its own" record -o mounts.rec --comm dd --if 'arg2 == 555' ksys_read=user:ustack -- \
	unshare -m bash -c 'mount --bind libs.inside libs && for i in $(seq 50); do printf "%555s" x; [ $i != 9 ] || sleep 5; done |
	LD_LIBRARY_PATH=/tmp/libs dd of=/dev/null bs=555 count=50 status=none'
is "what is mapped is told, not what is at that path here" \
	"$(report --folded mounts.rec | grep -E '(^|;)_*read( |;)' | awk '{ s += $NF } END { print s }')" 50
KI=$ki ok "JSON: arrays of frames" frames
ok "trace events" python3 -c 'import json,sys; e = json.load(sys.stdin)["traceEvents"]; assert len([x for x in e if x["stack"][0].startswith("ksys_read")]) == 50' < <(report --chrome s.rec)
ok "record names" record -o n.rec --if 'comm == "bash" && starts(ustr(arg1), "/etc/ho")' do_sys_openat2=name:'ustr(arg1, 40)',pid \
	-- bash -c 'for i in $(seq 30); do : < /etc/hostname; : < /etc/passwd; : < /etc/hosts; done'
is "names" "$(report --csv n.rec | awk -F, 'NR > 1 { print $4 }' | sort | uniq -c | tr -s ' \n' ' ')" " 30 /etc/hostname 30 /etc/hosts "
counted() { "$ki" stat -q --json --if "comm == \"bash\" && ($1)" do_sys_openat2 -- bash -c 'for i in $(seq 7); do : < /etc/hostname; : < /etc/passwd; done' | value do_sys_openat2; }
is "is" "$(counted 'ustr(arg1) == "/etc/passwd"')" 7
is "is one of" "$(counted 'ustr(arg1) in ("/etc/passwd", "/etc/hostname", "/")')" 14
is "is not" "$(counted 'starts(ustr(arg1), "/etc/p") && ustr(arg1) != "/etc/passwd"')" 0

is "nothing in dmesg before the NMIs" "$(complaints)" ""
cases "" 1 "$top/build/test/stacks" nmi
dmesg -C # what the kernel says of these NMIs was asked for
finish
