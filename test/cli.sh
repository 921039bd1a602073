#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/cli.sh [KERNINST]
# The verbs that look at files: what they print, what objdump says to it, how they fail.
# promise: P17, A9: Disassembly shows original or present code, call targets by name and free
#   registers, as objdump does. [know.sh]
set -u
cd "$(dirname "$0")/.." || exit 1
ki=${1:-build/release/bin/kerninst}
# shellcheck source=test/lib.sh
. test/lib.sh
export LC_ALL=C NO_COLOR=1

# fails STATUS PATTERN VERB...: with this status, and one line that matches.
fails() {
	local want=$1 pattern=$2 said status
	shift 2
	said=$("$ki" "$@" 2>&1 > "$tmp/out")
	status=$?
	is "$status" "$want" && is "$(grep -c . <<< "$said")" 1 && is "$(cat "$tmp/out")" "" &&
		{ grep -qE "^kerninst: .*($pattern)" <<< "$said" || { echo "$said"; false; }; }
}

# ---- a program of known bytes ----
cat > "$tmp/p.s" <<'S'
	.text
	.globl outer, middle, rec, leaf, table
	.type outer, @function
	.type middle, @function
	.type rec, @function
	.type leaf, @function
outer:	push %rbx
	mov %rdi, %rbx
	call middle
	call middle
	test %rax, %rax
	je 1f
	call *8(%rbx)
1:	pop %rbx
	ret
	.balign 16, 0xcc
middle:	push %rbp
	call rec
	pop %rbp
	jmp leaf
	.balign 16, 0xcc
rec:	dec %edi
	js 2f
	call rec
2:	ret
	.balign 16, 0xcc
leaf:	xor %eax, %eax
	ret
	.balign 16, 0xcc
S
as --64 -o "$tmp/p.o" "$tmp/p.s" && ld -Ttext=0x401000 -e outer -o "$tmp/p" "$tmp/p.o" || exit 1
as --32 -o "$tmp/32.o" /dev/null || exit 1
strip -o "$tmp/stripped" "$tmp/p" || exit 1
nm -n "$tmp/p" | grep -v ' [A-Z] _' > "$tmp/p.map"
p=(--image "$tmp/p")

disas_text() {
	is "$("$ki" disas "${p[@]}" --bytes outer)" "\
kernel:outer  0x401000  32 bytes  3 blocks  yes
block 0:
  0x0000000000401000  +0x0     53              push rbx
  0x0000000000401001  +0x1     48 89 fb        mov rbx, rdi
  0x0000000000401004  +0x4     e8 17 00 00 00  call middle
  0x0000000000401009  +0x9     e8 12 00 00 00  call middle
  0x000000000040100e  +0xe     48 85 c0        test rax, rax
  0x0000000000401011  +0x11    74 03           je +0x16

block 1:
  0x0000000000401013  +0x13    ff 53 08        call [rbx+0x8]

block 2:
  0x0000000000401016  +0x16    5b              pop rbx
  0x0000000000401017  +0x17    c3              ret

  0x0000000000401018  +0x18    (8 bytes of padding)"
}

# In leaf all but the stack pointer and what a caller may want kept is free; rax is returned.
disas_regs() {
	local free
	free=$("$ki" disas "${p[@]}" --regs --json leaf | jq -r '.instructions[] | select(.free) | .free | join(" ")')
	is "$(head -n 1 <<< "$free" | tr ' ' '\n' | grep -cxE 'rax|flags')" 2 || return
	is "$(sed -n 2p <<< "$free" | tr ' ' '\n' | grep -cxE 'rax|rsp')" 0 || return
	"$ki" disas "${p[@]}" --regs leaf | grep -q '+0x0 .* xor eax, eax .*; free: rax'
}

disas_att() { "$ki" disas "${p[@]}" --att rec | grep -qE '\+0x2 +js \+0x9$'; }
disas_from() { is "$("$ki" disas "${p[@]}" outer+0x16 | sed -n 3p)" "  0x0000000000401016  +0x16    pop rbx"; }
disas_address() { is "$("$ki" disas "${p[@]}" 0x401013 --json | jq -r '.instructions[0].text')" "call [rbx+0x8]"; }
disas_glob() { is "$("$ki" disas "${p[@]}" --json '*' | jq -r .function | tr '\n' ' ')" "outer middle rec leaf "; }

