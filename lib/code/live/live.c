/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which registers and flags are live at the start of each block of the program.
 *
 * Two phases, after Goodwin, "Interprocedural Dataflow Analysis in an Executable Optimizer"
 * (PLDI 1997), with sets of parts of registers as machine words:
 *
 * 1. What a call does. For each function: `use`, what it may read of what it is entered with,
 *    and `pass`, what it may leave as it was. Then live before a call = use | (live after & pass).
 *    Both are solved at once, backward through the function, with nothing, or everything, live
 *    after its returns. A register that is saved and restored is written by the restore, so it
 *    is not in `pass`; but the save reads it, so it is in `use`.
 * 2. What is live. For each function `out`: what is live after its returns, which is what is
 *    live after all its calls. That is solved with the blocks, by the results of phase 1.
 *
 * Both go round until nothing changes: a function is solved again when a function that it calls
 * (phase 1), one that calls it (2) or one that it jumps into (both) has changed. All steps only
 * add to the sets, so the order does not matter, and threads may read each other's unfinished
 * sets: the result is the same, the least solution.
 *
 * What is not known is taken from the ABI, where a compiler is known to keep to it: functions
 * with an ftrace site (`compiled`). They use nothing of what they are entered with but what
 * arguments are in, and all of that: others may look at arguments that they do not (a BPF program,
 * a live patch, a chunk at the entry). Their unknown callers look at their return value and the
 * callee-saved registers. Of static calls some are no C: Xen's hypercalls have arguments in %rax
 * and %r10, preempt_schedule keeps all registers. Callers of other functions may rely on whatever
 * these leave alone (hand-written ones keep more than the ABI asks for): all that the function does
 * not overwrite without having read it before counts as live after its returns. The use without
 * pass is the reason: what is restored was read.
 */
#include "code/program/program.h"

#include <string.h>

#include "util/parallel.h"

#define R(r) KI_REGSET_REG(KI_##r)

#define ARGUMENTS    (R(RDI) | R(RSI) | R(RDX) | R(RCX) | R(R8) | R(R9) | R(RSP))
#define CALLEE_SAVED (R(RBX) | R(RBP) | R(RSP) | R(R12) | R(R13) | R(R14) | R(R15))
#define CALLER_SAVED (KI_REGSET_GPRS & ~CALLEE_SAVED)
#define RESULTS	     (R(RAX) | R(RDX))

/*
 * A function nothing is known of: it keeps to the ABI, or it keeps all but its result. Programs
 * tell in %al how many vector registers have arguments; nested functions and hypercalls take %r10.
 */
#define ANY_USE	 (ARGUMENTS | R(RAX) | R(R10))
#define ANY_PASS (KI_REGSET_GPRS & ~R(RAX))

/* Functions that one step solves. */
#define STEP 64

struct solver {
	struct ki_program *p;
	uint8_t *dirty; /* by function */
	bool again;
	struct ki_links jumpers; /* functions with edges into a function, by that function */
	ki_regset *use, *pass;	 /* phase 1: at the start of each block */
	uint32_t *order;	 /* functions, callees before their callers where that can be */
};

static ki_regset get(const ki_regset *set)
{
	return __atomic_load_n(set, __ATOMIC_RELAXED);
}

/* Add to a set that other threads may add to; has it changed? */
static bool add(ki_regset *set, ki_regset more)
{
	if (!(more & ~get(set)))
		return false;
	return more & ~__atomic_fetch_or(set, more, __ATOMIC_RELAXED);
}

static void mark(struct solver *s, uint32_t f)
{
	__atomic_store_n(&s->dirty[f], 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->again, true, __ATOMIC_RELAXED);
}

static bool is_known(const struct ki_program *p, uint32_t f)
{
	return f != KI_NONE && (p->functions[f].flags & KI_FUNCTION_PARSED) &&
	       p->functions[f].nblocks;
}

/* The runs of a block are those of its portion up to the next block's. */
static const struct ki_run *runs_of(const struct ki_program *p, uint32_t block,
				    const struct ki_run **end)
{
	uint32_t next = p->blocks[block + 1].function;
	const struct ki_portion *c = &p->portions[p->portion_of[p->blocks[block].function]];

	if (next < p->nfunctions && &p->portions[p->portion_of[next]] == c)
		*end = c->runs.v + p->first_run[block + 1];
	else
		*end = c->runs.v + c->runs.n;
	return c->runs.v + p->first_run[block];
}

/*
 * What a call of function f reads and keeps. KI_NONE: somewhere where nobody knows of a function,
 * as the thunks that a kernel makes for itself when it starts.
 */
