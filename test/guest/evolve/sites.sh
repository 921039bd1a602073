#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Versions of functions with what the kernel knows by its address: static branches and calls follow
# when the kernel switches them, faults go on at the copies of their fixups, a WARN is of its line;
# in a module's function, which says of each call what came of it, and in the kernel's own.
# promise: E10: Static branches, calls, faults and WARNs work in a version as in its original.
module=ki_special
insmod "$(dirname "$0")/../../../build/special/$(uname -r)/$module.ko" || exit 1
. "$(dirname "$0")/../common/lib.sh"
start
results=/proc/$module
trace=/sys/kernel/tracing
[ -e $trace/events ] || mount -t tracefs tracefs $trace
kfree=$trace/events/kmem/kfree

modules() { grep -c '^kerninst_copy_' /proc/modules; }
version() { awk -v f="$1" '$4 ~ /kerninst_copy_/ && index($3, f ".") == 1 { print $3; exit }' /proc/kallsyms; }
gone() { # NAME: all is as it was
	is "$1: no window is left" "$(field windows)" 0
	is "$1: no module is left" "$(modules)" 0
	ok "$1: the text is what it was" text_is_back
}
# begin ARGUMENT...: a version is in, in a session of its own; end STATUS
begin() {
	"$ki" specialize "$@" < /dev/null > /tmp/out 2>&1 &
	tool=$!
	ok "specialize $*" until_true 120 grep -q "until Ctrl-C" /tmp/out
	sed 's/^/# /' /tmp/out
}
end() {
	kill -INT $tool
	wait $tool
	is "it is taken out" $? 0
}
# events FILTER FIELD COMMAND...: how many events of the tracepoint with that ptr the command made
events() {
	local filter=$1
	shift
	echo > $trace/trace
	echo "$filter" > $kfree/filter
	echo 1 > $kfree/enable
	"$@" > /dev/null
	echo 0 > $kfree/enable
	grep -c kfree: $trace/trace
}
# counted FUNCTION COMMAND...: how often its version was entered meanwhile
counted() {
	local f=$1
	shift
	"$ki" stat --json -o /tmp/counts "$(version "$f"):entry" -- "$@" > /dev/null 2> /tmp/counts_err
	sed 's/^/# /' /tmp/counts_err >&2
	jq -r '.. | objects | select((.point? // "") | test("kerninst_copy")) | .value' /tmp/counts | head -n 1
}

# ---- a module's function ----
cat $results > /tmp/wanted
sed 's/^/# /' /tmp/wanted
begin --value 3 ${module}_all
is "all results are as before" "$(cat $results)" "$(cat /tmp/wanted)"
is "two calls of a reading go to the version" "$(counted ${module}_all cat $results)" 2
is "the tracepoint is seen by all calls" "$(events "call_site == 0x5ec1a1" cat $results)" 12
is "those of the version are among them" "$(events "call_site == 0x5ec1a1 && ptr == 3" cat $results)" 2
is "results are as before" "$(cat $results)" "$(cat /tmp/wanted)"
echo > $trace/trace
cat $results > /dev/null
is "while it is off nothing is traced" "$(grep -c kfree: $trace/trace)" 0
is "nothing new in dmesg until here" "$(complaints)" ""
echo warn 1 > $results
dmesg | sed -n 's/.*\(WARNING: .*\)/# \1/p'
line=$(grep -n 'WARN_ON' "$top/test/guest/evolve/$module.c" | cut -d: -f1)
ok "a WARN is of its line, in the version" sh -c "dmesg | grep -qE 'WARNING: .* at .*$module.c:$line ${module}_all\.kerninst_copy_'"
ok "its stack goes on to the beginning" sh -c "dmesg | sed -n '/WARNING/,\$p' | grep -q entry_SYSCALL_64"
dmesg -C
echo "call_site == 0x5ec1a1" > $kfree/filter
echo 1 > $kfree/enable
end
gone "a module's function"
begin --value 3 ${module}_all
echo > $trace/trace
is "loaded while it is traced" "$(cat $results)" "$(cat /tmp/wanted)"
is "all calls are seen" "$(grep -c kfree: $trace/trace)" 12
echo 0 > $kfree/enable
cat $results > /dev/null
is "until nobody traces" "$(grep -c kfree: $trace/trace)" 12
end

