#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Code of ours as a genuine kernel module (lib/module): what it says of this kernel is what a module
# says that the kernel's own build has made; its functions stand for ki_replace_a, and the kernel's
# tables work for them: names, unwinding, fixups, BUGs, static branches and static calls. What the
# functions do: test/guest/linked/module.c.
insmod "$(dirname "$0")/../../../build/mate/$(uname -r)/ki_mate.ko" || exit 1
. "$(dirname "$0")/replace_lib.sh"
module=$top/build/test/module
built=$top/build/replace/$(uname -r)/ki_replace.ko
file=/tmp/ki_made.ko
key=/proc/sys/kernel/sched_schedstats

with() { # FUNCTION...: the results while each stands for ki_replace_a
	local f
	for f; do
		echo "$f $(replaced_while "ki_replace_a=ki_made:made_$f" --)"
	done
}
fact() { sed -n "s/^$1 //p" /tmp/facts; } # NAME
known() { grep -c '\[ki_made\]$' /proc/kallsyms; }
# fails PATTERN COMMAND...: with status 1 and one line
# shellcheck disable=SC2317 # called through ok
fails() {
	local pattern=$1 out status
	shift
	out=$("$@" 2>&1)
	status=$?
	echo "$status: $out"
	[ "$status" = 1 ] && [ "$(wc -l <<< "$out")" = 1 ] && grep -qF -- "$pattern" <<< "$out"
}

# ---- what it says ----
ok "this kernel's facts" sh -c "'$module' facts > /tmp/facts"
is "vermagic, as the kernel's build says it" "$(fact vermagic)" "$(modinfo -F vermagic "$built")"
is "the version of module_layout" "$(fact layout_crc)" \
	"$(modprobe --dump-modversions "$built" | awk '$2 == "module_layout" { print $1 }')"
size=$(readelf -SW "$built" | sed -n 's/.*\.gnu\.linkonce\.this_module *PROGBITS *[^ ]* [^ ]* \([^ ]*\).*/\1/p')
is "the size of struct module" "$(fact module_size)" "$((16#$size))"
ok "the file is written" "$module" write $file
is "modinfo knows its name and license" "$(modinfo -F name $file) $(modinfo -F license $file)" "ki_made GPL"
is "it claims no place in the kernel's tree" "$(modinfo -F intree $file)" ""
is "readelf finds nothing wrong" "$(readelf -aW $file 2>&1 > /dev/null)" ""
ok "insmod takes it" insmod $file
ok "rmmod takes it out" rmmod ki_made

