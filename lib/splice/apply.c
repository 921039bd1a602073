// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Installing a plan. The driver does each request wholly or not at all; the plan is to go in
 * wholly or not at all too, but in requests so small that nobody else waits long for the driver,
 * and that progress is seen. So:
 *
 *  1. The chunks of a stage that are to be installed are put in order of address and cut into
 *     batches. Each batch holds its windows and the hosts of these, so that each can be judged by
 *     itself.
 *  2. If there are several and nothing may be left out, everything is first sent as a dry run.
 *  3. The batches are installed, stage after stage. If a batch is refused and what is refused may
 * be left out, it is taken off the list and the batch is cut again; the list shrinks, so there is
 * an end. If not, what has been installed before is taken out again. A group of which something is
 *     refused is first given up, and its windows are asked for one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "splice/plan.h"
#include "util/steps.h"

/* Chunks on their way in, in order of their windows' addresses. */
struct todo {
	struct ki_plan *plan;
	int fd;
	uint32_t *ids;
	size_t n;
	size_t done, all; /* in all stages */
	struct ki_err *err;
};

/* One request. */
struct batch {
	uint32_t *from; /* its windows in the plan, in order of address */
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;
	const uint32_t *ids; /* its chunks in the plan */
	uint32_t nwindows, ncopies, nchunks;
};

static const struct ki_window *window_of(const struct ki_plan *p, uint32_t id)
{
	return &p->windows.v[p->chunks.v[id].c.window];
}

static int by_address(const void *a, const void *b, void *plan)
{
	const uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
	const struct ki_window *wa = window_of(plan, ia), *wb = window_of(plan, ib);

	if (wa->addr != wb->addr)
		return wa->addr < wb->addr ? -1 : 1;
	return (ia > ib) - (ia < ib);
}

/* All chunks of stages [from, to] that are to be installed and are not yet. */
static void todo_gather(struct todo *t, unsigned int from, unsigned int to)
{
	struct ki_plan *p = t->plan;

	t->n = 0;
	for (uint32_t i = 0; i < p->chunks.n; i++) {
		const struct plan_chunk *c = &p->chunks.v[i];

		if (!c->installed && !c->paused && c->c.reason == KI_R_OK && c->stage >= from &&
		    c->stage <= to)
			t->ids[t->n++] = i;
	}
	qsort_r(t->ids, t->n, sizeof(*t->ids), by_address, p);
}

/* Strike from position `from` on what has been refused. */
static void todo_strike(struct todo *t, size_t from)
{
	size_t n = from;

	for (size_t i = from; i < t->n; i++)
		if (t->plan->chunks.v[t->ids[i]].c.reason == KI_R_OK)
			t->ids[n++] = t->ids[i];
	t->n = n;
}

static void batch_free(struct batch *b)
{
	free(b->from);
	free(b->windows);
	free(b->copies);
	free(b->chunks);
	*b = (struct batch){0};
}

static int windows_by_address(const void *a, const void *b, void *plan)
{
	const struct ki_plan *p = plan;
	uint64_t x = p->windows.v[*(const uint32_t *)a].addr;
	uint64_t y = p->windows.v[*(const uint32_t *)b].addr;

	return (x > y) - (x < y);
}

/* The window's group, if it is one still; NULL. */
static struct plan_group *group_of(const struct ki_plan *p, uint32_t w)
{
	uint32_t g = p->more.v[w].group;

	return g == KI_NONE || p->groups.v[g].single ? NULL : &p->groups.v[g];
}

/* The window with what must come with it: its group, or its host. Returns how many there are. */
static uint32_t with_company(const struct ki_plan *p, uint32_t w, uint32_t *out)
{
	const struct plan_group *g = group_of(p, w);
	uint32_t n = 0;

	for (uint32_t i = 0; g && i < g->count; i++)
		out[n++] = g->first + i;
	if (g)
		return n;
	out[n++] = w;
	if (p->more.v[w].host != KI_NONE)
		out[n++] = p->more.v[w].host;
	return n;
}

static bool together(const struct ki_plan *p, uint32_t a, uint32_t b)
{
	return a == b || (group_of(p, a) && group_of(p, a) == group_of(p, b));
}

