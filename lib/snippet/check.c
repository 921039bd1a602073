// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Is a snippet well built, and can it stand at a place?
 */
#include <errno.h>

#include "snippet/node.h"

static int check_user(const struct ki_node *n, struct ki_err *err)
{
	const struct ki_node_ops *ops = ki_ops(n);
	const char *what = ops->foreign_of ? ops->foreign_of(n) : ops->foreign;

	if (!what)
		return 0;
	return ki_err_set(err, -EOPNOTSUPP, 0,
			  "%s: code in a process cannot have that; registers, parameters, "
			  "retval, cpu and inside() it can",
			  what);
}

static int check_node(const struct ki_node *n, const struct ki_site_regs *site, struct ki_err *err)
{
	int ret = site->user ? check_user(n, err) : 0;

	if (ret)
		return ret;
	if (ki_ops(n)->stands)
		ret = ki_ops(n)->stands(n, site, err);
	for (unsigned int i = 0; !ret && i < n->nkids; i++)
		if (n->kid[i])
			ret = check_node(n->kid[i], site, err);
	for (const struct ki_node *k = n->first; !ret && k; k = k->next)
		ret = check_node(k, site, err);
	if (!ret && n->lowered)
		ret = check_node(n->lowered, site, err);
	return ret;
}

int ki_snippet_check(const struct ki_snippet *s, const struct ki_site_regs *site,
		     struct ki_err *err)
{
	if (s->err.code && err && !err->code)
		*err = s->err;
	if (s->err.code)
		return s->err.code;
	if (!s->body)
		return ki_err_set(err, -EINVAL, 0, "snippet: it has no body");
	return site ? check_node(s->body, site, err) : 0;
}
