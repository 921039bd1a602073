#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counts under predicates: two programs make known numbers of calls at the same time, beside
# whatever the machine does; what tells them apart must tell their counts apart, exactly.
# promise: P11, F4: Predicates tell two programs apart by name, user, group, CPU, file, value,
#   memory and path.
. "$(dirname "$0")/../common/lib.sh"
start
dir=/tmp/predicates
mkdir -p $dir
cp "$prog/calls" $dir/alpha && cp "$prog/calls" $dir/beta || exit 1
mkdir /sys/fs/cgroup/alpha || exit 1
A=3000 B=5000

# How alpha and beta differ, but for their names: fd 3 is open in alpha, so its next files are 4, 5.
# shellcheck disable=SC2317 # called below
both() { # KIND
	(
		echo "$BASHPID" > /sys/fs/cgroup/alpha/cgroup.procs
		exec taskset -c 1 setpriv --reuid 1234 "$dir/alpha" "$1" "$A" 3< /dev/null
	) &
	taskset -c 0 "$dir/beta" "$1" "$B" 3<&-
	wait $!
}
export -f both
export dir A B

# counts WANTED KIND POINT OPTION...: that many, when both make such calls
counts() {
	local wanted=$1 kind=$2 point=$3 got
	shift 3
	got=$("$ki" stat --json "$@" "$point" -- bash -c "both $kind" 2> $dir/said | value "$point")
	is "$point, $*" "$got" "$wanted"
	[ "$got" = "$wanted" ] || sed 's/^/# /' $dir/said
}
getppid() { counts "$1" getppid __x64_sys_getppid "${@:2}"; }

ours='comm in ("alpha", "beta")'
getppid $A --comm alpha
getppid $((A + B)) --if 'execname == "alpha" || "beta" == comm'
getppid $B --if "$ours && comm != \"alpha\""
getppid $A --if 'uid == 1234'
getppid $B --if "$ours" --if 'uid in ("root", "daemon")'
getppid $A --if 'cgroup == "/alpha"'
getppid $B --if "$ours && cgroup != \"/alpha\""
getppid $A --comm alpha --cpu 1
getppid 0 --comm alpha --cpu 0
getppid $A --if "pid == tid && cpu == 1 && $ours"

counts $A read ksys_read --if "$ours && arg0 == 4"
counts $((A + B)) read ksys_read --if "$ours && (int)arg0 in (3, 4) && arg2 == 1"
counts $A open do_sys_openat2:exit:after --if "$ours && retval == 5"
# of beta; and alpha's /dev/zero
counts $((B + 1)) open do_sys_openat2:exit:after --if "$ours && (int)retval >= 0 && retval % 4 == 0"
# the first eight bytes of the file's name: "/dev/nul"
counts $((A + B)) open do_filp_open --if "$ours && *(u64 *)*(u64 *)arg1 in (1, 0x6c756e2f7665642f)"
counts $A read vfs_read:block/0 --if 'comm == "alpha" && inside(ksys_read)'
counts 0 read vfs_read --if 'comm == "alpha" && !inside(ksys_read)'

# a process that is there already
# shellcheck disable=SC2016 # the inner shell's
bash -c 'kill -STOP $$; exec $dir/beta getppid 700' &
stopped=$!
export stopped
while ! grep -q '^State:.T' /proc/$stopped/status; do sleep 0.05; done
# shellcheck disable=SC2016 # the inner shell's
got=$("$ki" stat --json --pid 1,$stopped __x64_sys_getppid -- \
	bash -c 'both getppid; kill -CONT $stopped; while [ -d /proc/$stopped/task/$stopped ] &&
		! grep -qs "^State:.Z" /proc/$stopped/status; do sleep 0.05; done' |
	value __x64_sys_getppid)
wait $stopped
is "--pid of two processes" "$got" 700