/* Room for what the windows of one request and their company may be. */
static size_t batch_room(const struct todo *t, size_t from)
{
	size_t room = 2 * (t->plan->batch + 1), groups = 0;
	const struct plan_group *last = NULL;

	for (size_t i = from; i < t->n && groups < t->plan->batch; i++) {
		const struct plan_group *g =
			group_of(t->plan, t->plan->chunks.v[t->ids[i]].c.window);

		if (g && g != last)
			room += g->count;
		groups += g && g != last;
		last = g;
	}
	return room;
}

/* Take whole windows, with their company, from position `from` on until a request is full. */
static int batch_measure(const struct todo *t, size_t from, struct batch *b)
{
	const struct ki_plan *p = t->plan;
	uint32_t n = 0, taken = 0;
	size_t i = from, j;

	for (; i < t->n && taken < p->batch; i = j) {
		uint32_t w = p->chunks.v[t->ids[i]].c.window, company;

		for (j = i; j < t->n && together(p, p->chunks.v[t->ids[j]].c.window, w); j++)
			;
		if (j - from > (i == from ? KI_BATCH_CHUNKS : 2 * p->batch))
			break;
		company = with_company(p, w, b->from + n);
		n += company;
		taken += company;
	}
	b->nchunks = (uint32_t)(i - from);
	if (!b->nchunks)
		return ki_err_reason(t->err, KI_R_TOO_MANY, window_of(p, t->ids[from])->addr,
				     "more than %d chunks in one window", KI_BATCH_CHUNKS);
	qsort_r(b->from, n, sizeof(*b->from), windows_by_address, t->plan);
	for (uint32_t k = 0; k < n; k++)
		if (!k || b->from[k] != b->from[k - 1]) {
			b->from[b->nwindows++] = b->from[k];
			b->ncopies += p->windows.v[b->from[k]].ncopy;
		}
	return 0;
}

static void ungroup(struct ki_window *w)
{
	w->group = 0;
	w->flags &= KI_WINDOW_CALL;
}

/* Fill in the windows, and where their copies begin; then the chunks, in the same order. */
static void batch_fill(const struct todo *t, struct batch *b)
{
	const struct ki_plan *p = t->plan;
	uint32_t copies = 0, w = 0;

	for (uint32_t i = 0; i < b->nwindows; i++) {
		const struct ki_window *from = &p->windows.v[b->from[i]];

		b->windows[i] = *from;
		b->windows[i].first_copy = copies;
		if (!group_of(p, b->from[i]))
			ungroup(&b->windows[i]);
		memcpy(b->copies + copies, p->copies.v + from->first_copy,
		       from->ncopy * sizeof(*b->copies));
		copies += from->ncopy;
	}
	for (uint32_t i = 0; i < b->nchunks; i++) {
		b->chunks[i] = p->chunks.v[b->ids[i]].c;
		while (b->from[w] != b->chunks[i].window)
			w++;
		b->chunks[i].window = w;
		b->chunks[i].id = 0;
		if (b->chunks[i].kind == KI_CHUNK_LONG)
			b->chunks[i].target =
				(uintptr_t)&p->codes.v[p->chunks.v[b->ids[i]].code].req;
	}
}

static int batch_build(const struct todo *t, size_t from, struct batch *b)
{
	int ret;

	*b = (struct batch){.ids = t->ids + from};
	b->from = malloc(batch_room(t, from) * sizeof(*b->from));
	if (!b->from)
		return ki_err_set(t->err, -ENOMEM, 0, "plan: out of memory");
	ret = batch_measure(t, from, b);
	if (ret) {
		batch_free(b);
		return ret;
	}
	b->windows = calloc(b->nwindows, sizeof(*b->windows));
	b->copies = calloc(b->ncopies, sizeof(*b->copies));
	b->chunks = calloc(b->nchunks, sizeof(*b->chunks));
	if (!b->windows || !b->copies || !b->chunks) {
		batch_free(b);
		return ki_err_set(t->err, -ENOMEM, 0, "plan: out of memory");
	}
	batch_fill(t, b);
	return 0;
}

