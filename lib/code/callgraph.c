/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who calls whom, whose part a function is, and which functions do not come back.
 */
#include <stdio.h>
#include <string.h>

#include "code/program.h"

static int make_callers(struct ki_program *p)
{
	uint32_t *first = calloc(p->nfunctions + 2ull, sizeof(*first));
	uint32_t *v = malloc((p->ncalls + 1ull) * sizeof(*v));

	p->callers = (struct ki_links){first, v};
	if (!first || !v)
		return -ENOMEM;
	for (uint32_t c = 0; c < p->ncalls; c++)
		if (p->calls[c].callee != KI_NONE)
			first[p->calls[c].callee + 2]++;
	for (uint32_t f = 0; f < p->nfunctions; f++)
		first[f + 2] += first[f + 1];
	for (uint32_t c = 0; c < p->ncalls; c++)
		if (p->calls[c].callee != KI_NONE)
			v[first[p->calls[c].callee + 1]++] = c;
	return 0;
}

/* What compilers append to the name of the function that they take apart. */
static const struct {
	const char *suffix;
	uint16_t flag;
} part_suffixes[] = {
	{".cold", KI_FUNCTION_COLD},  {".part", KI_FUNCTION_CLONE},
	{".isra", KI_FUNCTION_CLONE}, {".constprop", KI_FUNCTION_CLONE},
	{".llvm", KI_FUNCTION_CLONE},
};

/* The last suffix of a name: "f.part.0.cold" is the cold part of "f.part.0". */
static uint16_t find_suffix(const char *name, size_t *base)
{
	uint16_t flag = 0;

	*base = 0;
	for (size_t i = 0; i < sizeof(part_suffixes) / sizeof(*part_suffixes); i++) {
		const char *at = strstr(name, part_suffixes[i].suffix);
		size_t len = strlen(part_suffixes[i].suffix);

		if (at && at != name && (!at[len] || at[len] == '.') &&
		    (size_t)(at - name) > *base) {
			*base = (size_t)(at - name);
			flag = part_suffixes[i].flag;
		}
	}
	return flag;
}

/* Does code of `from` jump into, or call, function `to`? */
static bool leads_to(const struct ki_program *p, uint32_t from, uint32_t to)
{
	const struct ki_program_function *f = &p->functions[from];
	uint32_t end = p->blocks[f->first_block + f->nblocks].first_edge;

	for (uint32_t e = p->blocks[f->first_block].first_edge; e < end; e++) {
		uint32_t b = p->edges[e].to_block;

		if (b != KI_NONE && p->blocks[b].function == to)
			return true;
	}
	for (uint32_t c = f->first_call; c < f->first_call + f->ncalls; c++)
		if (p->calls[c].callee == to)
			return true;
	return false;
}

/* Of the functions of that name: the one that leads to the part; else the only one. */
static uint32_t find_parent(const struct ki_program *p, uint32_t part, const char *name)
{
	const struct ki_symbol *sym = NULL;
	const char *module = p->functions[part].symbol->module;
	uint32_t found = KI_NONE, n = 0;

	while ((sym = ki_target_symbol_named(p->target, module, name, sym))) {
		uint32_t f = ki_program_function_at(p, sym->addr);

		if (f == KI_NONE || f == part)
			continue;
		if (leads_to(p, f, part))
			return f;
		found = f;
		n++;
	}
	return n == 1 ? found : KI_NONE;
}

static void find_parents(struct ki_program *p)
{
	for (uint32_t f = 0; f < p->nfunctions; f++) {
		struct ki_program_function *pf = &p->functions[f];
		char name[512];
		uint32_t parent;
		size_t base;
		uint16_t flag;

		if (!strchr(pf->symbol->name, '.'))
			continue;
		flag = find_suffix(pf->symbol->name, &base);
		if (!flag || base >= sizeof(name))
			continue;
		pf->flags |= flag;
		snprintf(name, sizeof(name), "%.*s", (int)base, pf->symbol->name);
		parent = find_parent(p, f, name);
		if (parent == KI_NONE)
			continue;
		pf->parent = parent;
		p->totals.parts++;
		if (flag == KI_FUNCTION_COLD)
			p->compiled[f] |= p->compiled[parent];
	}
}

