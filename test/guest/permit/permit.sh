#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who may do what: capabilities, descriptors for reading, and lockdown in both of its modes, raised
# while the driver is loaded and sessions are in; the tools' answers. Lockdown last: it is for good.
# promise: Each request needs its right and obeys lockdown, while removing is always allowed.
#   [boot.sh, test_live_more.c]
# promise: Sessions and users have limits, and their memory is charged to the caller's control
#   group.
# shellcheck disable=SC2016,SC2317 # for the tool; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
for_everyone "$prog/calls" "$top/build/test/callees" "$top/build/test/permit"
permit=$bin/permit
f=__x64_sys_getsid
lockdown=/sys/kernel/security/lockdown
start
ok "this kernel can be locked down" grep -q '^\[none\]' $lockdown

# with CAPABILITIES COMMAND...: another user with these (+perfmon,+syslog) and no others
with() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all$1" --ambient-caps="-all$1" "${@:2}"
}
# without CAPABILITY COMMAND...: root with all but this
without() { setpriv --bounding-set="-$1" --inh-caps="-$1" "${@:2}"; }
# refused NAME PATTERN COMMAND...: exit status 3 and a line with the pattern
refused() {
	local name=$1 pattern=$2 status
	shift 2
	"$@" > /tmp/out 2> /tmp/words < /dev/null
	status=$?
	is "$name: refused, and says why" "$status $(grep -c -e "$pattern" /tmp/words)" "3 1"
	grep -q -e "$pattern" /tmp/words || sed 's/^/# /' /tmp/words | head -n 5
}

# ---- capabilities ----
caps() { with "$1" "$permit" opens write; }
is "nobody's process may not open the device" "$(caps '')" EACCES
is "nor for reading" "$(with '' "$permit" opens read)" EACCES
is "CAP_PERFMON opens it" "$(caps ,+perfmon)" OK
is "CAP_SYS_ADMIN contains it" "$(caps ,+sys_admin)" OK
is "CAP_SYS_MODULE does not" "$(caps ,+sys_module)" EACCES
is "nor does root without both" "$(setpriv --bounding-set=-perfmon,-sys_admin "$permit" opens write)" EACCES
refused "nobody" "CAP_PERFMON" with '' "$ki" info
watch=,+perfmon,+syslog
is "CAP_PERFMON counts" "$(with $watch "$ki" stat -q --json $f -- $bin/calls getsid 700 | value $f)" 700
with $watch "$ki" record -q -o $bin/recorded $f='pid,str($rdi)' -- $bin/calls getsid 300
is "and records, of the kernel's memory too" "$(column pid $bin/recorded | wc -l)" 300
refused "replacing" "load modules" with $watch "$ki" replace $f=__x64_sys_getpgid -- true
callee=$(awk '$3 == "get_state_synchronize_rcu" { print $1 }' /proc/kallsyms)
is "nor may its code call the kernel's" "$(with $watch $bin/callees $f "$callee")" NEEDS_MODULE_CAP
is "nor root's without CAP_SYS_MODULE" "$(without sys_module $bin/callees $f "$callee")" NEEDS_MODULE_CAP
is "with CAP_SYS_MODULE it may" "$(with $watch,+sys_module $bin/callees $f "$callee")" OK
ok "and replace" with $watch,+sys_module "$ki" replace -q $f=__x64_sys_getpgid -- true

# ---- a descriptor for reading ----
cases "" 27 "$permit" reads
chmod 644 /dev/kerninst
is "who may only read the device" "$(caps ,+perfmon) $(with ,+perfmon "$permit" opens read)" "EACCES OK"
ok "lists functions" with $watch "$ki" list -v vfs_read
ok "and reads code" with $watch "$ki" disas vfs_read
refused "and counts nothing" "for reading" with $watch "$ki" stat $f -- true
chmod 666 /dev/kerninst

