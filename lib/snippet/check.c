// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Is a snippet well built, and can it stand at a place?
 */
#include <errno.h>

#include "snippet/tree.h"

/* What code in a process has no way to know or to do; NULL: it can. */
static const char *foreign_binary(const struct ki_node *n)
{
	const struct ki_node *r = n->kid[1];
	const bool power = r->konst && r->value && !(r->value & (r->value - 1));

	if ((n->op != KI_DIV && n->op != KI_MOD) || n->konst ||
	    (power && !ki_node_is_signed(n) && r->value <= INT32_MAX))
		return NULL;
	return "a division, but of unsigned numbers by powers of two";
}

static const char *foreign_fact(const struct ki_node *n)
{
	static const bool known[KI_FACTS] = {
		[KI_FACT_RETVAL] = true, [KI_FACT_TSC] = true,	 [KI_FACT_CPU] = true,
		[KI_FACT_ADDR] = true,	 [KI_FACT_PLACE] = true,
	};

	if (known[n->op])
		return NULL;
	return n->op == KI_FACT_COMM0 || n->op == KI_FACT_COMM1 ? "comm" : ki_fact_names[n->op];
}

static const char *foreign_change(const struct ki_node *n)
{
	if ((n->op == KI_UPDATE_MIN || n->op == KI_UPDATE_MAX) && n->var.kind != KI_VAR_LOCAL)
		return "a minimum or maximum";
	return NULL;
}

static const char *foreign(const struct ki_node *n)
{
	static const char *const kinds[NODE_KINDS] = {
		[NODE_LOAD] = "memory by its address",
		[NODE_HELPER] = "a function of the driver",
		[NODE_CALL] = "a call of the kernel's functions",
		[NODE_TABLE_GET] = "a table",
		[NODE_STRING] = "a string",
		[NODE_STACK] = "a stack",
		[NODE_TEXT] = "a string",
		[NODE_RECORD] = "a record",
		[NODE_TABLE] = "a table",
	};

	switch (n->kind) {
	case NODE_FACT:
		return foreign_fact(n);
	case NODE_BINARY:
		return foreign_binary(n);
	case NODE_UPDATE:
		return foreign_change(n);
	case NODE_VAR:
		return n->nkids && !n->kid[0]->konst ? "a vector's value by its index" : NULL;
	default:
		return kinds[n->kind];
	}
}

static int check_user(const struct ki_node *n, struct ki_err *err)
{
	const char *what = foreign(n);

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
