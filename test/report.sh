#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/report.sh [KERNINST]
# kerninst report: what it shows of a recording that is kept, in each form; of a file that is cut;
# and of none. record: wrong usage.
# promise: F5, F6: A recording is shown without its kernel: points, types, units, clock, build
#   ids and paths of threads. [test_graph_hash.c, test_recording_code.c,
#   test_recording_example.c, test/guest/records/record.sh]
set -u
cd "$(dirname "$0")/.." || exit 1
ki=${1:-build/release/bin/kerninst}
# shellcheck source=test/lib.sh
. test/lib.sh
export LC_ALL=C NO_COLOR=1
file=test/fuzz/corpus/recording/example

shows() { is "$("$ki" report -q "$@" "$file")" "$(cat)"; }

# fails STATUS PATTERN VERB...: with this status, and one line that matches.
fails() {
	local want=$1 pattern=$2 said status
	shift 2
	said=$("$ki" "$@" 2>&1 > "$tmp/out")
	status=$?
	is "$status" "$want" && is "$(grep -c . <<< "$said")" 1 && is "$(cat "$tmp/out")" "" &&
		{ grep -qE "^kerninst: .*($pattern)" <<< "$said" || { echo "$said"; false; }; }
}

check "a table, if there are few" shows << 'T'
         TIME  CPU  INSTRUMENT      VALUES
  0.000100000    0  ksys_read       tid=7  fd=0x3  len=4096 bytes
  0.000105000    1  ksys_read       tid=8  fd=0x0  len=1 bytes
  0.000110000    0  vfs_read:entry  tid=7
  0.000150000    0  vfs_read:exit   tid=7  ret=4096
  0.000160000    0  ksys_read:exit  tid=7  ret=4096
  0.001500000    1  schedule+0x10   comm=bin/ata  from=0x1234  slept=2.50 ms
  0.001700000    1  ksys_read:exit  tid=8  ret=-11
  0.001800000    0  ksys_read       tid=7  fd=0x3  len=100000 bytes
T
check "the summary" shows --summary -p ksys_read << 'T'
record ksys_read
example, kernel 6.1.0-example, 2 CPUs, 2023-11-14 22:13:20 UTC, 0.003 s
kernel: build c0ffee
8 records, 2 lost

ksys_read: 3 records, 1000.0/s, reached 5 times, from 0.000 to 0.003 s
  tid: min 7  mean 7.33  max 8
  len (bytes): min 1  mean 34699.00  max 100000  sum 104097.00
                1 ..          1          1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
             4096 ..       8191          1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
            65536 ..     131071          1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
T
file=test/fuzz/corpus/recording/sampled
check "sampled: each record is taken for so many" shows --summary -p 'ksys_read' << 'T'
record ksys_read
example, kernel 6.1.0-example, 2 CPUs, 2023-11-14 22:13:20 UTC, 0.003 s
kernel: build c0ffee
8 records, 2 lost

ksys_read: 3 records, 1000.0/s, reached 5 times, from 0.000 to 0.003 s
  sampled: at the rarest one of 8 hits; each record is taken for so many, sums and counts are estimates
  tid: min 7  mean 7.31  max 8
  len (bytes): min 1  mean 61853.85  max 100000  sum 804100.00
                1 ..          1          4 |@@@@@@@@@@@@@@@@@@@@                    |
             4096 ..       8191          1 |@@@@@                                   |
            65536 ..     131071          8 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
T
check "sampled: what has gone" grep -q "taken out by the budget at 0.001 s" <("$ki" report -q --summary "$file")
check "sampled: counts of intervals" shows --series 0.001 -p 'ksys_read' << 'T'
      FROM       COUNT        RATE/S  INSTRUMENT
     0.000           5        5000.0  ksys_read
     0.001           8        8000.0  ksys_read
