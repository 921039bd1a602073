#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst record of points in processes: each call with what the program itself says of it, in one
# order with the kernel's records of the same threads; predicates, memory, returns; the text given
# back however it ends; what is refused.
# promise: Records of processes and of the kernel are in one file, in one order.
#   [test_snippet_thread.c]
# shellcheck disable=SC2016,SC2317 # for awk, and for other shells; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start

begin() { # THREADS CALLS
	run "$bin/recorded" "$@" /tmp/did
	local status=$?
	work=$pid/recorded:work
	return $status
}
order() { echo >&"$to" && read -r -t 120 -u "$from" line && [ "$line" = "done" ]; }
export -f order
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
same() { [ "$(text)" = "$before" ]; }
# record OPTION OR POINT...: while the program does its work once
record() {
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" record -b 4096 -o /tmp/rec "$@" -- bash -c order 2> /tmp/words
}
# rows POINT NAME...: these columns of its records
rows() {
	local point=$1
	shift
	"$ki" report -q --csv -p "$point" /tmp/rec | awk -F, -v names="$*" '
		NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[want[i]], i < n ? " " : "\n" }'
}

# tool POINT...: kerninst record, $tool, in the background, which has put its breakpoints in
tool() {
	(
		exec {to}>&- {from}<&- # else the program would never see their end
		exec "$ki" record -o /tmp/rec "$@" 2> /tmp/words
	) &
	tool=$!
	ok "breakpoints stand" until_true 60 eval '! same'
}
did() { awk "$1 { print $2 }" /tmp/did | sort; }
all() { rows "$@" | sort; }

begin 2 500
before=$(text)

# ---- what it did ----
ok "calls and returns" record "$work=tid,arg0" "$work:exit=tid,retval"
is "each call" "$(all "*work" tid arg0)" "$(did 1 '$1, $2')"
is "each return" "$(all "*work:exit" tid retval)" "$(did 1 '$1, $4')"
is "nothing is lost" "$(of_end lost /tmp/rec)" 0
ok "the text is back" same
ok "memory, strings, a parameter on the stack, registers" record \
	"$work=tid,number:*(u32 *)(arg1 + 4),before:*(u32 *)arg1,name:str(arg1 + 8),above:arg6,reg:\$rdi,none:*(u64 *)8,comm"
is "each call's" "$(all "*" tid number before name above reg none comm)" \
	"$(awk '{ print $1, $2 }' /tmp/did | while read -r t i; do
		echo "$t $((i ^ 0xdead0000)) 1 item-$i $((7 * i)) $(printf 0x%x "$i") 0 recorded"
	done | sort)"
ok "a predicate" record --if 'arg0 > 100 && starts(str(arg1 + 8), "item-1") && *(u32 *)arg1 == 1' "$work=tid,arg0"
is "the calls that it lets in" "$(all "*" tid arg0)" "$(did '$2 > 100 && $2 ~ /^1/' '$1, $2')"

# ---- both sides ----
ok "with what the kernel does for it" record --pid "$pid" "$work=tid,arg0" "$work:exit=tid,retval" \
	vfs_read=tid,len:arg2 vfs_read:exit=tid
# Each thread's records in their order: a call, what it reads, its return.
follows() {
	"$ki" report -q --json /tmp/rec | tee /tmp/json | awk '
		/"type":"record"/ {
			match($0, /"instrument":"[^"]*"/); what = substr($0, RSTART + 14, RLENGTH - 15)
			match($0, /"tid":[0-9]*/); tid = substr($0, RSTART + 6, RLENGTH - 6)
			match($0, /"(arg0|len|retval)":-?[0-9]*/); v = substr($0, RSTART, RLENGTH); sub(/.*:/, "", v)
			if (what ~ /:work$/) { call[tid] = v; len[tid] = 0; order[tid] = "w" }
			else if (what ~ /:work:exit$/) { if (order[tid] ~ /^w(re)?$/) print tid, call[tid], len[tid], v; order[tid] = "" }
			else if (what == "vfs_read") { len[tid] = v; order[tid] = order[tid] "r" }
			else order[tid] = order[tid] "e"
		}' | sort
}
is "reads between each call and its return, one after the other" "$(follows)" "$(did 1 '$1, $2, $3, $4')"
folded() { "$ki" report -q --folded /tmp/rec | cut -d ' ' -f 1 | sort; }
is "folded: the kernel's function in the process's" "$(folded)" "$(printf '%s\n' "$work" "$work;vfs_read")"
is "the file says whose it is" \
	"$(grep -c "\"pid\":$pid,\"function\":\"work\",\"file\":\"$bin/recorded\",\"build\":\"$(readelf -n "$bin/recorded" | sed -n 's/.*Build ID: //p')\"" /tmp/json)" 2
ok "chrome" eval '"$ki" report -q --chrome /tmp/rec | grep -q "\"name\":\"$work\""'

