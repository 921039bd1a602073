// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Gathering a plan: windows, the copies of what they displace, and the chunks asked for. A window
 * is in the plan once, however many chunks stand in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "splice/move.h"
#include "splice/plan.h"
#include "splice/springboard_choice.h"

int ki_plan_new(struct ki_plan **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->batch = PLAN_BATCH;
	return 0;
}

void ki_plan_free(struct ki_plan *p)
{
	if (!p)
		return;
	ki_vec_free(&p->windows);
	ki_vec_free(&p->more);
	ki_vec_free(&p->groups);
	ki_vec_free(&p->copies);
	ki_vec_free(&p->chunks);
	for (size_t i = 0; i < p->codes.n; i++)
		ki_long_code_free(&p->codes.v[i].code);
	ki_vec_free(&p->codes);
	ki_vec_free(&p->bundles);
	ki_vec_free(&p->needs);
	ki_vec_free(&p->led);
	free(p->map);
	free(p);
}

const char *ki_plan_name_of(const struct ki_function *fn)
{
	return fn->symbol ? fn->symbol->name : "function";
}

/*
 * Neighbours in the text are neighbours in the table, within some cache lines of it: windows are
 * taken in by function, and hundreds of thousands of misses would be most of the time. Few windows
 * begin in the same 4 bytes.
 */
static size_t map_slot(const struct ki_plan *p, uint64_t addr)
{
	uint64_t line = (addr >> 8) * 0x9e3779b97f4a7c15ull >> 32;
	size_t i = (size_t)(line << 6 | (addr >> 2 & 63)) & (p->map_cap - 1);

	while (p->map[i] && p->windows.v[p->map[i] - 1].addr != addr)
		i = (i + 1) & (p->map_cap - 1);
	return i;
}

/* Keep the table at most half full, two more windows counted. */
static int map_reserve(struct ki_plan *p)
{
	uint32_t *old = p->map;
	size_t cap = p->map_cap ? p->map_cap * 2 : 128;

	if (p->map_cap >= (p->windows.n + 2) * 2)
		return 0;
	p->map = calloc(cap, sizeof(*p->map));
	if (!p->map) {
		p->map = old;
		return -ENOMEM;
	}
	free(old);
	p->map_cap = cap;
	for (size_t i = 0; i < p->windows.n; i++)
		p->map[map_slot(p, p->windows.v[i].addr)] = (uint32_t)i + 1;
	return 0;
}

/* Room for one more chunk, in a new window with a new host. */
static int reserve(struct ki_plan *p)
{
	if (ki_vec_reserve(&p->chunks, 1) || ki_vec_reserve(&p->windows, 2) ||
	    ki_vec_reserve(&p->more, 2) || ki_vec_reserve(&p->copies, 2 * KI_WINDOW_INSNS))
		return -ENOMEM;
	return map_reserve(p);
}

/* Write the copies of a window's instructions after the plan's, not counting them yet. */
static unsigned int copy_span(struct ki_plan *p, const struct ki_function *fn,
			      const struct ki_span *s)
{
	unsigned int reason = KI_R_OK;

	for (uint32_t i = 0; i < s->count && !reason; i++) {
		const struct ki_insn *in = &fn->insns[s->first + i];
		struct ki_copy *out = &p->copies.v[p->copies.n + i];

		reason = s->written ? ki_relocate_written(in, s->written, out)
				    : ki_relocate(in, fn->bytes + (in->addr - fn->start), out);
	}
	return reason;
}

/* Can the plan take the window in, or has it the same already? */
static unsigned int check_window(struct ki_plan *p, const struct ki_function *fn,
				 const struct ki_span *s)
{
	const uint8_t *orig = fn->bytes + (s->addr - fn->start);
	const uint32_t number = p->map[map_slot(p, s->addr)];
	const struct ki_window *w;

	if (!number)
		return copy_span(p, fn, s);
	w = &p->windows.v[number - 1];
	if (w->len != s->len || w->board != s->board || w->bounce != s->bounce ||
	    (!s->written && memcmp(w->orig, orig, s->len)))
		return KI_R_BYTES_CHANGED;
	return KI_R_OK;
}

