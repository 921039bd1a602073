// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Variables that have parts: they are words which hold the bytes that C would put into memory. The
 * words are variables, one after the other, or rows of a table, whose first key is the word's
 * number, if an index is known only when code runs. Those of a global whose address is used stand
 * in memory, a room of the scratch memory that nobody gives back.
 */
#include "dlang/code/code.h"

#define MOST_CHUNKS KI_D_COPIED /* of a copy */

/* Bits of a variable. */
struct part {
	const struct ki_d_node *root, *node;
	uint64_t bit;		   /* where it begins, without indices that vary, */
	bool moves;		   /* which there are: then a local has it */
	bool second;		   /* of two locals: ki_d_gen_offset */
	unsigned int width;	   /* of a scalar */
	struct ki_node *before[2]; /* statements before it is changed; or NULL */
};

static struct ki_node *number(struct ki_d_gen *g, uint64_t value)
{
	return ki_expr_const(g->s, KI_U64, value);
}

static struct ki_node *op(struct ki_d_gen *g, enum ki_binary which, struct ki_node *a,
			  struct ki_node *b)
{
	return ki_expr_binary(g->s, which, a, b);
}

static uint64_t bits_of(struct ki_d_gen *g, struct ki_d_type t)
{
	return 8 * (ki_d_is_string(t) ? 8 : ki_d_sizeof(&g->d->types, t));
}

static struct part part_of(struct ki_d_gen *g, const struct ki_d_node *n, bool second)
{
	struct part p = {.root = ki_d_part_root(n),
			 .node = n,
			 .moves = ki_d_part_moves(n),
			 .second = second,
			 .width = (unsigned int)bits_of(g, n->type)};

	if (n->kind == KI_D_MEMBER && n->op)
		p.width = n->op;
	for (; n != p.root; n = n->kid[0])
		if (n->kind == KI_D_MEMBER)
			p.bit += n->value;
		else if (n->kid[1]->kind == KI_D_NUMBER)
			p.bit += n->kid[1]->value * bits_of(g, n->type);
	return p;
}

/* Bits that indices add which vary. */
static struct ki_node *moved(struct ki_d_gen *g, const struct part *p)
{
	struct ki_node *sum = number(g, p->bit);

	for (const struct ki_d_node *n = p->node; n != p->root; n = n->kid[0]) {
		struct ki_node *x;

		if (n->kind != KI_D_ELEMENT || n->kid[1]->kind == KI_D_NUMBER)
			continue;
		x = ki_d_gen_in_bounds(g, ki_d_gen_expr(g, n->kid[1]),
				       ki_d_def_of(&g->d->types, n->kid[0]->type)->n);
		sum = op(g, KI_ADD, sum, op(g, KI_MUL, x, number(g, bits_of(g, n->type))));
	}
	return sum;
}

/* A word's number, and where in it; plus: bits behind the part's first. */
static struct ki_node *place(struct ki_d_gen *g, const struct part *p, uint64_t plus)
{
	if (!p->moves)
		return number(g, p->bit + plus);
	return op(g, KI_ADD, ki_d_gen_offset(g, p->second), number(g, plus));
}

static struct ki_node *shift(struct ki_d_gen *g, const struct part *p, uint64_t plus)
{
	return op(g, KI_AND, place(g, p, plus), number(g, 63));
}

/* ---- words ---- */

static struct ki_var word_of(const struct part *p, uint64_t plus)
{
	static const uint8_t kinds[] = {[KI_D_GLOBAL_SCOPE] = KI_VAR_GLOBAL,
					[KI_D_SELF_SCOPE] = KI_VAR_THREAD,
					[KI_D_THIS_SCOPE] = KI_VAR_LOCAL};
	const struct ki_d_var *v = p->root->sym.var;

	return (struct ki_var){.kind = kinds[v->scope],
			       .type = KI_U64,
			       .first = v->number + (uint32_t)((p->bit + plus) / 64)};
}

static unsigned int keys_of(struct ki_d_gen *g, const struct part *p, uint64_t plus,
			    struct ki_node **keys)
{
	const struct ki_d_var *v = p->root->sym.var;
	unsigned int n = 0;

	keys[n++] = op(g, KI_SHR, place(g, p, plus), number(g, 6));
	if (v->scope != KI_D_GLOBAL_SCOPE)
		keys[n++] = ki_expr_fact(g->s, KI_FACT_PID);
	if (v->nkeys)
		n += ki_d_gen_keys(g, p->root->kid[1], NULL, keys + n);
	return n;
}

static bool in_memory(const struct part *p)
{
	return p->root->sym.var->in_memory;
}