# ---- keys of the module stay with it ----
begin --value 3 ${module}_own
for state in "key 1" "op 1" "key 0" "op 0"; do
	echo "$state" > $results
	cat $results > "/tmp/with.$state"
done
end
for state in "key 1" "op 1" "key 0" "op 0"; do
	echo "$state" > $results
	is "$state: results are the function's own" "$(cat "/tmp/with.$state")" "$(cat $results)"
done
ok "and these were different" sh -c "! cmp -s '/tmp/with.key 1' '/tmp/with.op 0'"

# ---- a version holds the module ----
begin --value 3 ${module}_all
ok "the module stays while there is a version" sh -c "! rmmod $module"
end

# ---- an argument of 32 bits ----
# wait(2) gives -1 with zeros above it; then there is something else.
cat > /tmp/waits << 'END'
for (1 .. 7) { fork or exit $_; wait; print $? >> 8, "\n" }
for (1 .. 3) { my $p = fork; $p or exit; print syscall(61, 0x77ffffffff, 0, 0, 0) == $p ? "own\n" : "other\n" }
my $p = fork; $p or exit 5; waitpid($p, 0); print $? >> 8, "\n";
END
perl /tmp/waits > /tmp/wanted
while :; do perl /tmp/waits; done > /dev/null &
load=$!
ok "negative values are counted as such" sh -c "'$ki' specialize -n --for 2 kernel_wait4 | grep '^kernel_wait4: argument 0 is -1 in'"
kill $load
wait $load 2> /dev/null
begin --value -1 kernel_wait4
is "who waits gets what he did" "$(perl /tmp/waits)" "$(cat /tmp/wanted)"
ok "with anything above the 32 bits" test "$(counted kernel_wait4 perl /tmp/waits)" -ge 10
# This shell waits in it, and so cannot end it by a signal and a wait.
kill -INT $tool
until_true 60 sh -c "! kill -0 $tool 2> /dev/null"
wait $tool 2> /dev/null
# shellcheck disable=SC2317 # called through ok
reset_ends() { "$ki" reset > /dev/null 2>&1; [ "$(modules)" = 0 ]; }
ok "when nobody waits in it, reset unloads it" until_true 60 reset_ends
gone "an argument of 32 bits"

# ---- the kernel's own ----
begin --value 0 kfree
ok "its tracepoint is seen" test "$(events "ptr == 0" sh -c "ls -lR /etc/ssl; mount > /dev/null; ip addr")" -gt 0
ok "calls of nothing go to the version" test "$(counted kfree ls /etc)" -gt 0
end
gone "kfree"
# one_of NAME...: which of them this kernel has
one_of() { awk -v names=" $* " 'index(names, " " $3 " ") { print $3; exit }' /proc/kallsyms; }
while :; do ls -lR /usr/share/doc; done > /dev/null 2>&1 &
load=$!
f=$(one_of kmem_cache_alloc_node kmem_cache_alloc_node_noprof)
begin --for 3 --argument 2 "$f"
ok "the most frequent node is any" grep -q "^$f: argument 2 is -1 in" /tmp/out
echo 1 > $trace/events/kmem/kmem_cache_alloc/enable
ok "traced, it is called" test "$(counted "$f" sh -c "ls /; ls /")" -gt 0
echo 0 > $trace/events/kmem/kmem_cache_alloc/enable
ok "and its events are there" grep -q "kmem_cache_alloc: .* node=-1" $trace/trace
ok "not traced, it is called" test "$(counted "$f" sh -c "ls /; ls /")" -gt 0
end
kill $load
wait $load 2> /dev/null
ok "mutex_lock is copied, but nothing is decided" sh -c "'$ki' specialize -n --value 64 mutex_lock 2>&1 | grep -q 'decides no branch'"
gone "the kernel's own"
ok "the module unloads" goes $module
finish
