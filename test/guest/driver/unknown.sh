#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A kernel that is not known well enough: a name that it lacks, one of which any would do, a table, a
# function that breakpoints run (pretended by a driver built with KI_TEST_FAIL). Changes are refused
# with the reason, reading goes on; force=1 overrides, says so and taints.
# promise: On a kernel with a name or path that the driver does not know, nothing is written.
# shellcheck disable=SC2086,SC2119,SC2120,SC2317 # names of functions are one word
. "$(dirname "$0")/../common/lib.sh"
driver=$top/build/kmod/$(uname -r)-fail/kerninst.ko
f=__x64_sys_getsid
forced=2 # the bit of TAINT_FORCED_MODULE: 1 << 1

load() { insmod "$driver" "$@"; }
is_tainted() { [ $(($(< /proc/sys/kernel/tainted) & forced)) != 0 ]; }
# says KEY: a string, or a number or bool
says() {
	"$ki" info --quick --json |
		sed -n "s/.*\"$1\": *\(\"\([^\"]*\)\"\|\([^,\"}]*\)\).*/\2\3/p"
}
# refused NAME COMMAND...: exit status 3, and the reason
refused() {
	local name=$1 status
	shift
	"$@" > /tmp/out 2> /tmp/words < /dev/null
	status=$?
	is "$name" "$status $(grep -c 'does not know' /tmp/words)" "3 1"
	[ $status = 3 ] || sed 's/^/# /' /tmp/words | head -n 5
}
counts() { [ "$("$ki" stat -q --json $f -- "$prog/calls" getsid 300 | value $f)" = 300 ]; }

# pretend WHAT NAME TEXT: it is not known; the first unknown thing is TEXT
pretend() {
	local what=$1 name=$2 text=$3
	dmesg -C
	ok "$what: the driver loads" load ki_pretend="$name"
	is "$what: the log says it" "$(dmesg | grep -c "not known of this kernel: $text")" 1
	is "$what: so does info" "$(says unknown)" "$text"
	is "$what: and what follows" "$("$ki" info --quick | grep -c 'unsupported.*UNKNOWN_KERNEL')" 1
	refused "$what: counting is refused" "$ki" stat $f -- true
	refused "$what: replacing is refused" "$ki" replace $f=__x64_sys_getpgid -- true
	refused "$what: taking a ring is refused" "$ki" record -o /tmp/rec $f -- true
	ok "$what: code can be read" "$ki" disas vfs_read
	ok "$what: and looked for places" "$ki" list -v vfs_read
	is "$what: nothing is in" "$(field windows)" 0
	ok "$what: the kernel is not tainted by it" eval '! is_tainted'
	ok "$what: the driver unloads" goes kerninst
}

load || exit 1
start
is "all of this kernel is known" "$(says unknowns) $(says forced)" "0 false"
is "and nothing is said" "$(dmesg | grep -c 'not known')" 0
ok "so it is written" counts
ok "the driver unloads" goes kerninst
pretend "a function" rcu_is_watching "no rcu_is_watching"
pretend "a piece of text" __noinstr_text_end "no __noinstr_text_start"
pretend "a table" die_chain "no die_chain"
pretend "breakpoints' path" die "die, which exc_int3 calls for breakpoints"
ok "one of two names for a thing is enough" load ki_pretend="$(for n in startup_64_setup_env startup_64_setup_gdt_idt; do grep -q " $n\$" /proc/kallsyms || echo $n; done)"
is "then nothing is unknown" "$(says unknowns)" 0
ok "the driver unloads" goes kerninst

# What can be done without is refused alone: NO_PATHS.
ok "the driver loads where mounts are not known" load ki_pretend=paths
"$ki" explain NO_PATHS > /tmp/reason
"$top/build/release/bin/kdtrace" -n 'syscall::getsid:entry { trace(cwd); }' -c "$prog/calls getsid 3" > /tmp/out 2> /tmp/words
sed 's/^/# /' /tmp/words
is "a path is left out, with what and what to do instead" "$(grep -cF "$(sed -n '2s/^ *//p' /tmp/reason)" /tmp/words) $(grep -cF "$(sed -n 's/^ *hint: //p' /tmp/reason)" /tmp/words)" "1 1"
is "and nothing is in" "$(field windows)" 0
ok "all else is counted" counts
ok "the driver unloads" goes kerninst

ok "force=1 where all is known" load force=1
ok "is no force" eval '! is_tainted'
is "nor told so" "$(says forced)" false
ok "the driver unloads" goes kerninst
dmesg -C
ok "force=1 where a name is missing" load ki_pretend=rcu_is_watching force=1
ok "taints" is_tainted
is "is told in the log" "$(dmesg | grep -c 'but text is written: forced')" 1
is "and by info" "$(says unknowns) $(says forced)" "1 true"
ok "and the kernel is written" counts
finish
