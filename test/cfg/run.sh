#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst cfg: what it prints of a small function of our own, and that every format is what it
# claims to be, for large functions too.
# promise: Control-flow graphs, dominators and loops are right, and are drawn. [test_cfg.c,
#   test_layered.c]
set -u
cd "$(dirname "$0")/../.." || exit 1
kerninst=build/release/bin/kerninst
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

result() { # STATUS NAME [LOG]
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n $2" && return
	echo "not ok $n $2"
	[ -z "${3-}" ] || sed 's/^/# /' "$3" | head -n 20
	failed=1
}
failed=0

gcc -nostdlib -static -Wl,-Ttext=0x401000,--build-id=none,-e,small -o "$dir/small" test/cfg/small.S
cfg() { $kerninst cfg --image "$dir/small" "$@"; }

cat > "$dir/expected" << 'END'
kernel:small  0x401000  49 bytes, 11 blocks, 11 edges, 5 exits, 2 loops, depth 2
BLOCK  OFFSET  BYTES  INSNS  DEPTH  LOOP    DOM  NEXT
    0  +0x0        8      4      0  -     entry  10 taken, 1 fall
    1  +0x8        3      1      1  head      0  2 fall
    2  +0xb        5      2      2  head      1  2 taken back, 3 fall
   >3  +0x10      10      3      1  of 1      2  1 taken back, 4 fall
    4  +0x1a       6      2      0  -         3  7 taken, 5 fall
    5  +0x20       2      1      0  -         4  8 taken, 6 fall
    6  +0x22       2      2      0  -         5  ret
    7  +0x24       3      2      0  -         4  tail call to callee
    8  +0x27       5      1      0  -         5  never does not return
    9  +0x2d       2      2      0  -     entry  ret
   10  +0x2f       2      1      0  -         0  trap
END
cfg small+0x15 > "$dir/text" 2>&1
diff "$dir/expected" "$dir/text" > "$dir/log"
result $? "a small function as a table" "$dir/log"

for format in text json dot svg; do
	cfg -o "$dir/small.$format" small && cfg -f "$format" small | cmp - "$dir/small.$format"
	result $? "$format: to a file whose name says so, and to standard output"
done

objdump -d --no-show-raw-insn "$dir/small" > "$dir/objdump"
python3 test/cfg/check.py "$dir/small.json" "$dir/small.svg" "$dir/objdump" > "$dir/log" 2>&1
result $? "a small function: JSON against objdump, the picture against JSON" "$dir/log"

cfg smal > "$dir/log" 2>&1
[ $? = 1 ] && grep -q "no function 'smal'; near: small" "$dir/log"
result $? "a name that is nearly right" "$dir/log"
cfg 's*' > "$dir/log" 2>&1
[ $? = 2 ] && cfg > "$dir/log" 2>&1
[ $? = 2 ] && cfg -f png small > "$dir/log" 2>&1
[ $? = 2 ] && cfg small:block/11 > "$dir/log" 2>&1
[ $? = 1 ] && cfg small+0x100 > "$dir/log" 2>&1
[ $? = 1 ] && cfg -o "$dir/no/where" small > "$dir/log" 2>&1
[ $? = 1 ] && cfg -o /dev/full -f svg small > "$dir/log" 2>&1
[ $? = 1 ]
result $? "wrong usage and errors" "$dir/log"
for same in kernel:small 0x401000 small@0x401000; do
	cfg $same | sed 's/>/ /'
done | sort | uniq -c | grep -vE '^ *3 ' > "$dir/log"
[ ! -s "$dir/log" ]
result $? "the same function by module and name, and by address" "$dir/log"

# The largest functions of a program: our own.
$kerninst list -q --image $kerninst | awk 'NR > 1 { times[$2]++; blocks[$2] = $5 }
	END { for (f in times) if (times[f] == 1) print blocks[f], f }' | sort -rn | head -n 25 |
	cut -d ' ' -f 2 > "$dir/names"
for format in json svg; do
	r=0
	while read -r name; do
		$kerninst cfg --image $kerninst -o "$dir/$name.$format" "$name" || r=1
	done < "$dir/names" > "$dir/log" 2>&1
	result $r "the largest functions of a program as $format" "$dir/log"
done
objdump -d --no-show-raw-insn $kerninst > "$dir/objdump"
while read -r name; do
	python3 test/cfg/check.py "$dir/$name.json" "$dir/$name.svg" "$dir/objdump"
done < "$dir/names" > "$dir/log" 2>&1
[ "$(grep -c '^good' "$dir/log")" = "$(wc -l < "$dir/names")" ]
result $? "the same against objdump" "$dir/log"

if command -v dot > /dev/null; then
	while read -r name; do
		$kerninst cfg --image $kerninst -f dot "$name" | dot -Tcanon || echo "$name"
	done < "$dir/names" 2>&1 > "$dir/canon" | head > "$dir/log"
	[ ! -s "$dir/log" ] && [ "$(grep -c '^digraph' "$dir/canon")" = "$(wc -l < "$dir/names")" ]
	result $? "graphviz reads them" "$dir/log"
else
	n=$((n + 1))
	echo "ok $n graphviz reads them # SKIP no dot here"
fi
exit $failed