T
check "sampled: the table" shows -p ksys_read << 'T'
         TIME  CPU  INSTRUMENT  VALUES
  0.000100000    0  ksys_read   tid=7  fd=0x3  len=4096 bytes
  0.000105000    1  ksys_read   tid=8  fd=0x0  len=1 bytes  (1 of 4)
  0.001800000    0  ksys_read   tid=7  fd=0x3  len=100000 bytes  (1 of 8)
T
check "sampled: JSON" is "$("$ki" report -q --json "$file" | grep -oE '"(stands_for|rarest|shed)":[0-9.]+' | tr '\n' ' ')" '"rarest":8 "shed":0.001 "stands_for":4 "stands_for":8 '
file=test/fuzz/corpus/recording/example
check "a sign, a time when it was there" grep -qE 'less than 0 +1 |schedule\+0x10: 1 records, 1000.0/s, from 0.001 to 0.002 s' <("$ki" report -q --summary "$file")
check "counts of intervals" shows --series 0.001 -p 'ksys*' << 'T'
      FROM       COUNT        RATE/S  INSTRUMENT
     0.000           2        2000.0  ksys_read
     0.000           1        1000.0  ksys_read:exit
     0.001           1        1000.0  ksys_read
     0.001           1        1000.0  ksys_read:exit
T
check "CSV" shows --csv << 'T'
time,cpu,instrument,tid,fd,len,ret,comm,from,slept
0.000100000,0,ksys_read,7,0x3,4096,,,,
0.000105000,1,ksys_read,8,0x0,1,,,,
0.000110000,0,vfs_read:entry,7,,,,,,
0.000150000,0,vfs_read:exit,7,,,4096,,,
0.000160000,0,ksys_read:exit,7,,,4096,,,
0.001500000,1,schedule+0x10,,,,,bin/ata,0x1234,2.50 ms
0.001700000,1,ksys_read:exit,8,,,-11,,,
0.001800000,0,ksys_read,7,0x3,100000,,,,
T
check "folded stacks" shows --folded << 'T'
ksys_read 2
ksys_read;vfs_read 1
T
check "their times" shows --folded=ns << 'T'
ksys_read 1615000
ksys_read;vfs_read 40000
T
check "from, to" shows --from 0.0015 --to 0.0017 << 'T'
         TIME  CPU  INSTRUMENT      VALUES
  0.001500000    1  schedule+0x10   comm=bin/ata  from=0x1234  slept=2.50 ms
  0.001700000    1  ksys_read:exit  tid=8  ret=-11
T

# What fits is shown unasked.
file=test/fuzz/corpus/recording/negative
check "times below 0" shows --summary << 'T'
record ksys_read
example, kernel 6.1.0-example, 2 CPUs, 2023-11-14 22:13:20 UTC, 10.000 s
kernel: build c0ffee
3 records, 0 lost

vfs_read:exit: 3 records, 0.3/s, from 0.000 to 10.000 s
  ns: min -199.90 us  mean -99.90 us  max 100.00 ns  sum -299.70 us
         64.00 ns ..  127.00 ns          1 |@@@@@@@@@@@@@@@@@@@@                    |
                    less than 0          2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
  ticks: min -4.00 ms  mean -2.00 ms  max 2.00 us  sum -5.99 ms
          1.02 us ..    2.05 us          1 |@@@@@@@@@@@@@@@@@@@@                    |
                    less than 0          2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
  n: min -199900  mean -99900.00  max 100  sum -299700.00
               64 ..        127          1 |@@@@@@@@@@@@@@@@@@@@                    |
                    less than 0          2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
T
file=test/fuzz/corpus/recording/totals
check "counts of intervals: a series with rates" is "$("$ki" report -q "$file" | sed -n '1,5p;118,$p')" "\
      TIME       COUNT        RATE/S  INSTRUMENT
     0.100           0           0.0  vfs_read
     0.100         500        5000.0  vfs_write
     0.200           1          10.0  vfs_read
     0.200         500        5000.0  vfs_write
     5.900          58         580.0  vfs_read
     5.900         500        5000.0  vfs_write
     6.000          59         590.0  vfs_read
     6.000         500        5000.0  vfs_write"