/* Where the variable begins, and so many bytes. */
static struct ki_node *address(struct ki_d_gen *g, const struct part *p, struct ki_node *bytes)
{
	struct ki_node *at =
		op(g, KI_ADD, ki_d_gen_variables(g), number(g, p->root->sym.var->place));

	return op(g, KI_ADD, at, bytes);
}

static struct ki_node *word_address(struct ki_d_gen *g, const struct part *p, uint64_t plus)
{
	return address(g, p,
		       op(g, KI_SHL, op(g, KI_SHR, place(g, p, plus), number(g, 6)), number(g, 3)));
}

static struct ki_node *get_word(struct ki_d_gen *g, const struct part *p, uint64_t plus)
{
	const struct ki_d_var *v = p->root->sym.var;
	struct ki_node *keys[KI_TABLE_KEYS];
	struct ki_table_var t;
	struct ki_var word;
	unsigned int n;

	if (in_memory(p))
		return ki_expr_load(g->s, KI_U64, word_address(g, p, plus));
	if (!v->table) {
		word = word_of(p, plus);
		return ki_expr_var(g->s, &word);
	}
	t = ki_table_var_of(v->table, v->name);
	n = keys_of(g, p, plus, keys);
	return ki_expr_table(g->s, &(struct ki_row_value){&t, 0, keys, n});
}

static struct ki_node *set_word(struct ki_d_gen *g, const struct part *p, uint64_t plus,
				struct ki_node *value)
{
	const struct ki_d_var *v = p->root->sym.var;
	struct ki_node *keys[KI_TABLE_KEYS];
	struct ki_table_var t;
	struct ki_var word;
	unsigned int n;

	if (in_memory(p))
		return ki_d_gen_put(g, word_address(g, p, plus), value, 8);
	if (!v->table) {
		word = word_of(p, plus);
		return ki_stmt_update(g->s, KI_SET, &word, NULL, value);
	}
	t = ki_table_var_of(v->table, v->name);
	n = keys_of(g, p, plus, keys);
	for (int i = 1; i >= 0; i--)
		if (p->before[i])
			keys[0] = ki_expr_behind(g->s, p->before[i], keys[0]);
	return ki_stmt_table(g->s, KI_TABLE_SET, &(struct ki_row_value){&t, 0, keys, n}, value);
}