/* The plan's window of a span that has been checked, taken in if it is new. */
static uint32_t put_window(struct ki_plan *p, const struct ki_function *fn, const struct ki_span *s,
			   uint32_t host)
{
	size_t slot = map_slot(p, s->addr);
	struct ki_window *w = &p->windows.v[p->windows.n];

	if (p->map[slot])
		return p->map[slot] - 1;
	copy_span(p, fn, s);
	*w = (struct ki_window){.addr = s->addr,
				.bounce = s->bounce,
				.len = s->len,
				.ncopy = s->count,
				.board = s->board};
	w->first_copy = (uint32_t)p->copies.n;
	if (!s->written)
		memcpy(w->orig, fn->bytes + (s->addr - fn->start), s->len);
	p->copies.n += s->count;
	p->more.v[p->more.n++] = (struct plan_window){.host = host, .group = KI_NONE};
	p->hosts++;
	p->map[slot] = (uint32_t)++p->windows.n;
	return p->map[slot] - 1;
}

/* A window and, before it, the one in whose tail it bounces: both or none. */
static int take_window(struct ki_plan *p, const struct ki_function *fn,
		       const struct ki_spans *spans, const struct ki_span *s, uint32_t *index,
		       struct ki_err *err)
{
	const struct ki_span *host = s->host == KI_NONE ? NULL : &spans->v[s->host];
	unsigned int reason = check_window(p, fn, s);
	uint32_t number = KI_NONE;

	if (!reason && host)
		reason = check_window(p, fn, host);
	if (reason)
		return ki_err_reason(err, reason, s->addr, "%s", ki_plan_name_of(fn));
	if (host)
		number = put_window(p, fn, host, KI_NONE);
	*index = put_window(p, fn, s, number);
	return 0;
}

uint32_t ki_plan_count(struct ki_plan *p)
{
	struct plan_window *w = &p->more.v[p->chunks.v[p->chunks.n].c.window];

	if (!w->chunks++)
		p->hosts--;
	if (p->bundling) {
		p->chunks.v[p->chunks.n].bundle = (uint32_t)p->bundles.n - 1;
		p->bundles.v[p->bundles.n - 1].count++;
	}
	if (p->stage > p->stages)
		p->stages = p->stage;
	return (uint32_t)p->chunks.n++;
}

/* The window of an instruction, or why there is none. */
static int find_span(const struct ki_function *fn, const struct ki_spans *spans, uint64_t addr,
		     const struct ki_span **out, struct ki_err *err)
{
	const struct ki_insn *in = ki_function_insn_at(fn, addr);
	unsigned long long off = addr - fn->start;
	struct ki_copy copy;
	unsigned int reason;

	if (!in)
		return ki_err_reason(err, KI_R_NOT_BOUNDARY, addr, "%s+0x%llx", ki_plan_name_of(fn),
				     off);
	*out = ki_spans_at(spans, fn, addr);
	if (fn->reason)
		reason = fn->reason;
	else if (*out)
		reason = KI_R_OK;
	else
		reason = ki_relocate(in, fn->bytes + off, &copy);
	if (reason)
		return ki_err_reason(err, reason, addr, "%s+0x%llx", ki_plan_name_of(fn), off);
	return 0;
}

int ki_plan_prepare(struct ki_plan *p, const struct ki_insertion *at, struct ki_chunk **out,
		    struct ki_err *err)
{
	const struct ki_span *s = NULL;
	uint32_t window = 0;
	int ret;

	ret = find_span(at->fn, at->spans, at->place->addr, &s, err);
	if (ret)
		return ret;
	if (reserve(p))
		return ki_err_set(err, -ENOMEM, at->place->addr, "plan: out of memory");
	ret = take_window(p, at->fn, at->spans, s, &window, err);
	if (ret)
		return ret;
	p->chunks.v[p->chunks.n] = (struct plan_chunk){.stage = p->stage, .bundle = KI_NONE};
	*out = &p->chunks.v[p->chunks.n].c;
	(*out)->window = window;
	(*out)->insn =
		(uint8_t)(ki_function_insn_at(at->fn, at->place->addr) - at->fn->insns - s->first);
	(*out)->where = at->place->where;
	return 0;
}

int ki_plan_add(struct ki_plan *p, const struct ki_insertion *at, const struct ki_code *code,
		uint32_t *id, struct ki_err *err)
{
	struct ki_chunk *c;
	int ret;

	if (!code->len || code->len > KI_CHUNK_MAX || code->nfix > KI_FIXUPS)
		return ki_err_reason(err, KI_R_BAD_CHUNK, at->place->addr, "%s",
				     ki_plan_name_of(at->fn));
	ret = ki_plan_prepare(p, at, &c, err);
	if (ret)
		return ret;
	c->kind = KI_CHUNK_CODE;
	c->order = at->order;
	c->len = code->len;
	c->nfix = code->nfix;
	memcpy(c->fix, code->fix, sizeof(c->fix));
	memcpy(c->code, code->code, code->len);
	*id = ki_plan_count(p);
	return 0;
}

