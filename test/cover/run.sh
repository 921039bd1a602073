#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/cover/run.sh [KERNINST]
# kerninst cover without a kernel: files, comparisons, lcov, reports. What was executed is known from
# single steps of a program of our own, and from gcov; lines from objdump and addr2line.
# promise: N14 (in part): Coverage comes back from files unchanged, two are compared, and lcov
#   gets source lines as gcov counts them. [test_coverage.c, fuzz/run.sh]
# not shown: N14: Times of two recordings compared: coverage is.
set -u
cd "$(dirname "$0")/../.." || exit 1
ki=${1:-build/release/bin/kerninst}
make=build/test/coverage/make
# shellcheck source=test/lib.sh
. test/lib.sh
export LC_ALL=C NO_COLOR=1
here=test/cover

# fails STATUS PATTERN ARGUMENT...: with this status, and one line that matches.
fails() {
	local want=$1 pattern=$2 said status
	shift 2
	said=$("$ki" cover "$@" 2>&1 > "$tmp/out")
	status=$?
	is "$status" "$want" && is "$(grep -c . <<< "$said")" 1 && is "$(cat "$tmp/out")" "" &&
		{ grep -qE "^kerninst: .*($pattern)" <<< "$said" || { echo "$said"; false; }; }
}

# --- Files

same_again() { "$ki" cover --from "$1" --json | cmp - "$1"; }
check "read and written again: the same" same_again $here/old.json
check "the same, numbers that need a text" same_again $here/new.json

summary() { is "$("$ki" cover -v --from $here/old.json)" "$(cat)"; }
check "the summary" summary << 'T'
Kernel 6.1.0-example: how often blocks were hit, during: make old
8 of 10 functions and 14 of 16 known blocks were hit, 87.5 %.
Blocks: 18, touchable 17, known 16, with a probe 15.
Seconds: 1.5 to analyse, 12.2 to install, 30.5 run, 4.1 to remove. Memory: 8 KiB of patches, 64 KiB in all.

   BLOCKS  NOT KNOWN BECAUSE  
        1  FTRACE_SITE        the function's ftrace site: ftrace, BPF and livepatch write it

FUNCTIONS HIT      OF  BLOCKS HIT  OF KNOWN   SHARE  MODULE
            6       8          10        12   83.3%  kernel
            2       2           4         4  100.0%  xfs

BLOCKS HIT  OF KNOWN   SHARE          MOST  FUNCTION       ADDRESS
         2         3   66.7%            10  vfs_read       0xffffffff81000000
         3         3  100.0%           100  tick           0xffffffff81000040
         1         1  100.0%             1  init_once      0xffffffff81000080
         1         1  100.0%             4  twice          0xffffffff810000c0
         2         2  100.0%          1001  steady         0xffffffff81000140
         1         1  100.0%             3  removed        0xffffffff81000190
         2         2  100.0%             7  xfs:xfs_read   0xffffffffc0000000
         2         2  100.0%             7  xfs:xfs_write  0xffffffffc0000040
T

