// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The bytes of a number in the other order: what networks and disks have as the machine has it.
 */
#include <errno.h>

#include "snippet/node.h"

static uint64_t swapped(enum ki_type type, uint64_t x)
{
	return ki_type_extend(type, __builtin_bswap64(x) >> (64 - 8 * ki_types[type].size));
}

struct ki_node *ki_expr_swap(struct ki_snippet *s, enum ki_type type, struct ki_node *x)
{
	struct ki_node *n = ki_tree_node(s, NODE_SWAP);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES || ki_types[type].size == 1)
		return ki_tree_fail(s, -EINVAL, "no bytes to swap of type %u", type);
	n->type = type;
	if (!ki_tree_adopt(n, 0, x, false))
		return NULL;
	if (x->konst)
		ki_node_set_konst(n, swapped(type, x->value));
	return n;
}

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	*value = swapped(n->type, n->kid[0]->value);
	return n->kid[0]->konst;
}

/* Of 2 bytes: those of all 8, of which the upper two are wanted then. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	const unsigned int size = ki_types[n->type].size;
	const uint8_t rex = (uint8_t)(0x40 | (size != 4) << 3 | dest >> 3);
	const uint8_t bswap[] = {rex, 0x0f, (uint8_t)(0xc8 | (dest & 7))};
	const bool short_form = rex == 0x40;
	const struct rm m = rm_reg(dest);

	ki_gen_expr(g, ki_node_bare(n->kid[0], size), dest);
	ki_asm_bytes(&g->a, bswap + short_form, sizeof(bswap) - short_form, false);
	if (size == 2)
		ki_asm_shift_imm(&g->a, ki_types[n->type].sign ? SHIFT_SAR : SHIFT_SHR, dest, 48);
	else if (n->type == KI_I32)
		ki_asm_extend(&g->a, n->type, dest, &m);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	return swapped(n->type, ki_run_node(r, n->kid[0]));
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "swap_%s(", ki_types[n->type].name);
	ki_format_expr(f, n->kid[0], 0);
	fputc(')', f);
}

const struct ki_node_ops ki_node_swap = {
	.facts = ki_node_kids_facts,
	.in_rax = ki_node_kid_in_rax,
	.wordless = wordless,
	.value = value,
	.run = run,
	.write = write,
};