int ki_plan_replace(struct ki_plan *p, const struct ki_insertion *at, uint64_t target, uint32_t *id,
		    struct ki_err *err)
{
	struct ki_chunk *c;
	int ret = ki_plan_prepare(p, at, &c, err);

	if (ret)
		return ret;
	c->kind = KI_CHUNK_REPLACE;
	c->target = target;
	*id = ki_plan_count(p);
	return 0;
}

int ki_plan_guard(struct ki_plan *p, const struct ki_insertion *at, const struct ki_guard *g,
		  uint64_t target, struct ki_err *err)
{
	const int64_t value = (int64_t)g->value;
	const bool byte = value == (int8_t)value;
	const uint8_t code[] = {(uint8_t)(0x40 | (g->half ? 0 : 8) | g->reg >> 3),
				byte ? 0x83 : 0x81, (uint8_t)(0xf8 | (g->reg & 7))};
	struct ki_chunk *c;
	int ret;

	if (value != (int32_t)value || g->reg > KI_R15 || g->reg == KI_RSP)
		return ki_err_set(err, -ERANGE, at->place->addr,
				  "%s: a guard compares with a number of 32 bits",
				  ki_plan_name_of(at->fn));
	ret = ki_plan_prepare(p, at, &c, err);
	if (ret)
		return ret;
	c->kind = KI_CHUNK_GUARDED;
	c->order = UINT16_MAX; /* after what counts calls */
	c->target = target;
	memcpy(c->code, code, sizeof(code));
	memcpy(c->code + sizeof(code), &value, byte ? 1 : 4);
	c->len = (uint8_t)(sizeof(code) + (byte ? 1 : 4));
	(void)ki_plan_count(p);
	return 0;
}

static void mark_window(struct ki_window *w, uint32_t group, const struct plan_member *m, size_t i)
{
	w->group = group;
	w->flags = (uint8_t)((m->boarded[i] ? 0 : KI_WINDOW_UNBOARDED) |
			     (m->places ? KI_WINDOW_LAID : 0) | (m->calls ? KI_WINDOW_CALL : 0) |
			     (m->asides && m->asides[i] ? KI_WINDOW_ASIDE : 0) |
			     m->spans->v[i].written);
	w->place = m->places ? m->places[i] : 0;
}

static int find_boards(const struct plan_member *m)
{
	if (!m->calls)
		return ki_move_boards(m->fn, m->spans, m->places, m->boarded);
	for (size_t i = 0; i < m->spans->n; i++)
		m->boarded[i] = true;
	return 0;
}

static bool has_some(const struct ki_plan *p, const struct ki_spans *spans)
{
	for (size_t i = 0; i < spans->n; i++)
		if (p->map[map_slot(p, spans->v[i].addr)])
			return true;
	return false;
}

/* Can all its windows be taken in? 1: it is no group, and need not be one. */
static int check_member(struct ki_plan *p, struct plan_member *m, struct ki_err *err)
{
	const struct ki_function *fn = m->fn;
	unsigned int reason = KI_R_OK;
	int ret;

	m->boarded = calloc(m->spans->n + 1, sizeof(*m->boarded));
	if (!m->boarded || reserve(p) || ki_vec_reserve(&p->groups, 1))
		return ki_err_set(err, -ENOMEM, fn->start, "plan: out of memory");
	if (has_some(p, m->spans))
		return ki_err_set(err, -EINVAL, fn->start,
				  "plan: %s: to be moved before anything of it is added",
				  ki_plan_name_of(fn));
	ret = find_boards(m);
	if (ret == -ENOMEM)
		return ki_err_set(err, ret, fn->start, "plan: out of memory");
	if (ret && !m->places)
		return 1;
	if (ret)
		reason = KI_R_WINDOW_ENTERED;
	for (size_t i = 0; i < m->spans->n && !reason; i++)
		reason = check_window(p, fn, &m->spans->v[i]);
	return reason ? ki_err_reason(err, reason, fn->start, "%s", ki_plan_name_of(fn)) : 0;
}

/* Its windows, those without a springboard marked, in the group that is to be the next. */
static int put_member(struct ki_plan *p, const struct plan_member *m, struct ki_err *err)
{
	uint32_t first = (uint32_t)p->windows.n;

	for (size_t i = 0; i < m->spans->n; i++) {
		const struct ki_span *s = &m->spans->v[i];

		if (reserve(p))
			return ki_err_set(err, -ENOMEM, m->fn->start, "plan: out of memory");
		put_window(p, m->fn, s, s->host == KI_NONE ? KI_NONE : first + s->host);
		mark_window(&p->windows.v[first + i], (uint32_t)p->groups.n + 1, m, i);
		p->more.v[first + i].group = (uint32_t)p->groups.n;
	}
	return 0;
}

