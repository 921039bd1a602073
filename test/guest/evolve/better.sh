#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Versions that are tried: one that is better stays, one that is not is taken out. Instructions are
# counted (--icount), so which is which is known.
# promise: E10: A version stays only if a caller of it is faster.
module=ki_special
insmod "$(dirname "$0")/../../../build/special/$(uname -r)/$module.ko" || exit 1
. "$(dirname "$0")/../common/lib.sh"
start
results=/proc/$module
modules() { grep -c '^kerninst_copy_' /proc/modules; }
gone() { # NAME: all is as it was
	is "$1: no window is left" "$(field windows)" 0
	is "$1: no module is left" "$(modules)" 0
	ok "$1: the text is what it was" text_is_back
}
tried() { # STATUS PATTERN ARGUMENT...
	local want=$1 pattern=$2 status
	shift 2
	"$ki" specialize --window 0.5 --windows 3 "$@" > /tmp/tried 2>&1
	status=$?
	sed 's/^/# /' /tmp/tried
	is "specialize $*: the status" "$status" "$want"
	ok "specialize $*: it says so" grep -qE "$pattern" /tmp/tried
}

cat $results > /tmp/wanted
while :; do echo work 1000 > $results; done &
load=$!
ok "what is decided is explained" sh -c "'$ki' specialize -n --explain --value 0 ${module}_work > /tmp/out"
sed 's/^/# /' /tmp/out
is "each of the four questions" "$(grep -cE '^  \+0x[0-9a-f]+ j.*: (always|never)$' /tmp/out)" 4
ok "the argument's bits" grep -q "^${module}_work with rdi = 0" /tmp/out
tried 0 "^${module}_caller: vtime/call .*-[0-9.]+ %.*: better" --try --value 0 --judge ${module}_caller ${module}_work -- true
gone "tried"
tried 0 "^${module}_caller: .*: better" --try --value 0 ${module}_work -- true
gone "its caller is found"
tried 4 "^${module}_caller: .*: (worse|no difference is proved)" --try --value 16 --judge ${module}_caller ${module}_work -- true
gone "no call has the value"
tried 0 "kept by process" --try --keep --value 0 --judge ${module}_caller ${module}_work
ok "evolve --list tells of it" sh -c "'$ki' evolve --list | grep ${module}_work"
is "results are as they were" "$(cat $results)" "$(cat /tmp/wanted)"
ok "evolve --undo ends it" "$ki" evolve --undo
gone "kept"
tried 4 "." --try --keep --value 16 --judge ${module}_caller ${module}_work
is "what is not better is kept by nobody" "$("$ki" evolve --list)" "nothing is laid out"
gone "not kept"
kill $load
wait $load 2> /dev/null
tried 1 "was not called" --try --value 0 --judge ${module}_caller ${module}_work -- true
gone "the judge is not called"
ok "the module unloads" goes $module
finish
