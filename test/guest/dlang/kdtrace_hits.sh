#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D in processes by breakpoints of the driver's: that it is so, each instruction's count as single
# steps have found it, thousands of places, several tools at one place, the text given back however
# it ends; and what it costs, beside uprobes, which -x uprobes asks for.
#
# usage: test/guest/dlang/kdtrace_hits.sh STEPPED: what single steps have found (process_driver_host.sh)
#        test/guest/dlang/kdtrace_hits.sh cost: needs -icount, where a nanosecond is an instruction
# shellcheck disable=SC2016,SC2317 # $target is kdtrace's; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../process/program.sh"
kd=$top/build/release/bin/kdtrace
bin=$top/build/test/process
by_driver="by breakpoints of the driver's"
echo > /tmp/line
start

# without what -v says of how stable the program is
counts() { awk '/^Stability attributes for / { skip = 1 } !skip { print } skip && /Dependency Class/ && ++n % 2 == 0 { skip = 0 }'; }
d() { timeout 300 "$kd" -qv "$@" 2> /tmp/kd.err < /tmp/line | counts | grep -v '^ready$' | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
way() { sed -n 's/^kdtrace: \([0-9]*\) places\{0,1\} in processes, \([^,]*\).*/\1 \2/p' "${1:-/tmp/kd.err}"; }
order() { echo >&"$to" && read -r -t 120 -u "$from" line && echo "$line"; }
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
same() { [ "$(text)" = "$before" ]; }
# tool FILE OPTION...: kdtrace at step() of $pid, in the background: $!; it is in when it says its way
tool() {
	local file=$1
	shift
	"$kd" -qv "$@" -n 'pid$target:pie:step:entry { @ = count(); }' -p "$pid" > "$file" 2> "$file.err" &
	until_true 60 grep -q "in processes" "$file.err"
}
stop() { kill -INT "$1" && wait "$1"; } # TOOL
counted() { counts < "$1" | tr -d ' \n'; }

# ---- what it costs ----
# took COMMAND...: milliseconds from its beginning to its end, and of them its own and the kernel's for it
took() {
	local TIMEFORMAT='%3R %3U %3S'
	{ time "$@" > /tmp/took.out 2>&1 < /tmp/line; } 2>&1 | awk '{ printf "%d %d\n", $1 * 1000, ($2 + $3) * 1000 }'
}
# load OPTION...: the nanoseconds of 20,000 reads, each of which is a hit
load() { d "$@" -n 'pid$target:load:read:entry { @ = count(); }' -c "$prog/load 20000"; }
# begins FUNCTIONS OPTION...: of the C library
begins() { took "$kd" -q -n 'pid$target:libc.so.6:'"$1"':entry { @ = count(); }' "${@:2}" -c true; }
below() { ok "$1: $2, less than $3" [ "$2" -lt "$3" ]; }
cost() {
	local bare hit uprobe few many uprobes
	"$prog/load" 20000 > /dev/null
	bare=$("$prog/load" 20000)
	load > /tmp/load
	is "each read is a hit" "$(tail -n 1 /tmp/load) $(way)" "20000 1 $by_driver"
	hit=$((($(head -n 1 /tmp/load) - bare) / 20000))
	load -xuprobes > /tmp/load
	is "and by uprobes" "$(tail -n 1 /tmp/load) $(way)" "20000 1 by uprobes"
	uprobe=$((($(head -n 1 /tmp/load) - bare) / 20000))
	below "instructions of a hit" "$hit" 500
	below "three times as many as that" $((hit * 3)) "$uprobe"
	echo "# a hit: $hit instructions; by a uprobe: $uprobe"
	few=$(begins read)
	echo "# one place: milliseconds in all, million instructions of its own: $few"
	echo "# all functions of the C library: $(begins '')"
	many=$(begins '[a-m]*')
	uprobes=$(begins '[a-m]*' -xuprobes)
	echo "# a fifth of them: $many; by uprobes: $uprobes"
	below "a fifth of them, twice the time" $((2 * ${many% *})) "${uprobes% *}"
}
if [ "$1" = cost ]; then
	cost
	finish
	exit
fi

# ---- the way ----
work="$bin/pie 0 8000"
sum=$($work < /tmp/line | tail -n 1)
is "a function of the program" "$(d -n 'pid$target:pie:step:entry { @ = count(); }' -c "$work" | tr '\n' ' ') $(way)" "$sum 8000  1 $by_driver"
is "the same by uprobes" "$(d -xuprobes -n 'pid$target:pie:step:entry { @ = count(); }' -c "$work" | tr '\n' ' ') $(way)" "$sum 8000  1 by uprobes"
for form in pie cet static nopie; do
	is "$form: entries and returns" \
		"$(d -n 'pid$target:'$form':step:entry, pid$target:'$form':step:return, pid$target:'$form':leap:entry, pid$target:'$form':leap:return { @[probefunc, probename] = count(); }' -c "$bin/$form 2 8000" | grep -v '^[0-9]' | sort | tr '\n' ' ')$(way | cut -d ' ' -f 2-)" \
		"leap entry 4000 leap return 4000 step entry 16000 step return 16000 $by_driver"
done

# Each instruction, as single steps have found it: of calls, branches and returns among them.
at_function() { nm "$bin/nopie" | awk -v f="$1" '$3 == f { print $1 }'; }
as_stepped() {
	d -n 'pid$target:nopie:step:[0-9a-f]*, pid$target:nopie:leap:[0-9a-f]* { @[probefunc, probename] = count(); }' -c "$bin/nopie 0 3000" |
		while read -r f offset n; do
			[ -z "$n" ] || printf '0x%x %d\n' $((0x$(at_function "$f") + 0x$offset)) "$n"
		done | sort > /tmp/counted
	join /tmp/counted <(sort "$1") | awk '$2 != $3 { print; bad = 1 } END { exit bad || NR < 40 }'
}
ok "all instructions as single steps find them" as_stepped "$1"
is "all of them by the driver" "$(way | cut -d ' ' -f 2- | sort -u)" "$by_driver"

# ---- thousands ----
# all FUNCTIONS OPTION...: those of the C library
all() { d -n 'pid$target:libc.so.6:'"$1"':entry { @[probefunc] = count(); }' "${@:2}" -c "$work" | grep -v '^[0-9]' | sort; }
all '' > /tmp/all
places=$(way | cut -d ' ' -f 1)
ok "thousands of places" [ "$places" -gt 2000 ]
is "all by the driver" "$(way)" "$places $by_driver"
all '[a-m]*' -xuprobes > /tmp/uprobes
is "the same functions as uprobes find, as often" "$(grep '^[a-m]' /tmp/all | diff - /tmp/uprobes)" ""
ok "some of them" grep -q '^getppid 250$' /tmp/uprobes
ok "which were uprobes" grep -q "by uprobes, as asked for" /tmp/kd.err

# ---- several at one place ----
run "$bin/pie" 2 4000
before=$(text)
tool /tmp/one
one=$!
tool /tmp/two
two=$!
is "two at one place: both by the driver" "$(way /tmp/one.err), $(way /tmp/two.err)" "1 $by_driver, 1 $by_driver"
want=$(order)
stop $one
is "the first one has counted" "$(counted /tmp/one)" 8000
ok "the other one's breakpoint stays" eval '! same'
is "the program works on" "$(order)" "$want"
stop $two
is "the second one has counted both rounds" "$(counted /tmp/two)" 16000
ok "the text is back" same

tool /tmp/one -xuprobes
one=$!
tool /tmp/two
two=$!
is "where a uprobe stands there is another one" "$(way /tmp/one.err), $(way /tmp/two.err)" "1 by uprobes, 1 by uprobes"
ok "which is said" grep -q "by uprobes, BYTES_CHANGED" /tmp/two.err
is "the program works on" "$(order)" "$want"
stop $one
stop $two
ok "both have counted" [ "$(counted /tmp/one)" -ge 8000 -a "$(counted /tmp/two)" -ge 8000 ] # known-issues.md
ok "the text is back" same

# ---- killed ----
tool /tmp/one
one=$!
ok "a breakpoint stands" eval '! same'
kill -9 $one
wait $one 2> /dev/null
ok "kill -9 gives the text back" until_true 10 same
is "the program works on" "$(order)" "$want"

# ---- a debugger ----
(
	exec {to}>&- {from}<&- # else it would never see their end
	exec timeout 200 gdb -nx -batch -p "$pid" -iex "set auto-load no" -ex continue > /tmp/gdb 2>&1
) &
gdb=$!
ok "a debugger is there" until_true 60 grep -q "TracerPid:.[1-9]" "/proc/$pid/status"
ok "and the program runs" until_true 60 grep -q "State:.[SR]" "/proc/$pid/status"
tool /tmp/one
one=$!
is "the program works under it" "$(order)" "$want"
stop $one
is "each call is counted" "$(counted /tmp/one)" 8000
end
wait $gdb
is "the debugger has seen nothing" "$(grep -c SIGTRAP /tmp/gdb) $(grep -c 'exited normally' /tmp/gdb)" "0 1"
soon "nothing is left" 0 field windows
finish
