// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a breakpoint runs, between the instruction and our handler and back: is all of it known?
 *
 * A breakpoint in code that breakpoints run comes back to itself without end. Nearly all of that
 * code is marked by the kernel (noinstr, kprobes' blacklist), and the rest is found by name, in the
 * kernels that we have looked at. Another kernel, or a later one, may call one function more. So
 * the path is read: from where it begins each function is decoded, and where a call or a jump leads
 * to another function, that one must be reserved text as a whole, and is read in turn; or it must
 * be on the list of those that are called there for other reasons than a breakpoint of the kernel's
 * (off_path.h): a breakpoint of a process, an error, a warning.
 *
 * It begins with the exceptions' entries, our handler, and everything that the table of reserved
 * text has as TRAP_PATH: the die notifiers among it. Calls through pointers are not followed: the
 * one on the path is the chain of die notifiers, and those have rows. ftrace's sites are skipped:
 * what stands there now is not what will.
 */
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "ki.h"
#include "symbols.h"
#include "text/off_path.h"
#include "text/unknown.h"

#define KI_PATH_FUNCTIONS 1024
#define KI_PATH_BYTES	  0x8000 /* of a function; the longest has 3 KiB */

/* Functions that have been met, of which `done` have been read. */
struct ki_walk {
	u8 *bytes; /* of the function that is read */
	u32 n, done;
	struct {
		unsigned long start, end;
		bool known; /* it is read */
	} v[KI_PATH_FUNCTIONS];
};

/* False: it has been met before. */
static bool meet(struct ki_walk *w, unsigned long addr, bool known)
{
	unsigned long size, off;
	u32 i;

	if (!addr || !ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return false;
	for (i = 0; i < w->n; i++)
		if (w->v[i].start == addr - off)
			return false;
	if (w->n == KI_PATH_FUNCTIONS || size > KI_PATH_BYTES) {
		ki_unknown_note("all that breakpoints run: too much, at %ps", (void *)addr);
		return false;
	}
	w->v[w->n].start = addr - off;
	w->v[w->n].end = addr - off + size;
	w->v[w->n++].known = known;
	return true;
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

/* Control may go from a function to another one. */
static void leave(struct ki_walk *w, unsigned long from, unsigned long to)
{
	switch (reserved_wholly(to)) {
	case KI_R_OK:
		if (!is_off_path(to) && meet(w, to, false))
			ki_unknown_note("%ps, which %ps calls for breakpoints", (void *)to,
					(void *)from);
		break;
	case KI_R_THUNK: /* leads on through a register */
	case KI_R_COPIED:
	case KI_R_HELPER_PATH: /* lets others run: not with interrupts off */
		break;
	default:
		meet(w, to, true);
	}
}

/* A call or a jump with its distance in it. */
static bool is_direct(const struct insn *in)
{
	u8 op = in->opcode.bytes[0];

	if (in->vex_prefix.nbytes)
		return false;
	if (in->opcode.nbytes == 2)
		return op == 0x0f && (in->opcode.bytes[1] & 0xf0) == 0x80;
	return in->opcode.nbytes == 1 && (op == 0xe8 || op == 0xe9 || op == 0xeb ||
					  (op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3));
}

static bool is_ftrace_site(unsigned long at)
{
	return ki_call(ftrace_location_range)(at, at) == at;
}

static void read_function(struct ki_walk *w, unsigned long start, unsigned long end)
{
	unsigned long at = start, to;
	struct insn in;

	if (ki_text_read(start, w->bytes, end - start, KI_VIEW_ORIG)) {
		ki_unknown_note("the bytes of %ps", (void *)start);
		return;
	}
	while (at < end) {
		if (ki_call(insn_decode)(&in, w->bytes + (at - start), end - at, INSN_MODE_64)) {
			at++; /* data in text */
			continue;
		}
		to = at + in.length + in.immediate.value;
		if (is_direct(&in) && (to < start || to >= end) && !is_ftrace_site(at))
			leave(w, start, to);
		at += in.length;
	}
}

static void meet_roots(struct ki_walk *w)
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
		meet(w, ki_symbol(entries[i]), true);
	}
	while ((row = ki_reserved_next(0, ULONG_MAX, &from)))
		if (row->reason == KI_R_TRAP_PATH)
			meet(w, row->addr, true);
}

int ki_trap_path_check(void)
{
	struct ki_walk *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	int err = -ENOMEM;

	lockdep_assert_held(&ki_lock);
	if (w)
		w->bytes = kvmalloc(KI_PATH_BYTES, GFP_KERNEL);
	if (w && w->bytes) {
		meet_roots(w);
		for (; w->done < w->n; w->done++) {
			if (w->v[w->done].known)
				read_function(w, w->v[w->done].start, w->v[w->done].end);
			cond_resched();
		}
		err = 0;
	}
	if (w)
		kvfree(w->bytes);
	kvfree(w);
	return err;
}
