#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D in processes: pid probes at entries, returns and offsets, of programs that -c starts and that -p
# finds, with everything that clauses have elsewhere.
# promise: D9: One D program has probes in the kernel and in processes, and counts both exactly.
#   [kdtrace_hits.sh, test_operand.c]
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
bin=$top/build/test/process
d() { timeout 120 "$kd" -q "$@" 2> /tmp/kd.err < /tmp/line | grep -v '^ready$' | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
echo > /tmp/line
work="$bin/pie 0 8000" # calls step 8000 times, leap 2000, the C library's getppid 250
sum=$($work < /tmp/line | tail -n 1)
sorted() { d "$@" | grep -vx "$sum" | sort | tr '\n' ' '; }

# offsets: of step's instructions, in hexadecimal digits
offsets() {
	local start addr
	start=$(nm "$bin/pie" | awk '$3 == "step" { print $1 }')
	objdump -d --no-show-raw-insn --disassemble=step "$bin/pie" | awk '/^ *[0-9a-f]+:/ && !/nop/ { sub(":", "", $1); print $1 }' |
		while read -r addr; do printf '%x\n' $((0x$addr - 0x$start)); done | sort | tr '\n' ' '
}
echo 'static __attribute__((noinline)) int local(void) { return getpid(); } int _seen(void) __attribute__((weak, alias("local"))); int main(void) { return local() < 0; }' > /tmp/weak.c
gcc -O1 -w -o /tmp/weak /tmp/weak.c
for name in local _seen; do
	is "of a place's names one that other files see, by $name, whatever is before it" "$(sorted -n "pid\$target:a.out:$name:entry { @[probefunc] = count(); }" -c /tmp/weak)" "_seen 1 "
done
begins() { d -n 'pid$target:pie:_init:entry, pid$target:pie:_start:entry, pid$target:pie:main:entry { @[probefunc] = count(); }' -c "$work" -x "evaltime=$1" | grep -vx "$sum" | sort | tr '\n' ' '; }
is "evaltime: from main() on, or from the entry" "$(begins main); $(begins preinit)" "main 1 ; _init 1 _start 1 main 1 "
is "entries of the program, none of its table of jumps" "$(d -n 'pid$target:pie::entry { @[probefunc] = count(); }' -c "$work" | grep -c '@plt\|^_init')" 0
is "entries, from the first on" "$(sorted -n 'pid$target:pie:step:entry, pid$target:pie:leap:entry, pid$target:libc.so.6:getppid:entry { @[probemod, probefunc, probename] = count(); }' -c "$work")" \
	"libc.so.6 getppid entry 250 pie leap entry 2000 pie step entry 8000 "
is "the program does its work" "$(d -n 'pid$target:a.out:step:entry { @ = count(); } END { clear(@); trunc(@); }' -c "$work")" "$sum"
is "a.out, and libc for libc.so.6" "$(sorted -n 'pid$target:a.out:main:entry, pid$target:libc:getppid:entry { @[probefunc] = count(); }' -c "$work")" "getppid 250 main 1 "
is "arguments" "$(sorted -n 'pid$target:a.out:leap:entry { @[arg0 < 2000] = count(); @m = max(arg0); @s = sum(arg0); }' -c "$work")" "1 2000 1999 1999000 "
is "each entry has a return, somewhere in the function" "$(sorted -n 'pid$target:a.out:leap:entry { self->ts = timestamp; } pid$target:a.out:leap:return /self->ts/ { @a[probename] = count(); @b[arg0 > 0] = count(); @t[timestamp > self->ts] = count(); self->ts = 0; }' -c "$work")" "1 2000 1 2000 return 2000 "
echo "pick 7000" > /tmp/pick # timed: the seventh parameter goes from 0 to 6, again and again
is "a parameter on the stack" "$(timeout 120 "$kd" -q -n 'pid$target:timed:pick:entry { @[arg6] = count(); }' -c "$bin/timed" < /tmp/pick 2> /tmp/kd.err | awk 'NF == 2 { print $1 "=" $2 }' | sort | tr '\n' ' ')" \
	"0=1000 1=1000 2=1000 3=1000 4=1000 5=1000 6=1000 "
is "what it returns" "$(sorted -n 'pid$target:libc:getppid:return { @[arg1 == ppid] = count(); }' -c "$work")" "1 250 "
is "its offsets, as objdump has its instructions" "$("$kd" -ln 'pid$target:a.out:step:[0-9a-f]*' -c "$work" < /tmp/line 2> /dev/null | awk 'NR > 1 && $NF ~ /^[0-9a-f]+$/ { print $NF }' | sort | tr '\n' ' ')" \
	"$(offsets)"
is "an instruction" "$(sorted -n 'pid$target:a.out:step:0 { @[probename] = count(); }' -c "$work")" "0 8000 "
# The addresses of nm are where the program has been linked; where it is, is known at its start.
at=$(nm "$bin/pie" | awk '$3 == "leap" { print $1 }' | sed 's/^0*//')
is "an instruction by its address in the file" "$(sorted -n 'pid$target:a.out:-:'"$at"' { @[probefunc, probename, probemod] = count(); }' -c "$work")" "- $at pie 2000 "
at=$(nm "$bin/nopie" | awk '$3 == "leap" { print $1 }' | sed 's/^0*//')
is "which is where it runs, if nothing moves it" "$(d -n 'pid$target::-:'"$at"' { @[uregs[R_PC] == 0x'"$at"'] = count(); }' -c "$bin/nopie 0 8000" | grep -v "^$sum$")" "1 2000"
is "where it is, the kernel's stack is none" "$(sorted -n 'pid$target:a.out:step:0, pid$target:libc:getppid:return { @[stackdepth, caller] = count(); @s[stack()] = count(); }' -c "$work")" "0 0 8250 8250 "
# Who calls: at an entry and a return no frame pointer leads to it; objdump says what follows the calls.
behind_calls() {
	local function start addr
	objdump -d --no-show-raw-insn "$bin/pie" | awk -v of="<$1>" '/^[0-9a-f]+ </ { f = $2; gsub(/[<>:]/, "", f); start = $1 }
		found { sub(":", "", $1); print f, start, $1; found = 0 } /call/ && $NF == of { found = 1 }' |
		while read -r function start addr; do printf 'pie`%s+0x%x\n' "$function" $((0x$addr - 0x$start)); done | sort -u
}
stacks='ustack(127); printf("end %d %A\n", ustackdepth, uaddr(ucaller));'
for name in entry return; do
	is "the caller at its $name: a stack's second line, ucaller, and one more to ustackdepth" \
		"$(d -n 'pid$target:a.out:leap:'$name' { '"$stacks"' }' -c "$work" | awk '$1 == "end" { print (n == $2), (second == $3), second; n = 0; next } /`|^0x/ && ++n == 2 { second = $1 }' | sort -u)" \
		"$(behind_calls leap | sed 's/^/1 1 /')"
done
# It has ended when they are told; getppid() is the one function of libc's that makes that call.
is "stacks of one that has ended have names, without a probe in it and with" \
	"$(d -n 'syscall::getppid:entry /pid == $target/ { @[ustack(1)] = count(); } pid$target:a.out:leap:entry { @l[ustack(1)] = count(); }' -c "$work" | grep '`' | sed 's/+0x.*//' | tr -d ' ' | sort)" \
	"$(printf 'libc.so.6`getppid\npie`leap')"
is "and without any" "$(d -n 'syscall::getppid:entry /pid == $target/ { @[ustack(1)] = count(); }' -c "$work" | grep -E '`|0x' | sed 's/+0x.*//' | tr -d ' ')" 'libc.so.6`getppid'
is "of several names of a place the plain one" "$(d -n 'pid$target:libc:malloc:entry { @[usym(uregs[R_RIP])] = count(); }' -c "$work" | grep '`' | awk '{ print $1 }')" 'libc.so.6`malloc'
is "symbols of the process" "$(sorted -n 'pid$target:a.out:step:entry { @[usym(uregs[R_RIP])] = count(); }' -c "$work")" 'pie`step 8000 '
is "strings of the process" "$(d -n 'pid$target:libc:strtoul:entry { printf("of %s\n", copyinstr(arg0)); }' -c "$work" | grep -vx "$sum")" "of 8000"
is "provider, process, name" "$(d -n 'pid$target:a.out:main:entry { printf("%d %s %d\n", probeprov == strjoin("pid", lltostr($target)), execname, pid == $target); }' -c "$work" | grep -vx "$sum")" "1 pie 1"
is "with the kernel's probes in one program" "$(sorted -n 'pid$target:libc:getppid:entry { self->in = 1; } syscall::getppid:entry /self->in/ { @ = count(); self->in = 0; }' -c "$work")" "250 "
is "four threads" "$(sorted -n 'pid$target:a.out:step:entry { @ = count(); @t[tid] = count(); } END { printa("%@d\n", @); printa("x %@d\n", @t); trunc(@t); trunc(@); }' -c "$bin/pie 4 2000")" "$("$bin/pie" 4 2000 < /tmp/line | tail -n 1) 8000 x 2000 x 2000 x 2000 x 2000 "
is "a static program" "$(d -n 'pid$target:static:leap:entry { @ = count(); }' -c "$bin/static 0 8000" | grep -vx "$sum")" 2000

# ---- one that runs: it is counted from then on, and what it forks is not it ----
mkfifo /tmp/to
"$bin/pie" 2 4000 < /tmp/to > /tmp/its &
pid=$!
exec {to}> /tmp/to
until_true 20 grep -q ready /tmp/its
"$kd" -qn 'pid$target:a.out:step:entry { @ = count(); }' -p $pid > /tmp/out 2> /tmp/kd.err &
tool=$!
until_true 60 measures $tool
echo >&"$to"
until_true 60 eval '[ "$(wc -l < /tmp/its)" = 2 ]'
kill -INT $tool
wait $tool
is "a process that runs" "$(tr -d ' \n' < /tmp/out)" 8000
is "its text is what it was" "$("$bin/oracle" text $pid)" "$(echo >&"$to"; "$bin/oracle" text $pid)"
exec {to}>&-
wait $pid
is "what it forks is not it" "$(d -n 'pid$target:libc:_exit:entry { @ = count(); }' -c "bash -c '(:); (:); :'")" 1

# ---- probes that are written into programs ----
written="$bin/written"
is "the program has probes, under the names that readelf shows" "$("$kd" -ln 'test$target:::' -c "$written" < /tmp/line 2> /dev/null | awk 'NR > 1 { print $3, $4, $5 }' | sort | tr '\n' ' ')" \
	"written costly costly written done round-done written step step written twice twice "
is "an argument in memory, one in a register, a constant" "$(d -n 'test$target:::step { @[arg0 <= 0, arg1 == -2 * arg0, arg2] = count(); @s = sum(arg1); }' -c "$written" | sort | tr '\n' ' ')" "0 1 1 7 100 9900 "
is "one probe at two places, each with its argument" "$(d -n 'test$target:::twice { @[arg0] = count(); }' -c "$written" | sort | tr '\n' ' ')" "0 1 1 2 1 "
is "a name with a hyphen" "$(d -n 'test$target:written:done:round-done { printf("%d %d %s\n", arg0, arg1, probename); }' -c "$written" | grep -vx 0)" "1 -1 round-done"
is "its semaphore is up while it is in" "$(d -n 'test$target:::costly { @[arg0] = count(); }' -c "$written" | tr '\n' ' ')" "100 499500 100 "
is "and else is not" "$("$written" < /tmp/line)" 0
# Debian's Python has probes, too, which it comes to only if their semaphores are up.
python='/usr/bin/python3 -S -E -c "import json, gc; gc.collect()"'
probes_of() { readelf -n "$(readlink -f /usr/bin/python3)" | awk '/Provider:/ { p = $2 } /Name:/ && p == "python" { print $2 }' | sed 's/__/-/g' | sort -u | tr '\n' ' '; }
ok "Python has probes" test -n "$(probes_of)"
is "and they are listed" "$("$kd" -ln 'python$target:::' -c "$python" 2> /dev/null | awk 'NR > 1 { print $5 }' | sort -u | tr '\n' ' ')" "$(probes_of)"
is "what Python imports: a string and how often, its semaphore is up" "$(d -n 'python$target:::import-find-load-start { @[copyinstr(arg0)] = count(); }' -c "$python" | grep -x 'json.*' | tr '\n' ' ')" \
	"json 1 json.decoder 1 json.encoder 1 json.scanner 1 "
is "and its collections of garbage, by generation" "$(d -n 'python$target:::gc-start /arg0 == 2/ { @ = count(); } python$target:::gc-done { @d[arg0 >= 0] = count(); }' -c "$python" | wc -l)" 2
# ---- by a header of -h ----
made=$(mktemp -d)
(cp "$top"/test/dlang/written.[cd] "$made" && cd "$made" && "$kd" -h -s written.d && "$kd" -G -s written.d && gcc -O2 written.c written.o -o written)
is "the probes of a header: where, in which order, how many arguments" "$(d -n 'test_prov$target::: { printf("%s:%s %d %d %d %d %d;", probefunc, probename, arg0, arg1, arg2, arg3, arg9); } other$target:::go { trace("other"); }' -c "$made/written" | tr -d '\n' |
	sed 's/\(stop -5\|u_nder\|d-ash\) [0-9]*/\1 P/g; s/\(d-ash P\) [0-9]*/\1 P/')" \
	"1main:go 0 0 0 0 0;main:go 0 0 0 0 0;main:go 0 0 0 0 0;main:stop -5 P 0 0 0;main:u_nder P 0 0 0 0;main:d-ash P P 200 0 0;main:place 4 10 10 4 0;main:none 0 0 0 0 0;main:many 1 2 3 4 4294967280;other"
