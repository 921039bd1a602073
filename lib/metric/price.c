// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What inserted code costs, in instructions.
 *
 * The code of a chunk only goes forward, so the ways through it are found from its end to its
 * beginning. The shortest is what is executed where nothing is to be done: a predicate says no, a
 * timer's word is 0. What is executed where all is done is taken to be the shortest of those that
 * change the most counters and read the clock: so a call inside itself, or a clock that is read
 * once more, which are longer and rare, are left out.
 *
 * To that come the jump to the patch and the one back, which the chunks of a window share. A bounce
 * is more, a breakpoint much more.
 *
 * What a helper costs is in a table: test/guest/metrics/cost.sh compares it with what QEMU counts.
 */
#include "metric/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "process/tally.h"
#include "splice/plan.h"

static const uint16_t helper_costs[KI_HELPERS] = {
#define KI_HELPER(tag, args, entry, vet, cost, text) [KI_HELPER_##tag] = (cost),
#include "uapi/kerninst_helpers.def"
#undef KI_HELPER
};

#define WORDS_COST  18	/* of a process: the routine that finds the thread's row at once */
#define CALLEE_COST 50	/* the kernel's own functions: nobody knows */
#define TRAP_COST   358 /* from the breakpoint to the patch, in 6.1.0-56-amd64 */
#define JMP_LEN	    5

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
	bool counts, clock, never;
};

/* What TEXT does, where that is much more or less than its others. */
static const uint16_t text_costs[KI_TEXT_OPS] = {
	[KI_TEXT_KERNEL] = 950, /* as STRING, and it is found among those that are there */
	[KI_TEXT_USER] = 950,	     [KI_TEXT_COMM] = 400,     [KI_TEXT_LENGTH] = 150,
	[KI_TEXT_ALLOCA] = 335,	     [KI_TEXT_GIVE_ROOM] = 60, /* of a few bytes */
	[KI_TEXT_ALLOCA_USER] = 510,
};

/* Some do one of many things: what %edi says, which is put there the moment before (mov $imm32). */
static double helper_cost(const struct ki_long_code *code, uint32_t call, uint32_t helper)
{
	uint32_t edi = 0, op;

	if (call >= 5 && code->code[call - 5] == 0xbf)
		memcpy(&edi, code->code + call - 4, sizeof(edi));
	op = edi & 0xff;
	if (helper == KI_HELPER_TABLE && (edi >> 16 & 0xf) == KI_TABLE_STATS)
		return 155;
	if (helper == KI_HELPER_TABLE && (edi >> 16 & 0xf) == KI_TABLE_ADD)
		return 46; /* to the row that was used last; else twice as much */
	if (helper == KI_HELPER_TEXT && op < KI_TEXT_OPS && text_costs[op])
		return text_costs[op];
	return helper_costs[helper];
}

/* Code in a process changes words that all threads share, and calls for those of its own. */
struct about {
	uint32_t never; /* the counter that no way changes; KI_NONE */
	bool user;
};

static void add_user(struct role *r, const struct ki_fixup *f, uint8_t opcode)
{
	r->counts |= f->kind == KI_FIX_GLOBAL;
	if (f->kind == KI_FIX_SELF && opcode == 0xe8)
		r->helper = WORDS_COST;
}

static struct role role_of(const struct ki_long_code *code, uint32_t at, uint32_t len,
			   const struct about *about)
{
	const uint32_t never = about->never;

	struct role r = {.clock = len == 2 && code->code[at] == 0x0f && code->code[at + 1] == 0x31};

	for (uint32_t i = 0; i < code->nfix; i++) {
		const struct ki_fixup *f = &code->fix[i];

		if (f->off < at || f->off >= at + len)
			continue;
		r.counts |= f->kind == KI_FIX_PERCPU;
		r.never |= f->kind == KI_FIX_PERCPU && never != KI_NONE &&
			   (f->target == never || f->target == never + 1);
		if (about->user)
			add_user(&r, f, code->code[at]);
		/* what a pair reads when it begins and ends: its clock */
		r.clock |= f->kind == KI_FIX_HELPER && f->target == KI_HELPER_EVENT;
		if (f->kind == KI_FIX_HELPER && f->target < KI_HELPERS)
			r.helper = helper_cost(code, at, f->target);
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

/* No way is shorter, or longer, than these. */
static struct ways no_ways(void)
{
	struct ways w = {INFINITY, -INFINITY, {{0}}};

	for (unsigned int i = 0; i < COUNTS; i++)
		w.by[0][i] = w.by[1][i] = INFINITY;
	return w;
}

/* From an instruction on; the ways after it, and from where it jumps to, are known. */
static struct ways ways_from(const struct ki_long_code *code, const struct ki_decoded *d,
			     const struct ways *ways, const struct about *about)
{
	const uint32_t at = (uint32_t)d->in.addr;
	const uint64_t to =
		d->in.target > at && d->in.target < code->len ? d->in.target : code->len;
	const struct role role = role_of(code, at, d->in.len, about);
	struct ways w = ways[at + d->in.len];

	if (role.never)
		return no_ways();
	if (d->in.kind == KI_INSN_JMP)
		w = ways[to];
	else if (d->in.kind == KI_INSN_JCC)
		w = join(w, ways[to]);
	put_before(&w, &role);
	return w;
}

static struct ways at_end(void)
{
	struct ways w = no_ways();

	w.least = w.longest = w.by[0][0] = 0;
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

static struct price long_price(const struct ki_long_code *code, const struct about *about)
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
			ways[insns[n].in.addr] = ways_from(code, &insns[n], ways, about);
		p = price_of(&ways[0]);
		if (about->never != KI_NONE)
			p.most = ways[0].longest;
	}
	free(insns);
	free(ways);
	return p;
}

/* A short chunk that keeps the flags has six instructions around the one that counts, and in a
   process two more for the red zone; where the counter is one of the thread's it is 17, or 23. */
static double bare_price(const struct ki_plan *p, const struct ki_fixup *f)
{
	if (!p->user)
		return f->off > 5 ? 7 : 1;
	if (p->tally)
		return f->target & KI_TALLY_KEEP ? 23 : 17;
	return f->target & KI_TALLY_KEEP ? 9 : 1;
}

struct price ki_price_of_code(const struct ki_plan *p, uint32_t id, uint32_t never)
{
	const struct ki_long_code *code = ki_plan_code(p, id);
	const struct about about = {never, p->user};
	const double bare = bare_price(p, &p->chunks.v[id].c.fix[0]);

	return code ? long_price(code, &about) : (struct price){bare, bare, bare};
}

/* The driver has one for a window's first instruction alone. */
static uint8_t board_of(const struct ki_plan *p, uint32_t window)
{
	const struct ki_window *w = &p->windows.v[window];

	if (!p->driven)
		return w->board;
	return p->copies.v[w->first_copy].orig_len < JMP_LEN ? KI_BOARD_TRAP : KI_BOARD_JMP;
}

struct price ki_price_of_chunk(const struct ki_plan *p, uint32_t id, struct price inner)
{
	const uint32_t window = p->chunks.v[id].c.window;
	const struct plan_window *w = &p->more.v[window];
	const uint8_t board = board_of(p, window);
	const uint32_t sharing = w->active ? w->active : w->chunks;
	double jumps = board_costs[board] + (board == KI_BOARD_TRAP ? TRAP_COST : 0);

	if (w->group != KI_NONE && !p->groups.v[w->group].single)
		return inner;
	jumps /= sharing ? sharing : 1;
	return (struct price){inner.least + jumps, inner.counted + jumps, inner.most + jumps};
}