check "from the middle on, the first one's rate is not known" shows --from 5.85 -p vfs_read << 'T'
      TIME       COUNT        RATE/S  INSTRUMENT
     5.900          58             -  vfs_read
     6.000          59         590.0  vfs_read
T
file=test/fuzz/corpus/recording/keys
check "the same values again and again: how often each" shows << 'T'
     COUNT    SHARE  INSTRUMENT  VALUES
        40    57.1%  vfs_read    pid=100  comm=ash
        20    28.6%  vfs_read    pid=101  comm=bsh
        10    14.3%  vfs_read    pid=102  comm=csh
T
check "few of these: all" is "$("$ki" report -q --to 0.003 "$file" | wc -l)" 32
file=test/fuzz/corpus/recording/pairs
check "entries and exits: how long it took" is "$("$ki" report -q "$file" | grep -A 2 duration:)" "\
  duration: min 1.00 us  mean 50.50 us  max 100.00 us  sum 3.03 ms
        512.00 ns ..    1.02 us         30 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
         65.54 us ..  131.07 us         30 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|"
check "entries alone: by their values" is "$("$ki" report -q -p vfs_read "$file" | tail -n +2 | tr -s ' ')" "\
 30 50.0% vfs_read tid=7
 30 50.0% vfs_read tid=8"
file=test/fuzz/corpus/recording/values
check "values: how they are spread" grep -q 'len (bytes): min 0  mean 25.00  max 50  sum 1275.00' <("$ki" report -q "$file")

# Ways of threads through several points.
file=test/fuzz/corpus/recording/paths
check "ways that repeat: each of them, how often, when each step" is "$("$ki" report -q "$file" | sed 1,3d)" "\
117 records, 0 lost
21 paths were taken, 3 different; of 2 more, with 4 records, an entry or an exit is missing; 5 records are in none

path 1: 12 times, 57.1%
  time: min 30.00 us  mean 30.00 us  max 30.00 us  sum 360.00 us
         16.38 us ..   32.77 us         12 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
       AFTER    TIMES  POINT
        0 ns        1  ksys_read:entry
    10.00 us        1    vfs_read
    20.00 us        1    vfs_read:exit
    30.00 us        1  ksys_read:exit

path 2: 6 times, 28.6%
  time: min 70.00 us  mean 80.00 us  max 90.00 us  sum 480.00 us
         65.54 us ..  131.07 us          6 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
       AFTER    TIMES  POINT
        0 ns        1  ksys_read:entry
    10.00 us      2.5    ksys_read:block/3
    20.00 us      2.5    ksys_read:block/4
    60.00 us        1    vfs_read
    70.00 us        1    vfs_read:exit
    80.00 us        1  ksys_read:exit

path 3: 3 times, 14.3%
  time: min 10.00 us  mean 10.00 us  max 10.00 us  sum 30.00 us
          8.19 us ..   16.38 us          3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
       AFTER    TIMES  POINT
        0 ns        1  ksys_read:entry
    10.00 us        1  ksys_read:exit"
check "those of each thread" is "$("$ki" report -q --paths=thread "$file" | grep ^path)" "\
path 1 of thread 7: 6 times, 28.6%
path 2 of thread 9: 6 times, 28.6%
path 3 of thread 8: 6 times, 28.6%
path 4 of the idle thread of CPU 0: 3 times, 14.3%"
check "of some instruments only" is "$("$ki" report -q --paths -p 'vfs_*' "$file" | grep -E '^path|taken|vfs')" "\
18 paths were taken, 1 different; of 1 more, with 1 records, an entry or an exit is missing
path 1: 18 times, 100.0%
        0 ns        1  vfs_read
    10.00 us        1  vfs_read:exit"
