// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a window what its sender says?
 *
 * The decoder accepts any bytes, also those in the middle of an instruction. So boundaries are
 * proved: the function is decoded from its symbol on, and its direct branches, static branches
 * and exception fixups are noted. Then, for each window:
 *
 *   - it lies in text that may be touched, in one function, on instruction boundaries
 *   - nothing of it is reserved (reserved.c, ftrace, lock prefixes), but what its copies get rows
 *     of their own for
 *   - nothing in the function jumps into the middle of it
 *   - the bytes are the expected ones, and each copy is the one copy.c makes
 *   - only its last instruction transfers control
 *   - or it is a static branch or call of a layout (branch.c, static_call.c)
 *
 * A window in a function's first bytes may do without the rest of it being decoded (alone.c).
 *
 * Branches from other functions (a cold part's) are not looked for here: that takes the whole
 * kernel's text; the library does it.
 */
#include <linux/bitmap.h>

#include "compat.h"
#include "ki.h"
#include "symbols.h"
#include "vet/function.h"

/*
 * The copies get rows of their own in the module's table of this kind (rows.c). A longer row keeps
 * its instruction where it is (reserved.c).
 */
static bool has_rows(const struct ki_reserved_row *row)
{
	return (row->reason == KI_R_EXTABLE || row->reason == KI_R_BUG_SITE) && row->len <= 2;
}

/*
 * A task may sleep in a fault for ever, and then comes back to the instruction. The wait
 * does not cover it (faults.c), so bytes of ours must not stand there: it is where the
 * springboard begins, or after it.
 */
static bool safe_for_sleepers(const struct ki_win *w, const struct ki_reserved_row *row)
{
	unsigned long at = row->addr - w->addr;

	return row->reason != KI_R_EXTABLE || !at || at >= ki_board_len(w->board);
}

/*
 * A row moves with its instruction, if that is displaced, begins where the row does and
 * holds all of it. (Instructions are what the sender says; check_copies proves it.)
 */
static bool row_moves(const struct ki_win *w, const struct ki_reserved_row *row)
{
	static const u8 ud2[] = {0x0f, 0x0b};
	u32 at = 0;
	u8 i;

	if (!has_rows(row))
		return false;
	for (i = 0; i < w->ncopy && at < w->len; at += w->insn_len[i++])
		if (row->addr == w->addr + at)
			break;
	if (i == w->ncopy || at >= w->len || row->len > w->insn_len[i] ||
	    !safe_for_sleepers(w, row))
		return false;
	return row->reason != KI_R_BUG_SITE ||
	       (w->insn_len[i] == sizeof(ud2) && !memcmp(w->orig + at, ud2, sizeof(ud2)));
}

static u16 check_reserved(const struct ki_win *w)
{
	unsigned long end = w->addr + w->len;
	const struct ki_reserved_row *row;
	u32 from = 0;

	while ((row = ki_reserved_next(w->addr, end, &from)))
		if (!row_moves(w, row))
			return row->reason;
	if (ki_call(ftrace_location_range)(w->addr, end - 1))
		return KI_R_FTRACE_SITE;
	if (ki_text_has_lock_prefix(w->addr, end))
		return KI_R_LOCK_PREFIX;
	if (ki_text_probed(w->addr, end))
		return KI_R_FOREIGN_BREAKPOINT;
	return KI_R_OK;
}

/* A direct transfer out of text is another tool's (an optimized kprobe's jump). */
static u16 check_target(const struct ki_copy *c, u8 flow)
{
	if (!(flow & KI_FLOW_DIRECT) || ki_verifier_is_text(c->fix[c->nfix - 1].target))
		return KI_R_OK;
	return KI_R_FOREIGN_BREAKPOINT;
}

static u16 check_copies(struct ki_verifier *v, struct ki_win *w, const struct ki_copy *copies)
{
	const u8 *bytes = v->bytes + (w->addr - v->start);
	unsigned long at = 0;
	struct ki_copy want;
	u16 reason;
	u8 i;

	for (i = 0; i < w->ncopy; i++) {
		if (i && (w->flow[i - 1] & KI_FLOW_LEAVES))
			return KI_R_COPY_MISMATCH;
		if (at >= w->len || !test_bit(w->addr - v->start + at, v->boundary))
			return KI_R_NOT_BOUNDARY;
		reason = ki_copy_emit(w->addr + at, bytes + at, w->len - at, &want, &w->flow[i]);
		if (reason)
			return reason;
		if (memcmp(&want, &copies[i], sizeof(want)))
			return KI_R_COPY_MISMATCH;
		reason = check_target(&want, w->flow[i]);
		if (reason)
			return reason;
		if (at && at < ki_board_len(w->board)) {
			w->wait = true;
			w->inner |= 1 << (at - 1);
		}
		at += want.orig_len;
	}
	if (at < w->len && !(w->flow[i - 1] & KI_FLOW_ENDS))
		return KI_R_NOT_BOUNDARY;
	return memchr_inv(bytes + at, KI_INT3, w->len - at) ? KI_R_NOT_BOUNDARY : KI_R_OK;
}

static u16 check_written(const struct ki_verifier *v, struct ki_win *w)
{
	return w->branch ? ki_branch_verify(v, w) : ki_static_call_verify(v, w);
}

static u16 check_written_copy(struct ki_win *w, const struct ki_copy *copy)
{
	struct ki_copy want;

	ki_copy_written(w, &want);
	ki_copy_asked(w, &want);
	w->flow[0] = KI_FLOW_LEAVES | KI_FLOW_DIRECT | (w->branch ? 0 : KI_FLOW_CALL);
	return memcmp(&want, copy, sizeof(want)) ? KI_R_COPY_MISMATCH : KI_R_OK;
}

u16 ki_verify_window(struct ki_verifier *v, struct ki_win *w, const struct ki_copy *copies)
{
	bool written = w->branch || w->static_call;
	unsigned long end = w->addr + w->len;
	u16 reason;

	lockdep_assert_held(&ki_lock);
	w->owner = ki_text_owner(w->addr, end, &reason);
	if (reason)
		return reason;
	reason = ki_verifier_load(v, w->addr);
	if (!reason)
		reason = ki_verifier_decode(v, w->addr, end);
	if (reason)
		return reason;
	if (end > v->end)
		return KI_R_NO_SYMBOL;
	reason = written ? check_written(v, w) : check_reserved(w);
	if (reason)
		return reason;
	if (!test_bit(w->addr - v->start, v->boundary))
		return KI_R_NOT_BOUNDARY;
	if (!written && memcmp(v->bytes + (w->addr - v->start), w->orig, w->len))
		return KI_R_BYTES_CHANGED;
	if (find_next_bit(v->entered, end - v->start, w->addr - v->start + 1) < end - v->start)
		return KI_R_WINDOW_ENTERED;
	w->entry = w->addr - v->start <= v->body;
	w->body = w->entry ? w->addr - v->start : 0;
	return written ? check_written_copy(w, copies) : check_copies(v, w, copies);
}

bool ki_verify_filler(struct ki_verifier *v, unsigned long addr)
{
	unsigned long at = addr - v->start, end = at + KI_JMP_LEN;
	const struct ki_reserved_row *row;
	u32 from = 0;

	lockdep_assert_held(&ki_lock);
	if (addr < v->start || addr + KI_JMP_LEN > v->end)
		return false;
	ki_verifier_decode_whole(v);
	/* filler that is jumped into is none */
	if (find_next_zero_bit(v->filler, end, at) < end)
		return false;
	while (at && test_bit(at - 1, v->filler))
		at--;
	if (find_next_bit(v->entered, end, at) < end)
		return false;
	row = ki_reserved_next(addr, addr + KI_JMP_LEN, &from);
	return !row && !ki_call(ftrace_location_range)(addr, addr + KI_JMP_LEN - 1) &&
	       !ki_text_probed(addr, addr + KI_JMP_LEN);
}
