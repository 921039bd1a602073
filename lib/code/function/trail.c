/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "code/function/trail.h"

#include <stdlib.h>

#include "code/decode/memo.h"
#include "target/priv.h"

#define LONGEST 16 /* no instruction has so many bytes */

/* The symbol of addr, up to the next one; sizes of symbols say the same. */
static void find_ends(struct ki_trail *w, uint64_t addr)
{
	const struct ki_target *t = w->target;
	const struct ki_text_range *r = ki_target_range_at(t, addr);
	size_t after = ki_target_symbol_after(t, addr);

	w->from = r->start;
	w->to = r->end;
	if (after && t->symbols[after - 1].addr > r->start)
		w->from = t->symbols[after - 1].addr;
	if (after < t->nsymbols && t->symbols[after].addr < r->end)
		w->to = t->symbols[after].addr;
}

void ki_trail_enter(struct ki_trail *w, uint64_t addr, uint64_t limit)
{
	size_t avail, len;

	ki_trail_leave(w);
	find_ends(w, addr);
	if (w->to > limit && w->to - limit > LONGEST)
		w->to = limit + LONGEST;
	if (w->text) {
		w->bytes = ki_text_at(w->text, w->from, &avail);
		return;
	}
	len = w->to - w->from;
	w->copy = malloc(len);
	if (w->copy && !ki_target_read(w->target, w->from, w->copy, len, KI_VIEW_ORIG, NULL))
		w->bytes = w->copy;
}

void ki_trail_leave(struct ki_trail *w)
{
	free(w->copy);
	*w = (struct ki_trail){.target = w->target, .text = w->text, .memo = w->memo};
}

void ki_trail_to(struct ki_trail *w, uint64_t addr, struct ki_decoded *d)
{
	const size_t to = addr - w->from, len = w->to - w->from;

	for (;;) {
		const uint8_t *p = w->bytes + w->pos;

		if (w->memo)
			ki_memo_decode(w->memo, p, len - w->pos, w->from + w->pos, d);
		else
			ki_decode(p, len - w->pos, w->from + w->pos, d);
		if (w->pos + d->in.len > to)
			return;
		w->pos += d->in.len;
	}
}

bool ki_trail_is_branch(struct ki_trail *w, uint64_t field, uint64_t end)
{
	struct ki_decoded d;

	if (end > w->to)
		return false;
	if (!w->bytes)
		return true;
	if (w->from + w->pos > field)
		w->pos = 0;
	ki_trail_to(w, field, &d);
	return d.in.addr + d.in.len == end && d.in.addr + d.in.field == field &&
	       (d.in.kind == KI_INSN_JMP || d.in.kind == KI_INSN_JCC || d.in.kind == KI_INSN_CALL ||
		d.in.kind == KI_INSN_LOOP);
}