file=test/fuzz/corpus/recording/lossy
check "exits are lost: the next way begins with the next entry" is "$("$ki" report -q "$file" | grep -E '^path|taken')" "\
58 paths were taken, 1 different; of 2 more, with 5 records, an entry or an exit is missing
path 1: 58 times, 100.0%"
file=test/fuzz/corpus/recording/nested
check "nothing is lost: a function may call itself" is "$("$ki" report -q --paths "$file" | grep -E '^path|taken|entry')" "\
60 paths were taken, 1 different
path 1: 60 times, 100.0%
        0 ns        1  ksys_read:entry
    20.00 us        1      ksys_read:entry"
file=test/fuzz/corpus/recording/clock
check "times beyond all bounds are the greatest" is "$("$ki" report -q --paths "$file" | grep time:; "$ki" report -q --summary "$file" | grep duration:; "$ki" report -q --folded=ns "$file")" "\
  time: min 18446744073.71 s  mean 18446744073.71 s  max 18446744073.71 s  sum 18446744073.71 s
  duration: min 18446744073.71 s  mean 18446744073.71 s  max 18446744073.71 s  sum 18446744073.71 s
vfs_read 18446744073709551615"
file=test/fuzz/corpus/recording/blocks
check "blocks alone: from the first one to the next time" is "$("$ki" report -q "$file" | grep -E '^path|/[12]$' | tr -s ' ')" "\
path 1: 40 times, 66.7%
 5.00 us 1 f:block/1
path 2: 20 times, 33.3%
 5.00 us 1 f:block/2"
file=test/fuzz/corpus/recording/pairs
check "a call that is all of a way is none that is shown unasked" is "$("$ki" report -q "$file" | grep -c ^path) $("$ki" report -q --paths "$file" | grep ^path)" "0 path 1: 60 times, 100.0%"
file=test/fuzz/corpus/recording/keys
check "no ways" grep -q "a path begins at the entry of a function that has recorded tid" <("$ki" report -q --paths "$file")
file=test/fuzz/corpus/recording/sampled
check "sampled: ways have gaps" grep -q "^sampled: steps are missing" <("$ki" report -q --paths "$file")
check "a bad form of paths" fails 2 "it is thread" report --paths=x "$file"

# What names are does nothing to a terminal.
file=test/fuzz/corpus/recording/hostile
is_harmless() {
	local form
	for form in "" --summary --paths --paths=thread --counts --table --series=1 --folded --json --chrome; do
		"$ki" report ${form:+"$form"} --image test/fuzz/corpus/image/object "$file" > "$tmp/out" 2>&1 || return
		is "$(LC_ALL=C grep -caP '[\x00-\x1f\x7f]|\xc2[\x80-\x9f]' "$tmp/out")" 0 && test -s "$tmp/out" || return
	done
}
check "control characters in names are shown as ?" is_harmless
check "each of them" is "$("$ki" report --summary "$file" | sed -n '1p;3,5p;/: 60 records/p' | cut -d, -f1)" "\
?]0;x?????c
kernel: build ?]0;x?????b
module ?]0;x?????m: build ?]0;x?????b
function ?]0;x?????m:?]0;x?????fn: graph 0000000000000001
?]0;x?????i: 60 records
?]0;x?????i:exit: 60 records
?]0;x?????b: 60 records"