calls_text() {
	is "$("$ki" calls "${p[@]}" --depth 4 outer 2> "$tmp/err")" "\
kernel:outer  0x401000  callees
  middle                                              2  call
    rec                                               1  call
      rec                                             1  call  (recursion)
    leaf                                              1  tail
  indirect (1 site)                                   1  indirect" &&
		is "$(cat "$tmp/err")" "3 functions in 5 rows; 4 calls, 1 tail call, 1 indirect"
}

callers_text() {
	is "$("$ki" calls -q "${p[@]}" --callers leaf)" "\
kernel:leaf  0x401040  callers
  middle                                              1  tail
    outer                                             2  call"
}

call_sites() {
	is "$("$ki" callers -q "${p[@]}" middle leaf)" "\
0x401004  call  middle  outer+0x4
0x401009  call  middle  outer+0x9
0x401027  tail  leaf  middle+0x7" &&
		is "$("$ki" callers --json "${p[@]}" rec | jq -r '[.address, .kind, .function, .caller, .offset] | map(tostring) | join(" ")')" "\
0x401021 call rec middle 1
0x401034 call rec rec 4"
}
call_sites_none() { is "$("$ki" callers "${p[@]}" outer 2>&1)" "kerninst: outer: no direct call is known"; }

callers_none() { is "$("$ki" calls -q "${p[@]}" --callers outer | tail -n 1)" "  none known"; }
calls_depth() { is "$("$ki" calls -q "${p[@]}" -d 1 outer | wc -l)" 3; }

list_text() {
	is "$("$ki" list "${p[@]}" 2> "$tmp/err")" "\
MODULE  FUNCTION  ADDRESS               SIZE  BLOCKS    INSNS  STATUS
kernel  outer     0x401000                32       3        9  yes
kernel  middle    0x401020                16       1        4  yes
kernel  rec       0x401030                16       3        4  yes
kernel  leaf      0x401040                16       1        2  yes" &&
		is "$(cat "$tmp/err")" "4 functions, 4 can be instrumented; 8 blocks, 19 instructions"
}

list_named() { is "$("$ki" list -q "${p[@]}" leaf | tail -n 1 | tr -s ' ')" "kernel leaf 0x401040 16 1 1 yes"; }

info_json() {
	"$ki" info "${p[@]}" --json > "$tmp/info" || return
	jq -e '.analysis | .functions == 4 and .parsed == 4 and .parsed_percent == 100 and .blocks == 8 and
		.instructions == 19 and .unparsed == 0 and .indirect_calls == 1 and .tail_calls == 1 and
		.refused == {} and .threads >= 1 and .peak_bytes > 0' "$tmp/info"
}

info_text() { "$ki" info "${p[@]}" | grep -qx 'parsed  *4  100.00 %'; }
info_quick() { "$ki" info --quick --json "${p[@]}" | jq -e 'has("analysis") | not'; }
info_threads() { is "$("$ki" info --threads 3 --json "${p[@]}" | jq .analysis.threads)" 3; }
info_verbose() { is "$("$ki" info -v --json "${p[@]}" | jq -c .analysis.not_parsed)" "[]"; }
# Each event is counted here, or the reason is said; what no processor counts is not.
info_events() {
	"$ki" info --events --json > "$tmp/events" && "$ki" info --events | grep -qE '^page-faults +yes' || return
	jq -e '(.events | length) > 40 and all(.events[]; (.here == "yes") == (.why == null))' "$tmp/events" > /dev/null || return
	is "$(jq -r '.events[] | select(.name == "mesi" or .name == "read hits by state of the line").here' "$tmp/events")" no
}

system_map() {
	is "$("$ki" calls -q --image "$tmp/stripped" --system-map "$tmp/p.map" middle | tail -n 1 | tr -s ' ')" \
		" leaf 1 tail"
}

# Every line of a verb's JSON is JSON.
json() {
	"$ki" "$@" --json > "$tmp/json" 2> /dev/null && [[ -s $tmp/json ]] &&
		while IFS= read -r line; do jq -e . <<< "$line" > /dev/null || return; done < "$tmp/json"
}

# What has a row of its own may be displaced (test/fuzz/seed.S is the object's source).
disas_rows() {
	local object=test/fuzz/corpus/image/object
	is "$("$ki" disas --image $object _stext | sed -n 's/^ .*+0x[0-9a-f]* *\([a-z0-9]*\).*; \(fixup\|bug\)$/\1 \2/p' | paste -sd,)" "mov fixup,ud2 bug" &&
		is "$("$ki" disas --json --image $object _stext |
			jq -r '.instructions[] | select(.fixup or .bug) | "\(.text) \(.reason) \(.fixup) \(.bug)"' | paste -sd,)" \
			"mov eax, [rdi] OK true null,ud2 OK null true"
}