# ---- it is loaded ----
is "the target knows its functions" "$("$module" load)" "functions 11"
is "kallsyms has them" "$(known)" 12
is "it taints as others do that are not of the tree, nor signed" "$(cat /sys/module/ki_made/taint)" OE
ok "its name is taken" fails "loaded already" "$module" load
is "code; a call of the kernel's" "$(with 7 call)" "7 17 27 37 47
call 14 24 34 44"
is "a fault goes on at its fixup" "$(with fault)" "fault 19 29 39 49"
is "places that name places" "$(with pointer)" "pointer 14 24 34 44"
branches="branch 15 25 35 45
apart 11 21 31 41" taken="branch 16 26 36 46
apart 12 22 32 42"
calls="static 2 3 4 5
tail 2 3 4 5" other="static 7 14 21 28
tail 7 14 21 28"
is "static branches: the key is off" "$(with branch apart)" "$branches"
is "static calls: the first function" "$(with static tail)" "$calls"
echo 1 > $key
echo op 1 > /proc/ki_mate
is "static branches: the key is on" "$(with branch apart)" "$taken"
is "static calls: the other function" "$(with static tail)" "$other"
ok "unloaded" "$module" unload
ok "loaded while the key is on" "$module" load
is "static branches as the key is" "$(with branch apart)" "$taken"
is "static calls as the key is" "$(with static tail)" "$other"
echo 0 > $key
echo op 0 > /proc/ki_mate
is "static branches, back" "$(with branch apart)" "$branches"
is "static calls, back" "$(with static tail)" "$calls"
counted=$("$ki" stat --json ki_made:made_7 -- "$ki" replace -q ki_replace_a=ki_made:made_7 -- cat /proc/ki_replace 2> /dev/null)
is "a counter at its function counts calls" "$(sed -n 's/.*"point":"[^"]*made_7".*"value": *\([0-9]*\).*/\1/p' <<< "$counted")" 4

# ---- a WARN, and who called ----
warnings() { dmesg | sed -n 's/.*WARNING: .* at \(.*\) *:\([0-9]*\) \([^ ]*\) \(.*\)/\1:\2 \3 \4/p' | sort | uniq -c | sed 's/^ *//'; }
# Of each trace the first function that the unwinder is sure of.
callers() {
	dmesg | sed 's/^\[[^]]*\] *//' |
		awk '/^<TASK>/ { seek = 1; next } /^<\/TASK>/ { seek = 0 } seek && !/^\?/ { sub(/\+.*/, ""); print; seek = 0 }' | tr '\n' ' '
}
is "nothing new in dmesg until here" "$(complaints)" ""
is "after a WARN it goes on" "$(with warn)" "warn 18 28 38 48"
magic=$(fact vermagic)
is "it is of the function, and of the file and line that its row says" "$(warnings)" "4 ${magic% } :321 made_warn+0x4/0x20 [ki_made]"
is "the unwinder is sure of the callers" "$(callers)" "ki_replace_first ki_replace_second show show "
ok "to the end" test "$(dmesg | grep -c '\] *entry_SYSCALL_64')" = 4
dmesg -C
ok "unloaded" "$module" unload
is "loaded without rows" "$("$module" load norows)" "functions 11"
is "after a WARN it goes on" "$(with warn)" "warn 18 28 38 48"
is "there it is sure of nobody" "$(callers)" ""
dmesg -C

# ---- it goes ----
is "while it is used it stays" "$("$ki" replace -q ki_replace_a=ki_made:made_7 -- "$module" unload 2>&1)" \
	"module: unload: module ki_made: it is still used: take out first what leads there"
"$module" unload > /dev/null
ok "loaded, with rows" "$module" load
"$ki" replace -q ki_replace_a=ki_made:made_sleep < /dev/null > /dev/null 2>&1 &
pids[3]=$!
until_true 120 measures "${pids[3]}" || ok "it is in" false
cat /proc/ki_replace > /dev/null &
cat=$!
until_true 120 grep -q made_sleep /proc/$cat/stack || ok "it sleeps" false
kill -INT "${pids[3]}"
wait "${pids[3]}"
soon "nothing leads there any more" 0 cat /sys/module/ki_made/refcnt
is "while a task sleeps in it it stays" "$("$module" unload 2>&1)" \
	"module: unload: module ki_made: cat (process $cat) sleeps in its code: wait, or end it"
kill $cat # which wakes it there
wait $cat
is "and goes on to its end" $? 143
is "the target knows no more of it" "$("$module" unload)" "functions 0"
is "nor does kallsyms" "$(known)" 0
ok "nor does /sys" test ! -e /sys/module/ki_made
ok "and it is gone" fails "no such module" "$module" unload
for _ in 1 2 3; do
	ok "it comes and goes" sh -c "'$module' load && '$module' unload"
done
echo 1 > $key
echo op 1 > /proc/ki_mate
echo 0 > $key
echo op 0 > /proc/ki_mate
is "the kernel goes on" "$(results)" "11 21 31 41"

# ---- it may not come ----
ok "without the capability" fails "CAP_SYS_MODULE" setpriv --bounding-set -sys_module --inh-caps -sys_module "$module" load
ok "the text is what it was" text_is_back
echo integrity > /sys/kernel/security/lockdown
ok "the kernel is locked down" fails "lockdown" "$module" load
echo 1 > /sys/module/module/parameters/sig_enforce
ok "the kernel takes signed modules only" fails "sig_enforce" "$module" load
is "none of it is there" "$(known)" 0
ok "the test module unloads" goes ki_replace
ok "the other, too" goes ki_mate
finish
