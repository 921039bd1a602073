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
 * What a helper costs is in a table: test/guest/metrics/cost.sh compares it with what QEMU counts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "metric/measure.h"
#include "splice/plan.h"

/* From call to return. Of stacks: of seven frames; of strings: of some ten bytes; of events: of one
   that the kernel counts itself; of tables: a sum by one key. */
static const uint16_t helper_costs[KI_HELPERS] = {
	[KI_HELPER_LOAD8] = 128,       [KI_HELPER_LOAD16] = 129,  [KI_HELPER_LOAD32] = 131,
	[KI_HELPER_LOAD64] = 133,      [KI_HELPER_DIV] = 29,	  [KI_HELPER_UDIV] = 27,
	[KI_HELPER_MOD] = 29,	       [KI_HELPER_UMOD] = 29,	  [KI_HELPER_NANOTIME] = 120,
	[KI_HELPER_ENTER] = 45,	       [KI_HELPER_LEAVE] = 40,	  [KI_HELPER_UID] = 22,
	[KI_HELPER_CGROUP] = 35,       [KI_HELPER_RECORD] = 82,	  [KI_HELPER_STACK] = 6000,
	[KI_HELPER_USTACK] = 1350,     [KI_HELPER_STRING] = 400,  [KI_HELPER_USTRING] = 460,
	[KI_HELPER_ENTER_RECORD] = 45, [KI_HELPER_EVENT] = 180,	  [KI_HELPER_TABLE] = 110,
	[KI_HELPER_EXTREME] = 60,      [KI_HELPER_TEXT] = 450,	  [KI_HELPER_UNREADABLE] = 135,
	[KI_HELPER_DEPTH] = 5700,      [KI_HELPER_UDEPTH] = 1100, [KI_HELPER_UCALLER] = 420,
	[KI_HELPER_ULOAD] = 190,
};

#define CALLEE_COST 50 /* the kernel's own functions: nobody knows */
#define TRAP_COST   600

static const uint8_t board_costs[KI_BOARD_KINDS] = {
	[KI_BOARD_JMP] = 2, [KI_BOARD_BOUNCE] = 3, [KI_BOARD_TRAP] = 1};

#define COUNTS 8 /* counters that a way changes; more are taken for so many */

/* The ways from an instruction to the end: how short they are. */
struct ways {
	double least, longest;
	double by[2][COUNTS]; /* that do not read the clock, and that do; INFINITY: there is none */
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

static struct ways join(struct ways a, struct ways b)
{
	a.least = fmin(a.least, b.least);
	a.longest = fmax(a.longest, b.longest);
	for (unsigned int i = 0; i < COUNTS; i++) {
		a.by[0][i] = fmin(a.by[0][i], b.by[0][i]);
		a.by[1][i] = fmin(a.by[1][i], b.by[1][i]);
	}
	return a;
}

/* With one that changes a counter before them. */
static void count_one(double by[COUNTS])
{
	by[COUNTS - 1] = fmin(by[COUNTS - 1], by[COUNTS - 2]);
	for (unsigned int i = COUNTS - 2; i > 0; i--)
		by[i] = by[i - 1];
	by[0] = INFINITY;
}

/* With an instruction before them that costs so much. */
static void put_before(struct ways *w, const struct role *role)
{
	const double cost = 1 + role->helper;

	w->least += cost;
	w->longest += cost;
	for (unsigned int i = 0; i < COUNTS; i++) {
		w->by[1][i] = role->clock ? fmin(w->by[0][i], w->by[1][i]) : w->by[1][i];
		w->by[0][i] = role->clock ? INFINITY : w->by[0][i] + cost;
		w->by[1][i] += cost;
	}
	for (unsigned int i = 0; i < 2 && role->counts; i++)
		count_one(w->by[i]);
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
	put_before(&w, &role);
	return w;
}

static struct ways at_end(void)
{
	struct ways w = {0};

