#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D at places inside of functions: insn, block, edge, call; registers there.
# promise: D3: D runs at any instruction, block, edge or call of a function.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
reads='dd if=/dev/zero of=/dev/null bs=7 count=1000 2> /dev/null'
names() { "$kd" -ln "$1" 2> /dev/null | awk 'NR > 1 { print $NF }'; }

is "all blocks are listed" "$(names 'block::vfs_read:' | wc -l)" "$("$ki" cfg -f json vfs_read | grep -o '"block": *[0-9]*' | sort -u | wc -l)"
is "an instruction, at its beginning the arguments" "$(d 'insn::vfs_read:0 /pid == $target && arg2 == 7/ { @[regs[R_RDX], regs[R_RIP] == (uint64_t)&`vfs_read] = count(); }' -c "$reads")" "7 1 1000"
is "the first block" "$(d 'block:vmlinux:vfs_read:0 /pid == $target && regs[R_RDX] == 7/ { @[probeprov, probefunc, probename] = count(); }' -c "$reads")" "block vfs_read 0 1000"
is "a call, by whom it calls" "$(d 'call::ksys_read:vfs_read /pid == $target && regs[R_RDX] == 7/ { @ = count(); }' -c "$reads")" 1000
is "who comes in goes out: edges from the first block" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { self->in = 1; } edge::vfs_read:0-* /self->in/ { @ = count(); } fbt::vfs_read:return { self->in = 0; }' -c "$reads" | awk '{ print ($1 >= 1000) }')" 1
sed 's/^/# /' /tmp/kd.err | head -5
d 'insn::vfs_read:* /pid == $target/ { @[probename] = count(); }' -c "$reads" > /tmp/kd.insns
is "all its instructions that can be had: those of one block are one number" "$(grep -c '^0 1[0-9]*$' /tmp/kd.insns) $(awk '$2 >= 1000' /tmp/kd.insns | wc -l | awk '{ print ($1 >= 20) }')" "1 1"
sed 's/^/# /' /tmp/kd.err | head -5
is "a name of an offset as others write it" "$(d 'insn::vfs_read:+0x0 /pid == $target && arg2 == 7/ { @ = count(); }' -c "$reads")" 1000
is "no such place" "$(d 'insn::vfs_read:fffff { }') $(grep -c 'does not match any probes' /tmp/kd.err)" " 1"
is "a function must be named" "$(d 'insn::: { }') $(grep -c 'name the function' /tmp/kd.err)" " 1"
is "no description without the provider means them" "$(names '::vfs_read:' | sort | tr '\n' ' ')" "entry entry return return "
soon "nothing is left" 0 field windows
finish