is "strings; of all of the target's by the beginning of their name" "$(d -n 'test_pr*:::stop { printf("%s ", basename(copyinstr(arg1))); } test_prov*:::d-ash { printf("%s ", copyinstr(arg1)); } test_prov*:::many { printf("%d %x", arg7, arg8); }' -c "$made/written" | tr '\n' ' ')" "0 written dash -8 10000000001 "
is "a module alone; a declaration in the same program" "$(d -n 'provider test_prov { probe none(int); }; test_prov$target:written::none { trace(probemod); }' -c "$made/written" | tr '\n' ' ')" "0 written "
is "their args[]" "$(d -n 'test_prov$target:::place /args[0] == 4 && args[1] == 10/ { trace(args[3] - args[2]); } test_prov$target:::stop { printf("%d %s", args[0], basename(copyinstr(args[1]))); }' -c "$made/written" | tr '\n' ' ')" "0 -5 written-6 "
is "by a part of their name, of the target's functions too" "$(d -n 't*t_prov$target:::stop,p*d$target::main:entry,test_pro?$target:::go { printf("%s %d ", probename, arg0 == -5); }' -c "$made/written" | tr '\n' ' ')" "0 entry 0 go 0 go 0 go 0 stop 1 "
is "strings at their args[]" "$(d -n 'test_prov$target:::stop { trace(basename(stringof(args[1]))); }' -c "$made/written" | tr '\n' ' ')" "0 written "
is "args[] that it has not" "$("$kd" -xerrtags -n 'test_prov$target:::stop { trace(args[2]); }' -c "$made/written" < /tmp/line 2>&1 | grep -o 'D_ARGS_IDX.*' | tr -d 0-9)" "D_ARGS_IDX] the probe has no args[]"
is "a list of them" "$("$kd" -lvn 'test_prov$target:::stop,test_prov$target:::go' -c "$made/written" < /tmp/line | grep -E 'args|None' | tr -d '\n\t')" "args[0]: intargs[1]: char *None"
is "and of a description that says no provider" "$("$kd" -lf main -c "$made/written" < /tmp/line | awk '{ print $3, $4, $5 }' | grep -c '^written main [a-z]') $("$kd" -lm 'writ*' -c "$made/written" < /tmp/line | grep -c ' written .* stop$')" "8 1"
mkfifo /tmp/to.written
(cd "$made" && sed 's/return 0;/getchar(); return 0;/' written.c > waits.c && gcc -O2 waits.c written.o -o waits)
"$made/waits" < /tmp/to.written > /tmp/its &
pid=$!
exec {to}> /tmp/to.written
until_true 20 grep -q waits /proc/$pid/comm
is "of any process" "$("$kd" -lP 'test_pr*' 2> /dev/null | awk 'NR > 1 { print $2 }' | sort -u)" test_prov$pid
exec {to}>&-
wait $pid
is "and if there is none" "$("$kd" -xerrtags -n 'test_prov*:::go { }' 2>&1 | grep -c D_PDESC_ZERO)" 1
rm -r "$made"
is "no such provider" "$("$kd" -xerrtags -n 'nobody$target:::x { }' -c true 2>&1 | grep -c D_PDESC_ZERO)" 1

# ---- what is refused: one line, a place, nothing in ----
refused() { # TAG PROGRAM
	"$kd" -xerrtags -n "$2" -c true > /tmp/out 2> /tmp/kd.err
	is "$1" "$? $(grep -c "\[$1\]" /tmp/kd.err)" "1 1"
}
refused D_PROC_FUNC 'pid$target:libc:no_such_function:entry { }'
refused D_PDESC_ZERO 'pid$target:no_such_library::entry { }'
refused D_PROC_OFF 'pid$target:libc:getppid:1 { }'
refused D_PROC_NAME 'pid$target:libc:getppid:leave { }'
refused D_PROC_NAME 'pid$target:libc:getppid:beginning { }'
refused D_PROC_NAME 'pid$target::-: { }'
refused D_PROC_NAME 'pid$target::-:10* { }'
refused D_PROC_LIB 'pid$target:libc:-:800 { }'
refused D_PROC_OFF 'pid$target:a.out:-:1 { }'
refused D_PROC_BADPID 'pid99999999999:libc:getppid:entry { }'
refused D_PROC_GRAB 'pid4194303:libc:getppid:entry { }'
soon "nothing is left" 0 field windows
finish
