// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What inserted code costs, in instructions.
 *
 * The code of a chunk only goes forward, so the ways through it are found from its end to its
 * beginning. The shortest is what is executed where nothing is to be done: a predicate says no, a
 * timer's word is 0. What is executed where all is done is taken to be the shortest of those that
 * change the most counters and read the clock: so a call inside itself, or a clock that is read
 * once more, which are longer and rare, are left out. How often each of both happened is known: a
 * part counts who comes by, and who is counted.
 *
 * To that come the jump to the patch and the one back, which the chunks of a window share: when one
 * of them goes, the others pay for it. So costs change while a measurement goes on, and what has
 * been spent until then is kept. A bounce is more, a breakpoint much more. A function that is moved
 * has none of them, but a jump at its entry and behind each of its calls, which is not seen here.
 *
 * What a helper costs is in a table: test/guest/cost.sh compares it with what QEMU counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode.h"
#include "metric/measure.h"
#include "splice/plan.h"

/* From call to return. */
static const uint16_t helper_costs[KI_HELPERS] = {
	[KI_HELPER_LOAD8] = 128,  [KI_HELPER_LOAD16] = 129, [KI_HELPER_LOAD32] = 131,
	[KI_HELPER_LOAD64] = 133, [KI_HELPER_DIV] = 29,	    [KI_HELPER_UDIV] = 27,
	[KI_HELPER_MOD] = 29,	  [KI_HELPER_UMOD] = 29,    [KI_HELPER_NANOTIME] = 120,
	[KI_HELPER_ENTER] = 45,	  [KI_HELPER_LEAVE] = 40,   [KI_HELPER_UID] = 22,
	[KI_HELPER_CGROUP] = 35,  [KI_HELPER_RECORD] = 85,
};

#define CALLEE_COST 50 /* the kernel's own functions: nobody knows */
#define TRAP_COST   600

static const uint8_t board_costs[KI_BOARD_KINDS] = {
	[KI_BOARD_JMP] = 2, [KI_BOARD_BOUNCE] = 3, [KI_BOARD_TRAP] = 1};

/* A way from an instruction to the end. */
struct way {
	double cost;
	unsigned int counts; /* counters that it changes */
	bool open;	     /* it exists */
};

/* The ways from an instruction. */
struct ways {
	double least, longest;
	struct way usual[2]; /* that do not read the clock, and that do */
};

/* What an instruction is about: the fixup in it, or the clock. */
struct role {
	double helper;
	bool counts, clock;
};

static struct role role_of(const struct ki_long_code *code, uint32_t at, uint32_t len)
{
	struct role r = {.clock = len == 2 && code->code[at] == 0x0f && code->code[at + 1] == 0x31};

	for (uint32_t i = 0; i < code->nfix; i++) {
		const struct ki_fixup *f = &code->fix[i];

		if (f->off < at || f->off >= at + len)
			continue;
		r.counts |= f->kind == KI_FIX_PERCPU;
		if (f->kind == KI_FIX_HELPER && f->target < KI_HELPERS)
			r.helper = helper_costs[f->target];
		else if (f->kind == KI_FIX_CALLEE)
			r.helper = CALLEE_COST;
	}
	return r;
}

/* The one that does more; of equals, the shorter one. */
static struct way usual_of(struct way a, struct way b)
{
	if (!a.open || !b.open)
		return a.open ? a : b;
	if (a.counts != b.counts)
		return a.counts > b.counts ? a : b;
	return a.cost < b.cost ? a : b;
}

static struct ways join(struct ways a, struct ways b)
{
	return (struct ways){
		.least = a.least < b.least ? a.least : b.least,
		.longest = a.longest > b.longest ? a.longest : b.longest,
		.usual = {usual_of(a.usual[0], b.usual[0]), usual_of(a.usual[1], b.usual[1])}};
}

/* From an instruction on; the ways behind it, and from where it jumps to, are known. */
static struct ways ways_from(const struct ki_long_code *code, const struct ki_decoded *d,
			     const struct ways *ways)
{
	const uint32_t at = (uint32_t)d->in.addr;
	const uint64_t to =
		d->in.target > at && d->in.target < code->len ? d->in.target : code->len;
	const struct role role = role_of(code, at, d->in.len);
	struct ways w = ways[at + d->in.len];

	if (d->in.kind == KI_INSN_JMP)
		w = ways[to];
	else if (d->in.kind == KI_INSN_JCC)
		w = join(w, ways[to]);
	if (role.clock) {
		w.usual[1] = usual_of(w.usual[0], w.usual[1]);
		w.usual[0].open = false;
	}
	w.least += 1 + role.helper;
	w.longest += 1 + role.helper;
	for (unsigned int i = 0; i < 2; i++) {
		w.usual[i].cost += 1 + role.helper;
		w.usual[i].counts += role.counts;
	}
	return w;
}

/* Where the clock is read at all, to do so is usual; ways that do not, and change no counter but
   the first, are all alike. */