# rows of CPUs
got=$("$ki" stat --json -A --if "$ours" __x64_sys_getppid -- bash -c "both getppid")
ok "the counts of each CPU" python3 -c "
import json, sys
row = json.loads(sys.argv[1])
print(row)
assert row['cpus'][:2] == [$B, $A] and sum(row['cpus']) == row['value'] == $A + $B" "$got"
"$ki" stat -A -x, -o $dir/csv vfs_read 'ksys_*' -- bash -c "both read" 2> /dev/null
ok "CSV: rows of CPUs make the total, for each point" python3 -c "
import csv, sys
rows = list(csv.DictReader(open('$dir/csv')))
points = {r['POINT'] for r in rows}
assert {'vfs_read', 'ksys_read'} <= points and len(points) > 3, points
for p in points:
    cpus = [int(r['COUNT']) for r in rows if r['POINT'] == p and r['CPU'] != 'all']
    total = [int(r['COUNT']) for r in rows if r['POINT'] == p and r['CPU'] == 'all']
    assert len(cpus) == 2 and [sum(cpus)] == total, (p, cpus, total)
assert int([r for r in rows if r['POINT'] == 'ksys_read'][0]['COUNT']) >= $A + $B"

# code, without doing it
got=$("$ki" stat --dry-run --show-code --json --pid 4321 vfs_read -- touch $dir/executed 2> /dev/null)
ok "a hit that does not match costs at most 6 instructions: two jumps, and what is not counted" python3 -c "
import json, sys
rows = [json.loads(l) for l in sys.argv[1].splitlines()]
print(rows)
code = [r for r in rows if r['metric'] == 'code'][0]
assert 'tgid == 4321' in code['code'] and 'jnz' in code['code']
assert 2 + code['instructions'] - 1 <= 6
assert [r for r in rows if r['metric'] == 'dry_run'][0]['reason'] == 'OK'" "$got"
ok "a dry run executes nothing" test ! -e $dir/executed
ok "a dry run" eval "'$ki' stat --dry-run -q vfs_read 'ksys_*' > $dir/dry"
ok "installs nothing" text_is_back
ok "and says what could be" grep -q '^yes  *calls  *ksys_read  *0x' $dir/dry
# shellcheck disable=SC2317 # called through ok
refuses() { # PATTERN ARGUMENT...
	local out
	out=$("$ki" stat "${@:2}" -- touch "$dir/executed" 2>&1) && return 1
	echo "$out"
	grep -qE "$1" <<< "$out" && [ ! -e "$dir/executed" ]
}
ok "no parameters within the function" refuses 'vfs_read:block/1: .*not at the function.s entry' --if 'arg0 == 3' vfs_read:block/1
ok "a predicate that never holds" refuses 'vfs_read: .*does nothing' --if '1 == 2' vfs_read
ok "no return value at the entry" refuses 'vfs_read: .*not at the function.s exit' --if 'retval < 0' vfs_read
got=$("$ki" stat --json --if "$ours && arg0 == 4" ksys_read ksys_read:block/1 ksys_read:exit -- bash -c "both read" 2> $dir/said)
is "where parameters are known it is counted, also if other places are asked for" "$(value ksys_read <<< "$got")" $A
is "and these are left out, with the reason" "$(grep -c '"reason":"NO_PARAMETER"' <<< "$got") $(grep -c 'ksys_read:.*not at the function.s entry.*NO_PARAMETER' $dir/said)" "2 2"

# A predicate on the way of another's helper asks for the user all the same.
"$ki" stat --json -q --if "uid == 1234 && $ours" copy_from_kernel_nofault > $dir/inner &
inner=$!
until_true 120 measures $inner
counts $((A + B)) getppid __x64_sys_getppid --if "$ours && *(u8 *)arg0 < 256"
kill -INT $inner
wait $inner
got=$(value copy_from_kernel_nofault < $dir/inner) # a few loads more are the program's start
ok "uid is known in a helper, too: $got" test "$got" -ge $A -a "$got" -le $((A + 300))
rmdir /sys/fs/cgroup/alpha
# What reads strings: whoever is there already is skipped, without calling it again. Somebody has to
# read one, then, who is not there himself.
inner=copy_from_kernel_nofault
string='starts(str(arg0), "never")'
skipped() { "$ki" info --quick | sed -n "s/^skipped hits *//p"; }
before=$(skipped)
ok "a string in $inner" "$ki" stat -q --if "$string" $inner -- \
	"$ki" stat -q --if "$string" vfs_read -- ls -lR /usr/lib/python3
ok "which is skipped in itself" test "$(skipped)" -gt "$before"
finish
