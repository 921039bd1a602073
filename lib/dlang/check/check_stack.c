// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Members of what stack() and ustack() give, and of variables that keep it: what is known of them
 * without the frames themselves.
 */
#include <errno.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

static bool is_user(const struct ki_d_node *call)
{
	return call->sym.function->kind == KI_D_F_USTACK;
}

bool ki_d_is_stack_call(const struct ki_d_node *n)
{
	return n->kind == KI_D_CALL && n->sym.function && n->type.base == KI_D_STACK &&
	       !n->type.stars;
}

static void become(struct ki_d_node *n, enum ki_d_kind kind)
{
	n->kind = (uint8_t)kind;
	n->op = 0;
	n->value = 0;
	memset(n->kid, 0, sizeof(n->kid));
}

static int become_number(struct ki_d_node *n, uint64_t value)
{
	become(n, KI_D_NUMBER);
	n->type = ki_d_int(KI_U32);
	n->value = value;
	return 0;
}

static struct ki_d_node *named(struct ki_d_checker *c, uint32_t at, const char *name)
{
	struct ki_d_node *n = ki_d_node_new(&c->d->pool, KI_D_NAME, at, strlen(name));

	if (n)
		strcpy(n->text, name);
	return n;
}

/* Of a variable that keeps one. */
static int check_kept(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = n->kid[1] ? ki_d_check_numbers(c, n->kid[1], "D_OP_INCOMPAT") : 0;

	if (!strcmp(n->text, "is_user"))
		return become_number(n, n->kid[0]->type.user);
	if (strcmp(n->text, "depth") != 0)
		return FAIL(c, n, "D_TYPE_MEMBER",
			    "%.60s of a stack in a variable cannot be had: depth and is_user can",
			    n->text);
	c->d->depths_used = true;
	n->type = n->kid[1] ? n->kid[0]->type : ki_d_int(KI_U32);
	return ret;
}

static bool is_variable(const struct ki_d_node *n)
{
	return n->kind == KI_D_NAME || n->kind == KI_D_SELF || n->kind == KI_D_THIS ||
	       n->kind == KI_D_INDEX;
}

/* VARIABLE.depth = X is VARIABLE = what it keeps, with that depth. */
int ki_d_check_depth_store(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *to = n->kid[0], *of;
	int ret;

	if (n->op != KI_BINARIES || to->kind != KI_D_MEMBER || strcmp(to->text, "depth") != 0 ||
	    !is_variable(to->kid[0]))
		return 0;
	of = ki_d_copy(c->d, to->kid[0], NULL, NULL, UINT32_MAX);
	if (!of)
		return ki_d_no_memory(c->err);
	ret = ki_d_check_expr(c, of);
	if (ret || of->type.base != KI_D_STACK || of->type.stars)
		return ret;
	n->kid[0] = ki_d_copy(c->d, to->kid[0], NULL, NULL, UINT32_MAX);
	if (!n->kid[0])
		return ki_d_no_memory(c->err);
	to->kid[1] = n->kid[1];
	n->kid[1] = to;
	return 0;
}

int ki_d_check_stack_member(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_node *call = n->kid[0], *bytes = call->kid[0] ? call->kid[0]->next : NULL;
	struct ki_d_node *pid;

	if (!ki_d_is_stack_call(call))
		return check_kept(c, n);
	if (!strcmp(n->text, "depth"))
		return become_number(n, ki_d_stack_frames(c->d, call->type));
	if (!strcmp(n->text, "is_user"))
		return become_number(n, is_user(call));
	if (!strcmp(n->text, "strsz"))
		return become_number(n, bytes ? bytes->value : 0);
	if (strcmp(n->text, "pid") != 0)
		return FAIL(c, n, "D_TYPE_MEMBER", "%.60s is no member of a stack", n->text);
	if (!is_user(call))
		return become_number(n, 0);
	pid = named(c, n->at, "pid");
	if (!pid)
		return ki_d_no_memory(c->err);
	become(n, KI_D_CAST);
	n->about = ki_d_int(KI_U32);
	n->kid[0] = pid;
	return ki_d_check_expr(c, n);
}

/* ucaller; or uregs[R_PC] */
static int become_user_frame(struct ki_d_checker *c, struct ki_d_node *n, uint64_t index)
{
	struct ki_d_node *x = named(c, n->at, index ? "ucaller" : "uregs"),
			 *pc = index ? NULL : named(c, n->at, "R_PC");

	if (!x || (!index && !pc))
		return ki_d_no_memory(c->err);
	become(n, index ? KI_D_CAST : KI_D_INDEX);
	n->about = ki_d_int(KI_U64);
	n->kid[0] = x;
	n->kid[1] = pc;
	return ki_d_check_expr(c, n);
}

int ki_d_check_frame(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_node *call = n->kid[0]->kid[0];
	struct ki_d_node *index = n->kid[1];
	int ret = index && !index->next ? ki_d_check_expr(c, index)
					: FAIL(c, n, "D_ARR_BADREF", "one index is expected in []");

	if (ret)
		return ret;
	if (!ki_d_fold_checked(index) || index->value > 1)
		return FAIL(c, n, "D_UNKNOWN",
			    "of a stack's addresses addrs[0] and addrs[1] can be had");
	if (is_user(call))
		return become_user_frame(c, n, index->value);
	n->sym.builtin = index->value ? ki_d_builtin_find("caller")
				      : ki_d_builtin_register(KI_D_REGISTER_RIP);
	become(n, KI_D_NAME);
	n->is_builtin = true;
	n->type = n->sym.builtin->type;
	return 0;
}