int ki_plan_group(struct ki_plan *p, struct plan_member *v, size_t n, struct ki_err *err)
{
	struct plan_group g = {.first = (uint32_t)p->windows.n, .laid = v->places};
	int ret = 0;

	for (size_t k = 0; k < n && !ret; k++)
		ret = check_member(p, &v[k], err);
	for (size_t k = 0; k < n && !ret; k++)
		ret = put_member(p, &v[k], err);
	g.count = (uint32_t)p->windows.n - g.first;
	if (!ret)
		p->groups.v[p->groups.n++] = g;
	for (size_t k = 0; k < n; k++) {
		free(v[k].boarded);
		v[k].boarded = NULL;
	}
	return ret < 0 ? ret : 0;
}

int ki_plan_move(struct ki_plan *p, const struct ki_function *fn, const struct ki_spans *spans,
		 struct ki_err *err)
{
	struct plan_member member = {.fn = fn, .spans = spans};

	if (fn->reason)
		return ki_err_reason(err, fn->reason, fn->start, "%s", ki_plan_name_of(fn));
	return spans->n < 2 ? 0 : ki_plan_group(p, &member, 1, err);
}

size_t ki_plan_moved(const struct ki_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->groups.n; i++)
		n += !p->groups.v[i].single;
	return n;
}

size_t ki_plan_windows(const struct ki_plan *p)
{
	return p->windows.n;
}

size_t ki_plan_hosts(const struct ki_plan *p)
{
	return p->hosts;
}

void ki_plan_on_progress(struct ki_plan *p, ki_plan_progress *f, void *arg)
{
	p->progress = f;
	p->progress_arg = arg;
}

void ki_plan_batch(struct ki_plan *p, size_t windows)
{
	p->batch = windows < PLAN_BATCH_MOST ? windows : PLAN_BATCH_MOST;
	if (!p->batch)
		p->batch = 1;
}

size_t ki_plan_chunks(const struct ki_plan *p)
{
	return p->chunks.n;
}

/*
 * A task may be between two instructions that the springboard overwrites, or in the tail of the
 * host where the bounce will stand.
 */
static bool waits(const struct ki_plan *p, size_t i)
{
	static const uint8_t written[KI_BOARD_KINDS] = {
		[KI_BOARD_JMP] = 5,
		[KI_BOARD_BOUNCE] = 2,
		[KI_BOARD_TRAP] = 1,
	};
	const struct ki_window *w = &p->windows.v[i];

	return p->more.v[i].host != KI_NONE ||
	       (w->ncopy > 1 && p->copies.v[w->first_copy].orig_len < written[w->board]);
}

size_t ki_plan_waits(const struct ki_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->windows.n; i++)
		n += waits(p, i);
	return n;
}

unsigned int ki_plan_refusal(const struct ki_plan *p, uint32_t id)
{
	return id < p->chunks.n ? p->chunks.v[id].c.reason : KI_R_OK;
}

int ki_plan_apply(struct ki_plan *p, struct ki_target *t, bool drop, struct ki_err *err)
{
	return ki_plan_apply_fd(p, ki_target_fd(t), drop, err);
}

int ki_plan_check(struct ki_plan *p, struct ki_target *t, struct ki_err *err)
{
	return ki_plan_check_fd(p, ki_target_fd(t), err);
}

void ki_plan_count_active(struct ki_plan *p)
{
	for (size_t i = 0; i < p->more.n; i++)
		p->more.v[i].active = 0;
	for (size_t i = 0; i < p->chunks.n; i++) {
		const struct plan_chunk *c = &p->chunks.v[i];

		p->more.v[c->c.window].active += !c->paused && c->c.reason == KI_R_OK;
	}
}

void ki_plan_sheds(struct ki_plan *p)
{
	p->sheds = true;
}

void ki_plan_pause(struct ki_plan *p, uint32_t id, bool pause)
{
	p->chunks.v[id].paused = pause;
}

int ki_plan_update(struct ki_plan *p, struct ki_target *t, struct ki_err *err)
{
	return ki_plan_update_fd(p, ki_target_fd(t), err);
}

int ki_plan_remove(struct ki_plan *p, struct ki_target *t, struct ki_err *err)
{
	return ki_plan_remove_fd(p, ki_target_fd(t), err);
}