# Line (and the one that is said, if it is another), what sed makes of it, what is said.
spoilt() {
	local change line pattern n=0
	while IFS='|' read -r line change pattern; do
		sed "${line%:*}$change" $here/old.json > "$tmp/spoilt.json"
		cmp -s $here/old.json "$tmp/spoilt.json" && { echo "nothing changed: $change"; return 1; }
		fails 1 "spoilt.json(:${line#*:})?: .*$pattern" --from "$tmp/spoilt.json" || { echo "$change"; return 1; }
		n=$((n + 1))
	done
	echo "$n"
	[[ $n -ge 25 ]]
}
check "nonsense is refused, and it is said where it is" spoilt << 'T'
1|s/"kerninst_coverage":1/"kerninst_coverage":2/|version 2 of the format
1|s/"kerninst_coverage":1,//|no "kerninst_coverage"
1|s/"mode":"count"/"mode":"counts"/|"mode" is not
1:2|s/"mode":"count"/"mode":"hit"/|has a count, though only hits
1|s/"totals":{/"sums":{/|no "totals"
1|s/"blocks":18/"blocks":-18/|"blocks" is no number
1|s/"blocks":18/"blocks":19/|"blocks" is said to be 19, but its functions say 18
1|s/"hit":14/"hit":"14x"/|"hit" is no number
1|s/"seconds_run":30.5/"seconds_run":-1/|"seconds_run" is no time
1|s/"seconds_run":30.5/"seconds_run":1e999/|column [0-9]+: 
1|s/"FTRACE_SITE":1/"FTRACE_SITE":2/|FTRACE_SITE is said to be the reason of 2
1|s/"FTRACE_SITE":1/"NO_SUCH":1/|no reason 'NO_SUCH'
1|s/"release":"[^"]*"/"release":7/|"release" is no text
1|s/"hit":14/"hit":14,"hit":14/|column [0-9]+: duplicate
2|s/"vfs_read"/null/|"name" is no text
2|s/"vfs_read"/""/|has no name
2|s/0xffffffff81000000/0xfffffffff81000000/|"addr" is no number
2:3|s/0xffffffff81000000/0xffffffff81000041/|'tick' is not in order
2|s/"size":64/"size":39/|block 2 of vfs_read is not inside
2|s/"size":64/"size":4294967296/|"size" is no number
2|s/\[16,16\]/[15,16]/|block 1 of vfs_read is not behind
2|s/\[16,16\]/[16]/|block 1 is not \[
2|s/\[16,16\]/[16,0]/|block 1 of vfs_read is not inside
2|s/\[16,16\]/"x"/|block 1 is not \[
2|s/"implied"/"guessed"/|block 2 is not \[
2|s/"implied"/"unknown"/|block 2 of vfs_read has no reason
2|s/"implied"/"implied","ENDBR"/|block 2 of vfs_read has no reason
2|s/\[0,16,10\]/[0,16,-1]/|block 0 is not \[
2|s/\[0,16,10\]/[0,16,18446744073709551616]/|column [0-9]+: 
2|s/\]\]}/]],"edges":[[0,3,"fall"]]}/|edge 0 of vfs_read is between
2|s/\]\]}/]],"edges":[[0,1,"hop"]]}/|edge 0 is not \[
2|s/\]\]}/]],"edges":[[0,1,"fall",3]]}/|edge 0 of vfs_read has a count
3|s/\]}/}/|column [0-9]+: 
3:4|s/,$//|no comma before this line
4|s/^.*$//|column [0-9]+: 
7|s/0,"unknown","ENTRY_TEXT"/1,"unknown","ENTRY_TEXT"/|is unknown and has a count
11:12|s/$/,/|a comma, and no function
11:13|s/$/\n]}\n]}/|something stands behind
12|s/.*/]/|no comma before this line
T

cut_file() {
	local n size
	size=$(stat -c %s $here/old.json)
	for ((n = 0; n < size - 1; n += 23)); do
		head -c "$n" $here/old.json > "$tmp/cut.json"
		fails 1 'cut.json:[0-9]+: ' --from "$tmp/cut.json" || return
	done
}
check "files that are cut" cut_file
check "no such file" fails 1 "none.json: No such file" --from "$tmp/none.json"
check "not such a file" fails 1 "run.sh:1: no coverage" --from $here/run.sh

pcs() {
	"$ki" cover --from $here/old.json --pcs "$tmp/pcs" > /dev/null &&
		is "$(cat "$tmp/pcs")" "$(python3 - $here/old.json << 'P'
import json, sys
for f in json.load(open(sys.argv[1]))["functions"]:
    for b in f["blocks"]:
        if len(b) > 2 and b[2]:
            print("%x" % (int(f["addr"], 16) + b[0]))
P
)"
}
check "addresses of blocks that were hit" pcs

# --- Comparison

differences() { is "$("$ki" cover --diff $here/old.json $here/new.json "$@")" "$(cat)"; }
check "two compared" differences << 'T'
old  test/cover/old.json: kernel 6.1.0-example, mode count, 14 of 16 known blocks hit, during: make old
new  test/cover/new.json: kernel 6.1.0-example, mode count, 14 of 17 known blocks hit
           2 blocks in 2 functions newly reached
           2 blocks in 2 functions no longer reached
           1 blocks in 1 functions hotter
           1 blocks in 1 functions colder
          13 blocks in 8 functions compared; 2 blocks are not known in both

  NEW   GONE  HOTTER  COLDER    BEFORE             AFTER    RATIO  FUNCTION
    1      1       -       -         5                 3     0.60  vfs_read
    1      -       -       -         0  9007199254740993        -  twice
    -      1       -       -         1                 0        -  init_once
    -      -       1       1       200               500     2.50  tick