explain_all() { is "$("$ki" explain | grep -c '^[A-Z]')" "$("$ki" explain --json | wc -l)"; }

# ---- against objdump: a module of the kernel, and the kernel itself ----
ko=$(vm/kernel 6.1 modules)/kernel/fs/btrfs/btrfs.ko
vmlinux=$(vm/kernel 6.1 vmlinux)
kernel=(--image "$vmlinux" --system-map "$(vm/kernel 6.1 system-map)")

# All direct calls of the module, except in functions of several names.
same_calls() {
	objdump -t "$ko" > "$tmp/symbols"
	objdump -drw "$ko" > "$tmp/code"
	"$ki" list --json -qv --image "$ko" '*' | jq -r 'select(.aliases != []) | .function, .aliases[]' > "$tmp/aliases"
	awk -f test/cli/calls.awk "$tmp/symbols" "$tmp/code" | grep -vwFf "$tmp/aliases" | sort > "$tmp/want"
	"$ki" calls --json -q -d 1 --image "$ko" '*' |
		jq -r 'select(.kind == "call" and (.caller | endswith(".cold") | not)) | "\(.caller) \(.function) \(.sites)"' |
		awk '{ n[$1 " " $2] += $3 } END { for (c in n) print c, n[c] }' |
		grep -vwFf "$tmp/aliases" | sort > "$tmp/got"
	[[ $(wc -l < "$tmp/want") -gt 10000 ]] && diff "$tmp/want" "$tmp/got"
}

# Who calls is the reverse of what is called.
same_callers() {
	local callers
	callers=$("$ki" calls --json -q -d 1 --callers --image "$ko" btrfs_release_path |
		jq -r 'select(.depth == 1 and .kind == "call") | "\(.function) btrfs_release_path \(.sites)"' | sort)
	[[ $callers ]] && is "$callers" "$(grep ' btrfs_release_path ' "$tmp/want")"
}

# Each place where it is called, as objdump has them.
same_call_sites() {
	grep -E '^[0-9a-f]+ <|\scall .*\sbtrfs_release_path-0x4$' "$tmp/code" |
		sed -E 's/^([0-9a-f]+) <(.*)>:$/\1 \2/; s/^ *([0-9a-f]+):.*/\1/' |
		while read -r at name; do
			[[ ! $name ]] || { caller=$name begins=$at; continue; }
			echo "$caller $((0x$at - 0x$begins))"
		done | sort > "$tmp/want"
	"$ki" callers --json -q --image "$ko" btrfs_release_path |
		jq -r 'select(.kind == "call") | "\(.caller) \(.offset)"' | sort > "$tmp/got"
	[[ $(wc -l < "$tmp/want") -gt 10 ]] && diff "$tmp/want" "$tmp/got"
}

# Addresses and bytes of all instructions of some functions.
same_instructions() {
	local f
	for f in vfs_read tcp_v4_rcv do_sys_openat2 schedule memcpy do_exit; do
		"$ki" disas --json "${kernel[@]}" "$f" > "$tmp/f" || return
		jq -r '.instructions[] | "\(.address[2:]) \(.bytes)"' "$tmp/f" > "$tmp/got"
		[[ $(wc -l < "$tmp/got") -gt 3 ]] || return
		objdump -dzw --insn-width=16 --start-address="$(jq -r .address "$tmp/f")" \
			--stop-address=$(($(jq -r .address "$tmp/f") + $(jq .size "$tmp/f"))) "$vmlinux" |
			awk -F'\t' 'NF >= 3 { a = $1; b = $2; gsub(/[ :]/, "", a); gsub(/ /, "", b); print a, b }' > "$tmp/want"
		diff "$tmp/want" "$tmp/got" || { echo "$f"; return 1; }
	done
}

kernel_info() {
	"$ki" info --json "${kernel[@]}" > "$tmp/info" || return
	jq -e '.analysis | .functions > 40000 and .parsed_percent > 99.9 and .instructions > 2000000 and
		(.refused | length) > 3' "$tmp/info"
}

