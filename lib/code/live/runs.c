/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A block as liveness sees it: runs of instructions with what they use and define, and between
 * them the events at which control is elsewhere for a while.
 */
#include "code/program/program.h"

struct runs {
	const struct ki_analysis *a;
	ki_run_vec *out;
	struct ki_run run;
	bool open;
	int error;
};

static void push(struct runs *r)
{
	if (r->open && !r->error)
		r->error = ki_vec_push(r->out, r->run);
	r->run = (struct ki_run){0};
	r->open = false;
}

static void event(struct runs *r, enum ki_event event, uint32_t arg)
{
	push(r);
	r->run = (struct ki_run){.event = event, .arg = arg};
	r->open = true;
}

/* The kernel may have another callee here by tomorrow, or none. */
static bool is_static_call(const struct ki_analysis *a, const struct ki_insn *in)
{
	const struct ki_covers *calls = &a->facts->static_calls;
	size_t i;

	if (in->reason == KI_R_OK)
		return false;
	i = ki_covers_from(calls, in->addr);
	return i < calls->n && calls->v[i].start < in->addr + in->len;
}

static void events_of_edge(struct runs *r, const struct ki_insn *in, uint32_t edge, uint32_t call)
{
	unsigned int kind = r->a->fn->edges[edge].kind;
	bool any = (ki_edge_is_call(kind) || kind == KI_EDGE_RETURN) && is_static_call(r->a, in);

	switch (kind) {
	case KI_EDGE_CALL:
		event(r, any ? KI_EVENT_CALL_STATIC : KI_EVENT_CALL, call);
		break;
	case KI_EDGE_CALL_INDIRECT:
		event(r, KI_EVENT_CALL_ANY, 0);
		break;
	case KI_EDGE_TAIL:
		event(r, KI_EVENT_TAIL, call);
		if (any)
			event(r, KI_EVENT_TAIL_ANY, 0);
		break;
	case KI_EDGE_TAIL_INDIRECT:
		event(r, KI_EVENT_TAIL_ANY, 0);
		break;
	case KI_EDGE_RETURN:
		event(r, KI_EVENT_RETURN, 0);
		if (any)
			event(r, KI_EVENT_TAIL_ANY, 0);
		break;
	case KI_EDGE_JUMP:
		if (in->kind != KI_INSN_CALL)
			break;
		/* fall through */
	case KI_EDGE_FIXUP:
		event(r, KI_EVENT_FIXUP, edge);
		break;
	default:
		break;
	}
}

/* The instruction itself: before its events. */
static void fold(struct runs *r, uint32_t i)
{
	const struct ki_insn *in = &r->a->fn->insns[i];
	ki_regset use = r->a->extra[i].use, def = r->a->extra[i].def;

	if (in->target && (in->kind == KI_INSN_CALL_INDIRECT || in->kind == KI_INSN_JMP_INDIRECT)) {
		uint8_t reg = ki_facts_thunk_register(r->a->facts, in->target);

		if (reg != KI_THUNK_NO_REG)
			use |= KI_REGSET_REG(reg);
	}
	/* What a BUG or WARN shows of the registers is of no use to the code. */
	if (in->kind == KI_INSN_TRAP && r->a->extra[i].traits & KI_TRAIT_CONTINUES)
		use = 0;
	r->run.use = use | (r->run.use & ~def);
	r->run.def |= def;
	r->open = true;
}

int ki_runs_add(const struct ki_analysis *a, const struct ki_block *b, uint32_t calls,
		ki_run_vec *out, size_t *ends)
{
	struct runs r = {.a = a, .out = out};
	const struct ki_edge *edges = a->fn->edges;
	uint32_t e = b->first_edge + b->nedges;

	for (uint32_t i = b->first_edge; i < e; i++)
		calls += ki_edge_is_call(edges[i].kind);
	for (uint32_t i = b->first + b->count; i-- > b->first;) {
		const struct ki_insn *in = &a->fn->insns[i];
		bool edge = false;

		for (; e > b->first_edge && edges[e - 1].insn == i; e--) {
			calls -= ki_edge_is_call(edges[e - 1].kind);
			events_of_edge(&r, in, e - 1, calls);
			edge = true;
		}
		if (in->kind == KI_INSN_BAD)
			event(&r, KI_EVENT_ALL, 0);
		else if (!edge && is_static_call(a, in))
			event(&r, KI_EVENT_CALL_STATIC, 0);
		fold(&r, i);
		if (ends) {
			push(&r);
			ends[i - b->first] = out->n;
		}
	}
	push(&r);
	return r.error;
}
