#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst record and report: known calls with their arguments, ways through functions, which code it
# was, all modes, what is lost, a writer that is killed, a disk that is full, a machine that stops; what would
# be put in.
# promise: G6, G12, G13, F2, F12, F15: Every hit becomes a record in a file, or is counted as
#   lost, also after kill -9. [test_recording.c, fuzz/run.sh]
# promise: F1: Totals made in the kernel take a hundredth of the data of records, or less.
#   [aggregates.sh]
# not shown: G6: An exact start: code comes a little earlier and goes a little later; what is
#   recorded is exact.
# shellcheck disable=SC2317,SC2016 # functions are called through ok; $rsp is no variable of the shell
. "$(dirname "$0")/../common/lib.sh"
start
cd /tmp || exit 1
n=400 len=777
load=(dd if=/dev/zero of=/dev/null bs="$len" count="$n" status=none)
reads() { echo "timeout $1 dd if=/dev/zero of=/dev/null bs=$len status=none; true"; } # SECONDS
busy=(sh -c "$(reads 1)")
mine=(--comm dd --if "arg2 == $len")

record() { "$ki" record "$@" > record.out 2>&1; }
report() { "$ki" report -q "$@"; }
hits() { report --json "$1" | grep '"instrument"' | grep '"address"' | sed -n 's/.*"hits": *\([0-9]*\).*/\1/p'; }
# reading: dd reads until not_reading; grown FILE BYTES: so much has been written to it
reading() { dd if=/dev/zero of=/dev/null bs="$len" status=none & reader=$!; }
not_reading() { kill "$reader"; wait "$reader" 2> /dev/null; }
grown() { until_true 120 eval "[ 0\$(stat -c %s '$1' 2> /dev/null) -ge $2 ]"; }
all_counted() { [ $(($(of_end records "$1") + $(of_end lost "$1"))) = "$(hits "$1")" ]; }