static struct ki_cost cost_of(const struct ways *w)
{
	const struct way *with = &w->usual[1], *without = &w->usual[0];
	struct ki_cost c = {w->least, w->longest};

	if (with->open)
		c.most = with->cost;
	else if (without->counts > 1)
		c.most = without->cost;
	return c;
}

static struct ki_cost long_cost(const struct ki_long_code *code)
{
	struct ki_cost c = {code->ninsns, code->ninsns};
	struct ki_decoded *insns = calloc(code->len + 1, sizeof(*insns));
	struct ways *ways = calloc(code->len + 1, sizeof(*ways));
	uint32_t n = 0;

	for (uint32_t at = 0; insns && ways && at < code->len; at += insns[n++].in.len) {
		ki_decode(code->code + at, code->len - at, at, &insns[n]);
		if (insns[n].in.len > code->len - at)
			break;
	}
	if (insns && ways) {
		ways[code->len].usual[0].open = true;
		while (n-- > 0)
			ways[insns[n].in.addr] = ways_from(code, &insns[n], ways);
		c = cost_of(&ways[0]);
	}
	free(insns);
	free(ways);
	return c;
}

/* Without jumps, which is known once it has been found out: to decode takes a while. A short chunk
   that keeps the flags has six instructions around the one that counts. */
static struct ki_cost inner_cost(const struct ki_measure *m, uint32_t id)
{
	const struct ki_long_code *code = ki_plan_code(m->plan, id);
	const double bare = m->plan->chunks.v[id].c.fix[0].off > 5 ? 7 : 1;

	if (m->priced.codes)
		return m->priced.codes[id];
	return code ? long_cost(code) : (struct ki_cost){bare, bare};
}

static struct ki_cost chunk_cost(const struct ki_measure *m, uint32_t id)
{
	const struct plan_chunk *pc = &m->plan->chunks.v[id];
	const struct plan_window *w = &m->plan->more.v[pc->c.window];
	const uint8_t board = m->plan->windows.v[pc->c.window].board;
	const struct ki_cost c = inner_cost(m, id);
	const uint32_t sharing = w->active ? w->active : w->chunks;
	double jumps = board_costs[board] + (board == KI_BOARD_TRAP ? TRAP_COST : 0);

	if (w->group != KI_NONE && !m->plan->groups.v[w->group].single)
		return c;
	jumps /= sharing ? sharing : 1;
	return (struct ki_cost){c.least + jumps, c.most + jumps};
}

static struct ki_cost largest(struct ki_cost a, struct ki_cost b)
{
	return a.most > b.most ? a : b;
}

/* One of its places is passed. */
static struct ki_cost code_cost(const struct ki_measure *m, const struct code *code)
{
	struct ki_cost c = {0};

	for (size_t i = 0; i < code->sites.n; i++)
		c = largest(c, chunk_cost(m, code->sites.v[i].chunk));
	return c;
}

static struct ki_cost curve_cost(const struct ki_measure *m, const struct curve *curve)
{
	struct ki_cost c = {0};

	for (uint32_t i = 0; i < curve->nchunks; i++)
		c = largest(c, chunk_cost(m, curve->chunk + i));
	return c;
}

/* Since the costs are what they are. */
static double read_counter(const struct ki_measure *m, uint32_t index)
{
	const double before = m->priced.counters ? m->priced.counters[index] : 0;

	return m->map ? (double)ki_counter_read(m->map, m->counters.v[index]) - before : 0;
}

static double curve_spent(const struct ki_measure *m, const struct curve *curve)
{
	const struct ki_cost c = curve->cost;
	double hits = read_counter(m, curve->counter);

	if (curve->passes == curve->counter)
		return hits * c.most;
	return read_counter(m, curve->passes) * c.least + hits * (c.most - c.least);
}

static double pair_spent(const struct ki_measure *m, const struct pair *p)
{
	const struct ki_cost start = p->start_cost, stop = p->stop_cost;
	double more = start.most - start.least + stop.most - stop.least;

	return read_counter(m, p->starts) * start.least + read_counter(m, p->stops) * stop.least +
	       read_counter(m, p->over) * more;
}

static double inside_spent(const struct ki_measure *m, const struct inside *i)
{
	return read_counter(m, i->passes) * (i->enter_cost.most + i->leave_cost.most) / 2;
}

/* ---- parts: the curves that count (others have none), then the pairs, then inside() ---- */

uint32_t ki_measure_part(const struct ki_measure *m, uint32_t curve)
{
	const struct curve *c = &m->curves.v[curve];

	return c->pair == KI_NONE ? curve : (uint32_t)m->curves.n + c->pair;
}

uint32_t ki_measure_parts(const struct ki_measure *m)
{
	return (uint32_t)(m->curves.n + m->pairs.n + m->insides.n);
}

uint32_t ki_measure_parts_needed(const struct ki_measure *m)
{
	return (uint32_t)m->insides.n;
}