/*
 * Functions that do not return: first none is known to return; a function does if some way from
 * its entry leads to a return, to a jump that nobody can follow, or into a function that
 * returns, without a call on the way of one that does not.
 */
struct search {
	struct ki_program *p;
	uint8_t *returns; /* by function */
	uint8_t *seen;	  /* by block */
	uint8_t *queued;
	uint8_t *crosses;	/* by function: has edges into others */
	ki_vec(uint32_t) stack; /* blocks */
	ki_vec(uint32_t) work;	/* functions */
};

/* The calls of a block: those of its function between its offset and the next one's. */
static void calls_of(const struct ki_program *p, uint32_t b, uint32_t *first, uint32_t *end)
{
	const struct ki_program_function *f = &p->functions[p->blocks[b].function];
	uint32_t lo = f->first_call, hi = lo + f->ncalls, stop = hi;
	uint32_t next = b + 1 < f->first_block + f->nblocks ? p->blocks[b + 1].off : UINT32_MAX;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (KI_WHERE_OFF(p->calls[mid].where) < p->blocks[b].off)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	while (lo < stop && KI_WHERE_OFF(p->calls[lo].where) < next)
		lo++;
	*end = lo;
}

/* Do all calls of block b come back? */
static bool passes(const struct search *s, uint32_t b)
{
	uint32_t c, end;

	for (calls_of(s->p, b, &c, &end); c < end; c++) {
		const struct ki_pcall *call = &s->p->calls[c];

		if (KI_WHERE_KIND(call->where) == KI_EDGE_CALL && call->callee != KI_NONE &&
		    !s->returns[call->callee])
			return false;
	}
	return true;
}

/* Does the block end in a tail call to something that returns, or that is not known? */
static bool tails(const struct search *s, uint32_t b)
{
	uint32_t c, end;

	for (calls_of(s->p, b, &c, &end); c < end; c++) {
		const struct ki_pcall *call = &s->p->calls[c];
		uint32_t kind = KI_WHERE_KIND(call->where);

		if ((kind == KI_EDGE_TAIL || kind == KI_EDGE_TAIL_INDIRECT) &&
		    (call->callee == KI_NONE || s->returns[call->callee]))
			return true;
	}
	return false;
}

/*
 * Does the block end in a breakpoint? Whoever handles it may go on anywhere: int3_selftest of the
 * kernel has a call emulated there.
 */
static bool breaks(const struct ki_program *p, uint32_t b)
{
	struct ki_program_block block;
	const uint8_t *last;
	size_t avail;

	if (p->lens[p->blocks[b + 1].first_insn - 1] != 1 || ki_program_block(p, b, &block))
		return false;
	last = ki_text_at(&p->text, block.end - 1, &avail);
	return last && *last == 0xcc;
}

/* 1: a way out of block b shows that the function returns; 0; -ENOMEM. */
static int follow(struct search *s, uint32_t b)
{
	const struct ki_program *p = s->p;
	bool passed = passes(s, b);

	for (uint32_t e = p->blocks[b].first_edge; e < p->blocks[b + 1].first_edge; e++) {
		uint32_t kind = KI_WHERE_KIND(p->edges[e].where), to = p->edges[e].to_block;

		if (!passed && kind != KI_EDGE_FIXUP)
			continue;
		if (kind == KI_EDGE_RETURN || to == KI_NONE)
			return 1;
		if (p->blocks[to].function != p->blocks[b].function) {
			s->crosses[p->blocks[b].function] = 1;
			if (s->returns[p->blocks[to].function])
				return 1;
		}
		/* Cold parts and the like are walked through as if they were the function's. */
		if (s->seen[to])
			continue;
		s->seen[to] = 1;
		if (ki_vec_push(&s->stack, to))
			return -ENOMEM;
	}
	return passed && (tails(s, b) || breaks(p, b));
}