# ---- known calls ----
ok "entries and exits" record -o a.rec "${mine[@]}" "ksys_read=tid,fd/hex:arg0,len/bytes:arg2,comm,from/code:*(u64 *)\$rsp" -- "${load[@]}"
is "each call once" "$(of_end records a.rec) $(of_end lost a.rec) $(of_end cut a.rec)" "$n 0 false"
is "the file, the length, the name" "$(column fd a.rec | sort | uniq -c | tr -s ' ') $(column len a.rec | sort -u) $(column comm a.rec | sort -u)" " $n 0x0 $len dd"
ok "addresses as names, of the caller" grep -qE '^(__x64_sys_read|do_syscall_64)\+0x' <(column from a.rec)
is "one thread" "$(column tid a.rec | sort -u | wc -l)" 1
ok "times do not fall" sort -c -n <(column time a.rec)
ok "the table" grep -q "ksys_read .* fd=0x0  len=$len bytes  comm=dd" <(report --table a.rec)
ok "the summary" grep -q "len (bytes): min $len  mean $len.00  max $len  sum $((n * len)).00" <(report --summary a.rec)
is "the series" "$(report --series 100 a.rec | awk 'NR > 1 { s += $2 } END { print s }')" "$n"
is "expressions" "$(record -o e.rec "${mine[@]}" 'ksys_read=a:arg2 * 2 + 1,b:(arg0 == 0) ? -5 : 7,cpu,pid,d/ns:(int)arg2 - 100000' -- "${load[@]}"; column a e.rec | sort -u) $(column b e.rec | sort -u)" "$((2 * len + 1)) -5"
ok "times below 0 have a sign" grep -q 'd: min -99.22 us  mean -99.22 us  max -99.22 us  sum -39.69 ms' <(report --summary e.rec)
ok "nested functions, in and out" record -o p.rec --comm dd ksys_read=tid ksys_read:exit:after=tid,ret:retval vfs_read=tid vfs_read:exit:after=tid,ret:retval -- "${load[@]}"
folded() { report --folded p.rec | awk -v n="$n" '{ c[$1] = $2 } END { exit !(c["ksys_read"] >= n && c["ksys_read;vfs_read"] >= n) }'; }
ok "folded stacks" folded
ok "their times" awk '$2 > 0 { n++ } END { exit n < 2 }' <(report --folded=ns p.rec)
report --chrome -o p.json p.rec
chrome() {
	python3 - "$n" "$len" <<'P'
import json, sys
n, length = map(int, sys.argv[1:])
e = json.load(open('/tmp/p.json'))['traceEvents']
assert all(x['ph'] in 'Xi' and isinstance(x['ts'], (int, float)) and x['name'] for x in e)
x = [i for i in e if i['ph'] == 'X']
assert all(i['dur'] >= 0 and i['tid'] > 0 and i['name'] in ('ksys_read', 'vfs_read') for i in x)
assert len([i for i in x if i['name'] == 'vfs_read' and i['args']['exit']['ret'] == length]) == n
o = sorted((i['ts'], i['ts'] + i['dur']) for i in x if i['name'] == 'ksys_read')
for v in x:
    if v['name'] == 'vfs_read' and v['args']['exit']['ret'] == length:
        assert any(a <= v['ts'] and v['ts'] + v['dur'] <= b + 0.0025 for a, b in o), v
P
}
ok "trace events: slices, those of vfs_read inside those of ksys_read" chrome
walks() { report p.rec | awk -v n="$n" '/^path 1:/ { many = $3 } /^path 2:/ { exit } / vfs_read$/ { in_it = $3 == 1 && $4 == "vfs_read" } END { exit !(many >= n && in_it) }'; }
ok "unasked: the way through both, each time" walks
code() { report --json "$1" | sed -n 's/.*"name":"\([a-z_]*\)".*"cfg":"\([0-9a-f]\{16\}\)".*/\1=\2/p' | sort | xargs; }
is "what the functions were like, in each file" "$(code p.rec | tr ' ' '\n' | grep ksys)" "$(code a.rec)"
still() { "$ki" report --check -o /dev/null "$1" 2>&1; }
is "they are still so" "$(still p.rec)" "kerninst: p.rec: of 2 functions 2 have the same graph in this kernel, 0 are not there, 0 have another"
is "also while all their blocks are counted" "$("$ki" stat -q -m blocks ksys_read vfs_read -- "$ki" report --check -o /dev/null p.rec 2>&1 > /dev/null | grep -o 'of 2 .*kernel')" "of 2 functions 2 have the same graph in this kernel"
modprobe loop
ok "a module's function" record -o m.rec loop:loop_control_ioctl=pid -- losetup -f
is "the module's build" "$(report --json m.rec | sed -n 's/.*"type":"module","name":"loop","build":"\([0-9a-f]*\)".*/\1/p')" "$(tail -c 20 /sys/module/loop/notes/.note.gnu.build-id | od -An -v -tx1 | tr -d ' \n')"
still m.rec > m.out
goes loop
is "it is gone, and comes to another place" "$(sed 's/.*: of/of/' m.out; still m.rec | sed 's/.*: of/of/'; modprobe loop; still m.rec | sed 's/.*: of/of/')" "\
of 1 functions 1 have the same graph in this kernel, 0 are not there, 0 have another
of 1 functions 0 have the same graph in this kernel, 1 are not there, 0 have another
of 1 functions 1 have the same graph in this kernel, 0 are not there, 0 have another"
ok "JSON lines" python3 -c 'import json,sys; [json.loads(l) for l in sys.stdin]' < <(report --json a.rec)

# Between std and cld nothing of ours may run.
copy=memmove
! grep -q ' kasan_check_range$' /proc/kallsyms || copy=__memmove # the other asks KASAN
back=$("$ki" disas $copy | sed -n 's/.*+\(0x[0-9a-f]*\) *rep movsq *; BACKWARD$/\1/p' | head -n 1)
is "where strings are copied backwards" "$("$ki" record -o b.rec $copy+"$back" -- true 2>&1 | grep -c 'direction flag')" 1

# Totals are read at the end of their time, and what comes until they are out is not of it.
until=1.2 # a kernel that watches itself takes seconds to start a program
[ ! -e /proc/lockdep_stats ] || until=22.2
ok "totals until a time" record -o u.rec --mode totals -i 0.5 "${mine[@]}" --until $until ksys_read -- sh -c "$(reads $((${until%.*} + 1)))"
is "the last interval is there, and all hits are those of the records" "$(column time u.rec | awk -v t=$until '$1 >= t' | wc -l) $(column count u.rec | awk '{ s += $1 } END { print s }')" "1 $(hits u.rec)"
ok "and there are some" test "$(hits u.rec)" -gt 0
ok "of a ring that keeps the newest it is not known" record -o y.rec --mode newest -b 64 "${mine[@]}" --at 0.3 --until 0.5 ksys_read=len:arg2 -- "${busy[@]}"
is "how many hits were of its time" "$(of_end cut y.rec) $(hits y.rec)" "false "
ok "nor of what is sampled" record -o y.rec --budget 50% "${mine[@]}" --at 0.3 --until 0.5 ksys_read=len:arg2 -- "${busy[@]}"
is "but not said" "$(of_end cut y.rec) $(hits y.rec)" "false "

