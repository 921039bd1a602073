#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What D programs print, to the byte: columns, bars, the order of rows, conversions.
# promise: D4: D programs print what scripts expect, to the byte. [kdtrace_programs.sh,
#   test_dlang_output.c]
# shellcheck disable=SC2016 # $1, $target are kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace

# prints NAME WANT OPTION...: the whole standard output is WANT
prints() {
	local name=$1 want=$2
	shift 2
	timeout 120 "$kd" "$@" > /tmp/kd.out 2> /tmp/kd.err
	printf '%s' "$want" > /tmp/kd.want
	if cmp -s /tmp/kd.out /tmp/kd.want; then
		ok "$name" true
	else
		diff /tmp/kd.want /tmp/kd.out | head -20
		cat /tmp/kd.err
		ok "$name" false
	fi
}
# the same, without the columns of the CPU and the number
columns() {
	local name=$1 want=$2
	shift 2
	timeout 120 "$kd" "$@" 2> /tmp/kd.err | cut -c12- > /tmp/kd.out
	is "$name" "$(cat /tmp/kd.out)" "$want"
}

columns "the header, and widths by size" "                   FUNCTION:NAME
                          :BEGIN           7                  -7 255  text                             " -n 'BEGIN { trace(7); trace((long)-7); trace((unsigned char)255); trace("text"); exit(0); }'
columns "a clause without actions" "                   FUNCTION:NAME
                          :BEGIN 
                          :BEGIN " -n 'BEGIN { } BEGIN { exit(0); }'
is "how many probes" "$(cat /tmp/kd.err)" "kdtrace: description 'BEGIN ' matched 2 probes"
prints "an end is a newline" "
" -qn 'BEGIN { exit(0); }'
prints "trace, quiet" "7-7text
" -qn 'BEGIN { trace(7); trace(-7); trace("text"); exit(0); }'
prints "conversions" "   a 255 ff 377 FF 0xff -1 18446744073709551615 00042 42   |  te|x|%

" -qn 'BEGIN { printf("%4c %d %x %o %X %#x %d %u %05d %-5d|%4.2s|%c|%%\n", 97, 255, 255, 255, 255, 255, -1,
	(uint64_t)-1, 42, 42, "text", 120); exit(0); }'
prints "widths that are arguments" "    7|7    |007

" -qn 'BEGIN { printf("%*d|%-*d|%.*d\n", 5, 7, 5, 7, 3, 7); exit(0); }'
prints "an aggregation at the end" "
                3
" -qn 'BEGIN { @ = sum(3); exit(0); }'
prints "rows by value, then by key" "
        2                1
        7                1
        1                5
" -qn 'BEGIN { @[7] = sum(1); @[1] = sum(5); @[2] = sum(1); exit(0); }'
prints "by key; the other way round" "
        7                1
        2                1
        1                5
" -x aggsortkey -x aggsortrev -qn 'BEGIN { @[7] = sum(1); @[1] = sum(5); @[2] = sum(1); exit(0); }'
prints "names in order of their letters" "
  a                                                                 1
  ab                                                                1
  b                                                                 1
" -qn 'BEGIN { @["b"] = count(); @["ab"] = count(); @["a"] = count(); exit(0); }'
prints "powers of two" "

           value  ------------- Distribution ------------- count    
              -2 |                                         0        
              -1 |@@@@@@@@@@                               1        
               0 |                                         0        
               1 |                                         0        
               2 |                                         0        
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
               8 |                                         0        

" -qn 'BEGIN { @ = quantize(-1); @ = quantize(4); @ = quantize(5); @ = quantize(7); exit(0); }'
prints "equal steps" "

           value  ------------- Distribution ------------- count    
             < 0 |@@@@@@@@@@@@@                            1        
               0 |                                         0        
               5 |@@@@@@@@@@@@@                            1        
           >= 10 |@@@@@@@@@@@@@                            1        

" -qn 'BEGIN { @ = lquantize(-1, 0, 10, 5); @ = lquantize(7, 0, 10, 5); @ = lquantize(10, 0, 10, 5); exit(0); }'
prints "powers, in steps" "

           value  ------------- Distribution ------------- count    
             -50 |                                         0        
             -10 |@@@@@@@@@@                               1        
              -5 |                                         0        
              -1 |                                         0        
               0 |                                         0        
               1 |                                         0        
               5 |@@@@@@@@@@                               1        
              10 |                                         0        
              50 |@@@@@@@@@@                               1        
          >= 100 |@@@@@@@@@@                               1        

