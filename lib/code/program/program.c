/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program: built step by step, then asked.
 */
#include "code/program/program.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "util/parallel.h"
#include "util/sized.h"

/* Each round finds more places that only tables of other functions lead to. */
#define MAX_ROUNDS 4

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint64_t peak_bytes(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_SELF, &ru) ? 0 : (uint64_t)ru.ru_maxrss * 1024;
}

/* All that is read only once: after this the target is not changed by threads. */
static int read_target(struct ki_program *p, struct ki_err *err)
{
	const struct ki_reserved_row *rows;
	double start = seconds();
	size_t n;
	int ret = ki_target_reserved(p->target, 0, UINT64_MAX, &rows, &n, err);

	if (!ret)
		ret = ki_text_read(p->target, &p->text, err);
	p->totals.read_seconds = seconds() - start;
	return ret;
}

static void free_arrays(struct ki_program *p)
{
	void **const arrays[] = {
		(void **)&p->lens,	(void **)&p->blocks,	    (void **)&p->edges,
		(void **)&p->calls,	(void **)&p->portion_of,    (void **)&p->first_run,
		(void **)&p->caller_of, (void **)&p->callers.first, (void **)&p->callers.v,
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		free(*arrays[i]);
		*arrays[i] = NULL;
	}
}

static void reset_totals(struct ki_program *p)
{
	double read = p->totals.read_seconds;

	p->totals = (struct ki_program_totals){.read_seconds = read};
	p->totals.text_bytes = p->text.total;
}

static int parse(struct ki_program *p, bool runs, struct ki_err *err)
{
	double start = seconds();
	bool again = true;
	int ret = ki_facts_complete(p->target, &p->text, NULL, &p->facts, err);

	for (int round = 0; !ret && again && round < MAX_ROUNDS; round++) {
		again = false;
		ki_program_portions_free(p);
		free_arrays(p);
		reset_totals(p);
		ret = ki_program_parse(p, runs, err);
		if (!ret)
			ret = ki_program_link(p, runs, &again, err);
	}
	if (!ret)
		ret = ki_program_connect(p, err);
	p->totals.instructions = p->ninsns;
	p->totals.blocks = p->nblocks;
	p->totals.edges = p->nedges;
	p->totals.parse_seconds = seconds() - start;
	return ret;
}

static int build(struct ki_program *p, const struct ki_program_options *o, struct ki_err *err)
{
	bool live = !(o && o->no_liveness);
	double start;
	int ret = read_target(p, err);

	if (!ret)
		ret = parse(p, live, err);
	if (!ret && live) {
		start = seconds();
		ret = ki_program_liveness(p, err);
		p->totals.liveness_seconds = seconds() - start;
	}
	ki_program_portions_free(p);
	free(p->first_run);
	free(p->portion_of);
	p->first_run = p->portion_of = NULL;
	p->totals.peak_bytes = peak_bytes();
	return ret;
}

int ki_program_new(struct ki_target *t, const struct ki_program_options *o, struct ki_program **out,
		   struct ki_err *err)
{
	struct ki_program *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the program");
	p->target = t;
	p->threads = o && o->threads ? o->threads : ki_parallel_cpus();
	ret = o ? ki_sized(o->size, sizeof(*o), "a program", err) : 0;
	if (!ret)
		ret = build(p, o, err);
	if (ret)
		ki_program_free(p);
	else
		*out = p;
	return ret;
}

void ki_program_free(struct ki_program *p)
{
	if (!p)
		return;
	ki_program_portions_free(p);
	free_arrays(p);
	ki_text_free(&p->text);
	ki_vec_free(&p->entries);
	free(p->starts);
	free(p->functions);
	free(p->compiled);
	free(p->live);
	free(p->use);
	free(p->pass);
	free(p->out);
	free(p);
}

const struct ki_program_totals *ki_program_totals(const struct ki_program *p)
{
	return &p->totals;
}