/* The window of the batch that is the host of window w; NULL. */
static const struct ki_window *batch_host(const struct todo *t, const struct batch *b, uint32_t w)
{
	uint32_t host = t->plan->more.v[b->from[w]].host, *found;

	if (host == KI_NONE)
		return NULL;
	for (found = b->from + w; *found != host;)
		found += t->plan->windows.v[host].addr < t->plan->windows.v[*found].addr ? -1 : 1;
	return &b->windows[found - b->from];
}

/* Why a chunk is refused: for itself, for its window, or for what that depends on. */
static uint32_t refusal_of(const struct todo *t, const struct batch *b, const struct ki_chunk *c)
{
	const struct ki_window *host = batch_host(t, b, c->window);

	if (c->reason)
		return c->reason;
	return host && host->reason ? host->reason : b->windows[c->window].reason;
}

/* Bring the driver's reasons home; returns how many chunks are refused. */
static size_t batch_refused(const struct todo *t, const struct batch *b)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->nchunks; i++) {
		uint32_t reason = refusal_of(t, b, &b->chunks[i]);

		t->plan->chunks.v[b->ids[i]].c.reason = reason;
		n += reason != KI_R_OK;
	}
	return n;
}

static size_t give_up(struct plan_group *g)
{
	if (!g || g->laid)
		return 0;
	g->single = true;
	return 1;
}

/*
 * Groups of which something is refused, be it a window without a chunk, are given up: their windows
 * are asked for one by one. Returns how many there were; then the batch is to be cut again.
 */
static size_t batch_give_up_groups(const struct todo *t, const struct batch *b)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->nwindows; i++)
		if (b->windows[i].reason)
			n += give_up(group_of(t->plan, b->from[i]));
	for (uint32_t i = 0; i < b->nchunks; i++) {
		const struct plan_chunk *c = &t->plan->chunks.v[b->ids[i]];

		if (c->c.reason)
			n += give_up(group_of(t->plan, c->c.window));
	}
	for (uint32_t i = 0; n && i < b->nchunks; i++)
		t->plan->chunks.v[b->ids[i]].c.reason = KI_R_OK;
	return n;
}

/* Refused, and nothing may be left out: the first refusal is the error. */
static int refusal_is_error(const struct todo *t, const struct batch *b)
{
	uint32_t i = 0;
	uint64_t addr;

	while (i + 1 < b->nchunks && !t->plan->chunks.v[b->ids[i]].c.reason)
		i++;
	addr = window_of(t->plan, b->ids[i])->addr;
	return ki_err_reason(t->err, t->plan->chunks.v[b->ids[i]].c.reason, addr, "0x%llx",
			     (unsigned long long)addr);
}

/*
 * Send a batch. Refused chunks then carry their reasons; that is no error if they may be dropped:
 * *refused says how many they are, and nothing has been done. -EAGAIN: groups have been given up.
 */
static int batch_send(const struct todo *t, struct batch *b, uint32_t flags, bool drop,
		      size_t *refused)
{
	struct ki_splice req = {
		.size = sizeof(req),
		.flags = flags,
		.windows = (uintptr_t)b->windows,
		.copies = (uintptr_t)b->copies,
		.chunks = (uintptr_t)b->chunks,
		.nwindows = b->nwindows,
		.ncopies = b->ncopies,
		.nchunks = b->nchunks,
	};
	const uint64_t begun = ki_step_begin();
	int error;

	*refused = 0;
	error = ioctl(t->fd, KI_IOC_SPLICE, &req) ? errno : 0;
	ki_step_end(flags & KI_SPLICE_DRY_RUN ? KI_STEP_CHECK : KI_STEP_WRITE, begun, b->nchunks);
	if (!error)
		return 0;
	*refused = batch_refused(t, b);
	if (batch_give_up_groups(t, b))
		return -EAGAIN;
	if (!*refused)
		return ki_plan_failed(t->err, "splice", error, req.reason);
	return drop ? 0 : refusal_is_error(t, b);
}

static void batch_note(const struct todo *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nchunks; i++) {
		t->plan->chunks.v[b->ids[i]].c.id = b->chunks[i].id;
		t->plan->chunks.v[b->ids[i]].installed = true;
		t->plan->chunks.v[b->ids[i]].fresh = true;
	}
}