# The list of all functions at once agrees with the one by one: blocks, instructions, and what can
# be instrumented.
kernel_list() {
	local show='"\(.function) \(.address) \(.blocks) \(.instructions) \(.reason == "OK")"'
	"$ki" list --json -q "${kernel[@]}" | jq -r "$show" > "$tmp/got"
	"$ki" list --json -q "${kernel[@]}" '*' | jq -r "$show" > "$tmp/want"
	[[ $(wc -l < "$tmp/want") -gt 40000 ]] && diff "$tmp/want" "$tmp/got"
}

interrupted() {
	local status
	timeout -s INT --preserve-status 0.15 "$ki" info --threads 1 "${kernel[@]}" > "$tmp/out"
	status=$?
	is "$status" 130 && is "$(cat "$tmp/out")" ""
}

terminal() { # on a terminal the titles are bold, and not with NO_COLOR
	local bold=$'\033[1m'
	NO_COLOR='' script -qec "$ki list ${p[*]}" /dev/null < /dev/null | grep -qF "$bold" &&
		! script -qec "$ki list ${p[*]}" /dev/null < /dev/null | grep -qF "$bold"
}

check "disas: text" disas_text
check "disas --regs" disas_regs
check "disas --att" disas_att
check "disas FUNCTION+OFFSET" disas_from
check "disas ADDRESS" disas_address
check "disas GLOB" disas_glob
check "calls: text and totals" calls_text
check "calls --callers" callers_text
check "calls --callers: none" callers_none
check "calls --depth" calls_depth
check "callers: each call, with its address" call_sites
check "callers: none" call_sites_none
check "callers: no FUNCTION" fails 2 "no FUNCTION is given" callers
check "callers: no such function" fails 1 "no function 'midle'; near: middle" callers "${p[@]}" midle
check "list: all functions" list_text
check "list GLOB: windows" list_named
check "info --json" info_json
check "info: text" info_text
check "info --quick" info_quick
check "info --threads" info_threads
check "info -v" info_verbose
check "info --events" info_events
check "--system-map gives a stripped file its names" system_map
for verb in "disas --regs outer rec" "calls outer" "calls --callers leaf" "callers middle" list "list -v" info "info -v"; do
	# shellcheck disable=SC2086
	check "$verb --json is JSON" json $verb "${p[@]}"
done
check "explain --json is JSON" json explain
check "disas: an instruction with a fixup, a ud2 of the bug table" disas_rows
check "explain: all reasons" explain_all
check "all direct calls of a module are those that objdump shows" same_calls
check "its callers too" same_callers
check "and the places" same_call_sites
check "instructions of the kernel are those that objdump shows" same_instructions
check "info of the kernel" kernel_info
check "list of the kernel" kernel_list
check "Ctrl-C ends it at once" interrupted
check "bold titles" terminal

