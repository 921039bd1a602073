// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a clause prints, and in which records that travels.
 *
 * A record has all that stands between two changes of variables: a value is evaluated where the
 * record is written, which must not be behind a change that stands behind the action. A branch has
 * records of its own.
 */
#include <errno.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define ROOM (KI_RECORD_WORDS - 1) /* beside the probe's number */

static int add_arg(struct ki_d_action *a, const struct ki_d_node *n)
{
	if (a->nargs == KI_D_ARGS)
		return -E2BIG;
	a->args[a->nargs++] = (struct ki_d_arg){.node = n, .form = ki_d_form_of(n)};
	return 0;
}

/* So many bytes at an address, or of what is no scalar. */
static void add_bytes(struct ki_d_action *a, const struct ki_d_node *n, uint64_t size)
{
	a->args[a->nargs++] =
		(struct ki_d_arg){.node = n, .form = KI_D_FORM_BYTES, .size = (uint32_t)size};
}

/* The type of what print() prints the bytes of. */
struct ki_d_type ki_d_print_type(struct ki_dlang *d, const struct ki_d_node *n)
{
	return n->type.stars ? ki_d_pointed(&d->types, n->type) : n->type;
}

/* Its bytes, as many as a record has room for, and where they are. */
static int list_print(struct ki_dlang *d, struct ki_d_action *a, const struct ki_d_node *n)
{
	const uint64_t room = (ROOM - 1 - 1) * (uint64_t)ki_d_bytes_piece(d);
	uint64_t size = ki_d_sizeof(&d->types, ki_d_print_type(d, n));

	size = size < room ? size : room; /* how much is printed says option printsize then */
	add_bytes(a, n, size);
	a->args[a->nargs++] = (struct ki_d_arg){.node = n, .form = KI_D_FORM_WORD};
	return 0;
}

/* A protocol that is no constant has a word of its own. */
static int list_packet(struct ki_dlang *d, struct ki_d_action *a)
{
	const struct ki_d_node *skb = a->node->kid[0], *protocol = skb->next;
	const bool known = protocol->kind == KI_D_NUMBER;
	const uint64_t words = ROOM - 1 - KI_D_PACKET_WORDS - !known,
		       room = words * ki_d_bytes_piece(d),
		       size = (uint64_t)d->set.pcapsize < room ? (uint64_t)d->set.pcapsize : room;

	if (!known)
		add_arg(a, protocol);
	add_bytes(a, skb, size);
	a->args[a->nargs - 1].form = KI_D_FORM_PACKET;
	return 0;
}

/* Those of printa() and its like, behind a format; what stands behind them. */
static const struct ki_d_node *list_aggs(struct ki_d_action *a, const struct ki_d_node *n)
{
	if (n->kind == KI_D_TEXT)
		n = n->next;
	for (; n && n->kind == KI_D_AGG && a->naggs < KI_D_ARGS; n = n->next)
		a->aggs[a->naggs++] = n->sym.agg;
	return n;
}

static int list_trace(struct ki_dlang *d, struct ki_d_action *a, const struct ki_d_node *n)
{
	const uint64_t size = ki_d_traced_size(d, n);

	if (!size)
		return add_arg(a, n);
	add_bytes(a, n, size);
	return 0;
}

static int add_form(struct ki_d_action *a, const struct ki_d_node *n, uint8_t form)
{
	a->args[a->nargs++] = (struct ki_d_arg){.node = n, .form = form};
	return 0;
}

/* The values of an action, in the order in which its reader wants them. */
static int list_args(struct ki_dlang *d, struct ki_d_action *a)
{
	const struct ki_d_node *n = a->node->kid[0];
	int ret = 0;

	switch (a->node->sym.function->kind) {
	case KI_D_F_PRINTF:
	case KI_D_F_SYSTEM:
	case KI_D_F_FREOPEN:
		n = n->next;
		break;
	case KI_D_F_STACK:
	case KI_D_F_USTACK:
	case KI_D_F_PLACE:
		return add_arg(a, a->node);
	case KI_D_F_TRACEMEM:
		add_bytes(a, n, n->next->value);
		n = n->next->next;
		break;
	case KI_D_F_PCAP:
		return list_packet(d, a);
	case KI_D_F_TRACE:
		return list_trace(d, a, n);
	case KI_D_F_PRINT:
		return list_print(d, a, n);
	case KI_D_F_RAISE: /* it is sent where the code runs; what is recorded is that it was */
		return 0;
	case KI_D_F_COMMIT:
	case KI_D_F_DISCARD:
		return add_form(a, n, KI_D_FORM_SPECULATION);
	case KI_D_F_PRINTA:
	case KI_D_F_CLEAR:
	case KI_D_F_TRUNC:
	case KI_D_F_NORMALIZE:
	case KI_D_F_DENORMALIZE:
		n = list_aggs(a, n);
	}
	for (; !ret && n; n = n->next)
		ret = add_arg(a, n);
	return ret;
}

static unsigned int words_of(const struct ki_dlang *d, const struct ki_d_action *a)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < a->nargs; i++)
		n += ki_d_arg_words(d, &a->args[i]);
	return n;
}