static uint64_t mask(unsigned int width)
{
	return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static struct ki_node *get_bits(struct ki_d_gen *g, const struct part *p, uint64_t plus,
				unsigned int width)
{
	struct ki_node *word = get_word(g, p, plus);

	if (width == 64)
		return word;
	return op(g, KI_AND, op(g, KI_SHR, word, shift(g, p, plus)), number(g, mask(width)));
}

/* The word with these bits of it. */
static struct ki_node *with_bits(struct ki_d_gen *g, const struct part *p, uint64_t plus,
				 unsigned int width, struct ki_node *value)
{
	struct ki_node *others, *these;

	value = ki_expr_cast(g->s, KI_U64, value);
	if (width == 64)
		return value;
	others = op(g, KI_AND, get_word(g, p, plus),
		    ki_expr_unary(g->s, KI_NOT,
				  op(g, KI_SHL, number(g, mask(width)), shift(g, p, plus))));
	these = op(g, KI_SHL, op(g, KI_AND, value, number(g, mask(width))), shift(g, p, plus));
	return op(g, KI_OR, others, these);
}

static struct ki_node *set_bits(struct ki_d_gen *g, const struct part *p, uint64_t plus,
				unsigned int width, struct ki_node *value)
{
	return set_word(g, p, plus, with_bits(g, p, plus, width, value));
}

/* Behind a fault there is none: what is put into memory looks itself. */
static struct ki_node *change(struct ki_d_gen *g, const struct part *p, struct ki_node *stmt)
{
	return in_memory(p) ? stmt : ki_d_gen_effect(g, stmt);
}

/* ---- scalars ---- */

/* What the bits are as a number of its type. */
static struct ki_node *as_type(struct ki_d_gen *g, const struct part *p, struct ki_node *bits)
{
	const enum ki_type t = ki_d_num(p->node->type);
	const enum ki_type whole = t < KI_U8 ? KI_I64 : KI_U64;

	if (p->width == bits_of(g, p->node->type))
		return ki_expr_cast(g->s, t, bits);
	bits = op(g, KI_SHL, bits, number(g, 64 - p->width));
	return op(g, KI_SHR, ki_expr_cast(g->s, whole, bits),
		  ki_expr_const(g->s, whole, 64 - p->width));
}

struct ki_node *ki_d_gen_part(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct part p = part_of(g, n, false);
	struct ki_node *x;

	if (ki_d_is_struct(n->type) || ki_d_is_array(n->type))
		return ki_d_gen_part_copy(g, n);
	x = as_type(g, &p, get_bits(g, &p, 0, p.width));
	return p.moves ? ki_expr_behind(g->s, ki_d_gen_set_offset(g, false, moved(g, &p)), x) : x;
}

/* One statement, as an assignment inside of an expression must be. */
static struct ki_node *set_in_memory(struct ki_d_gen *g, const struct part *p,
				     struct ki_node *value)
{
	struct ki_node *args[] = {word_address(g, p, 0), NULL, number(g, 8)}, *store;

	args[1] = with_bits(g, p, 0, p->width, ki_d_gen_value_kept(g));
	store = ki_d_gen_text_at(g, KI_TEXT_STORE, args, 3);
	if (p->moves)
		store = ki_expr_behind(g->s, ki_d_gen_set_offset(g, false, moved(g, p)), store);
	return ki_stmt_eval(g->s, ki_expr_behind(g->s, ki_d_gen_set_value(g, value), store));
}

/* The value is evaluated first, then where it goes: both in the first of the keys. */
struct ki_node *ki_d_gen_set_part(struct ki_d_gen *g, const struct ki_d_node *n,
				  struct ki_node *value)
{
	struct part p = part_of(g, n, false);

	if (in_memory(&p))
		return set_in_memory(g, &p, value);
	if (p.moves) {
		p.before[0] = ki_d_gen_set_value(g, value);
		p.before[1] = ki_d_gen_set_offset(g, false, moved(g, &p));
		value = ki_d_gen_value_kept(g);
	}
	return ki_d_gen_effect(g, set_bits(g, &p, 0, p.width, value));
}

/* ---- structs ---- */

/* Bytes that both sides have behind each other at a place, so that no word is left. */
static unsigned int chunk(uint64_t at, uint64_t left, uint64_t most)
{
	uint64_t n = most;

	while (n > left || at % n)
		n /= 2;
	return (unsigned int)n;
}

/* What all parts are aligned to that are not at a multiple of 8 bytes. */
static uint64_t step_of(struct ki_d_gen *g, const struct part *p)
{
	uint64_t n = 8;

	for (const struct ki_d_node *k = p->node; k != p->root; k = k->kid[0])
		while (k->kind == KI_D_ELEMENT && ki_d_sizeof(&g->d->types, k->type) % n)
			n /= 2;
	while (p->bit / 8 % n)
		n /= 2;
	return n;
}

static const uint8_t chunk_types[] = {[1] = KI_U8, [2] = KI_U16, [4] = KI_U32, [8] = KI_U64};

struct ki_node *ki_d_gen_set_struct(struct ki_d_gen *g, const struct ki_d_node *to,
				    const struct ki_d_node *from)
{
	const uint64_t size = ki_d_sizeof(&g->d->types, to->type);
	const struct part p = part_of(g, to, false);
	const bool inside = ki_d_in_variable(from), clears = !ki_d_is_struct(from->type);
	struct part q = p;
	uint64_t most = step_of(g, &p);
	struct ki_node *list = NULL;
	unsigned int n;

	if (inside) {
		q = part_of(g, from, true);
		most = step_of(g, &q) < most ? step_of(g, &q) : most;
	}
	if (!inside && !clears)
		list = ki_stmt_append(g->s, list, ki_d_gen_set_value(g, ki_d_gen_address(g, from)));
	else if (inside && q.moves)
		list = ki_stmt_append(g->s, list, ki_d_gen_set_offset(g, true, moved(g, &q)));
	if (p.moves)
		list = ki_stmt_append(g->s, list, ki_d_gen_set_offset(g, false, moved(g, &p)));
	for (uint64_t at = 0; at < size; at += n) {
		struct ki_node *x;

		n = chunk(at, size - at, most);
		x = clears   ? number(g, 0)
		    : inside ? get_bits(g, &q, 8 * at, 8 * n)
			     : ki_d_gen_load(g, (enum ki_type)chunk_types[n],
					     op(g, KI_ADD, ki_d_gen_value_kept(g), number(g, at)));
		list = ki_stmt_append(g->s, list, change(g, &p, set_bits(g, &p, 8 * at, 8 * n, x)));
	}
	return list;
}

/* Where it stands; or where a copy of it stands in scratch memory. */
struct ki_node *ki_d_gen_part_copy(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const uint64_t size = ki_d_sizeof(&g->d->types, n->type);
	const struct part p = part_of(g, n, false);
	const uint64_t most = step_of(g, &p);
	struct ki_node *value = ki_d_gen_value_kept(g), *stmt[MOST_CHUNKS];
	unsigned int count = 0, bytes;

	if (in_memory(&p))
		return address(g, &p, op(g, KI_SHR, moved(g, &p), number(g, 3)));
	for (uint64_t at = 0; at < size && count < MOST_CHUNKS; at += bytes) {
		bytes = chunk(at, size - at, most);
		stmt[count++] =
			ki_d_gen_put(g, op(g, KI_ADD, ki_d_gen_value_kept(g), number(g, at)),
				     get_bits(g, &p, 8 * at, 8 * bytes), bytes);
	}
	while (count--)
		value = ki_expr_behind(g->s, stmt[count], value);
	value = ki_expr_behind(g->s, ki_d_gen_set_value(g, ki_d_gen_piece(g, size)), value);
	return p.moves ? ki_expr_behind(g->s, ki_d_gen_set_offset(g, false, moved(g, &p)), value)
		       : value;
}

struct ki_node *ki_d_gen_part_address(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_d_node *all = ki_d_copied(g->d, n);
	const struct part p = part_of(g, n, false);
	struct ki_node *bytes;

	if (all == n || in_memory(&p))
		return ki_d_gen_part_copy(g, n);
	bytes = op(g, KI_SHR, moved(g, &p), number(g, 3));
	return op(g, KI_ADD, bytes, ki_d_gen_part_copy(g, all));
}

/* n of the bytes that begin where value_kept leads, from the first on. */
static struct ki_node *bytes_at(struct ki_d_gen *g, uint64_t at, unsigned int n)
{
	return ki_d_gen_load(g, (enum ki_type)chunk_types[n],
			     op(g, KI_ADD, ki_d_gen_value_kept(g), number(g, at)));
}

struct ki_node *ki_d_gen_put_back(struct ki_d_gen *g, const struct ki_d_node *at,
				  const struct ki_d_node *copy, struct ki_node *x)
{
	const bool one = at->kind == KI_D_ADDRESS;
	const struct ki_d_node *n = at->kid[0], *all = one ? ki_d_copied(g->d, n) : n;
	const struct part p = part_of(g, all, false), of = part_of(g, n, false);
	const uint64_t size = ki_d_sizeof(&g->d->types, all->type), most = step_of(g, &p);
	struct ki_node *from = ki_d_gen_expr(g, copy), *stmt[MOST_CHUNKS], *value = number(g, 0);
	unsigned int count = 0, bytes;

	if (all != n)
		from = op(g, KI_SUB, from, op(g, KI_SHR, moved(g, &of), number(g, 3)));
	for (uint64_t i = 0; i < size && count < MOST_CHUNKS; i += bytes) {
		bytes = chunk(i, size - i, most);
		stmt[count++] =
			change(g, &p, set_bits(g, &p, 8 * i, 8 * bytes, bytes_at(g, i, bytes)));
	}
	while (count--)
		value = ki_expr_behind(g->s, stmt[count], value);
	if (p.moves)
		value = ki_expr_behind(g->s, ki_d_gen_set_offset(g, false, moved(g, &p)), value);
	value = ki_expr_behind(g->s, ki_d_gen_set_value(g, from), value);
	return ki_expr_behind(g->s, ki_stmt_eval(g->s, x), value);
}

/* ---- this-> ---- */

static bool names_var(const struct ki_d_node *list, const struct ki_d_var *v)
{
	bool found = false;

	for (const struct ki_d_node *n = list; !found && n; n = n->next) {
		found = n->kind == KI_D_THIS && n->sym.var == v;
		for (unsigned int i = 0; !found && i < 3; i++)
			found = names_var(n->kid[i], v);
	}
	return found;
}

static bool used_at(const struct ki_dlang *d, const struct ki_d_probe *p, const struct ki_d_var *v)
{
	bool used = false;

	for (uint32_t i = p->first; !used && i < p->first + p->n; i++) {
		const struct ki_d_clause *c = &d->clauses.v[d->uses.v[i]];

		used = names_var(c->predicate, v) || names_var(c->body, v);
	}
	return used;
}

struct ki_node *ki_d_gen_parts_begin(struct ki_d_gen *g)
{
	const struct ki_d_probe *p = &g->d->probes.v[g->site->probe];
	struct ki_node *list = NULL;

	for (size_t i = 0; i < g->d->vars.n; i++) {
		const struct ki_d_var *v = g->d->vars.v[i];
		struct ki_table_var t;

		if (v->scope != KI_D_THIS_SCOPE || !v->table || !used_at(g->d, p, v))
			continue;
		t = ki_table_var_of(v->table, v->name);
		for (unsigned int w = 0; w < ki_d_var_words(g->d, v); w++) {
			struct ki_node *keys[] = {number(g, w), ki_expr_fact(g->s, KI_FACT_PID)};

			list = ki_stmt_append(g->s, list,
					      ki_stmt_table(g->s, KI_TABLE_DELETE,
							    &(struct ki_row_value){&t, 0, keys, 2},
							    NULL));
		}
	}
	return list;
}