# ---- limits, for all but root ----
params=/sys/module/kerninst/parameters
limit() { echo "$2" > $params/"$1"; } # NAME N
counters=$(field counters)
is "a session may have three quarters of the counters" "$(cat $params/session_counters)" $((counters - counters / 4))
for name in counters globals words tables events pages; do
	was="$(cat $params/session_$name) $(cat $params/user_$name)"
	limit session_$name 4
	limit user_$name 6
	cases "limit of " 3 with $watch "$permit" limits $name 4 6
	limit session_$name "${was% *}"
	limit user_$name "${was#* }"
done
was=$(cat $params/session_counters)
limit session_counters 4
ok "root is not limited" "$ki" stat -q -m blocks vfs_read -- true
limit session_counters "$was"
few="__x64_sys_getsid __x64_sys_getpgid __x64_sys_getppid"
# shellcheck disable=SC2086 # words
limited_stat() { # NAME N: with that limit there is one point too many
	limit "$1" "$2"
	with $watch "$ki" stat -q $few -- true > /tmp/out 2> /tmp/words
	echo "$? $(grep -c "$1" /tmp/words)"
}
for name in session_windows user_windows session_chunks user_chunks; do
	was=$(cat $params/$name)
	is "three fit into $name" "$(limited_stat $name 3)" "0 0"
	is "not into two" "$(limited_stat $name 2)" "1 1"
	limit $name "$was"
done
was=$(cat $params/session_heap)
is "nor into 64 bytes of the heap" "$(limited_stat session_heap 64)" "1 1"
limit session_heap "$was"
was=$(cat $params/user_sessions)
limit user_sessions 5
is "a user has so many sessions" "$(with $watch "$permit" sessions)" "5 EDQUOT"
is "again" "$(with $watch "$permit" sessions)" "5 EDQUOT"
is "root has as many as it wants" "$("$permit" sessions)" "64 OK"
is "without CAP_SYS_RESOURCE it has not" "$(without sys_resource "$permit" sessions)" "5 EDQUOT"
limit user_sessions "$was"
group=/sys/fs/cgroup/permit
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir $group
cases "charged to the control group: " 4 sh -c 'echo $$ > "$1/cgroup.procs"; exec "$2" memory "$1"' sh $group "$permit"
small=/sys/fs/cgroup/small
mkdir $small
echo 256M > $small/memory.max
cases "all, in 256 MiB: " 4 "$permit" exhaust $small
given_back() { echo "$(field counters_used) $(field words_used)"; }
soon "all is given back" "0 0" given_back

# ---- lockdown ----
cases "" 47 "$permit" integrity
ok "the machine is locked down" grep -q '\[integrity\]' $lockdown
ok "the text is what it was" text_is_back
is "the device does not open for writing" "$("$permit" opens write) $("$permit" opens read)" "EPERM OK"
for verb in "stat $f" "top $f" "record -o /tmp/none $f=pid" "cover -o /tmp/none $f" "paths $f" "kcov $f" "replace $f=__x64_sys_getpgid"; do
	# shellcheck disable=SC2086 # words
	refused "locked down: kerninst ${verb%% *}" lockdown "$ki" $verb -- true
done
for verb in "list -v vfs_read" "disas vfs_read" "info --quick" "calls vfs_read"; do
	# shellcheck disable=SC2086
	ok "locked down: kerninst ${verb%% *} tells what it told" "$ki" $verb
done
ok "nothing is installed" field_is windows 0
cases "" 25 "$permit" confidentiality
is "nor does it open for reading" "$("$permit" opens write) $("$permit" opens read)" "EPERM EPERM"
refused "kerninst list" lockdown "$ki" list vfs_read
refused "kerninst info" lockdown "$ki" info
ok "the driver unloads" goes kerninst
refused "no driver" "not loaded" "$ki" info
ok "and one that nobody has signed does not come back" bash -c "! insmod '$top/build/kmod/$(uname -r)/kerninst.ko'"
is "nothing new in dmesg" "$(complaints)" ""
! watches_itself || ok "lockdep is still on" lockdep_on
echo "1..$tests"
[ "$failures" = 0 ]
