/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Liveness at instructions: the function is analysed again, and each block walked backward from
 * what the program knows to be live after it.
 */
#include "code/program/program.h"

struct question {
	const struct ki_program *p;
	uint32_t function;
	struct ki_analysis a;
	ki_run_vec runs;
	ki_vec(size_t) ends;
};

/* The runs' numbers are the function's; these are the program's. */
static void rebase(const struct question *q, struct ki_run *r)
{
	if (r->event == KI_EVENT_CALL || r->event == KI_EVENT_TAIL)
		r->arg += q->p->functions[q->function].first_call;
	else if (r->event == KI_EVENT_FIXUP)
		r->arg = ki_program_block_from(q->p, q->a.fn->edges[r->arg].to);
}

/* live[i] for the instructions i of block b. calls: how many of the function come before it. */
static int ask_block(struct question *q, uint32_t b, uint32_t calls, ki_regset *live)
{
	const struct ki_block *block = &q->a.fn->blocks[b];
	uint32_t number = q->p->functions[q->function].first_block + b;
	ki_regset now = ki_live_behind(q->p, number);
	size_t r = 0;
	int ret;

	q->runs.n = q->ends.n = 0;
	if (ki_vec_reserve(&q->ends, block->count))
		return -ENOMEM;
	ret = ki_runs_add(&q->a, block, calls, &q->runs, q->ends.v);
	for (uint32_t i = block->count; !ret && i-- > 0;) {
		for (; r < q->ends.v[i]; r++) {
			rebase(q, &q->runs.v[r]);
			now = ki_live_before(q->p, q->function, &q->runs.v[r], now);
		}
		live[block->first + i] = now | KI_REGSET_REG(KI_RSP);
	}
	return ret;
}

static int ask(struct question *q, ki_regset *live)
{
	const struct ki_function *fn = q->a.fn;
	const struct ki_program_function *pf = &q->p->functions[q->function];
	uint32_t calls = 0;
	int ret = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++)
		live[i] = KI_REGSET_ALL;
	/* Unless it is another text by now. */
	if (fn->nblocks != pf->nblocks || !(pf->flags & KI_FUNCTION_PARSED))
		return 0;
	for (uint32_t b = 0; !ret && b < fn->nblocks; b++) {
		ret = ask_block(q, b, calls, live);
		for (uint32_t e = 0; e < fn->blocks[b].nedges; e++)
			calls += ki_edge_is_call(fn->edges[fn->blocks[b].first_edge + e].kind);
	}
	return ret;
}

static int open_question(struct question *q, const struct ki_program *p, uint64_t addr,
			 struct ki_err *err)
{
	int ret;

	*q = (struct question){.p = p, .function = ki_program_function_at(p, addr)};
	if (!p->live)
		return ki_err_set(err, -ENODATA, addr, "the program was built without liveness");
	if (q->function == KI_NONE)
		return ki_err_reason(err, KI_R_NO_SYMBOL, addr, "0x%llx", (unsigned long long)addr);
	ret = ki_analysis_init(&q->a, p->target, err);
	if (ret)
		return ret;
	q->a.text = &p->text;
	q->a.entries = p->entries.v;
	q->a.nentries = p->entries.n;
	return ki_analysis_run(&q->a, p->functions[q->function].symbol, err);
}

static void close_question(struct question *q)
{
	ki_analysis_free(&q->a);
	ki_vec_free(&q->runs);
	ki_vec_free(&q->ends);
}

int ki_live_at(const struct ki_program *p, uint64_t addr, ki_regset *live, struct ki_err *err)
{
	struct question q;
	int ret = open_question(&q, p, addr, err);
	const struct ki_insn *in = NULL;
	ki_regset *all = NULL;

	if (!ret) {
		in = ki_function_insn_at(q.a.fn, addr);
		if (!in || in->kind == KI_INSN_PAD)
			ret = ki_err_reason(err, KI_R_NOT_BOUNDARY, addr, "0x%llx",
					    (unsigned long long)addr);
	}
	if (!ret) {
		all = malloc((q.a.fn->ninsns + 1ull) * sizeof(*all));
		ret = all ? ask(&q, all) : -ENOMEM;
		if (ret)
			ki_err_set(err, ret, addr, "out of memory for liveness");
	}
	if (!ret)
		*live = all[in - q.a.fn->insns];
	free(all);
	close_question(&q);
	return ret;
}

int ki_program_live(const struct ki_program *p, const struct ki_function *fn, ki_regset *live,
		    struct ki_err *err)
{
	struct question q;
	int ret = open_question(&q, p, fn->start, err);

	if (!ret && q.a.fn->ninsns != fn->ninsns)
		ret = ki_err_reason(err, KI_R_BYTES_CHANGED, fn->start, "%s", fn->symbol->name);
	if (!ret) {
		ret = ask(&q, live);
		if (ret)
			ki_err_set(err, ret, fn->start, "out of memory for liveness");
	}
	close_question(&q);
	return ret;
}
