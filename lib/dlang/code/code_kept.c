// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Probes behind a function that tell what it was called with: that is kept from its entry on. Where
 * the return address stands on the stack is the same then and there, whatever else the CPU or the
 * thread does in between, and no other call that has not ended has it. So it is where a function
 * ends that the other one has jumped to.
 */
#include <string.h>

#include "dlang/code/code.h"

static unsigned int keys_of(struct ki_d_gen *g, struct ki_node **keys)
{
	const struct ki_site_regs *regs = g->site->regs;

	keys[0] =
		ki_expr_binary(g->s, KI_ADD, ki_expr_reg(g->s, KI_RSP),
			       ki_expr_const(g->s, KI_U64, regs->at_entry ? 8 * regs->pushed : 0));
	keys[1] = ki_expr_const(g->s, KI_U64, g->site->probe);
	return 2;
}

struct ki_node *ki_d_gen_kept_word(struct ki_d_gen *g, unsigned int word)
{
	struct ki_table_var t = ki_table_var_of(g->d->run->kept, "kept");
	struct ki_node *keys[2];
	unsigned int n = keys_of(g, keys);

	return ki_expr_table(g->s, &(struct ki_row_value){&t, word, keys, n});
}

static struct ki_node *change(struct ki_d_gen *g, enum ki_table_op op, unsigned int word,
			      struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(g->d->run->kept, "kept");
	struct ki_node *keys[2];
	unsigned int n = keys_of(g, keys);

	return ki_stmt_table(g->s, op, &(struct ki_row_value){&t, word, keys, n}, value);
}

struct ki_node *ki_d_gen_if_kept(struct ki_d_gen *g, const struct ki_d_hook *h,
				 struct ki_node *list)
{
	list = ki_stmt_append(g->s, NULL, ki_d_gen_meant(g, h, list));
	list = ki_stmt_append(g->s, list, change(g, KI_TABLE_DELETE, 0, NULL));
	return ki_stmt_if(g->s, ki_d_gen_kept_word(g, 0), list, NULL);
}

int ki_d_code_keep(struct ki_dlang *d, const struct ki_d_site *site, struct ki_snippet **out,
		   struct ki_err *err)
{
	struct ki_d_gen g = {.d = d, .site = site};
	const char *map = d->probes.v[site->probe].hook->map;
	struct ki_node *list;
	int ret;

	*out = NULL;
	if (ki_snippet_new(&g.s))
		return ki_d_no_memory(err);
	list = ki_stmt_append(g.s, NULL, change(&g, KI_TABLE_SET, 0, ki_expr_param(g.s, 0)));
	if (strchr(map, 't'))
		list = ki_stmt_append(g.s, list,
				      change(&g, KI_TABLE_SET, 1, ki_d_gen_timestamp(&g)));
	ki_snippet_body(g.s, list);
	ret = ki_snippet_check(g.s, site->regs, err);
	if (ret)
		ki_snippet_free(g.s);
	else
		*out = g.s;
	return ret;
}
