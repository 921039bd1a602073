# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every guest test shares: KTAP lines, and the three things each ends with (the text is
# what it was, the kernel has not complained, the driver can be unloaded).

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
ki=$top/build/release/bin/kerninst
prog=$top/build/test/prog
tests=0
failures=0
# So many times as long all that the kernel does may take, and so much less gets done: one that watches
# itself (lockdep, KASAN) executes several times the instructions.
watched=1
[ ! -e /proc/lockdep_stats ] || watched=5

# for_everyone PROGRAM...: kerninst and these, for who may not look where we are; in $bin
for_everyone() {
	bin=/tmp/bin
	mkdir $bin
	chmod 777 $bin
	cp "$ki" "$@" $bin
	ki=$bin/kerninst
}

# ok NAME COMMAND...: the command must succeed
ok() {
	local name=$1 out
	shift
	tests=$((tests + 1))
	if out=$("$@" 2>&1); then
		echo "ok $tests $name"
	else
		failures=$((failures + 1))
		echo "not ok $tests $name"
		printf '%s\n' "$out" | head -n 20 | sed 's/^/# /'
	fi
}

# is NAME GOT WANTED
is() {
	ok "$1" test "$2" = "$3"
	[ "$2" = "$3" ] || echo "# got '$2', wanted '$3'"
}

# soon NAME WANTED COMMAND...: the command prints that, within two minutes (space is given back
# once no task can be there any more)
soon() {
	local name=$1 wanted=$2 got end=$((SECONDS + 120))
	shift 2
	while got=$("$@"); [ "$got" != "$wanted" ] && [ $SECONDS -lt $end ]; do
		sleep 0.2
	done
	is "$name" "$got" "$wanted"
}

# cases PREFIX COUNT COMMAND...: the lines "ok NAME" and "not ok NAME" that it prints are cases of
# ours; there must be so many, all ok
cases() {
	local prefix=$1 count=$2 out=/tmp/cases.out status line
	shift 2
	"$@" > $out 2>&1
	status=$?
	while read -r line; do
		case $line in
		"ok "*) ok "$prefix${line#ok }" true ;;
		"not ok "*) ok "$prefix${line#not ok }" false ;;
		*) echo "# ${line#\# }" ;;
		esac
	done < $out
	is "${prefix}all cases were tried" "$status $(grep -c '^ok ' $out)" "0 $count"
}

# near NAME GOT WANTED DIFFERENCE
near() {
	ok "$1: $2 is near $3" awk -v g="$2" -v w="$3" -v d="$4" \
		'BEGIN { x = g - w; exit !(g != "" && w != "" && w > 0 && (x < 0 ? -x : x) <= d) }'
}

# until_true SECONDS COMMAND...: false if it has not come true in time; a kernel that watches itself
# (lib.sh's watches_itself, which is not there where this is exported to) has ten times as long
until_true() {
	local end=$((SECONDS + $1))
	[ ! -e /proc/lockdep_stats ] || end=$((SECONDS + 10 * $1))
	shift
	until "$@" > /dev/null; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests $1 # SKIP $2"
}

# The text of the kernel and of the modules that have been there since the start is what it was;
# else it says where the first difference is, and what.
kept_text=/tmp/text.kept
text_is_back() { "$ki" text -q compare $kept_text; }

# Lines that no healthy kernel logs.
complaints() {
	dmesg | grep -E 'WARNING:|BUG:|BUG |Oops|general protection|invalid opcode|int3:|Call Trace|rcu:.*detected.*stall|soft lockup|blocked for more|list_(add|del) corruption|turning off the locking' || true
}

# A kernel with lockdep (6.1-debug) turns it off at its first complaint, or when its tables are
# full: from then on it would see nothing.
lockdep_on() { grep -E 'debug_locks: *1$' /proc/lockdep_stats; }
watches_itself() { [ -e /proc/lockdep_stats ]; }

# field NAME: a number of what the driver says of itself
field() { "$prog/field" "$1"; }

field_is() { [ "$(field "$1")" = "$2" ]; } # NAME VALUE
installed() { ! field_is windows 0; }
measures() { grep -qE '^(7|128|271) ' "/proc/$1/syscall"; } # PID: all is in; it waits (poll, rt_sigtimedwait, ppoll)
goes() { until_true 120 eval "rmmod '$1' 2> /dev/null"; } # the module

# column NAME FILE [POINT]: of the records in it; of_end NAME FILE: of its last line
column() {
	"$ki" report -q --csv ${3+-p "$3"} "$2" |
		awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }'
}
of_end() { # the last line is kept while the file stays as it is
	local end=/tmp/end.${2//\//_}
	[ -e "$2" ] && [ "$end" -nt "$2" ] || "$ki" report -q --json "$2" | tail -n 1 > "$end"
	sed -n "s/.*\"$1\": *\([^,}]*\).*/\1/p" "$end"
}

# value POINT < JSON: the value of a point
value() {
	grep -F "\"point\":\"$1\"" | sed -n 's/.*"value": *"\{0,1\}\([0-9]*\).*/\1/p' | head -n 1
}

# CPUs on which nothing runs that is not put there (isolcpus=N-M); what kerninst stat -A counts on
# them is what the load did: the first of them, how many there are
isolated_cpu=$(sed 's/[-,].*//' /sys/devices/system/cpu/isolated)
isolated_cpus=$(awk -F - 'NF { print $NF - $1 + 1 }' /sys/devices/system/cpu/isolated)

# of_isolated < JSON: "POINT VALUE", the value of these CPUs only
of_isolated() {
	sed -n 's/.*"point":"\([^"]*\)".*"cpus": *\[\([^]]*\)\].*/\1 \2/p' |
		awk -v first="$isolated_cpu" '{ n = split($2, v, ","); s = 0; for (i = first + 1; i <= n; i++) s += v[i]; print $1, s }'
}

preempts_as_told() {
	grep -F "($(sed 's/.*preempt=\([a-z]*\).*/\1/' /proc/cmdline))" /sys/kernel/debug/sched/preempt
}

start() {
	ok "the text is kept" "$ki" text keep $kept_text
	# How this kernel calls and returns.
	grep -h . /sys/devices/system/cpu/vulnerabilities/{spectre_v2,retbleed,indirect_target_selection} 2> /dev/null | sed 's/^/# /'
	[ -z "$(complaints)" ] || echo "# before the test the kernel had complained already"
	! grep -q preempt= /proc/cmdline || [ -e /sys/kernel/realtime ] || ok "the kernel preempts as it was told to" preempts_as_told
	! grep -q retbleed=stuff /proc/cmdline || ok "the kernel counts calls" grep -q Stuffing /sys/devices/system/cpu/vulnerabilities/retbleed
	# That one has been told to: also when the driver was loaded.
	! watches_itself || is "nothing in dmesg before the test" "$(complaints)" ""
	dmesg -C
}

finish() {
	ok "the text is what it was" text_is_back
	sleep 1
	ok "the driver unloads" goes kerninst
	is "nothing new in dmesg" "$(complaints)" ""
	! watches_itself || ok "lockdep is still on" lockdep_on
	echo "1..$tests"
	[ "$failures" = 0 ]
	exit
}
