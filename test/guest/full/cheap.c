// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of a descriptor and a few requests. A chunk is one instruction that increments its
 * counter, again and again, so it has any length, and the counter says how often it ran.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "full/full.h"

void cheap_open(struct cheap *s, uint32_t counters)
{
	struct ki_counters take = {.size = sizeof(take), .count = counters};

	*s = (struct cheap){.fd = device_open(), .n = counters};
	if (counters && ioctl(s->fd, KI_IOC_COUNTERS, &take))
		die("counters", strerror(errno));
	s->first = take.first;
}

void cheap_close(struct cheap *s)
{
	close(s->fd);
	s->fd = -1;
}

/* ---- a request ---- */

struct asked {
	struct ki_splice req;
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;
	struct ki_long *longs;
	uint8_t *code;
	struct ki_fixup *fixups;
	uint32_t *at; /* of each place: 1 + its window */
};

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("request", "no memory");
	return p;
}

static void add_window(struct asked *a, const struct place *p)
{
	struct ki_window *w = &a->windows[a->req.nwindows++];

	*w = p->w;
	w->first_copy = a->req.ncopies;
	memcpy(a->copies + a->req.ncopies, p->copies, p->w.ncopy * sizeof(*p->copies));
	a->req.ncopies += p->w.ncopy;
}

/* All windows that are needed, in order: hosts, and all of a group. */
static void add_windows(struct asked *a, const struct places *p, const struct want *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct place *v = &p->v[w[i].place];
		const struct function *fn = &p->fn[v->fn];

		a->at[w[i].place] = 1;
		if (v->host != KI_NONE)
			a->at[v->host] = 1;
		for (uint32_t k = 0; v->w.group && k < fn->n; k++)
			a->at[fn->first + k] = 1;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (!a->at[i])
			continue;
		add_window(a, &p->v[i]);
		a->at[i] = a->req.nwindows;
	}
}

static void asked_begin(struct asked *a, const struct places *p, const struct want *w, uint32_t n)
{
	*a = (struct asked){.req = {.size = sizeof(a->req)}};
	a->windows = zeroed(p->n, sizeof(*a->windows));
	a->copies = zeroed((size_t)p->n * KI_WINDOW_INSNS, sizeof(*a->copies));
	a->chunks = zeroed(n, sizeof(*a->chunks));
	a->longs = zeroed(n, sizeof(*a->longs));
	a->code = zeroed(n, KI_LONG_MAX);
	a->fixups = zeroed((size_t)n * UNITS_MOST, sizeof(*a->fixups));
	a->at = zeroed(p->n, sizeof(*a->at));
	add_windows(a, p, w, n);
}

static uint32_t asked_make(struct asked *a, const struct cheap *s)
{
	uint32_t reason = KI_R_OK;

	a->req.windows = (uintptr_t)a->windows;
	a->req.copies = (uintptr_t)a->copies;
	a->req.chunks = (uintptr_t)a->chunks;
	if (ioctl(s->fd, KI_IOC_SPLICE, &a->req))
		reason = a->req.reason ? a->req.reason : KI_R_NO_MEMORY;
	free(a->windows);
	free(a->copies);
	free(a->chunks);
	free(a->longs);
	free(a->code);
	free(a->fixups);
	free(a->at);
	return reason;
}

static struct ki_chunk *add_chunk(struct asked *a, uint32_t place)
{
	struct ki_chunk *c = &a->chunks[a->req.nchunks++];

	c->window = a->at[place] - 1;
	return c;
}

static void short_code(struct ki_chunk *c, uint32_t counter, bool keep_flags)
{
	struct ki_code code;

	ki_snippet_count(&code, counter, keep_flags);
	c->len = code.len;
	c->nfix = code.nfix;
	memcpy(c->fix, code.fix, sizeof(c->fix));
	memcpy(c->code, code.code, code.len);
}

static void long_code(struct asked *a, struct ki_chunk *c, uint32_t counter, uint32_t units)
{
	uint32_t i = a->req.nchunks - 1;
	struct ki_fixup *fix = a->fixups + (size_t)i * UNITS_MOST;
	uint8_t *code = a->code + (size_t)i * KI_LONG_MAX;
	struct ki_code one;

	ki_snippet_count(&one, counter, false);
	for (uint32_t k = 0; k < units; k++) {
		memcpy(code + (size_t)k * one.len, one.code, one.len);
		fix[k] = one.fix[0];
		fix[k].off = (uint16_t)(fix[k].off + k * one.len);
	}
	a->longs[i] = (struct ki_long){.len = units * one.len, .nfix = units};
	a->longs[i].code = (uintptr_t)code;
	a->longs[i].fixups = (uintptr_t)fix;
	c->kind = KI_CHUNK_LONG;
	c->target = (uintptr_t)&a->longs[i];
}

/* ---- what is asked ---- */

uint32_t want_units(const struct places *p, const struct want *w)
{
	return p->v[w->place].flags_live ? 1 : w->units;
}

uint32_t want_bytes(const struct places *p, const struct want *w)
{
	struct ki_code one;

	ki_snippet_count(&one, 0, p->v[w->place].flags_live);
	return one.len * want_units(p, w);
}

uint32_t cheap_put(struct cheap *s, const struct places *p, const struct want *w, uint32_t n,
		   uint32_t at)
{
	struct asked a;

	asked_begin(&a, p, w, n);
	for (uint32_t i = 0; i < n; i++) {
		struct ki_chunk *c = add_chunk(&a, w[i].place);

		if (want_units(p, &w[i]) == 1)
			short_code(c, s->first + at + i, p->v[w[i].place].flags_live);
		else
			long_code(&a, c, s->first + at + i, w[i].units);
	}
	return asked_make(&a, s);
}

uint32_t cheap_replace(struct cheap *s, const struct places *p, uint32_t place, uint64_t target)
{
	const struct want w = {.place = place};
	struct ki_chunk *c;
	struct asked a;

	asked_begin(&a, p, &w, 1);
	c = add_chunk(&a, place);
	c->kind = KI_CHUNK_REPLACE;
	c->target = target;
	return asked_make(&a, s);
}

uint32_t cheap_returned(struct cheap *s, const struct places *p, uint32_t place, uint32_t at)
{
	const struct want w = {.place = place};
	struct ki_chunk *c;
	struct asked a;

	asked_begin(&a, p, &w, 1);
	c = add_chunk(&a, place);
	short_code(c, s->first + at, true);
	c->where = KI_RETURNED;
	c->insn = p->v[place].w.ncopy - 1;
	return asked_make(&a, s);
}

uint32_t cheap_take_out(struct cheap *s)
{
	struct ki_unsplice req = {.size = sizeof(req), .flags = KI_UNSPLICE_ALL};

	return ioctl(s->fd, KI_IOC_UNSPLICE, &req) ? (req.reason ? req.reason : KI_R_NO_MEMORY)
						   : KI_R_OK;
}