	for (unsigned int i = 0; i < COUNTS; i++)
		w.by[0][i] = w.by[1][i] = INFINITY;
	w.by[0][0] = 0;
	return w;
}

/* The most counters that a way changes; -1: there is none. */
static int most_counts(const double by[COUNTS])
{
	int n = COUNTS - 1;

	while (n >= 0 && isinf(by[n]))
		n--;
	return n;
}

/* Where the clock is read at all, to do so is usual; ways that do not, and change no counter but
   the first, are all alike. */
static struct price price_of(const struct ways *w)
{
	struct price p = {w->least, w->least, w->longest};
	const bool clock = most_counts(w->by[1]) >= 0;
	const int n = most_counts(w->by[clock]);

	if (clock || n > 1)
		p.most = w->by[clock][n];
	for (int i = n - 1; i > 0 && p.counted == p.least; i--)
		if (!isinf(fmin(w->by[0][i], w->by[1][i])))
			p.counted = fmin(w->by[0][i], w->by[1][i]);
	return p;
}

static struct price long_price(const struct ki_long_code *code)
{
	struct price p = {code->ninsns, code->ninsns, code->ninsns};
	struct ki_decoded *insns = calloc(code->len + 1, sizeof(*insns));
	struct ways *ways = calloc(code->len + 1, sizeof(*ways));
	uint32_t n = 0;

	for (uint32_t at = 0; insns && ways && at < code->len; at += insns[n++].in.len) {
		ki_decode(code->code + at, code->len - at, at, &insns[n]);
		if (insns[n].in.len > code->len - at)
			break;
	}
	if (insns && ways) {
		ways[code->len] = at_end();
		while (n-- > 0)
			ways[insns[n].in.addr] = ways_from(code, &insns[n], ways);
		p = price_of(&ways[0]);
	}
	free(insns);
	free(ways);
	return p;
}

/* Without jumps, which is known once it has been found out: to decode takes a while. A short chunk
   that keeps the flags has six instructions around the one that counts. */
static struct price inner_price(const struct ki_measure *m, uint32_t id)
{
	const struct ki_long_code *code = ki_plan_code(m->plan, id);
	const double bare = m->plan->chunks.v[id].c.fix[0].off > 5 ? 7 : 1;

	if (m->priced.codes)
		return m->priced.codes[id];
	return code ? long_price(code) : (struct price){bare, bare, bare};
}

static struct price chunk_price(const struct ki_measure *m, uint32_t id)
{
	const struct plan_chunk *pc = &m->plan->chunks.v[id];
	const struct plan_window *w = &m->plan->more.v[pc->c.window];
	const uint8_t board = m->plan->windows.v[pc->c.window].board;
	const struct price p = inner_price(m, id);
	const uint32_t sharing = w->active ? w->active : w->chunks;
	double jumps = board_costs[board] + (board == KI_BOARD_TRAP ? TRAP_COST : 0);

	if (w->group != KI_NONE && !m->plan->groups.v[w->group].single)
		return p;
	jumps /= sharing ? sharing : 1;
	return (struct price){p.least + jumps, p.counted + jumps, p.most + jumps};
}

static struct price largest(struct price a, struct price b)
{
	return a.most > b.most ? a : b;
}

/* One of its places is passed. */
static struct price code_price(const struct ki_measure *m, const struct code *code)
{
	struct price p = {0};

	for (size_t i = 0; i < code->sites.n; i++)
		p = largest(p, chunk_price(m, code->sites.v[i].chunk));
	return p;
}

static struct price curve_price(const struct ki_measure *m, const struct curve *curve)
{
	struct price p = {0};

