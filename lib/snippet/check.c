// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Is a snippet well built, and can it stand at a place?
 */
#include <errno.h>

#include "snippet/tree.h"

static int check_node(const struct ki_node *n, const struct ki_site_regs *site, struct ki_err *err)
{
	int ret = 0;

	if (n->kind == NODE_PARAM && !site->at_entry)
		return ki_err_reason(err, KI_R_NO_PARAMETER, 0, "snippet: parameter %u",
				     (unsigned int)n->value);
	if (n->kind == NODE_FACT && n->op == KI_FACT_RETVAL && !site->at_exit)
		return ki_err_reason(err, KI_R_NO_RETVAL, 0, "snippet: retval");
	for (unsigned int i = 0; !ret && i < n->nkids; i++)
		if (n->kid[i])
			ret = check_node(n->kid[i], site, err);
	for (const struct ki_node *k = n->first; !ret && k; k = k->next)
		ret = check_node(k, site, err);
	return ret;
}

int ki_snippet_check(const struct ki_snippet *s, const struct ki_site_regs *site,
		     struct ki_err *err)
{
	if (s->err.code)
		return ki_err_set(err, s->err.code, 0, "%s", s->err.msg);
	if (!s->body)
		return ki_err_set(err, -EINVAL, 0, "snippet: it has no body");
	return site ? check_node(s->body, site, err) : 0;
}
