// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Snippets about a thread of a process, in the kernel: the thread's registers lie in memory, where
 * a parameter says.
 */
#include <errno.h>

#include "snippet/tree.h"

/* Where struct pt_regs has the registers, by their numbers. */
static const uint8_t at_register[16] = {80, 88, 96, 40, 152, 32, 104, 112,
					72, 64, 56, 48, 24,  16, 8,   0};

void ki_snippet_of_thread(struct ki_snippet *s, unsigned int param, const struct ki_site_regs *at)
{
	s->thread = at != NULL;
	s->thread_param = param;
	if (at)
		s->thread_at = *at;
}

static struct ki_node *number(struct ki_snippet *s, uint64_t value)
{
	return ki_expr_const(s, KI_U64, value);
}

struct ki_node *ki_thread_reg(struct ki_snippet *s, unsigned int reg)
{
	struct ki_node *at = ki_tree_param(s, s->thread_param);

	return ki_tree_load(s, KI_U64,
			    ki_expr_binary(s, KI_ADD, at, number(s, at_register[reg & 15])));
}

struct ki_node *ki_thread_load(struct ki_snippet *s, enum ki_type type, struct ki_node *addr)
{
	struct ki_node *args[] = {addr, NULL};

	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	args[1] = number(s, ki_types[type].size);
	return ki_expr_cast(s, type, ki_expr_helper(s, KI_HELPER_ULOAD, args, 2));
}

static struct ki_node *refuse(struct ki_snippet *s, unsigned int reason, const char *what)
{
	if (!s->err.code)
		ki_err_reason(&s->err, reason, s->thread_at.addr, "snippet: %s", what);
	return NULL;
}

/* The rest lie above the return address, and what the function has pushed. */
struct ki_node *ki_thread_param(struct ki_snippet *s, unsigned int param)
{
	uint64_t offset;

	if (!s->thread_at.at_entry)
		return refuse(s, KI_R_NO_PARAMETER, "a parameter");
	if (param < 6)
		return ki_thread_reg(s, ki_param_regs[param]);
	offset = 8 * (uint64_t)(param - 6 + 1 + s->thread_at.pushed);
	return ki_thread_load(
		s, KI_U64, ki_expr_binary(s, KI_ADD, ki_thread_reg(s, KI_RSP), number(s, offset)));
}

struct ki_node *ki_thread_fact(struct ki_snippet *s, enum ki_fact fact)
{
	switch (fact) {
	case KI_FACT_ADDR:
		return number(s, s->thread_at.addr);
	case KI_FACT_PLACE:
		return number(s, s->thread_at.place);
	default:
		return s->thread_at.at_exit ? ki_thread_reg(s, KI_RAX)
					    : refuse(s, KI_R_NO_RETVAL, "retval");
	}
}
