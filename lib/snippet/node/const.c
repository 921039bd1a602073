// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A number.
 */
#include <errno.h>
#include <inttypes.h>

#include "snippet/node.h"

struct ki_node *ki_expr_const(struct ki_snippet *s, enum ki_type type, uint64_t value)
{
	struct ki_node *n = ki_tree_node(s, NODE_CONST);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	n->type = type;
	ki_node_set_konst(n, ki_type_extend(type, value));
	return n;
}

static struct ki_node *again(struct ki_snippet *s, const struct ki_node *n)
{
	return ki_expr_const(s, n->type, n->value);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	(void)r;
	return n->value;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	if (ki_types[n->type].sign)
		fprintf(f, "%" PRId64, (int64_t)n->value);
	else if (n->value < 65536)
		fprintf(f, "%" PRIu64 "u", n->value);
	else
		fprintf(f, "0x%" PRIx64, n->value);
}

const struct ki_node_ops ki_node_const = {
	.again = again,
	.facts = ki_node_no_facts,
	.run = run,
	.write = write,
};
