/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Many places are not written at once: all threads would be held for as long as that takes. Each
 * window works by itself, but that a short springboard leads to a bounce.
 */
#include <errno.h>

#include "process/linked.h"

/* To write a page for the first time takes some 5 us, since it is copied. */
#define PAGES 64u

#define JMP_LEN 5

static bool is_board(const struct ki_edit *e)
{
	return e->len < JMP_LEN && !e->bounce;
}

bool ki_part_next(const struct ki_linked *x, struct ki_part *p)
{
	uint64_t page = 0;
	unsigned int pages = 0;
	size_t i;

	for (i = p->from = p->to; i < x->edits.n; i++) {
		const struct ki_edit *e = &x->edits.v[i];

		if (is_board(e) != p->boards)
			continue;
		if (!pages)
			p->from = i;
		if (!pages || e->addr / KI_PAGE != page)
			pages++;
		if (pages > PAGES)
			break;
		page = e->addr / KI_PAGE;
		p->to = i + 1;
	}
	return pages;
}

bool ki_part_has(const struct ki_linked *x, const struct ki_part *p, size_t edit)
{
	return edit >= p->from && edit < p->to && is_board(&x->edits.v[edit]) == p->boards;
}

int ki_forbid(struct ki_linked *x, const struct ki_edit *e)
{
	for (unsigned int i = !e->bounce; i < e->len; i++)
		if (ki_vec_push(&x->forbidden, e->addr + i))
			return -ENOMEM;
	return 0;
}

/* Edits are in order, and do not overlap: so are the addresses. */
int ki_part_of(struct ki_linked *out, const struct ki_linked *x, const struct ki_part *p)
{
	*out = *x;
	out->forbidden.v = NULL;
	out->forbidden.n = out->forbidden.cap = 0;
	for (size_t i = p->from; i < p->to; i++)
		if (ki_part_has(x, p, i) && ki_forbid(out, &x->edits.v[i]))
			return -ENOMEM;
	return 0;
}
