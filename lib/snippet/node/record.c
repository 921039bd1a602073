// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A record of the session's ring.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_stmt_record(struct ki_snippet *s, uint32_t ring, uint32_t id,
			       struct ki_node *const *values, unsigned int nvalues)
{
	struct ki_node *n = ki_tree_node(s, NODE_RECORD);

	if (!n)
		return NULL;
	if (nvalues > KI_RECORD_WORDS)
		return ki_tree_fail(s, -EINVAL, "a record with %u values: at most %d", nvalues,
				    KI_RECORD_WORDS);
	if (ring > UINT32_MAX >> 8)
		return ki_tree_fail(s, -EINVAL, "no ring has the number %u", ring);
	n->ring = ring;
	n->value = id;
	if (!ki_node_adopt_all(n, values, nvalues))
		return NULL;
	if (ki_node_kids_words(n, nvalues) > KI_RECORD_WORDS)
		return ki_tree_fail(s, -EINVAL, "a record of %u words: at most %d",
				    ki_node_kids_words(n, nvalues), KI_RECORD_WORDS);
	return n;
}

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return ki_gen_fixed_args(2);
}

/*
 * Registers that are taken already are saved below the words, all others are not held before. The
 * words are pushed as they are evaluated; after the call %rax takes them away again. The driver
 * wants to see %edi written the moment before.
 */
static void action(struct gen *g, struct ki_node *n)
{
	unsigned int words = ki_node_kids_words(n, n->nkids);
	struct claims c = {0};
	uint32_t out;

	ki_gen_claim_some(g, g->busy, REGS, &c);
	for (unsigned int i = 0; i < n->nkids; i++)
		ki_gen_push_value(g, n->kid[i], REGS, &c);
	ki_gen_claim_some(g, UINT16_MAX, REGS, &c);
	out = ki_gen_unless(g, n);
	ki_asm_const(&g->a, KI_RSI, n->value);
	ki_gen_number(g, KI_RDI, KI_RECORD(n->ring, words));
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_RECORD);
	ki_gen_unless_end(g, out);
	for (unsigned int i = 0; i < words; i++)
		ki_gen_pop(g, KI_RAX);
	ki_gen_unclaim(g, &c);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t v[KI_RECORD_WORDS] = {0};
	unsigned int n_words = ki_run_words(r, n, n->nkids, v);

	if (r->m->record && !ki_run_left_out(r, n))
		r->m->record(r->m->arg, (uint32_t)n->value, v, n_words);
	return 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "record(%u", (unsigned int)n->value);
	ki_format_kids(f, n, ": ");
}

const struct ki_node_ops ki_node_record = {
	.takes = TAKES_STRINGS_TOO,
	.can_be_left_out = ki_node_yes,
	.foreign = "a record",
	.fixed = fixed,
	.action = action,
	.run = run,
	.write = write,
};