	for (uint32_t i = 0; i < curve->nchunks; i++)
		p = largest(p, chunk_price(m, curve->chunk + i));
	return p;
}

/* Since the costs are what they are. */
static double read_counter(const struct ki_measure *m, uint32_t index)
{
	const double before = m->priced.counters ? m->priced.counters[index] : 0;

	return m->map ? (double)ki_counter_read(m->map, m->counters.v[index]) - before : 0;
}

static bool is_sampled(const struct curve *c)
{
	return c->pair == KI_NONE && c->taken != KI_NONE;
}

static double curve_spent(const struct ki_measure *m, const struct curve *curve)
{
	const struct price p = curve->price;
	const double hits = read_counter(m, curve->counter);
	const bool always = curve->passes == curve->counter;

	if (is_sampled(curve))
		return hits * p.counted + read_counter(m, curve->taken) * (p.most - p.counted) +
		       (always ? 0 : (read_counter(m, curve->passes) - hits) * p.least);
	if (always)
		return hits * p.most;
	return read_counter(m, curve->passes) * p.least + hits * (p.most - p.least);
}

static double pair_spent(const struct ki_measure *m, const struct pair *p)
{
	const struct price start = p->start_price, stop = p->stop_price;
	double more = start.most - start.least + stop.most - stop.least;

	return read_counter(m, p->starts) * start.least + read_counter(m, p->stops) * stop.least +
	       read_counter(m, p->over) * more;
}

/* Of all that are one part. */
static double pairs_spent(const struct ki_measure *m, uint32_t part)
{
	double spent = 0;

	for (size_t i = 0; i < m->pairs.n; i++)
		if (m->pairs.v[i].part == part)
			spent += pair_spent(m, &m->pairs.v[i]);
	return spent;
}

static double inside_spent(const struct ki_measure *m, const struct inside *i)
{
	return read_counter(m, i->passes) * (i->enter_price.most + i->leave_price.most) / 2;
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
		return before + pairs_spent(m, part);
	return before + inside_spent(m, &m->insides.v[part - m->pairs.n]);
}

/* ---- prices ---- */

static void note_prices(struct ki_measure *m)
{
	for (size_t i = 0; i < m->curves.n; i++)
		if (m->curves.v[i].pair == KI_NONE)
			m->curves.v[i].price = curve_price(m, &m->curves.v[i]);
	for (size_t i = 0; i < m->pairs.n; i++) {
		m->pairs.v[i].start_price = code_price(m, &m->pairs.v[i].start);
		m->pairs.v[i].stop_price = code_price(m, &m->pairs.v[i].stop);
	}
	for (size_t i = 0; i < m->insides.n; i++) {
		m->insides.v[i].enter_price = code_price(m, &m->insides.v[i].enter);
		m->insides.v[i].leave_price = code_price(m, &m->insides.v[i].leave);
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
	struct price *codes = calloc(m->plan->chunks.n + 1, sizeof(*codes));

	for (uint32_t i = 0; codes && i < m->plan->chunks.n; i++)
		codes[i] = inner_price(m, i);
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
	note_prices(m);
	return 0;
}

void ki_costs_free(struct ki_measure *m)
{
	free(m->priced.codes);
	free(m->priced.spent);
	free(m->priced.counters);
	m->priced = (struct prices){0};
}

double ki_measure_acted(const struct ki_measure *m, uint32_t part)
{
	const struct curve *c = &m->curves.v[part < m->curves.n ? part : 0];

	if (part >= m->curves.n || !is_sampled(c) || !m->map)
		return 0;
	return (double)ki_counter_read(m->map, m->counters.v[c->taken]) *
	       (c->price.most - c->price.counted);
}

static struct ki_cost both(struct price a, struct price b)
{
	return (struct ki_cost){a.least + b.least, a.most + b.most};
}

static struct ki_cost pairs_cost(const struct ki_measure *m, uint32_t part)
{
	struct ki_cost sum = {0};

	for (size_t i = 0; i < m->pairs.n; i++) {
		const struct pair *p = &m->pairs.v[i];
		struct ki_cost one;

		if (p->part != part)
			continue;
		one = both(code_price(m, &p->start), code_price(m, &p->stop));
		sum.least += one.least;
		sum.most += one.most;
	}
	return sum;
}

struct ki_cost ki_measure_pass_cost(const struct ki_measure *m, uint32_t part)
{
	if (part < m->curves.n)
		return both(curve_price(m, &m->curves.v[part]), (struct price){0});
	part -= (uint32_t)m->curves.n;
	if (part < m->pairs.n)
		return pairs_cost(m, part);
	part -= (uint32_t)m->pairs.n;
	return both(code_price(m, &m->insides.v[part].enter),
		    code_price(m, &m->insides.v[part].leave));
}
