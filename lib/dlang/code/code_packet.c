// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pcap(): a packet, as it travels (KI_D_FORM_PACKET).
 *
 * What does not lead to a packet is none of length 0, and no fault: a clause that sees some packets
 * without data goes on.
 */
#include "dlang/code/locals.h"

/* A member of the sk_buff whose address is in DESTINATION. */
static struct ki_node *member(struct ki_d_gen *g, enum ki_type type, const char *name)
{
	struct ki_d_type skb;
	struct ki_node *at;
	uint64_t bit;

	if (ki_d_type_written(g->d, "struct sk_buff", &skb) ||
	    !ki_d_member_find(&g->d->types, skb, name, &bit))
		return number(g, 0);
	at = ki_expr_binary(g->s, KI_ADD, get(g, DESTINATION), number(g, bit / 8));
	return ki_expr_cast(g->s, KI_U64, ki_expr_load(g->s, type, at));
}

/* HOLD = bytes to take: those that are not in pages of their own. */
static struct ki_node *keep_size(struct ki_d_gen *g, uint64_t most)
{
	struct ki_node *more = ki_expr_binary(g->s, KI_GT, get(g, HOLD),
					      ki_expr_const(g->s, KI_I64, most)),
		       *here = ki_expr_binary(g->s, KI_SUB, member(g, KI_U32, "len"),
					      member(g, KI_U32, "data_len"));
	struct ki_node *list =
		set(g, HOLD, ki_expr_cast(g->s, KI_I64, ki_expr_cast(g->s, KI_U32, here)));

	return ki_expr_behind(
		g->s, list,
		ki_expr_cond(g->s, more, ki_expr_const(g->s, KI_I64, most), get(g, HOLD)));
}

/* bytes << 32 | length */
static struct ki_node *head(struct ki_d_gen *g)
{
	struct ki_node *bytes = ki_expr_binary(
		g->s, KI_SHL, ki_expr_cast(g->s, KI_U64, get(g, HOLD)), number(g, 32));

	return ki_expr_binary(g->s, KI_OR, bytes, member(g, KI_U32, "len"));
}

/* HOLD > from ? the bytes from there on, of DESTINATION : 0 */
static struct ki_node *piece(struct ki_d_gen *g, uint64_t from, uint64_t most)
{
	struct ki_node *args[2], *left[2], *more;

	for (int i = 0; i < 2; i++)
		left[i] = ki_expr_binary(g->s, KI_SUB, get(g, HOLD),
					 ki_expr_const(g->s, KI_I64, from));
	more = ki_expr_binary(g->s, KI_GT, left[0], ki_expr_const(g->s, KI_I64, most));
	args[0] = ki_expr_binary(g->s, KI_ADD, get(g, DESTINATION), number(g, from));
	args[1] = ki_expr_cast(
		g->s, KI_U64, ki_expr_cond(g->s, more, ki_expr_const(g->s, KI_I64, most), left[1]));
	more = ki_expr_binary(g->s, KI_GT, get(g, HOLD), ki_expr_const(g->s, KI_I64, from));
	return ki_expr_cond(
		g->s, more,
		ki_expr_text(g->s, ki_texts_number(g->d->run->strings), KI_TEXT_BYTES, args, 2),
		number(g, 0));
}

unsigned int ki_d_gen_packet(struct ki_d_gen *g, const struct ki_d_node *skb, uint64_t size,
			     struct ki_node **nodes)
{
	const uint64_t step = ki_d_bytes_piece(g->d);
	unsigned int n = KI_D_PACKET_WORDS;

	nodes[0] = ki_expr_behind(
		g->s, set(g, DESTINATION, ki_expr_cast(g->s, KI_U64, ki_d_gen_expr(g, skb))),
		ki_expr_behind(g->s, set(g, HOLD, keep_size(g, size)), head(g)));
	nodes[1] = ki_expr_behind(g->s, set(g, DESTINATION, member(g, KI_U64, "data")),
				  ki_d_gen_walltimestamp(g));
	for (uint64_t from = 0; from < size; from += step)
		nodes[n++] = piece(g, from, size - from < step ? size - from : step);
	return n;
}