Not compared: 1 functions whose code differs: xfs:xfs_read

Not compared: 1 functions only in the old one: removed

Not compared: 1 functions only in the new one: added
T
check "two compared, block by block" differences -v << 'T'
old  test/cover/old.json: kernel 6.1.0-example, mode count, 14 of 16 known blocks hit, during: make old
new  test/cover/new.json: kernel 6.1.0-example, mode count, 14 of 17 known blocks hit
           2 blocks in 2 functions newly reached
           2 blocks in 2 functions no longer reached
           1 blocks in 1 functions hotter
           1 blocks in 1 functions colder
          13 blocks in 8 functions compared; 2 blocks are not known in both

  NEW   GONE  HOTTER  COLDER    BEFORE             AFTER    RATIO  FUNCTION
    1      1       -       -         5                 3     0.60  vfs_read
    *                                0                 3        -    block 1  +0x10  16 bytes
           *                         5                 0        -    block 2  +0x20  8 bytes
    1      -       -       -         0  9007199254740993        -  twice
    *                                0  9007199254740993        -    block 0  +0x0  16 bytes
    -      1       -       -         1                 0        -  init_once
           *                         1                 0        -    block 0  +0x0  16 bytes
    -      -       1       1       200               500     2.50  tick
                   *               100               450     4.50    block 0  +0x0  10 bytes
                           *       100                50     0.50    block 1  +0xa  10 bytes

Not compared: 1 functions whose code differs: xfs:xfs_read

Not compared: 1 functions only in the old one: removed

Not compared: 1 functions only in the new one: added
T
check "two compared, other limits" differences --ratio 1 --least 150 << 'T'
old  test/cover/old.json: kernel 6.1.0-example, mode count, 14 of 16 known blocks hit, during: make old
new  test/cover/new.json: kernel 6.1.0-example, mode count, 14 of 17 known blocks hit
           2 blocks in 2 functions newly reached
           2 blocks in 2 functions no longer reached
           2 blocks in 2 functions hotter
           0 blocks in 0 functions colder
          13 blocks in 8 functions compared; 2 blocks are not known in both

  NEW   GONE  HOTTER  COLDER    BEFORE             AFTER    RATIO  FUNCTION
    1      1       -       -         5                 3     0.60  vfs_read
    1      -       -       -         0  9007199254740993        -  twice
    -      1       -       -         1                 0        -  init_once
    -      -       1       -       100               450     4.50  tick
    -      -       1       -      1000              1200     1.20  steady

Not compared: 1 functions whose code differs: xfs:xfs_read

Not compared: 1 functions only in the old one: removed

Not compared: 1 functions only in the new one: added
T
check "two compared: JSON" differences --json < $here/diff.json
nothing_new() { is "$("$ki" cover --diff $here/old.json $here/old.json --json | jq -c '[.functions, .blocks_changed]')" '[[],{"reached":0,"gone":0,"hotter":0,"colder":0}]'; }
check "one compared with itself" nothing_new
turned() {
	is "$("$ki" cover --diff $here/new.json $here/old.json --json | jq -c '.blocks_changed')" \
		'{"reached":2,"gone":2,"hotter":1,"colder":1}' &&
		is "$("$ki" cover --diff $here/new.json $here/old.json --json | jq -c '.functions[0].blocks[0]')" \
			'{"offset":16,"bytes":16,"change":"gone","before":3,"after":0}'
}
check "the other way round" turned

# --- What a program executed, as its source and as pages

shift=0x1c000000
gcc -g -O0 -static -no-pie -o "$tmp/plain" $here/prog.c
gcc -g -O2 -static -no-pie -o "$tmp/fast" $here/prog.c
(cd "$tmp" && gcc --coverage -O0 -o counted "$OLDPWD/$here/prog.c" && ./counted 30 > /dev/null &&
	gcov counted-prog.gcda > /dev/null) || echo "# gcov failed"
"$make" run edges $shift "$tmp/plain.json" "$tmp/plain" 30 > /dev/null
"$make" run count $shift "$tmp/fast.json" "$tmp/fast" 30 > /dev/null
"$make" run hit 0 "$tmp/hit.json" "$tmp/plain" 30 > /dev/null

