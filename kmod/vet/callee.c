// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may be called from inserted code, and stand for another function.
 *
 * Proved is where control arrives: at the first instruction of a function of the kernel or of a
 * live module. The same table knows that function as plain code that keeps other text from being
 * touched. Refused is what expects another world than a called C function finds. Entry code wants
 * the stack of an entry, a thunk its target in a register, code for CPU starts another %gs. What
 * writes a machine register wants an argument that has not been checked. A static call's
 * trampoline is none either: it leads wherever the kernel has it lead next.
 *
 * What inserted code calls must not sleep, which is read in its code (sleep.c). Not proved is what
 * else the function does: which arguments and locks it wants. Who names it says so, and must be
 * allowed to load modules (permit.c).
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/string.h>

#include "ki.h"
#include "symbols.h"
#include "vet/function.h"

u16 ki_verify_function(unsigned long addr, struct module **owner)
{
	unsigned long size, off;
	u16 reason;

	lockdep_assert_held(&ki_lock);
	*owner = ki_text_owner(addr, addr + 1, &reason);
	if (reason)
		return reason;
	if (ki_call(kallsyms_lookup_size_offset)(addr, &size, &off) && !off &&
	    *owner != THIS_MODULE)
		return KI_R_OK;
	module_put(*owner);
	*owner = NULL;
	return KI_R_NOT_A_FUNCTION;
}

/* Rows that say of whole functions what they are; the others are of single instructions. */
static const bool ki_not_plain[] = {
	[KI_R_ENTRY_TEXT] = true,  [KI_R_NOINSTR] = true,   [KI_R_KPROBES_BLACKLIST] = true,
	[KI_R_IDLE_TEXT] = true,   [KI_R_THUNK] = true,	    [KI_R_TRAP_PATH] = true,
	[KI_R_SELF] = true,	   [KI_R_NO_PERCPU] = true, [KI_R_COPIED] = true,
	[KI_R_HELPER_PATH] = true,
};

static bool is_plain(unsigned long addr)
{
	const struct ki_reserved_row *row;
	u32 from = 0;

	while ((row = ki_reserved_next(addr, addr + 1, &from)))
		if (row->reason < ARRAY_SIZE(ki_not_plain) && ki_not_plain[row->reason])
			return false;
	return true;
}

/* The kernel's and modules'. */
static bool is_trampoline(unsigned long addr)
{
	u8 code[KI_TRAMPOLINE_LEN];

	return !ki_text_read(addr, code, sizeof(code), KI_VIEW_ORIG) && ki_is_trampoline(code);
}

u16 ki_verify_callee(unsigned long addr, struct module **owner)
{
	u16 reason = ki_verify_function(addr, owner);

	lockdep_assert_held(&ki_lock);
	if (reason || (is_plain(addr) && !is_trampoline(addr)))
		return reason;
	module_put(*owner);
	*owner = NULL;
	return KI_R_NOT_CALLABLE;
}