struct layout {
	struct ki_dlang *d;
	struct ki_err *err;
	uint32_t clause;
	bool open; /* the last batch takes more */
	bool speculative;
	bool branches; /* that record */
	unsigned int words;
};

static int add_action(struct layout *l, const struct ki_d_node *n)
{
	struct ki_d_action a = {.node = n};
	struct ki_dlang *d = l->d;
	unsigned int words;

	if (n && list_args(d, &a))
		return ki_d_error(d, l->err, n->at, "more than %d values", KI_D_ARGS);
	words = words_of(d, &a) + l->speculative;
	if (words > ROOM)
		return ki_d_error(
			d, l->err, n->at,
			"the values take %u words, and a record has room for %d: execname "
			"takes %d",
			words, ROOM, KI_D_COMM_WORDS);
	if (!l->open || l->words + words > ROOM) {
		struct ki_d_batch b = {.clause = l->clause,
				       .first = (uint32_t)d->actions.n,
				       .speculative = l->speculative};

		if (ki_vec_push(&d->batches, b))
			return ki_d_no_memory(l->err);
		l->open = true;
		l->words = 0;
	}
	a.batch = (uint32_t)d->batches.n - 1;
	d->batches.v[a.batch].n++;
	l->words += words;
	return ki_vec_push(&d->actions, a) ? ki_d_no_memory(l->err) : 0;
}

static bool is_call(const struct ki_d_node *n, bool (*test)(const struct ki_d_function *))
{
	return n->kind == KI_D_CALL && test(n->sym.function);
}

static int lay_statement(struct layout *l, const struct ki_d_node *n)
{
	const bool alone = is_call(n, ki_d_ends_speculation),
		   begins = n->kind == KI_D_CALL && n->sym.function->kind == KI_D_F_SPECULATE;
	int ret = 0;

	l->open &= !alone && !begins;
	l->speculative |= begins;
	if (is_call(n, ki_d_is_action))
		ret = add_action(l, n);
	if (!ret && alone)
		l->d->batches.v[l->d->batches.n - 1].silent = true;
	l->open &= !alone;
	if (n->kind == KI_D_ASSIGN || ki_d_steps(n))
		l->open = false;
	return ret;
}

/* *most: how many records a hit has, at most. */
static int lay_list(struct layout *l, const struct ki_d_node *list, unsigned int *most);

static int lay_branches(struct layout *l, const struct ki_d_node *n, unsigned int *most)
{
	const bool speculative = l->speculative;
	unsigned int longest = 0;
	int ret = 0;

	for (int i = 1; !ret && i < 3; i++) {
		unsigned int length = 0;

		l->open = false;
		ret = lay_list(l, n->kid[i], &length);
		l->speculative = speculative;
		longest = length > longest ? length : longest;
	}
	l->open = false;
	l->branches |= longest;
	*most += longest;
	return ret;
}

static int lay_list(struct layout *l, const struct ki_d_node *list, unsigned int *most)
{
	int ret = 0;

	for (const struct ki_d_node *n = list; !ret && n; n = n->next) {
		const size_t before = l->d->batches.n;

		if (n->kind == KI_D_IF) {
			ret = lay_branches(l, n, most);
			continue;
		}
		ret = lay_statement(l, n);
		*most += (unsigned int)(l->d->batches.n - before);
	}
	return ret;
}

static bool only_signals(const struct ki_dlang *d, const struct ki_d_batch *b)
{
	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct ki_d_node *n = d->actions.v[i].node;

		if (!n || n->sym.function->kind != KI_D_F_RAISE)
			return false;
	}
	return true;
}

/* A signal beside commit() or discard() has no line of its own. */
static void silence_signals(struct ki_dlang *d, const struct ki_d_clause *c)
{
	bool silent = false;

	for (uint32_t i = 0; i < c->nbatches; i++)
		silent |= d->batches.v[c->first_batch + i].silent;
	for (uint32_t i = 0; silent && i < c->nbatches; i++)
		d->batches.v[c->first_batch + i].silent |=
			only_signals(d, &d->batches.v[c->first_batch + i]);
}

static int lay_out(struct ki_dlang *d, uint32_t number, struct ki_err *err)
{
	struct ki_d_clause *c = &d->clauses.v[number];
	struct layout l = {.d = d, .err = err, .clause = number};
	unsigned int most = 0;
	int ret;

	c->first_batch = (uint32_t)d->batches.n;
	ret = c->body ? lay_list(&l, c->body, &most) : add_action(&l, NULL);
	if (!ret && ki_d_only_speculates(c))
		ret = add_action(&l, NULL);
	c->nbatches = (uint32_t)d->batches.n - c->first_batch;
	c->varies = l.branches && most > 1;
	silence_signals(d, c);
	for (uint32_t i = 0; !ret && i < c->nbatches; i++) {
		struct ki_d_batch *b = &d->batches.v[c->first_batch + i];

		b->begins = !i || most == 1;
		b->ends = i + 1 == c->nbatches || most == 1;
	}
	return ret;
}

int ki_d_batches(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < d->clauses.n; i++)
		ret = lay_out(d, i, err);
	return ret;
}
