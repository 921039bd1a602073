// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What an inline or a translator is given is computed once, if it names it more than once and that
 * costs something: it is held in a local meanwhile.
 */
#include <string.h>

#include "dlang/check/check.h"

static unsigned int uses_of(const struct ki_d_node *list, const char *name)
{
	unsigned int n = 0;

	for (const struct ki_d_node *k = list; k; k = k->next) {
		n += k->kind == KI_D_NAME && !strcmp(k->text, name);
		for (unsigned int i = 0; i < 3; i++)
			n += uses_of(k->kid[i], name);
	}
	return n;
}

/* Of what has been checked; a variable's array is copied for its address. */
static bool is_costly(const struct ki_d_node *list)
{
	for (const struct ki_d_node *n = list; n; n = n->next) {
		if (n->kind == KI_D_DEREF || n->kind == KI_D_MEMBER || n->kind == KI_D_CALL ||
		    n->kind == KI_D_INDEX || n->kind == KI_D_SYMBOL || n->kind == KI_D_LET ||
		    (n->kind == KI_D_CAST && ki_d_is_array(n->kid[0]->type)))
			return true;
		for (unsigned int i = 0; i < 3; i++)
			if (is_costly(n->kid[i]))
				return true;
	}
	return false;
}

int ki_d_let(struct ki_d_checker *c, const struct ki_d_node *value, struct ki_d_let *let)
{
	const unsigned int slot = c->lets + let->more;
	struct ki_d_node *seen;
	int ret;

	let->let = let->held = NULL;
	if (slot >= KI_D_LETS || uses_of(let->body, let->name) < 2)
		return 0;
	seen = ki_d_copy(c->d, value, NULL, NULL, UINT32_MAX);
	if (!seen)
		return ki_d_no_memory(c->err);
	c->lets = slot; /* what it holds itself leaves those before alone */
	ret = ki_d_check_expr(c, seen);
	c->lets -= let->more;
	if (!ret)
		ret = ki_d_decay(c, seen);
	if (ret || !ki_d_is_scalar(seen->type) || !is_costly(seen) || ki_d_steps(seen))
		return ret;
	let->let = ki_d_node_new(&c->d->pool, KI_D_LET, value->at, 0);
	let->held = ki_d_node_new(&c->d->pool, KI_D_HELD, value->at, 0);
	if (!let->let || !let->held)
		return ki_d_no_memory(c->err);
	let->let->value = let->held->value = slot;
	let->held->type = seen->type;
	let->let->kid[0] = seen;
	let->more++;
	return 0;
}

int ki_d_check_let(struct ki_d_checker *c, struct ki_d_node *n)
{
	const unsigned int was = c->lets;
	int ret;

	c->lets = (unsigned int)n->value + 1;
	ret = ki_d_check_expr(c, n->kid[1]);
	c->lets = was;
	n->type = n->kid[1]->type;
	return ret;
}