" -qn 'BEGIN { @ = llquantize(7, 10, 0, 1, 2); @ = llquantize(-10, 10, 0, 1, 2); @ = llquantize(99, 10, 0, 1, 2);
	@ = llquantize(100, 10, 0, 1, 2); exit(0); }'
prints "printa without a format" "a

                1

" -qn 'BEGIN { @ = count(); printf("a\n"); printa(@); exit(0); }'
prints "several, by their keys" "
        2                1                0
        1                5                2
2 1 0
1 5 2

" -qn 'BEGIN { @a[1] = sum(5); @a[2] = sum(1); @b[1] = sum(2); printa(@a, @b); printa("%d %@d %@d\n", @a, @b); exit(0); }'
prints "by the second" "1 5 -2
2 1 0

" -x aggsortpos=1 -qn 'BEGIN { @a[1] = sum(5); @a[2] = sum(1); @b[1] = sum(-2); printa("%d %@d %@d\n", @a, @b); exit(0); }'
prints "normalize, clear, trunc in their order" "10
5
10
0

" -qn 'BEGIN { @ = sum(10); printa("%@d\n", @); normalize(@, 2); printa("%@d\n", @); denormalize(@);
	printa("%@d\n", @); clear(@); printa("%@d\n", @); trunc(@); exit(0); }'
prints "the highest ones stay, the lowest ones" "
        2                5
        3                9

        2                5

" -qn 'BEGIN { @[1] = sum(1); @[2] = sum(5); @[3] = sum(9); trunc(@, 2); printa(@); trunc(@, -1); exit(0); }
	END { printa(@); }'
timeout 60 "$kd" -qn 'BEGIN { exit(3); }' -x nothing > /tmp/kd.out 2> /tmp/kd.err
is "an option that is none" "$? $(cat /tmp/kd.err)" "1 kdtrace: failed to set -x nothing: Invalid option name"
timeout 60 "$kd" -l -n no:such:probe:at_all > /tmp/kd.out 2> /tmp/kd.err
is "the list's head" "$(head -1 /tmp/kd.out)" "   ID   PROVIDER            MODULE                          FUNCTION NAME"
timeout 60 "$kd" -n BEGIN -n 'BEGIN { exit(0); }' > /tmp/kd.out 2> /tmp/kd.err
is "each program says what it matched" "$(cat /tmp/kd.err)" "kdtrace: description 'BEGIN' matched 1 probe
kdtrace: description 'BEGIN ' matched 1 probe"
printf '#!/usr/sbin/dtrace -qs\n#define NUMBER 7\nBEGIN { trace(NUMBER + $1); exit(0); }\n' > /tmp/kd.d
prints "the C preprocessor, an operand before an option" "12
" -C 5 -qs /tmp/kd.d
timeout 60 "$kd" -Fn 'syscall::getpriority:, fbt::__x64_sys_getpriority: /pid == $target/ { }' \
	-c 'perl -e "getpriority 0, 0"' 2> /dev/null | cut -c4- | sed 's/ *$//' > /tmp/kd.out
is "calls and returns" "$(cat /tmp/kd.out)" " FUNCTION
  => getpriority
    -> __x64_sys_getpriority
    <- __x64_sys_getpriority
  <= getpriority"

# ---- lines of JSON, listings ----

timeout 60 "$kd" --json -n 'BEGIN { trace(5); printf("%s %d\n", "a\"b", -1); @["k", 3] = sum(4); @q = quantize(5, 2); x = 0; } BEGIN { printa(@q); printa("%@d\n", @); } BEGIN { trace(1 / x); } BEGIN { exit(0); }' 2> /tmp/kd.err |
	sed 's/"cpu":[0-9]*/"cpu":N/' > /tmp/kd.out