/* 1: function f returns. */
static int search_function(struct search *s, uint32_t f)
{
	const struct ki_program *p = s->p;
	ki_vec(uint32_t) visited = {0};
	int ret = 0;

	if (!(p->functions[f].flags & KI_FUNCTION_PARSED) || !p->functions[f].nblocks)
		return 1;
	s->stack.n = 0;
	if (ki_vec_push(&s->stack, p->functions[f].first_block))
		return -ENOMEM;
	s->seen[p->functions[f].first_block] = 1;
	while (!ret && s->stack.n) {
		uint32_t b = s->stack.v[--s->stack.n];

		ret = ki_vec_push(&visited, b);
		if (!ret)
			ret = follow(s, b);
	}
	for (size_t i = 0; i < visited.n; i++)
		s->seen[visited.v[i]] = 0;
	for (size_t i = 0; i < s->stack.n; i++)
		s->seen[s->stack.v[i]] = 0;
	ki_vec_free(&visited);
	return ret;
}

static int queue(struct search *s, uint32_t f)
{
	if (s->returns[f] || s->queued[f])
		return 0;
	s->queued[f] = 1;
	return ki_vec_push(&s->work, f);
}

/* Whoever calls f has to be looked at again. */
static int wake(struct search *s, uint32_t f)
{
	const struct ki_program *p = s->p;
	int ret = 0;

	for (uint32_t i = p->callers.first[f]; !ret && i < p->callers.first[f + 1]; i++)
		ret = queue(s, p->caller_of[p->callers.v[i]]);
	return ret;
}

static int search_queued(struct search *s, bool *found)
{
	while (s->work.n) {
		uint32_t f = s->work.v[--s->work.n];
		int ret;

		s->queued[f] = 0;
		ret = search_function(s, f);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		*found = true;
		s->returns[f] = 1;
		ret = wake(s, f);
		if (ret)
			return ret;
	}
	return 0;
}

/* Who walks through blocks of others is not their caller: looked at again until nothing changes. */
static int search_all(struct search *s)
{
	bool found = true;
	int ret = 0;

	for (uint32_t f = s->p->nfunctions; !ret && f-- > 0;)
		ret = queue(s, f);
	if (!ret)
		ret = search_queued(s, &found);
	while (!ret && found) {
		found = false;
		for (uint32_t f = 0; !ret && f < s->p->nfunctions; f++)
			if (s->crosses[f])
				ret = queue(s, f);
		if (!ret)
			ret = search_queued(s, &found);
	}
	return ret;
}

/* Edges that fall out of a block whose last instruction is a call that does not come back. */
static void drop_edges(struct search *s)
{
	struct ki_program *p = s->p;
	uint32_t n = 0, first = 0;

	for (uint32_t b = 0; b < p->nblocks; b++) {
		uint32_t end = p->blocks[b + 1].first_edge;
		bool passed = passes(s, b);

		for (uint32_t e = first; e < end; e++)
			if (passed || KI_WHERE_KIND(p->edges[e].where) == KI_EDGE_FIXUP)
				p->edges[n++] = p->edges[e];
		first = end;
		p->blocks[b + 1].first_edge = n;
	}
	p->nedges = n;
}

static int find_noreturn(struct ki_program *p)
{
	struct search s = {.p = p};
	int ret = -ENOMEM;

	s.returns = calloc(p->nfunctions + 1ull, 1);
	s.queued = calloc(p->nfunctions + 1ull, 1);
	s.crosses = calloc(p->nfunctions + 1ull, 1);
	s.seen = calloc(p->nblocks + 1ull, 1);
	if (s.returns && s.queued && s.crosses && s.seen)
		ret = search_all(&s);
	if (!ret) {
		drop_edges(&s);
		for (uint32_t f = 0; f < p->nfunctions; f++)
			if (!s.returns[f]) {
				p->functions[f].flags |= KI_FUNCTION_NORETURN;
				p->totals.noreturn++;
			}
	}
	free(s.returns);
	free(s.queued);
	free(s.crosses);
	free(s.seen);
	ki_vec_free(&s.stack);
	ki_vec_free(&s.work);
	return ret;
}

int ki_program_connect(struct ki_program *p, struct ki_err *err)
{
	int ret = make_callers(p);

	if (!ret) {
		find_parents(p);
		ret = find_noreturn(p);
	}
	return ret ? ki_err_set(err, ret, 0, "out of memory for the call graph") : 0;
}
