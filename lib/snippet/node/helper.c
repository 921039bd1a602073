// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A helper of the driver. Those of which there are nodes of their own are not called here.
 */
#include <errno.h>

#include "snippet/node.h"

/* Those of which there are nodes of their own. */
static const char *const helper_uses[KI_HELPERS] = {
	[KI_HELPER_ENTER] = "calls",	    [KI_HELPER_LEAVE] = "calls",
	[KI_HELPER_ENTER_RECORD] = "calls", [KI_HELPER_RECORD] = "records",
	[KI_HELPER_TABLE] = "tables",	    [KI_HELPER_STACK] = "stacks",
	[KI_HELPER_USTACK] = "stacks",	    [KI_HELPER_STRING] = "strings",
	[KI_HELPER_USTRING] = "strings",    [KI_HELPER_MINMAX] = "updates",
	[KI_HELPER_KCOV] = "traces",	    [KI_HELPER_TEXT] = "strings",
	[KI_HELPER_DEPTH] = "stacks",	    [KI_HELPER_KCOV_COMPARISON] = "traces",
};

struct ki_node *ki_expr_helper(struct ki_snippet *s, enum ki_helper helper,
			       struct ki_node *const *args, unsigned int nargs)
{
	struct ki_node *n = ki_tree_node(s, NODE_HELPER);

	if (!n)
		return NULL;
	if ((unsigned int)helper >= KI_HELPERS)
		return ki_tree_fail(s, -EINVAL, "no such helper: %u", helper);
	if (helper_uses[helper])
		return ki_tree_fail(s, -EINVAL, "helper %s is for %s only", ki_helper_name(helper),
				    helper_uses[helper]);
	if (nargs != ki_helper_args(helper))
		return ki_tree_fail(s, -EINVAL, "helper %s takes %u arguments, not %u",
				    ki_helper_name(helper), ki_helper_args(helper), nargs);
	if (helper == KI_HELPER_SIGNAL &&
	    !(args[0] && args[0]->konst && args[0]->value <= KI_SIGNALS))
		return ki_tree_fail(s, -EINVAL,
				    "helper SIGNAL: the first argument is a constant, "
				    "0 to %d",
				    KI_SIGNALS);
	n->op = helper;
	n->effects = true;
	return ki_node_adopt_all(n, args, nargs) ? n : NULL;
}

static struct ki_node *again(struct ki_snippet *s, const struct ki_node *n)
{
	struct ki_node *arg;

	if (n->op != KI_HELPER_EVENT)
		return ki_node_not_again(s);
	arg = ki_node_again(s, n->kid[0]);
	return ki_expr_helper(s, KI_HELPER_EVENT, &arg, 1);
}

static uint16_t fixed(const struct ki_node *n)
{
	return ki_gen_fixed_args(n->nkids);
}

/* %edi says which, and is written the moment before the call. */
static void signal(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct claims c = {0};

	ki_gen_lend(g, dest);
	ki_gen_claim(g, KI_RSI, dest, &c);
	if (!n->kid[0]->value || !n->kid[1]->konst)
		ki_gen_expr(g, n->kid[1], KI_RSI);
	ki_gen_take_back(g, dest);
	ki_gen_claim(g, KI_RDI, dest, &c);
	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_number(g, KI_RDI, (uint32_t)n->kid[0]->value);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_SIGNAL);
	if (dest != KI_RAX)
		ki_gen_move(g, dest, KI_RAX);
	ki_gen_unclaim(g, &c);
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	if (n->op == KI_HELPER_SIGNAL)
		signal(g, n, dest);
	else
		ki_gen_helper(g, n->op, n->kid, n->nkids, dest);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t a[KI_CALL_ARGS] = {0};

	ki_run_args(r, n, a);
	switch (n->op) {
	case KI_HELPER_LOAD8:
	case KI_HELPER_LOAD16:
	case KI_HELPER_LOAD32:
	case KI_HELPER_LOAD64:
		return ki_run_load(r, a[0], 1u << (n->op - KI_HELPER_LOAD8));
	case KI_HELPER_DIV:
	case KI_HELPER_UDIV:
		return ki_arith_binary(KI_DIV, n->op == KI_HELPER_DIV, a[0], a[1]);
	case KI_HELPER_MOD:
	case KI_HELPER_UMOD:
		return ki_arith_binary(KI_MOD, n->op == KI_HELPER_MOD, a[0], a[1]);
	case KI_HELPER_UID:
		return r->m->uid;
	case KI_HELPER_CGROUP:
		return r->m->cgroup;
	case KI_HELPER_ULOAD:
		return r->m->user ? r->m->user(r->m->arg, a[0], (unsigned int)a[1]) : 0;
	case KI_HELPER_UNREADABLE:
		return r->m->unreadable ? r->m->unreadable(r->m->arg, a[0], a[1]) : 0;
	case KI_HELPER_UDEPTH:
		return r->m->udepth;
	case KI_HELPER_UCALLER:
		return r->m->ucaller;
	case KI_HELPER_SIGNAL:
		return r->m->signal ? r->m->signal(r->m->arg, a[0] ? a[0] : a[1]) : 0;
	case KI_HELPER_EVENT:
		return r->m->event ? r->m->event(r->m->arg, a[0]) : 0;
	default:
		return r->m->nanotime;
	}
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	for (const char *c = ki_helper_name(n->op); *c; c++)
		fputc(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c, f);
	ki_format_args(f, n);
}

const struct ki_node_ops ki_node_helper = {
	.again = again,
	.foreign = "a function of the driver",
	.fixed = fixed,
	.in_rax = ki_node_yes,
	.value = value,
	.run = run,
	.write = write,
};