# What code it was.
file=test/fuzz/corpus/recording/functions
check "the header has builds and graphs" is "$("$ki" report -q --summary "$file" | sed -n 3,9p)" "\
kernel: build c0ffee
module example: build 0123456789abcdef
function one: graph e8b3c6f06e518177
function two: graph 3b1fd0bd43e1f4f2
function example:quiet: graph c1138bea36067f34
function example:gone: graph 0000000000000001
function unknown: graph not known"
check "JSON has them" is "$("$ki" report -q --json "$file" | grep -E '"type":"(module|function)"')" '{"type":"module","name":"example","build":"0123456789abcdef"}
{"type":"function","name":"one","module":"","address":"0x1000","cfg":"e8b3c6f06e518177"}
{"type":"function","name":"two","module":"","address":"0x1031","cfg":"3b1fd0bd43e1f4f2"}
{"type":"function","name":"quiet","module":"example","address":"0x1055","cfg":"c1138bea36067f34"}
{"type":"function","name":"gone","module":"example","address":"0x2000","cfg":"0000000000000001"}
{"type":"function","name":"unknown","module":"","address":"0x3000"}'
against() { is "$("$ki" report -o /dev/null --image "${3:-test/fuzz/corpus/image/$1}" "$file" 2>&1)" "kerninst: $file: $2"; }
check "code that is not what was recorded; of a module there is nothing in what is none" against object "of 4 functions 1 have the same graph in test/fuzz/corpus/image/object, 2 are not there, 1 have another: two"
check "at other addresses" against program "of 4 functions 1 have the same graph in test/fuzz/corpus/image/program, 2 are not there, 1 have another: two"
cp test/fuzz/corpus/image/object "$tmp/example.ko"
check "of a module only what is its own" against - "of 4 functions 1 have the same graph in $tmp/example.ko, 3 are not there, 0 have another" "$tmp/example.ko"
cp test/fuzz/corpus/image/object "$tmp/exam-ple.ko"
check "of another module nothing" against - "of 4 functions 0 have the same graph in $tmp/exam-ple.ko, 4 are not there, 0 have another" "$tmp/exam-ple.ko"

# One name in many rows, and of many functions: each of these is looked at once.
large=$tmp/large
mkdir "$large" && KI_RECORDINGS=$large "${ki%bin/kerninst}test/unit/test_recording_example" || exit 1
for i in {100..999}; do printf 'f%d: ret\n.type f%d, @function\n.size f%d, 1\n' "$i" "$i" "$i"; done | as -o "$tmp/copies.o" - || exit 1
sed -i 's/f[0-9][0-9][0-9]\x00/copy\x00/g' "$tmp/copies.o"
copies() {
	is "$(ulimit -t 20; "$ki" report --summary -o /dev/null --image "$tmp/copies.o" "$large/rows" 2>&1 | cut -d: -f3 | cut -d, -f1,3 | sed "s|$tmp/||")" \
		" of 100000 functions 0 have the same graph in copies.o, 100000 have another"
}
check "many rows and many functions of one name" copies

# Entries without exits, and exits without entries.
deep() {
	local form
	for form in paths summary chrome; do
		(ulimit -t 40; exec "$ki" report -q "--$form" "$large/deep") > "$tmp/deep.$form" || return
	done
	is "$(grep taken "$tmp/deep.paths")" "0 paths were taken, 0 different; of 98 more, with 300000 records, an entry or an exit is missing" &&
		is "$(grep -c '^ *duration: .* sum \(75\|25\).00 ms' "$tmp/deep.summary")" 2 &&
		is "$(grep -c '"ph":"X"' "$tmp/deep.chrome") $(grep -c '"ph":"i"' "$tmp/deep.chrome")" "50000 200000"
}
check "stacks that only grow" deep
check "no such image" fails 1 "none: No such file" report --table -o /dev/null --image "$tmp/none" "$file"
file=test/fuzz/corpus/recording/keys
check "a file that does not say" against object "it does not say what its functions were like"
file=test/fuzz/corpus/recording/sampled
check "sampled: how often" is "$("$ki" report -q --counts -p ksys_read "$file" | tr -s ' ')" "\
 COUNT SHARE INSTRUMENT VALUES
 8 61.5% ksys_read tid=7 fd=0x3 len=100000 bytes
 4 30.8% ksys_read tid=8 fd=0x0 len=1 bytes
 1 7.7% ksys_read tid=7 fd=0x3 len=4096 bytes
sampled: each record is taken for as many hits as it stands for; counts are estimates"
file=test/fuzz/corpus/recording/example