static ki_regset call_use(const struct ki_program *p, uint32_t f)
{
	return is_known(p, f) ? get(&p->use[f]) : KI_REGSET_ALL;
}

static ki_regset call_pass(const struct ki_program *p, uint32_t f)
{
	return is_known(p, f) ? get(&p->pass[f]) : KI_REGSET_ALL;
}

/*
 * Phase 1
 */

struct pair {
	ki_regset use, pass;
};

static struct pair pair_at(const struct solver *s, uint32_t block)
{
	if (block == KI_NONE)
		return (struct pair){KI_REGSET_ALL, KI_REGSET_ALL};
	return (struct pair){get(&s->use[block]), get(&s->pass[block])};
}

static struct pair pair_event(const struct solver *s, const struct ki_run *r, struct pair x)
{
	const struct ki_program *p = s->p;
	struct pair y;
	uint32_t f;

	switch (r->event) {
	case KI_EVENT_CALL:
		f = p->calls[r->arg].callee;
		x.use = call_use(p, f) | (x.use & call_pass(p, f));
		x.pass &= call_pass(p, f);
		break;
	case KI_EVENT_CALL_ANY:
		x.use = ANY_USE | (x.use & ANY_PASS);
		x.pass &= ANY_PASS;
		break;
	case KI_EVENT_CALL_STATIC:
		x.use |= ANY_USE;
		break;
	case KI_EVENT_TAIL:
		f = p->calls[r->arg].callee;
		y = pair_at(s, is_known(p, f) ? p->functions[f].first_block : KI_NONE);
		x.use |= y.use | call_use(p, f);
		x.pass |= y.pass;
		break;
	case KI_EVENT_TAIL_ANY:
		x.use |= ANY_USE;
		x.pass |= ANY_PASS;
		break;
	case KI_EVENT_RETURN:
		x.pass = KI_REGSET_ALL;
		break;
	case KI_EVENT_FIXUP:
		y = pair_at(s, r->arg);
		x.use |= y.use | CALLER_SAVED;
		x.pass |= y.pass;
		break;
	case KI_EVENT_ALL:
		return (struct pair){KI_REGSET_ALL, KI_REGSET_ALL};
	}
	return x;
}

static struct pair pair_behind(const struct solver *s, uint32_t block)
{
	const struct ki_program *p = s->p;
	struct pair x = {0, 0};

	for (uint32_t e = p->blocks[block].first_edge; e < p->blocks[block + 1].first_edge; e++) {
		uint32_t kind = KI_WHERE_KIND(p->edges[e].where);
		struct pair y;

		if (kind == KI_EDGE_RETURN || kind == KI_EDGE_FIXUP)
			continue;
		y = pair_at(s, p->edges[e].to_block);
		x.use |= y.use;
		x.pass |= y.pass;
	}
	return x;
}

static bool pair_block(void *solver, uint32_t block)
{
	struct solver *s = solver;
	const struct ki_program *p = s->p;
	struct pair x = pair_behind(s, block);
	const struct ki_run *end, *run = runs_of(p, block, &end);
	bool changed;

	for (; run < end; run++) {
		if (run->event != KI_EVENT_NONE)
			x = pair_event(s, run, x);
		x.use = run->use | (x.use & ~run->def);
		x.pass &= ~run->def;
	}
	changed = add(&s->use[block], x.use);
	return add(&s->pass[block], x.pass) || changed;
}

/* All blocks of a function, again and again: has the start of some block changed? */
static bool iterate(struct solver *s, uint32_t f, bool (*block)(void *solver, uint32_t block))
{
	return ki_live_solve(s->p, f, block, s);
}

static void mark_jumpers(struct solver *s, uint32_t f)
{
	for (uint32_t i = s->jumpers.first[f]; i < s->jumpers.first[f + 1]; i++)
		mark(s, s->jumpers.v[i]);
}

static void summarize(struct solver *s, uint32_t f)
{
	struct ki_program *p = s->p;
	struct pair x = pair_at(s, p->functions[f].first_block);
	bool changed;

	if (p->compiled[f]) {
		x.use = ARGUMENTS;
		x.pass |= CALLEE_SAVED;
	}
	changed = add(&p->use[f], x.use);
	changed |= add(&p->pass[f], x.pass);
	if (!changed)
		return;
	for (uint32_t i = p->callers.first[f]; i < p->callers.first[f + 1]; i++)
		mark(s, p->caller_of[p->callers.v[i]]);
}