const struct ki_program_function *ki_program_functions(const struct ki_program *p, uint32_t *n)
{
	*n = p->nfunctions;
	return p->functions;
}

int ki_program_block(const struct ki_program *p, uint32_t number, struct ki_program_block *out)
{
	const struct ki_pblock *b = &p->blocks[number];

	if (number >= p->nblocks)
		return -ENOENT;
	out->start = out->end = ki_program_block_start(p, number);
	for (uint32_t i = b->first_insn; i < b[1].first_insn; i++)
		out->end += p->lens[i];
	out->function = b->function;
	out->first_edge = b->first_edge;
	out->nedges = b[1].first_edge - b->first_edge;
	return 0;
}

bool ki_program_insn_at(const struct ki_program *p, uint64_t addr)
{
	uint32_t b = ki_program_block_at(p, addr);
	uint64_t at;

	if (b == KI_NONE)
		return false;
	at = ki_program_block_start(p, b);
	for (uint32_t i = p->blocks[b].first_insn; at < addr; i++)
		at += p->lens[i];
	return at == addr;
}

/* The function that an edge leaves. */
static uint32_t edge_owner(const struct ki_program *p, uint32_t edge)
{
	uint32_t lo = 0, hi = p->nfunctions;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->blocks[p->functions[mid].first_block].first_edge <= edge)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Where the instruction at addr, of function f, leads, when no number says so. */
static uint64_t target_of(const struct ki_program *p, uint32_t f, uint64_t addr, unsigned int kind)
{
	uint64_t left = p->starts[f] + p->functions[f].symbol->size - addr;
	struct ki_decoded d;
	size_t avail;
	const uint8_t *bytes = ki_text_at(&p->text, addr, &avail);

	if (!bytes)
		return 0;
	/* As it was parsed: an instruction that the function's end cuts off is none. */
	if (avail > left)
		avail = left;
	ki_decode(bytes, avail, addr, &d);
	return kind == KI_EDGE_FALL ? addr + d.in.len : d.in.target;
}

int ki_program_edge(const struct ki_program *p, uint32_t number, struct ki_program_edge *out)
{
	const struct ki_pedge *e = &p->edges[number];
	uint32_t kind, f;

	if (number >= p->nedges)
		return -ENOENT;
	f = edge_owner(p, number);
	kind = KI_WHERE_KIND(e->where);
	out->kind = (uint8_t)kind;
	out->from = p->starts[f] + KI_WHERE_OFF(e->where);
	out->to_block = e->to_block;
	if (e->to_block != KI_NONE)
		out->to = ki_program_block_start(p, e->to_block);
	else if (kind == KI_EDGE_RETURN || kind == KI_EDGE_TABLE || kind == KI_EDGE_FIXUP)
		out->to = 0;
	else
		out->to = target_of(p, f, out->from, kind);
	return 0;
}

int ki_program_call(const struct ki_program *p, uint32_t number, struct ki_program_call *out)
{
	const struct ki_pcall *c = &p->calls[number];

	if (number >= p->ncalls)
		return -ENOENT;
	out->caller = p->caller_of[number];
	out->callee = c->callee;
	out->kind = (uint8_t)KI_WHERE_KIND(c->where);
	out->from = p->starts[out->caller] + KI_WHERE_OFF(c->where);
	if (c->callee != KI_NONE)
		out->to = p->starts[c->callee];
	else if (out->kind == KI_EDGE_CALL || out->kind == KI_EDGE_TAIL)
		out->to = target_of(p, out->caller, out->from, out->kind);
	else
		out->to = 0;
	return 0;
}

const uint32_t *ki_program_callers(const struct ki_program *p, uint32_t function, uint32_t *n)
{
	*n = 0;
	if (function >= p->nfunctions)
		return NULL;
	*n = p->callers.first[function + 1] - p->callers.first[function];
	return p->callers.v + p->callers.first[function];
}