lcov_of() { "$ki" cover --from "$1" --lcov "$2" "${@:3}" > /dev/null; }
as_gcov() {
	lcov_of "$tmp/plain.json" "$tmp/plain.info" --debug "$tmp/plain" &&
		python3 $here/lines.py gcov "$tmp/plain.info" $here/prog.c "$tmp/prog.c.gcov"
}
check "lines are counted as gcov counts them" as_gcov
optimized() {
	lcov_of "$tmp/fast.json" "$tmp/fast.info" --debug "$tmp/fast" &&
		python3 $here/lines.py rows "$tmp/fast.info" "$tmp/fast.json" "$tmp/fast" $shift
}
check "lines of optimized code, inlined too, as objdump and addr2line say" optimized
only_hits() {
	lcov_of "$tmp/hit.json" "$tmp/hit.info" --debug "$tmp/plain" &&
		is "$(sed -n 's/^\(DA:[0-9]*,\)[1-9].*/\11/p' "$tmp/plain.info")" "$(grep '^DA:.*,1$' "$tmp/hit.info")" &&
		! grep -q '^DA:.*,[2-9]' "$tmp/hit.info" && ! grep -q '^BR' "$tmp/hit.info"
}
check "without counts: the same lines, once each" only_hits

# A relocatable file, laid out one way by the library and another by libdw, and called as a module.
module() {
	gcc -g -O1 -fno-inline -fno-pic -c -o "$tmp/some-mod.ko" $here/prog.c &&
		"$make" image count 5 "$tmp/image.json" "$tmp/some-mod.ko" &&
		sed 's/^{"name":"[a-z]*",/&"module":"some_mod",/' "$tmp/image.json" > "$tmp/mod.json" &&
		lcov_of "$tmp/mod.json" "$tmp/mod.info" --debug "$tmp/some-mod.ko" &&
		python3 $here/lines.py rows "$tmp/mod.info" "$tmp/mod.json" "$tmp/some-mod.ko" 0
}
check "lines of a module" module
check "a file of another build" fails 1 "fast: does not fit: of [0-9]+ functions of the kernel" --from "$tmp/plain.json" --lcov "$tmp/x" --debug "$tmp/fast"
check "a file without lines" fails 1 "no DWARF lines|not a valid|ELF" --from "$tmp/plain.json" --lcov "$tmp/x" --debug /bin/true

branches() {
	local line
	line=$(grep -n 'while (n != 1)' $here/prog.c | cut -d: -f1)
	is "$(awk -F'[:,]' '/^BRDA/ { s[$3] += $5; n[$3]++ } END { for (b in n) if (n[b] < 2) print b }' "$tmp/plain.info")" "" &&
		is "$(sed -n '/prog.c$/,/end_of/s/^BRDA:'"$line"',[0-9]*,\([01]\),\([0-9]*\)$/\1 \2/p' "$tmp/plain.info" | sort | wc -l)" 2 &&
		is "$(sed -n '/prog.c$/,/end_of/s/^BRDA:'"$line"',[0-9]*,[01],//p' "$tmp/plain.info" | paste -sd+ | bc)" \
			"$(sed -n '/prog.c$/,/end_of/s/^DA:'"$line"',//p' "$tmp/plain.info")"
}
check "branches: each in both directions, together as often as their line" branches

genhtml_takes() { # TRACE OPTION...
	local said
	said=$(genhtml --branch-coverage -o "$tmp/gen" "${@:2}" "$1" 2>&1) || { echo "$said"; return 1; }
	grep -qE 'lines\.+: [0-9.]+% ' <<< "$said" && ! grep -E '^genhtml: (ERROR|WARNING)' <<< "$said" | grep -v 'cannot read'
}
if command -v genhtml > /dev/null; then
	grep -vE '^$' "$tmp/plain.info" > "$tmp/g.info"
	check "genhtml takes it" genhtml_takes "$tmp/g.info"
	lcov_of "$tmp/fast.json" "$tmp/blocks.info" --debug none
	check "genhtml takes it without source" genhtml_takes "$tmp/blocks.info" --ignore-errors source
else
	check "genhtml is here (test/deps.sh installs lcov)" false
fi
offsets() {
	is "$(sed -n '/^SF:kernel\/main$/,/end_of/s/^DA:\([0-9]*\),\([0-9]*\)$/[\1,\2]/p' "$tmp/blocks.info" | paste -sd, )" \
		"$(jq -r '.functions[] | select(.name == "main") | [.blocks[] | [.[0] + 1, (.[2] // 0)] | tojson] | join(",")' "$tmp/fast.json")"
}
check "without lines: a function is a file, an offset a line" offsets