static void fill(const struct ki_program *p, uint32_t f, ki_regset *sets)
{
	const struct ki_program_function *pf = &p->functions[f];

	for (uint32_t b = pf->first_block; b < pf->first_block + pf->nblocks; b++)
		add(&sets[b], KI_REGSET_ALL);
}

static void solve_use(struct solver *s, uint32_t f)
{
	const struct ki_program_function *pf = &s->p->functions[f];

	if (!pf->nblocks)
		return;
	if (!is_known(s->p, f)) {
		if (get(&s->pass[pf->first_block]) == KI_REGSET_ALL)
			return;
		fill(s->p, f, s->use);
		fill(s->p, f, s->pass);
	} else if (!iterate(s, f, pair_block)) {
		return;
	}
	summarize(s, f);
	mark_jumpers(s, f);
}

/*
 * Phase 2
 */

static ki_regset live_start(const struct ki_program *p, uint32_t block)
{
	return block == KI_NONE ? KI_REGSET_ALL : get(&p->live[block]);
}

ki_regset ki_live_behind(const struct ki_program *p, uint32_t block)
{
	ki_regset live = 0;

	for (uint32_t e = p->blocks[block].first_edge; e < p->blocks[block + 1].first_edge; e++) {
		uint32_t kind = KI_WHERE_KIND(p->edges[e].where);

		if (kind != KI_EDGE_RETURN && kind != KI_EDGE_FIXUP)
			live |= live_start(p, p->edges[e].to_block);
	}
	return live;
}

static ki_regset live_event(const struct ki_program *p, uint32_t function, const struct ki_run *r,
			    ki_regset live)
{
	uint32_t f;

	switch (r->event) {
	case KI_EVENT_CALL:
		f = p->calls[r->arg].callee;
		return call_use(p, f) | (live & call_pass(p, f));
	case KI_EVENT_CALL_ANY:
		return ANY_USE | (live & ANY_PASS);
	case KI_EVENT_CALL_STATIC:
		return ANY_USE | live;
	case KI_EVENT_TAIL:
		f = p->calls[r->arg].callee;
		return live | call_use(p, f) |
		       (is_known(p, f) ? live_start(p, p->functions[f].first_block) : 0);
	case KI_EVENT_TAIL_ANY:
		return live | ANY_USE | (get(&p->out[function]) & ANY_PASS);
	case KI_EVENT_RETURN:
		return live | get(&p->out[function]);
	case KI_EVENT_FIXUP:
		return live | live_start(p, r->arg) | CALLER_SAVED;
	case KI_EVENT_ALL:
		return KI_REGSET_ALL;
	}
	return live;
}

ki_regset ki_live_before(const struct ki_program *p, uint32_t function, const struct ki_run *run,
			 ki_regset live)
{
	live = live_event(p, function, run, live);
	return run->use | (live & ~run->def);
}

static bool live_block(void *solver, uint32_t block)
{
	struct solver *s = solver;
	const struct ki_program *p = s->p;
	ki_regset live = ki_live_behind(p, block);
	const struct ki_run *end, *run = runs_of(p, block, &end);

	for (; run < end; run++)
		live = ki_live_before(p, p->blocks[block].function, run, live);
	return add(&p->live[block], live);
}

/*
 * Someone needs `live` after the returns of function f. What a compiler made keeps no more than
 * it must: where a function calls __fentry__, compilers do not tell its callers what it spares.
 */
static void need(struct solver *s, uint32_t f, ki_regset live)
{
	if (s->p->compiled[f])
		live &= RESULTS | CALLEE_SAVED;
	if (add(&s->p->out[f], live))
		mark(s, f);
}

/* What the calls of a block need of their callees. */
static void need_block(struct solver *s, uint32_t f, uint32_t block)
{
	const struct ki_program *p = s->p;
	ki_regset live = ki_live_behind(p, block);
	const struct ki_run *end, *run = runs_of(p, block, &end);

	for (; run < end; run++) {
		uint32_t callee = KI_NONE;

		if (run->event == KI_EVENT_CALL || run->event == KI_EVENT_TAIL)
			callee = p->calls[run->arg].callee;
		if (callee != KI_NONE)
			need(s, callee, run->event == KI_EVENT_CALL ? live : get(&p->out[f]));
		live = ki_live_before(p, f, run, live);
	}
	for (uint32_t e = p->blocks[block].first_edge; e < p->blocks[block + 1].first_edge; e++) {
		uint32_t to = p->edges[e].to_block;

		if (to != KI_NONE && p->blocks[to].function != f)
			need(s, p->blocks[to].function, get(&p->out[f]));
	}
}

