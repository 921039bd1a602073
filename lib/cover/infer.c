// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What probes say of blocks without one (choice.c). Of three values: executed, not executed, not
 * known, because the driver has refused the probe of a block that would tell.
 */
#include <stdbool.h>

#include "cover/choice.h"

/* What blocks say: how often they were hit, or that nothing is known of one. */
struct seen {
	uint64_t count;	  /* of all together */
	uint16_t unknown; /* why; KI_R_OK: all are known */
};

static void look(const struct ki_inference *in, uint32_t b, struct seen *s)
{
	if (in->blocks[b].how == KI_COVER_UNKNOWN)
		s->unknown = in->blocks[b].reason;
	else
		s->count += in->blocks[b].count;
}

static bool conclude(struct ki_inference *in, uint32_t b, const struct seen *s)
{
	struct ki_cover_block *at = &in->blocks[b];
	bool known = !s->unknown || (s->count && !in->counting);
	uint8_t how = known ? KI_COVER_IMPLIED : KI_COVER_UNKNOWN;
	uint64_t count = !known ? 0 : in->counting ? s->count : s->count != 0;
	bool news = how != at->how || at->count != count;

	at->how = how;
	at->count = count;
	at->reason = how == KI_COVER_UNKNOWN ? s->unknown : KI_R_OK;
	return news;
}

/* All blocks of one rule; returns if anything is new. */
static bool pass(struct ki_inference *in, enum ki_cover_rule rule)
{
	bool news = false;

	for (uint32_t b = 0; b < in->nblocks; b++) {
		struct seen s = {0, KI_R_OK};

		if (in->rules[b] != rule)
			continue;
		for (uint32_t e = 0; e < in->nedges; e++) {
			if (rule == KI_RULE_PREDS && in->edges[e].to == b)
				look(in, in->edges[e].from, &s);
			if (rule == KI_RULE_SUCCS && in->edges[e].from == b)
				look(in, in->edges[e].to, &s);
		}
		news |= conclude(in, b, &s);
	}
	return news;
}

void ki_cover_infer(struct ki_inference *in)
{
	pass(in, KI_RULE_PREDS);
	while (pass(in, KI_RULE_SUCCS))
		;
}
