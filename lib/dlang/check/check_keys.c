// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A struct or union as a key of an associative array or an aggregation: its numbers are keys, each
 * of them.
 */
#include <string.h>

#include "dlang/check/check.h"

struct leaves {
	struct ki_d_checker *c;
	struct ki_d_node *node[KI_D_KEYS];
	unsigned int n;
};

static int add(struct leaves *l, struct ki_d_node *of, struct ki_d_type type);

/* The part of it that a node of this kind names. */
static struct ki_d_node *part(struct leaves *l, struct ki_d_node *of, enum ki_d_kind kind,
			      const char *name)
{
	struct ki_d_node *n = ki_d_node_new(&l->c->d->pool, kind, of->at, strlen(name));

	if (!n)
		return NULL;
	strcpy(n->text, name);
	n->kid[0] = ki_d_copy(l->c->d, of, NULL, NULL, UINT32_MAX);
	return n->kid[0] ? n : NULL;
}

static int add_elements(struct leaves *l, struct ki_d_node *of, const struct ki_d_def *def)
{
	const struct ki_d_type type = def->of;
	const uint64_t count = def->n;
	int ret = 0;

	for (uint64_t i = 0; !ret && i < count; i++) {
		struct ki_d_node *n = part(l, of, KI_D_INDEX, "");
		struct ki_d_node *index = ki_d_node_new(&l->c->d->pool, KI_D_NUMBER, of->at, 0);

		if (!n || !index)
			return ki_d_no_memory(l->c->err);
		index->type = ki_d_int(KI_I32);
		index->value = i;
		n->kid[1] = index;
		ret = add(l, n, type);
	}
	return ret;
}

/* Of a union the largest. */
static int add_members(struct leaves *l, struct ki_d_node *of, struct ki_d_type type)
{
	struct ki_d_types *t = &l->c->d->types;
	const struct ki_d_def *def = ki_d_def_of(t, type);
	size_t first = 0, end = def ? def->members.n : 0;
	int ret = 0;

	for (size_t i = 0; def && def->kind == KI_D_DEF_UNION && i < def->members.n; i++) {
		if (ki_d_sizeof(t, def->members.v[i].type) >
		    ki_d_sizeof(t, def->members.v[first].type))
			first = i;
		end = first + 1;
	}
	for (size_t i = first; !ret && i < end; i++) {
		const struct ki_d_member m = def->members.v[i];
		struct ki_d_node *n = *m.name ? part(l, of, KI_D_MEMBER, m.name) : of;

		ret = n ? add(l, n, m.type) : ki_d_no_memory(l->c->err);
	}
	return ret;
}

static int add(struct leaves *l, struct ki_d_node *of, struct ki_d_type type)
{
	const struct ki_d_def *def = ki_d_def_of(&l->c->d->types, type);

	if (ki_d_is_struct(type))
		return add_members(l, of, type);
	if (ki_d_is_array(type) && def)
		return add_elements(l, of, def);
	if (!ki_d_is_scalar(type) || l->n == KI_D_KEYS)
		return ki_d_fail(l->c->d, l->c->err, of->at, "D_KEY_TYPE",
				 "a struct that is a key has at most %d members, and these are "
				 "numbers",
				 KI_D_KEYS);
	l->node[l->n++] = of;
	return 0;
}

int ki_d_spread_key(struct ki_d_checker *c, struct ki_d_node *k, struct ki_d_node *was)
{
	struct leaves l = {.c = c};
	int ret = add(&l, was, k->type);

	for (unsigned int i = 0; !ret && i < l.n; i++)
		ret = ki_d_check_expr(c, l.node[i]);
	if (ret || !l.n)
		return ret ? ret
			   : ki_d_fail(c->d, c->err, k->at, "D_KEY_TYPE", "a key has members");
	for (unsigned int i = l.n; --i > 0;) {
		l.node[i]->next = k->next;
		k->next = l.node[i];
	}
	k->kind = KI_D_CAST;
	k->kid[0] = l.node[0];
	k->kid[1] = k->kid[2] = NULL;
	k->op = 0;
	k->value = 0;
	k->is_builtin = false;
	k->type = k->about = l.node[0]->type;
	return (int)l.n;
}

int ki_d_check_key_count(struct ki_d_checker *c, const struct ki_d_node *n, unsigned int nkeys)
{
	return nkeys <= (uint64_t)c->d->set.tregs
		       ? 0
		       : ki_d_fail(c->d, c->err, n->at, "D_UNKNOWN",
				   "Insufficient tuple registers to generate code");
}