static void need_all(struct solver *s, uint32_t f)
{
	const struct ki_program_function *pf = &s->p->functions[f];

	for (uint32_t c = pf->first_call; c < pf->first_call + pf->ncalls; c++)
		if (s->p->calls[c].callee != KI_NONE)
			need(s, s->p->calls[c].callee, KI_REGSET_ALL);
}

static void solve_live(struct solver *s, uint32_t f)
{
	const struct ki_program_function *pf = &s->p->functions[f];

	if (!is_known(s->p, f)) {
		if (!pf->nblocks || get(&s->p->live[pf->first_block]) == KI_REGSET_ALL)
			return;
		fill(s->p, f, s->p->live);
		need_all(s, f);
		mark_jumpers(s, f);
	} else {
		if (iterate(s, f, live_block))
			mark_jumpers(s, f);
		for (uint32_t b = pf->first_block; b < pf->first_block + pf->nblocks; b++)
			need_block(s, f, b);
	}
}

/* What unknown callers need after the returns of a function. Some return flags (flags.c). */
static ki_regset needed_of(const struct ki_program *p, uint32_t f)
{
	const struct ki_program_function *pf = &p->functions[f];
	ki_regset writes = 0, needed = RESULTS | CALLEE_SAVED;

	if (p->compiled[f] || !is_known(p, f))
		return needed;
	if (p->facts->kernel)
		needed |= KI_REGSET_FLAGS;
	for (uint32_t b = pf->first_block; b < pf->first_block + pf->nblocks; b++) {
		const struct ki_run *end, *run = runs_of(p, b, &end);

		for (; run < end; run++)
			writes |= run->def;
	}
	return needed | (KI_REGSET_ALL & ~(writes & ~p->use[f]));
}

/*
 * Both
 */

struct phase {
	struct solver *s;
	void (*solve)(struct solver *s, uint32_t f);
	bool callers_first;
};

static int step(void *arg, unsigned int thread, size_t i)
{
	struct phase *ph = arg;
	uint32_t n = ph->s->p->nfunctions;

	(void)thread;
	for (uint32_t k = (uint32_t)i * STEP; k < n && k < (i + 1) * STEP; k++) {
		uint32_t f = ph->s->order[ph->callers_first ? n - 1 - k : k];

		if (__atomic_exchange_n(&ph->s->dirty[f], 0, __ATOMIC_ACQUIRE))
			ph->solve(ph->s, f);
	}
	return 0;
}

static void run_phase(struct solver *s, void (*solve)(struct solver *s, uint32_t f),
		      bool callers_first)
{
	struct phase ph = {s, solve, callers_first};

	memset(s->dirty, 1, s->p->nfunctions);
	s->again = true;
	while (s->again) {
		s->again = false;
		ki_parallel((s->p->nfunctions + STEP - 1) / STEP, s->p->threads, step, &ph);
	}
}

static int allocate(struct solver *s)
{
	struct ki_program *p = s->p;

	p->live = calloc(p->nblocks + 1ull, sizeof(*p->live));
	p->use = calloc(p->nfunctions + 1ull, sizeof(*p->use));
	p->pass = calloc(p->nfunctions + 1ull, sizeof(*p->pass));
	p->out = calloc(p->nfunctions + 1ull, sizeof(*p->out));
	s->use = calloc(p->nblocks + 1ull, sizeof(*s->use));
	s->pass = calloc(p->nblocks + 1ull, sizeof(*s->pass));
	s->dirty = malloc(p->nfunctions + 1ull);
	s->order = malloc((p->nfunctions + 1ull) * sizeof(*s->order));
	for (uint32_t f = 0; p->use && f < p->nfunctions; f++)
		p->use[f] = p->compiled[f] ? ARGUMENTS : 0;
	if (!p->live || !p->use || !p->pass || !p->out || !s->use || !s->pass || !s->dirty ||
	    !s->order)
		return -ENOMEM;
	return 0;
}

int ki_program_liveness(struct ki_program *p, struct ki_err *err)
{
	struct solver s = {.p = p};
	int ret = allocate(&s);

	if (!ret)
		ret = ki_live_order(p, s.order);
	if (!ret)
		ret = ki_live_jumpers(p, &s.jumpers);
	if (!ret) {
		run_phase(&s, solve_use, false);
		for (uint32_t f = 0; f < p->nfunctions; f++)
			p->out[f] = needed_of(p, f);
		run_phase(&s, solve_live, true);
	}
	free(s.use);
	free(s.pass);
	free(s.dirty);
	free(s.order);
	free(s.jumpers.first);
	free(s.jumpers.v);
	return ret ? ki_err_set(err, ret, 0, "out of memory for liveness") : 0;
}