# ---- by keys ----
# by OPTION OR POINT...: rows as CSV in /tmp/csv, while the program does its work once
by() {
	to=$to from=$from "$ki" stat -x, -n 0 -o /tmp/csv "$@" -- bash -c order 2> /tmp/words
}
# table NAME...: these columns
table() {
	awk -F, -v names="$*" '
		NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[want[i]], i < n ? " " : "\n" }' /tmp/csv | sort
}
ok "a table of both sides" by --pid "$pid" --if "tid != $pid" --by tid --agg "sum:arg2" "$work" vfs_read
is "calls and bytes of each thread, in both" "$(table POINT tid COUNT 'sum(arg2)')" "$(awk -v w="$work" '
	{ n[$1]++; third[$1] += 3 * $2; if ($3) { reads[$1]++; bytes[$1] += $3 } }
	END { for (t in n) { print w, t, n[t], third[t]; print "vfs_read", t, reads[t], bytes[t] } }' /tmp/did | sort)"
ok "by what is in memory, with a distribution" by --by 'number:*(u32 *)(arg1 + 4) & 3' --hist arg0 "$work"
is "as often" "$(awk -F, 'NR > 1 { n += $NF } END { print n }' /tmp/csv)" 1000
ok "results" by --by 'bad:retval < 0' "$work:exit"
is "as often as the program says" "$(table bad COUNT)" "$(awk '{ n[$4 < 0]++ } END { for (b in n) print b, n[b] }' /tmp/did | sort)"
used() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; } # ticks of 10 ms
then=$(used)
ok "their own time by thread" by --by tid -m vtime "$work"
is "the calls of each" "$(table tid COUNT)" "$(awk '{ n[$1]++ } END { for (t in n) print t, n[t] }' /tmp/did | sort)"
ok "each took some, all not more than there was" eval "table 'sum(vtime)' | awk -v most=$((10 * ($(used) - then + 2))) '
	{ all += \$1 * (\$0 ~ /ns/ ? 1e-6 : \$0 ~ /us/ ? 1e-3 : \$0 ~ /ms/ ? 1 : 1000); some += \$1 > 0 } END { print NR, some, all, most; exit !(some == NR && NR == 2 && all <= most) }'"
is "of two sides without keys" "$("$ki" stat "$work" vfs_read 2>&1 | grep -c 'one process at a time') $?" "1 0"
ok "the text is back" same
end

# ---- a command, and one that ends ----
ok "a command" eval 'echo | "$ki" record -o /tmp/rec "command/recorded:work=tid,arg0" -- "$bin/recorded" 1 300 /tmp/did > /tmp/out 2> /tmp/words'
is "from its beginning" "$(all "*" tid arg0)" "$(did 1 '$1, $2')"
begin 1 400
before=$(text)
tool "$work"=arg0
ok "the program works" order
end
wait "$tool"
is "the recording ends with its process" $? 0
is "each call" "$(rows "*" arg0 | sort)" "$(did 1 '$2')"

# ---- killed ----
begin 1 400
before=$(text)
tool "$work=arg0" "$work:exit"
ok "the program works" order
kill -9 "$tool"
wait "$tool" 2> /dev/null
ok "kill -9 gives the text back" until_true 10 same
ok "the program works on" order
soon "nothing is left" 0 field windows

# ---- what is refused ----
# refused NAME STATUS WORDS COMMAND...: one line of that, and no file
refused() {
	local name=$1 status=$2 words=$3
	shift 3
	rm -f /tmp/rec
	timeout 60 "$@" > /tmp/out 2> /tmp/words
	is "$name" "$? $(grep -c . /tmp/words) $(grep -c "$words" /tmp/words) $(ls /tmp/rec 2> /dev/null)" "$status 1 1 "
	sed 's/^/# /' /tmp/words
}
refused "retval where it begins" 1 "return" "$ki" record -q -o /tmp/rec "$pid/recorded:work=retval"
refused "a parameter where it returns" 1 "parameter" "$ki" record -q -o /tmp/rec "$pid/recorded:work:exit=arg0"
refused "the kernel's stack" 1 "ustack" "$ki" record -q -o /tmp/rec "$pid/recorded:work=stack"
refused "no such function" 1 "no function" "$ki" record -q -o /tmp/rec "$pid/recorded:wrok"
refused "no such process" 1 "4194000" "$ki" record -q -o /tmp/rec "4194000/recorded:work"
refused "a kernel thread" 1 "2" "$ki" record -q -o /tmp/rec "2/work"
refused "what a command would cost" 2 "does not run yet" "$ki" record --dry-run --cost command/recorded:work -- "$bin/recorded"
refused "nobody's" 3 "." setpriv --reuid 65534 --clear-groups "$ki" record -q -o /tmp/rec "$pid/recorded:work"
ok "nothing has changed" same
if [ -e "$bin/narrow" ]; then
	mkfifo /tmp/narrow
	"$bin/narrow" < /tmp/narrow > /dev/null &
	narrow=$!
	exec {of}> /tmp/narrow
	refused "a 32-bit one" 1 "32" "$ki" record -q -o /tmp/rec "$narrow/main"
	exec {of}>&-
else
	skip "a 32-bit one" "no compiler for one"
fi
end
finish