check "no such function" fails 1 "outre.*near: outer" disas "${p[@]}" outre
check "a function, but not there" fails 1 "no function 'leaf' at 0x401000" disas "${p[@]}" leaf@0x401000
check "no such function to call" fails 1 "'nothing'" calls "${p[@]}" nothing
check "an address outside the code" fails 1 "0x10: the address is not in" disas "${p[@]}" 0x10
check "an offset inside an instruction" fails 1 "outer\+0x2: inside the instruction at \+0x1" disas "${p[@]}" outer+2
check "an offset behind the end" fails 1 "only 0x20 bytes" disas "${p[@]}" outer+0x20
check "a point where a function is meant" fails 2 "not points" disas "${p[@]}" outer:exit
check "an offset where a function is meant" fails 2 "not points" calls "${p[@]}" outer+1
check "no function given" fails 2 "FUNCTION" disas "${p[@]}"
check "--live of a file" fails 2 "--live: .*does not run" disas --live "${p[@]}" outer
check "no such file" fails 1 "$tmp/none: No such file" list --image "$tmp/none"
check "not an ELF file" fails 1 "not an ELF file; --image takes" calls --image "$tmp/p.s" outer
check "a 32-bit file" fails 1 "32.o: .*x86-64" info --image "$tmp/32.o"
check "no symbols" fails 1 "stripped: .*--system-map" list --image "$tmp/stripped"
check "not a System.map" fails 1 "p.s:1: .*--system-map takes" list "${p[@]}" --system-map "$tmp/p.s"
check "a bad depth" fails 2 "--depth 0" calls "${p[@]}" --depth 0 outer
check "a bad number of threads" fails 2 "--threads x" info "${p[@]}" --threads x
check "an unknown option" fails 2 "--nonsense" disas "${p[@]}" --nonsense outer
# what is wrong with a command line is said before the driver is asked for
stat=(stat --pid 1 vfs_read)
check "stat: a predicate that ends too early" fails 2 "--if 'pid ==': predicate: column 7: .* here is the end" "${stat[@]}" --if 'pid =='
check "stat: = for ==" fails 2 "column 5: .* equal is ==" "${stat[@]}" --if 'pid = 1'
check "stat: an unknown name" fails 2 "column 6: no name 'pidd': pid, tid" "${stat[@]}" --if '1 + (pidd)'
check "stat: an unknown user" fails 2 "column 8: there is no such user" "${stat[@]}" --if 'uid == "no such"'
check "stat: an unknown control group" fails 2 "column 11: no directory of that name" "${stat[@]}" --if 'cgroup == "/no/such"'
check "stat: a string for a number" fails 2 "column 8: only comm, execname, uid, cgroup, str[(][)] and ustr[(][)]" "${stat[@]}" --if 'pid == "1"'
check "stat: parentheses that only the whole would close" fails 2 "column 9: an operator or the end" "${stat[@]}" --if 'pid == 1) || (tid == 1'
check "stat: no list of processes" fails 2 "--pid '1,x': numbers" "${stat[@]}" --pid 1,x
check "stat: an empty list of processes" fails 2 "--pid '': numbers" "${stat[@]}" --pid ''
check "stat: no process has the number 0" fails 2 "--pid '0': numbers" "${stat[@]}" --pid 0
check "stat: no share of the machine" fails 2 "--budget '2': a share of the machine, as 2%" "${stat[@]}" --budget 2
check "stat: more than the machine" fails 2 "--budget '101%': a share" "${stat[@]}" --budget 101%
check "stat: keys and functions that are moved" fails 2 "no --move" "${stat[@]}" --by comm --move
check "stat: rows of no keys" fails 2 "are for --by, --agg and --hist" "${stat[@]}" -n 3
check "stat: room for no keys" fails 2 "are for --by, --agg and --hist" "${stat[@]}" --rows 64
check "stat: more buckets than there can be" fails 2 "at most [0-9]* buckets" "${stat[@]}" --hist arg2:0:1000000:1
check "stat: buckets of no width" fails 2 "LOW:HIGH:STEP" "${stat[@]}" --hist arg2:0:100:0
check "stat: half of the bounds" fails 2 "--hist 'arg2:0:100': " "${stat[@]}" --hist arg2:0:100
words=arg0,arg1,arg2,arg3,arg4,arg5
check "stat: more words of a key than anything has" fails 2 "more than 32 words of values" "${stat[@]}" --by "$words,$words,$words,$words,$words,$words"
check "stat: more words than a key has" fails 2 "--by takes at most 11 words" "${stat[@]}" --by "$words,$words"
check "record: more words than a record has" fails 2 "more than 32 words of values" record "vfs_read=$words,$words,$words,$words,$words,$words"
mkdir -p "$tmp/a b" && : > "$tmp/a b/x.c" && : > "$tmp/x y.c"
check "build: a directory that make cannot have" fails 1 "a b/x.c: make cannot have it there" build "$tmp/a b/x.c"
check "build: a name that make cannot have" fails 1 "x y.c: the name of a C file" build "$tmp/x y.c"
check "stat: nothing to be spent" fails 2 "nothing would be spent; use --cost" "${stat[@]}" --budget 1% --dry-run
check "stat: a name that no thread has" fails 2 "1 to 15 bytes" "${stat[@]}" --comm sixteen-letters!
check "stat: no list of CPUs" fails 2 "--cpu '3-1' is no list" "${stat[@]}" --cpu 3-1
check "stat: an empty list of CPUs" fails 2 "--cpu '' is no list" "${stat[@]}" --cpu ''
check "stat: half a list of CPUs" fails 2 "--cpu '1,' is no list" "${stat[@]}" --cpu 1,
check "stat: a separator of two characters" fails 2 "-x 'ab': a separator" "${stat[@]}" -x ab
check "stat: a quote as separator" fails 2 "-x '\"': a separator" "${stat[@]}" -x '"'
check "stat: CSV and JSON" fails 2 "-x and --json" "${stat[@]}" -x, --json
check "stat: CSV and code" fails 2 "-x and --show-code" "${stat[@]}" -x, --show-code
check "stat: no value behind --if" fails 2 "option --if: no value" "${stat[@]}" --if
check "stat: no value behind -m" fails 2 "option -m: no value" "${stat[@]}" -m
check "stat: an option that it has not" fails 2 "option -c: unknown; try: kerninst stat --help" "${stat[@]}" -c true
check "stat: a long one" fails 2 "option --nothing: unknown; try" "${stat[@]}" --nothing
check "stat: a value of what takes none" fails 2 "option --json=3: it takes no value" "${stat[@]}" --json=3
check "a verb that is nearly one" fails 2 "no verb 'stta'; near: stat; kerninst --help" stta
check "a verb that is not nearly one" fails 2 "no verb 'nonsense'; kerninst --help" nonsense
check "stat: a metric that is not nearly one" fails 2 "no metric 'nonsense'; blocks" "${stat[@]}" -m nonsense
# full VERB...: one line says why it could not be written
full() {
	local said
	said=$("$ki" "$@" 2>&1 > /dev/full)
	is "$?" 1 && is "$said" "kerninst: writing the output failed: No space left on device"
}
check "help without room" full --help
check "a table without room" full metrics
check "JSON without room" full metrics --json
version() { is "$("$ki" version)" "$("$ki" --version)" && grep -q '^kerninst [0-9]' <<< "$("$ki" version)"; }
check "the version, as a word, too" version
check "stat: an unknown metric" fails 2 "no metric 'walltimes'; near: walltime; blocks, edges, .* kerninst metrics" "${stat[@]}" -m calls,walltimes
check "stat: an unknown modifier" fails 2 "no metric 'cycles:x'" "${stat[@]}" -m cycles:x
check "stat: a modifier of what is no event" fails 2 "no metric 'walltime:k'" "${stat[@]}" -m walltime:k
check "stat: an unknown sum" fails 2 "--agg 'median:arg2': sum:WHAT" "${stat[@]}" --by comm --agg median:arg2
check "stat: a sum of nothing" fails 2 "--agg ''" "${stat[@]}" --agg sum:
check "stat: a ratio by keys" fails 2 "-m ipc: not by keys" "${stat[@]}" --by comm -m ipc
check "stat: by keys, for each CPU" fails 2 "no .*-A [(]a key cpu is the same[)]" "${stat[@]}" --by comm -A
check "stat: by keys, CSV with costs" fails 2 "-x and --by with --cost: rows of one kind" "${stat[@]}" --by comm --cost -x,
check "stat: parts by keys" fails 2 "--split and --by: a key can be what a part is of" "${stat[@]}" --split 'pid == 1' --by comm
check "stat: too many sums" fails 2 "more than 8 different values" "${stat[@]}" --agg sum:1,sum:2,sum:3,sum:4,sum:5,sum:6,sum:7,sum:8,sum:9
check "stat: a part that is no predicate" fails 2 "--split 'foo'" "${stat[@]}" --split web:foo
check "stat: two parts of one name" fails 2 "two parts 'a'" "${stat[@]}" --split 'a:pid == 1' --split 'a:pid == 2'
check "stat: parts of blocks" fails 2 "--split: no -m blocks" "${stat[@]}" --split 'pid == 1' -m blocks
check "stat: a module" fails 2 "a module is no point; MODULE:\*" stat fuse:
check "stat: blocks and a time" fails 2 "-m blocks,vtime: blocks and edges are counted" "${stat[@]}" -m blocks,vtime
check "stat: an unknown preset" fails 2 "no preset 'disk'; scheduling" stat --preset disk
check "metrics: no argument" fails 2 "no argument" metrics vfs_read

metrics_table() {
	"$ki" metrics > "$tmp/m" && "$ki" metrics --json > "$tmp/m.json" && is "$(sed 1d "$tmp/m" | wc -l)" "$(wc -l < "$tmp/m.json")" &&
		grep -q '^walltime/call  *s  *mean ' "$tmp/m" && grep -q '^latency  *s  *log2 ' "$tmp/m" &&
		grep -q '"name":"calls","unit":"","form":"total","lasts":false' "$tmp/m.json" &&
		"$ki" metrics -v | grep -q '^calls .* entry: counter += 1 ' &&
		"$ki" metrics -v | grep -q '^walltime/call .* walltime / calls ' && "$ki" metrics -v | grep -q '^calls .* -  ' &&
		grep -q '"name":"llc-miss-ratio".*"derived":"min(1, llc-misses / llc-refs)"' "$tmp/m.json"
}
check "metrics: as a table, as JSON, with code" metrics_table
check "an unknown reason" fails 1 "near: WINDOW_OVERLAP" explain WINDOW_OVERLAB
finish
