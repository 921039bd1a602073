// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a breakpoint runs, between the instruction and our handler and back: is all of it known?
 *
 * A breakpoint in code that breakpoints run comes back to itself without end. The kernel marks
 * nearly all of that code (noinstr, kprobes' blacklist). The rest is found by name, in the kernels
 * that we have looked at. Another kernel, or a later one, may call one function more. So the path
 * is read. From where it begins each function is decoded. Where a call or a jump leads to another
 * function, that one must be reserved text as a whole, and is read in turn. Or it must be on the
 * list of those that are called there for other reasons than a breakpoint of the kernel's
 * (off_path.h): a breakpoint of a process, an error, a warning.
 *
 * It begins with the exceptions' entries, our handler, and everything that the table of reserved
 * text has as TRAP_PATH: the die notifiers among it. Calls through pointers are not followed: the
 * one on the path is the chain of die notifiers, and those have rows.
 */
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "ki.h"
#include "symbols.h"
#include "text/follow.h"
#include "text/off_path.h"
#include "text/unknown.h"

static void lost(struct ki_follow *f, const char *what, unsigned long at)
{
	ki_unknown_note("all that breakpoints run: %s, at %ps", what, (void *)at);
}

/* The reason for which all of the function there, from addr on, is reserved; KI_R_OK: it is not. */
static u32 reserved_wholly(unsigned long addr)
{
	const struct ki_reserved_row *row;
	unsigned long size, off;
	u32 from = 0;

	if (!ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return KI_R_OK;
	while ((row = ki_reserved_next(addr, addr + 1, &from)))
		if (row->addr + row->len >= addr - off + size)
			return row->reason;
	return KI_R_OK;
}

/* A compiler's part or copy of a function (NAME.part.0) is there for the same as the function. */
static bool is_off_path(unsigned long addr)
{
	char name[KSYM_NAME_LEN];
	size_t i;

	snprintf(name, sizeof(name), "%ps", (void *)addr);
	name[strcspn(name, ".")] = '\0';
	if (ki_pretends(name))
		return false;
	for (i = 0; i < ARRAY_SIZE(ki_off_path); i++)
		if (!strcmp(name, ki_off_path[i]))
			return true;
	return false;
}

static void leaves(struct ki_follow *f, unsigned long from, unsigned long to)
{
	switch (reserved_wholly(to)) {
	case KI_R_OK:
		if (!is_off_path(to) && ki_follow_meet(f, to, false))
			ki_unknown_note("%ps, which %ps calls for breakpoints", (void *)to,
					(void *)from);
		break;
	case KI_R_THUNK: /* leads on through a register */
	case KI_R_COPIED:
	case KI_R_HELPER_PATH: /* lets others run: not with interrupts off */
		break;
	default:
		ki_follow_meet(f, to, true);
	}
}

static void meet_roots(struct ki_follow *f)
{
	static const char *const entries[] = {
		"asm_exc_int3",
		"asm_exc_invalid_op",
		"exc_int3",
		"exc_invalid_op",
	};
	const struct ki_reserved_row *row;
	u32 from = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		if (!ki_symbol(entries[i]))
			ki_unknown_note("no %s", entries[i]);
		ki_follow_meet(f, ki_symbol(entries[i]), true);
	}
	while ((row = ki_reserved_next(0, ULONG_MAX, &from)))
		if (row->reason == KI_R_TRAP_PATH)
			ki_follow_meet(f, row->addr, true);
}

int ki_trap_path_check(void)
{
	struct ki_follow *f = ki_follow_new();

	lockdep_assert_held(&ki_lock);
	if (!f)
		return -ENOMEM;
	f->leaves = leaves;
	f->lost = lost;
	meet_roots(f);
	ki_follow_all(f);
	ki_follow_free(f);
	return 0;
}