# ---- modes ----
for mode in ring wake disk; do
	ok "mode $mode" record -o m.rec --mode $mode "${mine[@]}" ksys_read=len:arg2 -- "${load[@]}"
	is "$mode: all" "$(of_end records m.rec) $(of_end lost m.rec) $(hits m.rec)" "$n 0 $n"
done
ok "a longer load as records" record -o big.rec "${mine[@]}" ksys_read=len:arg2 -- dd if=/dev/zero of=/dev/null bs=$len count=20000 status=none
ok "and as totals" record -o small.rec --mode totals -i 0.2 "${mine[@]}" ksys_read -- dd if=/dev/zero of=/dev/null bs=$len count=20000 status=none
is "all of it" "$(of_end records big.rec) $(column count small.rec | awk '{ s += $1 } END { print s }')" "20000 20000"
is "it is a series with rates" "$(report small.rec | awk 'NR == 1 { print $1, $2, $3 } NR > 1 { s += $2 } END { print s }' | xargs)" "TIME COUNT RATE/S 20000"
ok "takes at most a hundredth: $(stat -c %s small.rec) bytes, not $(stat -c %s big.rec)" test $(($(stat -c %s small.rec) * 100)) -le "$(stat -c %s big.rec)"
# On one CPU, whose buffer is too small: the last one is of another length.
ok "mode newest" record -o n.rec --mode newest -b 4 --comm dd --if "arg2 == $len || arg2 == $len + 1" ksys_read=len:arg2 -- \
	taskset -c 0 sh -c "${load[*]}; dd if=/dev/zero of=/dev/null bs=$((len + 1)) count=1 status=none"
ok "newest: as many as there is room for" test "$(of_end records n.rec)" -ge 100 -a "$(of_end records n.rec)" -lt $n
ok "newest: and the others are counted" all_counted n.rec
is "newest: those of the end" "$(column len n.rec | tail -n 1)" $((len + 1))
# ran: the reader has had a tenth of a second of a CPU since
ticks() { awk '{ print $14 + $15 }' "/proc/$reader/stat"; }
ran() {
	local begin
	begin=$(ticks)
	until_true 120 eval "[ \$(ticks) -ge $((begin + 10)) ]"
}
reading
"$ki" record -o s.rec --mode newest -b 64 "${mine[@]}" ksys_read=len:arg2 > record.out 2>&1 &
recorder=$!
until_true 120 measures $recorder
sleep 0.5
ran
kill -USR1 $recorder
until_true 120 test -s s.rec.1
mkdir s.rec.2
kill -USR1 $recorder
until_true 120 grep -q 'no snapshot: s.rec.2: Is a directory; the recording goes on' record.out
kill -INT $recorder
wait $recorder
is "newest: a snapshot that cannot be written ends nothing" "$? $(grep -c 'no snapshot' record.out)" "0 1"
not_reading
rmdir s.rec.2
ok "newest: a snapshot at SIGUSR1" test "$(of_end records s.rec.1)" -gt 100 -a "$(of_end cut s.rec.1)" = false
ok "and the end" test "$(of_end records s.rec)" -gt 100 -a "$(of_end cut s.rec)" = false

# ---- what is lost ----
ok "a buffer that is too small" record -o x.rec --mode ring -i 20 -b 4 "${mine[@]}" ksys_read=len:arg2 -- \
	dd if=/dev/zero of=/dev/null bs=$len count=4000 status=none
ok "lost: $(of_end lost x.rec)" test "$(of_end lost x.rec)" -gt 0
ok "written and lost are all" all_counted x.rec
ok "it is said" grep -q "$(of_end lost x.rec) lost: x.rec" record.out

# ---- who records ----
# Somebody writes, so that it has something to write, too.
writing=(sh -c 'for i in 1 2 3 4 5 6 7 8; do echo > /dev/null; sleep 0.1; done')
ok "itself it leaves out" record -o o.rec --mode ring -i 0.1 ksys_write=pid,comm -- "${writing[@]}"
is "nothing of it" "$(column comm o.rec | grep -c kerninst)" 0
ok "unless asked" record -o o.rec --self --mode ring -i 0.1 ksys_write=pid,comm -- "${writing[@]}"
ok "then its writes are there" grep -q kerninst <(column comm o.rec)