double ki_measure_spent(const struct ki_measure *m, uint32_t part)
{
	const double before = m->priced.spent ? m->priced.spent[part] : 0;

	if (!m->metered)
		return 0;
	if (part < m->curves.n)
		return m->curves.v[part].pair == KI_NONE
			       ? before + curve_spent(m, &m->curves.v[part])
			       : 0;
	part -= (uint32_t)m->curves.n;
	if (part < m->pairs.n)
		return before + pair_spent(m, &m->pairs.v[part]);
	return before + inside_spent(m, &m->insides.v[part - m->pairs.n]);
}

/* ---- prices ---- */

static void note_costs(struct ki_measure *m)
{
	for (size_t i = 0; i < m->curves.n; i++)
		if (m->curves.v[i].pair == KI_NONE)
			m->curves.v[i].cost = curve_cost(m, &m->curves.v[i]);
	for (size_t i = 0; i < m->pairs.n; i++) {
		m->pairs.v[i].start_cost = code_cost(m, &m->pairs.v[i].start);
		m->pairs.v[i].stop_cost = code_cost(m, &m->pairs.v[i].stop);
	}
	for (size_t i = 0; i < m->insides.n; i++) {
		m->insides.v[i].enter_cost = code_cost(m, &m->insides.v[i].enter);
		m->insides.v[i].leave_cost = code_cost(m, &m->insides.v[i].leave);
	}
}

/* From here on counters are worth something else. */
static void begin_prices(struct ki_measure *m)
{
	double *now = m->priced.counters;

	for (uint32_t i = 0; i < ki_measure_parts(m); i++)
		m->priced.spent[i] = ki_measure_spent(m, i);
	for (size_t i = 0; m->map && i < m->counters.n; i++)
		now[i] = (double)ki_counter_read(m->map, m->counters.v[i]);
}

/* The first time. */
static int take_prices(struct ki_measure *m, struct ki_err *err)
{
	struct prices *p = &m->priced;
	struct ki_cost *codes = calloc(m->plan->chunks.n + 1, sizeof(*codes));

	for (uint32_t i = 0; codes && i < m->plan->chunks.n; i++)
		codes[i] = inner_cost(m, i);
	p->codes = codes;
	p->spent = calloc(ki_measure_parts(m) + 1, sizeof(*p->spent));
	p->counters = calloc(m->counters.n + 1, sizeof(*p->counters));
	if (p->codes && p->spent && p->counters)
		return 0;
	ki_costs_free(m);
	return ki_err_set(err, -ENOMEM, 0, "costs: out of memory");
}

int ki_costs_note(struct ki_measure *m, struct ki_err *err)
{
	if (!m->priced.codes && take_prices(m, err))
		return -ENOMEM;
	ki_plan_count_active(m->plan);
	begin_prices(m);
	note_costs(m);
	return 0;
}

void ki_costs_free(struct ki_measure *m)
{
	free(m->priced.codes);
	free(m->priced.spent);
	free(m->priced.counters);
	m->priced = (struct prices){0};
}

static struct ki_cost both(struct ki_cost a, struct ki_cost b)
{
	return (struct ki_cost){a.least + b.least, a.most + b.most};
}

struct ki_cost ki_measure_pass_cost(const struct ki_measure *m, uint32_t part)
{
	if (part < m->curves.n)
		return curve_cost(m, &m->curves.v[part]);
	part -= (uint32_t)m->curves.n;
	if (part < m->pairs.n)
		return both(code_cost(m, &m->pairs.v[part].start),
			    code_cost(m, &m->pairs.v[part].stop));
	part -= (uint32_t)m->pairs.n;
	return both(code_cost(m, &m->insides.v[part].enter),
		    code_cost(m, &m->insides.v[part].leave));
}

static void rest_code(struct ki_measure *m, const struct code *c, bool rest)
{
	for (size_t i = 0; i < c->sites.n; i++)
		ki_plan_rest(m->plan, c->sites.v[i].chunk, rest);
}

void ki_measure_rest(struct ki_measure *m, uint32_t part, bool rest, bool for_good)
{
	struct pair *p;

	if (part < m->curves.n) {
		const struct curve *c = &m->curves.v[part];

		for (uint32_t i = 0; c->pair == KI_NONE && i < c->nchunks; i++)
			ki_plan_rest(m->plan, c->chunk + i, rest);
		return;
	}
	part -= (uint32_t)m->curves.n;
	if (part >= m->pairs.n) {
		rest_code(m, &m->insides.v[part - m->pairs.n].enter, rest);
		rest_code(m, &m->insides.v[part - m->pairs.n].leave, rest);
		return;
	}
	p = &m->pairs.v[part];
	rest_code(m, &p->start, rest);
	if (for_good)
		rest_code(m, &p->stop, rest);
	p->gone |= for_good;
}

int ki_measure_settle(struct ki_measure *m, struct ki_err *err)
{
	int ret = ki_plan_settle(m->plan, m->t, err);

	return !ret && m->metered ? ki_costs_note(m, err) : ret;
}
