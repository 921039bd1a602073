// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every jump and call of objdump's is an edge or a call of ours, and the other way round: both
 * are walked in order of address, and at each of objdump's lines what we have there is compared.
 */
#include <string.h>

#include "oracles.h"

struct walk {
	struct oracles *o;
	const struct line *line;
	uint64_t next; /* address of the line after */
	uint32_t f;
	/* What leaves the line's instruction; calls and edges. */
	ki_vec(struct ki_program_call) calls;
	ki_vec(struct ki_program_edge) edges;
	uint32_t call, edge; /* the next ones */
	bool ended;	     /* in this block something has been called that does not return */
};

static bool holds(const struct oracles *o, uint32_t f, uint64_t addr)
{
	return addr - o->functions[f].symbol->addr < o->functions[f].symbol->size;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define HAS(vec, x) ((vec).n && bsearch(&(x), (vec).v, (vec).n, sizeof(*(vec).v), by_value))

/* All calls and edges that leave from where the line is; those passed over belong to no line. */
static void collect(struct walk *w, uint32_t end_call, uint32_t end_edge)
{
	struct ki_program_call c;
	struct ki_program_edge e;

	w->calls.n = w->edges.n = 0;
	for (; w->call < end_call && !ki_program_call(w->o->p, w->call, &c); w->call++) {
		if (c.from >= w->next)
			break;
		if (c.from != w->line->addr)
			differ(w->o, CAUSE_SURPLUS, c.from, "a call where objdump has nothing");
		else if (ki_vec_push(&w->calls, c))
			return;
	}
	for (; w->edge < end_edge && !ki_program_edge(w->o->p, w->edge, &e); w->edge++) {
		if (e.from >= w->next)
			break;
		if (e.from != w->line->addr && e.kind != KI_EDGE_FALL && e.kind != KI_EDGE_FIXUP)
			differ(w->o, CAUSE_SURPLUS, e.from, "an edge where objdump has nothing");
		else if (ki_vec_push(&w->edges, e))
			return;
	}
}

/* "cmpl $0, %fs:0x18; je 1f; lock; 1: cmpxchg": user programs with one thread do without. */
static bool is_behind_lock(const struct oracles *o, uint64_t to)
{
	const struct line *l = listing_at(&o->listing, to - 1);

	return l && l->flags & LINE_LOCK;
}

static unsigned int count_edges(const struct walk *w, unsigned int kind, uint64_t to)
{
	unsigned int n = 0;

	for (size_t i = 0; i < w->edges.n; i++)
		n += w->edges.v[i].kind == kind && (!to || w->edges.v[i].to == to);
	return n;
}

static unsigned int count_calls(const struct walk *w, unsigned int kind)
{
	unsigned int n = 0;

	for (size_t i = 0; i < w->calls.n; i++)
		n += w->calls.v[i].kind == kind;
	return n;
}

static void missing(struct walk *w, const char *what)
{
	enum cause cause = w->ended ? CAUSE_BEHIND_NORETURN : CAUSE_MISSING;

	differ(w->o, cause, w->line->addr, "%s to 0x%llx is missing", what,
	       (unsigned long long)w->line->target);
}

/* One direct call, or tail call, of that kind. */
static void check_call(struct walk *w, unsigned int kind, const char *what)
{
	const struct oracles *o = w->o;
	const struct ki_program_call *c = w->calls.v;
	uint64_t to = w->line->target;
	uint32_t f;

	if (w->calls.n != 1 || c->kind != kind) {
		missing(w, what);
		return;
	}
	if (!to) /* it is not in the file */
		return;
	f = ki_program_function_at(o->p, to);
	if (f != KI_NONE && o->functions[f].symbol->addr != to)
		f = KI_NONE;
	if (c->to != to || c->callee != f)
		differ(w->o, CAUSE_TARGET, c->from, "%s to 0x%llx", what,
		       (unsigned long long)c->to);
	if (c->caller != w->f)
		differ(w->o, CAUSE_TARGET, c->from, "its caller is another function");
	if (kind == KI_EDGE_CALL && f != KI_NONE && o->functions[f].flags & KI_FUNCTION_NORETURN)
		w->ended = true;
}

static bool is_cold(const struct ki_symbol *s)
{
	const char *at = strstr(s->name, ".cold");

	return at && (!at[5] || at[5] == '.');
}

static void check_branch(struct walk *w, unsigned int kind)
{
	const struct oracles *o = w->o;
	uint64_t to = w->line->target;
	uint32_t f = ki_program_function_at(o->p, to);

	if (!to) {
		if (w->calls.n + count_edges(w, kind, 0) != 1)
			missing(w, "branch");
		return;
	}
	if (f != KI_NONE && !holds(o, w->f, to) && o->functions[f].symbol->addr == to &&
	    !is_cold(o->functions[f].symbol)) {
		check_call(w, KI_EDGE_TAIL, "tail call");
		return;
	}
	if (count_edges(w, kind, to) != 1 || w->calls.n) {
		missing(w, "branch");
		return;
	}
	for (size_t i = 0; i < w->edges.n; i++) {
		struct ki_program_block b = {0};
		const struct ki_program_edge *e = &w->edges.v[i];

		if (e->to == to && e->to_block == KI_NONE && f != KI_NONE &&
		    o->functions[f].nblocks)
			differ(w->o,
			       is_behind_lock(o, to)  ? CAUSE_LOCK
			       : overlaps(o, e->from) ? CAUSE_OVERLAP
						      : CAUSE_TARGET,
			       e->from, "leads into no block");
		else if (e->to_block != KI_NONE &&
			 (ki_program_block(o->p, e->to_block, &b) || b.start != e->to))
			differ(w->o, CAUSE_TARGET, e->from, "leads to another block");
	}
}

static void check_line(struct walk *w)
{
	const struct line *l = w->line;
	bool thunk = !(l->flags & LINE_VALUE) && HAS(w->o->indirect_thunks, l->target);
	unsigned int others = count_edges(w, KI_EDGE_TAKEN, 0) + count_edges(w, KI_EDGE_JUMP, 0) +
			      count_edges(w, KI_EDGE_TABLE, 0) + count_edges(w, KI_EDGE_RETURN, 0);

	looked(w->o, w->calls.n + w->edges.n);
	if (l->kind == LINE_CALL && (thunk || l->flags & LINE_INDIRECT)) {
		if (count_calls(w, KI_EDGE_CALL_INDIRECT) != 1 || w->calls.n != 1 || others)
			missing(w, "indirect call");
	} else if (l->kind == LINE_JMP && (thunk || l->flags & LINE_INDIRECT)) {
		if (count_calls(w, KI_EDGE_TAIL_INDIRECT) + !!count_edges(w, KI_EDGE_TABLE, 0) != 1)
			missing(w, "indirect jump");
	} else if (l->kind == LINE_RET ||
		   (l->kind == LINE_JMP && HAS(w->o->return_thunks, l->target))) {
		if (count_edges(w, KI_EDGE_RETURN, 0) != 1 || w->calls.n)
			missing(w, "return");
	} else if (l->kind == LINE_CALL) {
		check_call(w, KI_EDGE_CALL, "call");
	} else if (l->kind == LINE_JCC) {
		check_branch(w, KI_EDGE_TAKEN);
	} else if (l->kind == LINE_JMP) {
		if (count_edges(w, KI_EDGE_TAKEN, l->target) == 1)
			differ(w->o, CAUSE_STATIC_BRANCH, l->addr, "a static branch");
		else
			check_branch(w, KI_EDGE_JUMP);
	} else if (w->calls.n || others) {
		bool nop = l->kind == LINE_PAD && count_edges(w, KI_EDGE_TAKEN, 0) == 1 &&
			   others == 1 && !w->calls.n;

		differ(w->o, nop ? CAUSE_STATIC_BRANCH : CAUSE_SURPLUS, l->addr,
		       "an edge or call that objdump does not see");
	}
}

static void walk_block(struct walk *w, const struct ki_program_block *b)
{
	const struct listing *l = &w->o->listing;
	const struct ki_program_function *pf = &w->o->functions[w->f];

	w->ended = false;
	w->edge = b->first_edge;
	for (size_t i = listing_from(l, b->start); i < l->lines.n && l->lines.v[i].addr < b->end;
	     i++) {
		w->line = &l->lines.v[i];
		w->next = i + 1 < l->lines.n ? w->line[1].addr : UINT64_MAX;
		if (w->next > b->end)
			w->next = b->end;
		collect(w, pf->first_call + pf->ncalls, b->first_edge + b->nedges);
		check_line(w);
	}
	if (w->edge != b->first_edge + b->nedges)
		differ(w->o, overlaps(w->o, b->start) ? CAUSE_OVERLAP : CAUSE_SURPLUS, b->start,
		       "edges of no line");
}

static void check_callers(struct oracles *o)
{
	uint64_t known = 0, listed = 0;
	struct ki_program_call c;

	for (uint32_t i = 0; !ki_program_call(o->p, i, &c); i++)
		known += c.callee != KI_NONE;
	for (uint32_t f = 0; f < o->nfunctions; f++) {
		uint32_t n;
		const uint32_t *v = ki_program_callers(o->p, f, &n);

		listed += n;
		for (uint32_t i = 0; i < n; i++)
			if (ki_program_call(o->p, v[i], &c) || c.callee != f ||
			    (i && v[i - 1] >= v[i]))
				differ(o, CAUSE_TARGET, o->functions[f].symbol->addr,
				       "a caller that does not call it");
	}
	if (known != listed)
		differ(o, CAUSE_TARGET, 0, "%llu calls, but %llu callers",
		       (unsigned long long)known, (unsigned long long)listed);
}

void check_graph(struct oracles *o)
{
	struct walk w = {.o = o};

	for (w.f = 0; w.f < o->nfunctions; w.f++) {
		const struct ki_program_function *pf = &o->functions[w.f];

		w.call = pf->first_call;
		for (uint32_t b = 0; b < pf->nblocks; b++) {
			struct ki_program_block block;

			if (!ki_program_block(o->p, pf->first_block + b, &block))
				walk_block(&w, &block);
		}
		if (w.call != pf->first_call + pf->ncalls)
			differ(o, CAUSE_SURPLUS, pf->symbol->addr, "calls of no line");
	}
	ki_vec_free(&w.calls);
	ki_vec_free(&w.edges);
	check_callers(o);
}

/*
 * Indirect jumps that look like a table's: marked notrack, by memory with an index, or by the
 * sum of a base and a number that was loaded with an index; or by an address so loaded.
 */
/* The register that is jumped to; "": it is not known. */
static const char *register_of(const struct oracles *o, const struct line *l)
{
	const struct ki_symbol *s = l->reg[0] ? NULL : ki_target_symbol_at(o->t, l->target);

	return s && l->target && strstr(s->name, "_thunk_") ? strrchr(s->name, '_') + 1 : l->reg;
}

static bool looks_like_table(const struct oracles *o, size_t i, size_t *load)
{
	const struct line *l = o->listing.lines.v;
	const char *reg = register_of(o, &l[i]);
	bool add = false;

	*load = i;

	if (l[i].flags & LINE_NOTRACK)
		return true;
	if (l[i].flags & LINE_MEMORY)
		return l[i].flags & LINE_INDEXED;
	for (size_t back = 1; back <= 8 && back <= i; back++) {
		const struct line *x = &l[i - back];

		if (x->kind == LINE_CALL || x->kind == LINE_JMP || x->kind == LINE_RET)
			break;
		if (x->flags & LINE_MOVSLQ && x->flags & LINE_INDEXED)
			return add;
		if (x->flags & LINE_LOAD && (!*reg || strcmp(x->reg, reg) == 0)) {
			*load = i - back;
			return true;
		}
		add |= x->flags & LINE_ADD;
	}
	return false;
}

/* As the file's own symbol says: ours may have others without a symbol after. */
static uint64_t size_of(const struct oracles *o, uint32_t f)
{
	const struct ki_symbol *s = o->functions[f].symbol;
	uint64_t size = 0;

	for (size_t i = 0; i < o->image.symbols.n; i++)
		if (o->image.symbols.v[i].addr == s->addr && o->image.symbols.v[i].size > size)
			size = o->image.symbols.v[i].size;
	return size ? size : s->size;
}

/*
 * A jump by an array of functions looks the same: none of its elements, as many as the comparison
 * before allows, or four, leads into the function itself.
 */
static bool is_array_of_functions(const struct oracles *o, size_t i, uint32_t f)
{
	const struct line *l = &o->listing.lines.v[i];
	const struct ki_symbol *s = o->functions[f].symbol;
	uint64_t base = l->target, count = 4, size = size_of(o, f), to;

	if (!(l->flags & LINE_VALUE))
		return false;
	for (size_t back = 1; back <= 8 && back <= i; back++) {
		const struct line *x = l - back;

		if (!(x->flags & LINE_VALUE))
			continue;
		if (x->target <= o->functions[0].symbol->addr)
			count = x->target + 1;
		else if (!base)
			base = x->target;
	}
	for (uint64_t n = 0; n < count; n++)
		if (ki_target_read_data(o->t, base + 8 * n, &to, 8, NULL) ||
		    (to > s->addr && to - s->addr < size))
			return false;
	return true;
}

static enum cause table_cause(const struct oracles *o, size_t line, uint32_t f)
{
	if (is_array_of_functions(o, line, f))
		return CAUSE_POINTERS;
	return o->functions[f].flags & KI_FUNCTION_PARSED ? CAUSE_TABLE : CAUSE_UNPARSED;
}

void check_tables(struct oracles *o)
{
	struct ki_program_call c;

	for (uint32_t i = 0; !ki_program_call(o->p, i, &c); i++) {
		size_t l = listing_from(&o->listing, c.from), load;

		if (c.kind != KI_EDGE_TAIL_INDIRECT)
			continue;
		looked(o, 1);
		if (l < o->listing.lines.n && looks_like_table(o, l, &load))
			differ(o, table_cause(o, load, c.caller), c.from,
			       "a table, taken for a tail call");
	}
}