# ---- what would be put in ----
ok "a dry run" record -o dry.rec --dry-run --cost --show-code "${mine[@]}" ksys_read=len:arg2 schedule=pid
ok "shows the code" grep -q 'record(1: .*arg2' record.out
ok "and what it would cost" grep -qE '^yes .* [0-9.]+% +schedule ' record.out
is "and does nothing" "$(ls dry.rec 2> /dev/null) $(field windows)" " 0"
dry_json() {
	"$ki" record -q --dry-run --cost --json ksys_read=len:arg2 schedule=pid | python3 -c '
import json, sys
rows = [json.loads(l) for l in sys.stdin]
assert [r["metric"] for r in rows] == ["dry_run", "dry_run", "overhead"], rows
# A record takes more than a counter, and less than 300 instructions.
assert all(20 < r["instructions"] < 300 for r in rows[:2]), rows
assert abs(sum(r["cost_per_second"] for r in rows[:2]) - rows[2]["cost_per_second"]) < 1, rows'
}
ok "the same as JSON" dry_json
ok "a place that is refused" eval '! record --dry-run asm_exc_int3=pid'
ok "is shown, and why" grep -qE '^ENTRY_TEXT +count +asm_exc_int3 ' record.out
ok "in words, too" grep -q 'asm_exc_int3: low-level entry code' record.out
ok "beside one that is not" record --dry-run asm_exc_int3=pid vfs_read=pid
is "one is possible" "$(awk '$2 == "count" { print $1, $3 }' record.out | sort | xargs)" "ENTRY_TEXT asm_exc_int3 yes vfs_read"
is "as JSON, of several times each" "$("$ki" record -q --json --dry-run asm_exc_int3=pid vfs_read=pid --at 1 asm_exc_int3=tid 2> /dev/null | grep -o '"reason":"[A-Z_]*"' | sort | xargs)" "reason:ENTRY_TEXT reason:ENTRY_TEXT reason:OK"

# ---- a machine that stops ----
# What the disk has then is what is in the file under the loop device, of which a copy is made while
# the writer is stopped; with no commits and no writing back but those that are asked for.
stopped() { # MODE: records in the file as the disk has it, and as the writer has left it
	truncate -s 32M image && mkfs.ext4 -q image && mkdir -p disk && mount -o loop,commit=300 image disk || return
	"$ki" record -q -o disk/d.rec --mode "$1" -b 16 "${mine[@]}" ksys_read=len:arg2 > /dev/null &
	local recorder=$!
	grown disk/d.rec 200000
	kill -STOP $recorder
	cp image image.then && cp disk/d.rec d.rec
	kill -CONT $recorder
	kill -INT $recorder
	wait $recorder
	umount disk
	mount -o loop image.then disk || return
	kept=$(of_end records disk/d.rec 2> /dev/null)
	umount disk
	echo "${kept:-0} $(of_end records d.rec)"
}
on_disk() {
	local writeback kept all
	writeback=$(cat /proc/sys/vm/dirty_writeback_centisecs)
	echo 0 > /proc/sys/vm/dirty_writeback_centisecs
	read -r kept all < <(stopped disk)
	# The writer may be between writing and waiting for the disk: of what it has read last.
	ok "mode disk: the disk has what was read: ${kept-} of ${all-} records" test "${kept:-0}" -gt 1000 -a $((kept + 2048)) -ge "${all:-0}"
	read -r kept all < <(stopped wake)
	ok "others leave that to the kernel: ${kept:-none} of $all" test "${kept:-$all}" -lt $((all / 2))
	echo "$writeback" > /proc/sys/vm/dirty_writeback_centisecs
}
modprobe loop
reading # to the end
if modprobe -q ext4; then
	on_disk
else
	skip "what the disk has" "this kernel has no ext4"
fi

# ---- ends of all kinds ----
"$ki" record -q -o k.rec "${mine[@]}" ksys_read=len:arg2 &
recorder=$!
grown k.rec 20000 # what is being written when it is killed is cut off
kill -KILL $recorder
wait $recorder 2> /dev/null
ok "killed: what was written is there" test "$(of_end records k.rec)" -gt 100
is "and that it is not all" "$(of_end cut k.rec)" true
soon "killed: the kernel is clean" 0 field windows
"$ki" record -o i.rec ksys_read=len:arg2 > record.out 2>&1 &
until_true 120 measures $!
kill -INT $!
wait $!
is "Ctrl-C ends it, with status 0, and the file" "$? $(of_end cut i.rec)" "0 false"
mkdir -p small && mount -t tmpfs -o size=64k none small
"$ki" record -o small/f.rec --mode ring -i 0.1 -b 8 --for 300 "${mine[@]}" ksys_read=len:arg2 > record.out 2>&1
is "a full disk: status, one line" "$? $(wc -l < record.out) $(grep -c 'small/f.rec: No space left' record.out)" "1 1 1"
ok "the file is good up to there" test "$(of_end records small/f.rec)" -gt 100
umount small
not_reading
soon "nothing is left" 0 field windows
finish