json_lines() {
	is "$("$ki" report -q --json "$file" | jq -c 'select(.type == "record") | [.time, .cpu, .instrument, .fields.tid, .fields.ret, .fields.slept]' | sed -n '4p;6p;7p')" \
		'[0.00015,0,"vfs_read:exit",7,4096,null]
[0.0015,1,"schedule+0x10",null,null,0.0025]
[0.0017,1,"ksys_read:exit",8,-11,null]' &&
		is "$("$ki" report -q --json "$file" | jq -r .type | sort | uniq -c | tr -s ' \n' ' ')" " 1 end 5 instrument 8 record 1 recording "
}
check "JSON lines" json_lines
chrome() {
	is "$("$ki" report -q --chrome "$file" | jq -c '.traceEvents[] | [.name, .ph, .ts, .dur, .tid, .args.exit.ret]')" \
		'["vfs_read","X",110,40,7,4096]
["ksys_read","X",100,60,7,4096]
["schedule+0x10","i",1500,null,0,null]
["ksys_read","X",105,1595,8,-11]
["ksys_read","i",1800,null,7,null]'
}
check "trace events" chrome
into_file() {
	"$ki" report -q --csv -o "$tmp/x.csv" "$file" && cmp "$tmp/x.csv" <("$ki" report -q --csv "$file")
}
check "into a file" into_file
losses() { is "$("$ki" report "$file" 2>&1 > "$tmp/out")" "kerninst: $file: 2 records were lost"; }
check "it says that some were lost" losses

# Cut anywhere, it is shown up to there, without complaint, or it is no recording.
cut_file() {
	local n size status
	size=$(stat -c %s "$file")
	for ((n = 0; n < size; n += 37)); do
		head -c "$n" "$file" > "$tmp/cut.rec"
		"$ki" report --table "$tmp/cut.rec" > "$tmp/out" 2> "$tmp/said"
		status=$?
		if [[ $status == 0 ]]; then
			grep -q "the file ends at byte" "$tmp/said" || return
		else
			is "$status $(grep -c 'no recording' "$tmp/said")" "1 1" || return
		fi
	done
	is "$status" 0
}
check "files that are cut" cut_file

check "no such file" fails 1 "none.rec: No such file" report "$tmp/none.rec"
check "not a recording" fails 1 "no recording of kerninst record" report test/report.sh
check "two files" fails 2 "more than one file" report a b
check "two forms" fails 2 "json and --csv|csv and --json" report --json --csv "$file"
check "a bad interval" fails 2 "--series 'x'" report --series x "$file"
check "a bad time" fails 2 "--from 'x'" report --from x "$file"
check "times the wrong way round" fails 2 "--to is before" report --from 2 --to 1 "$file"
check "a bad form of stacks" fails 2 "calls or ns" report --folded=x "$file"
check "no room for the result" fails 1 "writing the result failed" report -q -o /dev/full "$file"

check "record: no point" fails 2 "no point" record
check "record: no such mode" fails 2 "--mode x" record --mode x vfs_read
check "record: a bad value" fails 2 "'arg0 \+': .*column" record 'vfs_read=arg0 +'
check "record: no such name" fails 2 "no name 'x'" record 'vfs_read=pid,x'
check "record: too many values" fails 2 "more than 32" record "vfs_read=$(printf 'pid,%.0s' {1..32})pid"
check "record: values of totals" fails 2 "no values" record vfs_read=pid --mode totals
check "record: inside" fails 2 "inside.. is for --if" record 'vfs_read=inside(vfs_write)'
check "record: a bad point" fails 2 "is no point" record vfs_read+x
check "record: until before at" fails 2 "not behind --at" record --at 2 --until 1 vfs_read
check "record: a bad buffer" fails 2 "-b '3'" record -b 3 vfs_read
check "record: an interval for nothing" fails 2 "ring and totals" record -i 1 vfs_read
check "record: --for and a command" fails 2 "one of them" record --for 1 vfs_read -- true
check "record: no share of the machine" fails 2 "--budget '2': a share of the machine, as 2%" record --budget 2 vfs_read
check "record: no comparison" fails 2 "--if 'x'" record --if x vfs_read
finish
