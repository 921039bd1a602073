// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where control can go from some functions: see follow.h.
 *
 * ftrace's sites are skipped: what stands there now is not what will. So are bytes that are no
 * instruction: some text has data in it.
 */
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "array.h"
#include "ki.h"
#include "symbols.h"
#include "text/follow.h"
#include "yield.h"

#define KI_FOLLOW_BYTES 0x8000 /* of a function; the longest of breakpoints' path has 3 KiB */

struct ki_follow *ki_follow_new(void)
{
	struct ki_follow *f = ki_array(1, sizeof(*f), GFP_KERNEL | __GFP_ZERO);

	if (!f)
		return NULL;
	f->bytes = ki_array(1, KI_FOLLOW_BYTES, GFP_KERNEL);
	if (f->bytes)
		return f;
	ki_array_free(f);
	return NULL;
}

void ki_follow_free(struct ki_follow *f)
{
	if (!f)
		return;
	ki_array_free(f->bytes);
	ki_array_free(f);
}

bool ki_follow_meet(struct ki_follow *f, unsigned long addr, bool read)
{
	unsigned long size, off;
	u32 i;

	if (!addr || !ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return false;
	for (i = 0; i < f->n; i++)
		if (f->v[i].start == addr - off)
			return false;
	if (f->n == KI_FOLLOW_FUNCTIONS || size > KI_FOLLOW_BYTES) {
		f->lost(f, "too much", addr);
		return false;
	}
	f->v[f->n].start = addr - off;
	f->v[f->n].end = addr - off + size;
	f->v[f->n++].read = read;
	return true;
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

/* call and jmp, near and far, of a register or memory: ff /2 to /5. */
static bool is_by_pointer(const struct insn *in)
{
	u8 reg = X86_MODRM_REG(in->modrm.value);

	return !in->vex_prefix.nbytes && in->opcode.nbytes == 1 && in->opcode.bytes[0] == 0xff &&
	       reg >= 2 && reg <= 5;
}

static bool is_ftrace_site(unsigned long at)
{
	return ki_call(ftrace_location_range)(at, at) == at;
}

static void read_function(struct ki_follow *f, unsigned long start, unsigned long end)
{
	unsigned long at = start, to;
	struct insn in;

	if (ki_text_read(start, f->bytes, end - start, KI_VIEW_ORIG)) {
		f->lost(f, "the bytes", start);
		return;
	}
	while (at < end && !f->enough) {
		if (ki_call(insn_decode)(&in, f->bytes + (at - start), end - at, INSN_MODE_64)) {
			at++;
			continue;
		}
		to = at + in.length + in.immediate.value;
		if (is_direct(&in) && (to < start || to >= end) && !is_ftrace_site(at))
			f->leaves(f, start, to);
		else if (f->leaves_by_pointer && is_by_pointer(&in))
			f->leaves_by_pointer(f, start);
		at += in.length;
	}
}

void ki_follow_all(struct ki_follow *f)
{
	lockdep_assert_held(&ki_lock);
	for (; f->done < f->n && !f->enough; f->done++) {
		if (f->v[f->done].read)
			read_function(f, f->v[f->done].start, f->v[f->done].end);
		ki_yield();
	}
}
