/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What is written into the text. */
#include "process/edits.h"

#include <string.h>

#include "splice/plan.h"

#define JMP_LEN 5

void ki_edit_jump(struct ki_edit *e, uint64_t to)
{
	int32_t field = (int32_t)(to - (e->addr + JMP_LEN));

	e->len = JMP_LEN;
	e->via = to;
	e->now[0] = 0xe9;
	memcpy(e->now + 1, &field, 4);
}

struct ki_edit ki_edit_hit(uint64_t addr, uint64_t to, uint8_t flag)
{
	return (struct ki_edit){.addr = addr, .len = 1, .flags = flag, .now = {0xcc}, .via = to};
}

struct ki_edit ki_edit_by_driver(const struct ki_linked *x, const struct ki_window *w, uint64_t to)
{
	struct ki_edit e = {.addr = w->addr, .len = 1, .now = {0xcc}, .via = to};

	if (x->plan->copies.v[w->first_copy].orig_len >= JMP_LEN)
		ki_edit_jump(&e, to);
	return e;
}