/* What is refused is refused with all of its bundle. */
static void spread_refusals(const struct todo *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nchunks; i++) {
		unsigned int reason = t->plan->chunks.v[b->ids[i]].c.reason;

		if (reason)
			ki_bundle_refuse(t->plan, b->ids[i], reason);
	}
}

/* All that is to be done, one batch after the other. flags: KI_SPLICE_DRY_RUN only asks. */
static int send_all(struct todo *t, uint32_t flags, bool drop)
{
	size_t at = 0, refused;
	struct batch b;
	int ret = 0;

	while (!ret && at < t->n) {
		ret = batch_build(t, at, &b);
		if (ret)
			break;
		ret = batch_send(t, &b, flags, drop, &refused);
		if (ret == -EAGAIN) {
			ret = 0;
		} else if (!ret && refused) {
			spread_refusals(t, &b);
			todo_strike(t, at);
		} else if (!ret) {
			if (!flags)
				batch_note(t, &b);
			at += b.nchunks;
			ret = ki_plan_tell(t->plan, flags ? 0 : t->done + at, t->all, t->err);
		}
		batch_free(&b);
	}
	if (!flags)
		t->done += at;
	return ret;
}

static bool is_fresh(const struct plan_chunk *c)
{
	return c->fresh;
}

static bool is_refused(const struct plan_chunk *c)
{
	return c->c.reason != KI_R_OK;
}

static bool is_fresh_refused(const struct plan_chunk *c)
{
	return is_fresh(c) && is_refused(c);
}

/* One stage after the other; what was ready before the failure is taken out again. refused: what
 * is to go, because something that belongs to it has been refused. */
static int install_stages(struct todo *t, bool drop, ki_chunk_is *refused)
{
	struct ki_plan *p = t->plan;
	int ret = 0;

	for (unsigned int stage = 0; !ret && stage <= p->stages; stage++) {
		todo_gather(t, stage, stage);
		ret = send_all(t, 0, drop);
	}
	if (ret) /* the first failure is what counts */
		ki_plan_take_out(p, t->fd, is_fresh, NULL, NULL);
	else
		ret = ki_plan_take_out(p, t->fd, refused, NULL, t->err);
	return ret;
}

/* All that is not installed, and not refused. */
static int todo_take(struct todo *t)
{
	struct ki_plan *p = t->plan;

	t->ids = malloc((p->chunks.n ? p->chunks.n : 1) * sizeof(*t->ids));
	if (!t->ids)
		return ki_err_set(t->err, -ENOMEM, 0, "plan: out of memory");
	todo_gather(t, 0, p->stages);
	t->all = t->n;
	return 0;
}

/* Earlier refusals are forgotten. */
static int todo_begin(struct todo *t)
{
	ki_bundle_begin(t->plan);
	return todo_take(t);
}

int ki_plan_apply_fd(struct ki_plan *p, int fd, bool drop, struct ki_err *err)
{
	struct todo t = {.plan = p, .fd = fd, .err = err};
	int ret = todo_begin(&t);

	if (!ret && !drop && (p->stages || t.n > 2 * p->batch || p->windows.n > p->batch))
		ret = send_all(&t, KI_SPLICE_DRY_RUN, false);
	if (!ret)
		ret = install_stages(&t, drop, is_fresh_refused);
	free(t.ids);
	return ret;
}

int ki_plan_check_fd(struct ki_plan *p, int fd, struct ki_err *err)
{
	struct todo t = {.plan = p, .fd = fd, .err = err};
	int ret = todo_begin(&t);

	if (!ret)
		ret = send_all(&t, KI_SPLICE_DRY_RUN, true);
	free(t.ids);
	return ret;
}

static bool is_to_pause(const struct plan_chunk *c)
{
	return c->paused;
}

/* A refusal takes with it what has been in place since before. */
int ki_plan_update_fd(struct ki_plan *p, int fd, struct ki_err *err)
{
	struct todo t = {.plan = p, .fd = fd, .err = err};
	int ret = ki_plan_take_out(p, fd, is_to_pause, NULL, err);

	for (size_t i = 0; i < p->chunks.n; i++)
		p->chunks.v[i].fresh = false;
	if (!ret)
		ret = todo_take(&t);
	if (!ret && t.n)
		ret = install_stages(&t, true, is_refused);
	free(t.ids);
	return ret;
}