report_of() { # COVERAGE OPTION...
	rm -rf "$tmp/report"
	"$ki" cover -q --from "$1" --html "$tmp/report" "${@:2}" > /dev/null &&
		python3 $here/pages.py "$tmp/report" "$1"
}
check "a report" report_of $here/old.json
check "a report with graphs" report_of "$tmp/plain.json" --debug none
check "a report with lines and instructions" report_of "$tmp/fast.json" --debug "$tmp/fast" --image "$tmp/fast"
instructions() {
	local page
	page=$(grep -l '<title>main</title>' "$tmp/report"/f/*.html)
	is "$(grep -o '>j[a-z]* main+0x[0-9a-f]*' "$page" | sed 's/.* //' | sort)" \
		"$(objdump -d --no-show-raw-insn "$tmp/fast" | grep -oE 'j[a-z]+ +[0-9a-f]+ <main\+0x[0-9a-f]+>' | sed 's/.*<//; s/>//' | sort)" &&
		grep -q 'prog.c:[0-9]' "$page"
}
check "its branches are those of objdump" instructions

# Names, and what was run, may be anything.
hostile() {
	jq -c . $here/old.json > /dev/null || return
	sed -e '1s/"command":"make old"/"command":"<script>alert(1)<\/script>\&\\"'\''"/' \
		-e 's/"name":"vfs_read"/"name":"<img src=x onerror=alert(1)>"/' \
		-e 's/"name":"tick"/"name":"..\/..\/..\/tick\\n<\/script>"/' \
		-e 's/"module":"xfs"/"module":"\\"><script>x<\/script>"/' $here/old.json > "$tmp/hostile.json"
	report_of "$tmp/hostile.json" && ! grep -rlE '<script>|<img' "$tmp/report" --include='*.html' &&
		is "$(find "$tmp/report" -name '*tick*')" ""
}
check "names that want to be something else" hostile

# --- Wrong usage, and what goes wrong

check "no file, and no functions" fails 2 "functions are wanted" -v
check "one file to compare" fails 2 "OLD and NEW" --diff $here/old.json
check "too many files" fails 2 "one file" --from $here/old.json $here/new.json
check "both" fails 2 "one of them" --from x --diff y z
check "a report of a comparison" fails 2 "a table or --json" --diff $here/old.json $here/new.json --html "$tmp/x"
check "a bad ratio" fails 2 "--ratio '0.5'" --diff $here/old.json $here/new.json --ratio 0.5
check "a bad number of hits" fails 2 "--least '0'" --diff $here/old.json $here/new.json --least 0
check "an image for nothing" fails 2 "for --html" --from $here/old.json --image x
check "no room for lcov" fails 1 "/dev/full: writing it failed" --from $here/old.json --lcov /dev/full
check "no room for addresses" fails 1 "/dev/full: writing it failed" --from $here/old.json --pcs /dev/full
check "no place for a report" fails 1 "prog.c/x: Not a directory" --from $here/old.json --html $here/prog.c/x
no_room() { [[ $("$ki" cover --from $here/old.json --json 2>&1 > /dev/full) == *"failed"* ]]; }
check "no room for the result" no_room

# --- A whole kernel

kernel=$(vm/kernel 6.1 vmlinux 2> /dev/null) && symbols=$(vm/kernel 6.1 system-map)
whole() {
	local bytes
	"$make" image count 7 "$tmp/whole.json" "$kernel" "$symbols" && same_again "$tmp/whole.json" || return
	bytes=$(stat -c %s "$tmp/whole.json")
	[[ $bytes -lt 30000000 ]] || { echo "$bytes bytes"; return 1; }
	head -n 1 "$tmp/whole.json" | sed 's/$/]}/' | jq -e '.totals.functions > 40000 and .totals.blocks > 500000'
}
check "a kernel's blocks: less than 30 MB, the same again" whole
compared() {
	"$make" image count 8 "$tmp/other.json" "$kernel" "$symbols" &&
		"$ki" cover --diff "$tmp/whole.json" "$tmp/other.json" --json |
		jq -e '.functions_by_match.same > 40000 and .functions_by_match.differs == 0 and .blocks_changed.reached > 50000'
}
check "two of them compared" compared
finish