is "a line of JSON for each record, aggregation, error" "$(cat /tmp/kd.out)" '{"type":"record","cpu":N,"id":1,"probe":"dtrace:::BEGIN","values":[5,"a\"b",-1],"text":"          5a\"b -1\n"}
{"type":"aggregation","name":"q","function":"quantize","rows":[{"key":[],"buckets":[{"low":4,"count":2}]}]}
{"type":"aggregation","name":"","function":"sum","rows":[{"key":["k",3],"value":4}]}
{"type":"record","cpu":N,"id":1,"probe":"dtrace:::BEGIN","values":[],"text":""}
{"type":"error","id":1,"probe":"dtrace:::BEGIN","text":"error in dt_clause_2 for probe ID 1 (dtrace:::BEGIN): divide-by-zero at BPF pc 4"}
{"type":"record","cpu":N,"id":1,"probe":"dtrace:::BEGIN","values":[],"text":""}'
timeout 60 "$kd" -x oformat=json -x nspec=1 -n 'BEGIN { a = speculation(); b = speculation(); exit(0); }' > /tmp/kd.out 2> /tmp/kd.err
is "what was dropped is one, too" "$(tail -n 1 /tmp/kd.out)" '{"type":"drop","kind":"failed speculation","count":1}'
program='int g; BEGIN { g = 5; self->name = "a"; this->n = 1; @a[pid] = count(); trace(g); } fbt::vfs_read:entry /pid == 0/ { g++; } tick-200ms { exit(0); }'
timeout 60 "$kd" -S -qn "$program" > /tmp/kd.out 2> /tmp/kd.err
is "-S lists variables: kind, scope, whether they are read and written, type" "$(awk '/^NAME/ { on = 1 } /^$/ { on = 0 } on && $2 != "ID" { $2 = ""; print }' /tmp/kd.err | sed 's/\[[^ ]*\]/-/' | tr -s ' ' | tr '\n' ';')" \
	"pid scl glb - r D type (integer) (size 4);g 0 scl glb - r/w D type (integer) (size 4);name 0 scl tls - w string (unknown) by ref (size 256);n 0 scl loc - w D type (integer) (size 4);@a agg glb - w count(), 1 keys;"
is "and the code of each place, whose instructions are behind each statement" "$(grep -c '^[a-z]*:[a-z_]*:[a-z_0-9]*:[A-Za-z0-9-]*, 1 clauses, at 0x[0-9a-f]*: [0-9]* bytes$' /tmp/kd.err) $(grep -A 1 'g = 5;' /tmp/kd.err | grep -c '^[0-9]* [0-9]*: [0-9a-f ]*  mov ') $(grep '^Disassembly' /tmp/kd.err | tr '\n' ';')" \
	"3 1 Disassembly of clause :::BEGIN;Disassembly of clause :::tick-200ms;Disassembly of clause fbt::vfs_read:entry;"
is "and the program runs, whose output is by itself" "$(head -n 1 /tmp/kd.out) $(grep -c 'clauses\|mov' /tmp/kd.out)" "5 0"
timeout 60 "$kd" -S -e -qn "$program" > /tmp/kd.out 2> /tmp/kd.err
is "with -e it does not" "$? $(grep -c clauses /tmp/kd.err) $(tail -n 1 /tmp/kd.err)" "0 3 }"
timeout 60 "$kd" -S -e -qn 'char c; short a[5]; long l; struct { int u; long v; short w; } s; char d; int m[int]; this char x; this int *y; self int z[3]; union { char q; int r; } u; BEGIN { a[3] = 1; s.w = 2; d++; m[1] = l; this->y = 0; self->z[1] = u.r; exit(0); }' 2>&1 |
	awk '/^NAME/ { on = 1 } /^$/ { on = 0 } on && $2 != "ID" { $2 = ""; print }' | sed 's/\[[^ ]*\] //' | tr -s ' ' > /tmp/kd.out
is "where each would stand" "$(cat /tmp/kd.out)" "a 2 scl glb r D type (array) by ref (size 10)
l 16 scl glb r D type (integer) (size 8)
s 24 scl glb r D type (struct) by ref (size 18)
d 42 scl glb r/w D type (integer) (size 1)
m arr glb w D type (integer) (size 4)
y 8 scl loc w D type (pointer) (size 8)
z 0 scl tls r D type (array) by ref (size 12)
u 48 scl glb r D type (union) by ref (size 4)"
for cpu in $(seq 0 $(($(nproc) - 1))); do
	is "option cpu: there alone, $cpu" "$(timeout 60 "$kd" -x cpu="$cpu" -qn 'BEGIN,profile-97,tick-97,syscall:::entry,END { @[probename == "BEGIN" || probename == "END" ? probename : "", cpu] = count(); } tick-1s { exit(0); } END { printa("%s:%d ", @); }' 2> /tmp/kd.err)" "BEGIN:$cpu END:$cpu :$cpu "
done
is "one that there is not" "$("$kd" -x cpu=4096 -qn 'BEGIN { }' 2>&1)" "kdtrace: could not enable tracing: option cpu: there is no CPU 4096 to run on"
timeout 60 "$kd" -qn 'BEGIN { exit(3); }' -c 'sleep 4321' > /dev/null 2>&1
is "exit() ends the trace, whatever the command does" $? 3
ok "which does not outlive it" sh -c '! pgrep -f "^sleep 4321"'
finish
