// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Assignments that compute: TO op= X becomes TO = TO op X where X changes variables, since TO is
 * read before; and where op is %, whose sign is no processor's.
 */
#include "dlang/check/check.h"

int ki_d_spread_assign(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_node *to = n->kid[0];
	struct ki_d_node *sum;

	if (to->kind == KI_D_AGG || ki_d_steps(to) || (n->op != KI_MOD && !ki_d_steps(n->kid[1])))
		return 0;
	sum = ki_d_node_new(&c->d->pool, KI_D_BINARY, n->at, 0);
	if (!sum)
		return ki_d_no_memory(c->err);
	sum->op = n->op;
	sum->kid[0] = ki_d_copy(c->d, to, NULL, NULL, UINT32_MAX);
	sum->kid[1] = n->kid[1];
	n->op = KI_BINARIES;
	n->kid[1] = sum;
	return sum->kid[0] ? 0 : ki_d_no_memory(c->err);
}
