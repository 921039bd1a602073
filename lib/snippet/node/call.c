// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A call of one of the kernel's functions, between helpers ENTER and LEAVE.
 */
#include <errno.h>
#include <inttypes.h>

#include "snippet/node.h"

struct ki_node *ki_expr_call(struct ki_snippet *s, enum ki_type type, uint64_t addr,
			     const char *name, struct ki_node *const *args, unsigned int nargs)
{
	struct ki_node *n = ki_tree_node(s, NODE_CALL);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	if (nargs > KI_CALL_ARGS)
		return ki_tree_fail(s, -EINVAL, "a call with %u arguments: at most %d", nargs,
				    KI_CALL_ARGS);
	n->type = type;
	n->value = addr;
	if (name) {
		n->name = ki_tree_string(s, name);
		if (!n->name)
			return NULL;
	}
	n->effects = true;
	return ki_node_adopt_all(n, args, nargs) ? n : NULL;
}

struct ki_node *ki_expr_call_recording(struct ki_snippet *s, struct ki_node *call,
				       const struct ki_hit *hit)
{
	if (!call)
		return NULL;
	if (hit->ring > UINT8_MAX || hit->id >= KI_HIT_IDS)
		return ki_tree_fail(s, -EINVAL, "no such ring or id: %u, %u", hit->ring, hit->id);
	call->op = 1;
	call->ring = KI_HIT(hit->ring, hit->id);
	return call;
}

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return 0x0fc7; /* rax rcx rdx rsi rdi r8-r11 */
}

/* All that a C function may change. */
static const uint8_t volatile_regs[] = {KI_RAX, KI_RCX, KI_RDX, KI_RSI, KI_RDI,
					KI_R8,	KI_R9,	KI_R10, KI_R11};

/* What a C function may change, but for the arguments' registers. */
static void claim_volatile(struct gen *g, unsigned int nargs, unsigned int dest, struct claims *c)
{
	uint16_t args = 0;

	for (unsigned int i = 0; i < nargs; i++)
		args |= REG_BIT(ki_param_regs[i]);
	for (unsigned int i = 0; i < sizeof(volatile_regs); i++)
		if (!(args & REG_BIT(volatile_regs[i])))
			ki_gen_claim(g, volatile_regs[i], dest, c);
}

/* For a function that writes records the driver wants to see %eax written the moment before. */
static void enter(struct gen *g, const struct ki_node *n)
{
	if (n->op)
		ki_gen_number(g, KI_RAX, n->ring);
	ki_asm_call(&g->a, KI_FIX_HELPER, n->op ? KI_HELPER_ENTER_RECORD : KI_HELPER_ENTER);
}

/* What ENTER refuses is 0, which %rax is then. %rdi holds the result while LEAVE is called. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	uint32_t out = ki_asm_label(&g->a);
	struct claims c = {0};
	struct rm rax = rm_reg(KI_RAX);

	ki_gen_lend(g, dest);
	for (unsigned int i = 0; i < n->nkids; i++) {
		ki_gen_claim(g, ki_param_regs[i], dest, &c);
		ki_gen_expr(g, n->kid[i], ki_param_regs[i]);
	}
	ki_gen_take_back(g, dest);
	claim_volatile(g, n->nkids, dest, &c);
	enter(g, n);
	ki_asm_test(&g->a, 4, KI_RAX, KI_RAX);
	ki_asm_branch(&g->a, CC_E, out);
	ki_asm_call(&g->a, KI_FIX_CALLEE, n->value);
	ki_gen_move(g, KI_RDI, KI_RAX);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_LEAVE);
	ki_gen_move(g, KI_RAX, KI_RDI);
	ki_asm_here(&g->a, out);
	if (dest != KI_RAX || ki_types[n->type].size < 8)
		ki_asm_extend(&g->a, n->type, dest, &rax);
	ki_gen_unclaim(g, &c);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t a[KI_CALL_ARGS] = {0};

	ki_run_args(r, n, a);
	if (!r->m->may_call || !r->m->call)
		return 0;
	return ki_type_extend(n->type, r->m->call(r->m->arg, n->value, a, n->nkids));
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	if (n->name)
		fputs(n->name, f);
	else
		fprintf(f, "0x%" PRIx64, n->value);
	ki_format_args(f, n);
}

const struct ki_node_ops ki_node_call = {
	.foreign = "a call of the kernel's functions",
	.calls = true,
	.fixed = fixed,
	.in_rax = ki_node_yes,
	.value = value,
	.run = run,
	.write = write,
};
