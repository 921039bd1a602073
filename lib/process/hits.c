// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Places of a process of which the kernel is told. Each is a window of one instruction with an
 * empty chunk: two places in one window would not do, since a thread that goes on behind the first
 * in its patch would not come by the second one's breakpoint.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "process/ways.h"
#include "splice/plan.h"

#define STUB  "ki_hit_"
#define TRIES 64 /* places that are refused when all is written, one after the other */

/* Places in order of address, and words to be counted up. */
struct places {
	struct ki_target *t;
	struct ki_process_hit **v;
	size_t n;
	ki_vec(uint64_t) semaphores;
	struct ki_function *fn; /* of the last place; NULL */
	struct ki_plan *plan;
	uint8_t flags;
};

const struct ki_symbol *ki_process_stub(const struct ki_target *live, uint64_t addr)
{
	char name[24];

	snprintf(name, sizeof(name), STUB "%u", KI_PROCESS_STUB(addr));
	return ki_target_symbol_named(live, "kerninst", name, NULL);
}

bool ki_process_is_stub(const struct ki_symbol *sym)
{
	return !strcmp(sym->module, "kerninst") && !strncmp(sym->name, STUB, strlen(STUB));
}

static int by_address(const void *a, const void *b)
{
	const struct ki_process_hit *const *x = a, *const *y = b;

	return ((*x)->addr > (*y)->addr) - ((*x)->addr < (*y)->addr);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The function that covers addr; NULL: there is none. */
static const struct ki_function *function_of(struct places *x, uint64_t addr)
{
	const struct ki_symbol *sym = ki_target_symbol_at(x->t, addr);

	if (x->fn && x->fn->symbol == sym)
		return x->fn;
	ki_function_free(x->fn);
	x->fn = NULL;
	if (!sym || ki_function_analyze(x->t, sym, &x->fn, NULL))
		x->fn = NULL;
	return x->fn;
}

/* An endbr64 may stand anywhere: in user mode no processor asks for it. */
static unsigned int copy_of(const struct ki_function *fn, uint64_t addr, struct ki_copy *copy)
{
	const struct ki_insn *found = fn ? ki_function_insn_at(fn, addr) : NULL;
	struct ki_insn in;

	if (!found)
		return KI_R_NOT_BOUNDARY;
	in = *found;
	if (in.reason == KI_R_ENDBR)
		in.reason = KI_R_OK;
	return ki_relocate(&in, fn->bytes + (addr - fn->start), copy);
}

static int add_window(struct places *x, const struct ki_process_hit *hit)
{
	struct ki_plan *p = x->plan;
	const struct plan_chunk chunk = {
		.c = {.window = (uint32_t)p->windows.n, .kind = KI_CHUNK_CODE}, .bundle = KI_NONE};
	struct ki_window w = {.addr = hit->addr,
			      .first_copy = chunk.c.window,
			      .ncopy = 1,
			      .board = KI_BOARD_TRAP};
	struct ki_copy copy;

	copy_of(x->fn, hit->addr, &copy);
	w.len = copy.orig_len;
	memcpy(w.orig, x->fn->bytes + (hit->addr - x->fn->start), w.len);
	if (ki_vec_push(&p->windows, w) || ki_vec_push(&p->copies, copy) ||
	    ki_vec_push(&p->chunks, chunk))
		return -ENOMEM;
	return hit->semaphore ? ki_vec_push(&x->semaphores, hit->semaphore) : 0;
}

/* Half of what a request may hold: each may have a semaphore. */
static int add_places(struct places *x)
{
	struct ki_copy copy;
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < x->n; i++) {
		struct ki_process_hit *hit = x->v[i];
		const bool again = i && x->v[i - 1]->addr == hit->addr;

		if (hit->reason)
			continue;
		if (again)
			hit->reason = x->v[i - 1]->reason;
		else if (x->plan->windows.n == KI_BATCH_WINDOWS / 2)
			hit->reason = KI_R_TOO_MANY;
		else
			hit->reason =
				(uint16_t)copy_of(function_of(x, hit->addr), hit->addr, &copy);
		if (!again && !hit->reason)
			ret = add_window(x, hit);
	}
	if (x->semaphores.n)
		qsort(x->semaphores.v, x->semaphores.n, sizeof(*x->semaphores.v), by_value);
	for (size_t i = 0; i < x->semaphores.n; i++)
		if (!n || x->semaphores.v[n - 1] != x->semaphores.v[i])
			x->semaphores.v[n++] = x->semaphores.v[i];
	x->semaphores.n = n;
	return ret;
}

/* What is about one address is about the places there; false: there are none. */
static bool refuse_at(const struct places *x, uint64_t addr, unsigned int reason)
{
	bool any = false;

	for (size_t i = 0; i < x->n; i++) {
		struct ki_process_hit *hit = x->v[i];

		if (hit->reason || (hit->addr != addr && (!addr || hit->semaphore != addr)))
			continue;
		hit->reason = (uint16_t)reason;
		any = true;
	}
	return any;
}

static void refuse_all(const struct places *x, unsigned int reason)
{
	for (size_t i = 0; i < x->n; i++)
		if (!x->v[i]->reason)
			x->v[i]->reason = (uint16_t)reason;
}

static int attempt(struct places *x, struct ki_splice_process **out, struct ki_err *err)
{
	int ret = ki_plan_new(&x->plan);

	if (ret)
		return ki_err_set(err, ret, 0, "out of memory for the places");
	x->semaphores.n = 0;
	ret = add_places(x);
	if (ret)
		ki_err_set(err, ret, 0, "out of memory for the places");
	else if (x->plan->windows.n)
		ret = ki_process_tell(
			x->t, x->plan,
			&(struct ki_process_told){x->semaphores.v, x->semaphores.n, x->flags}, out,
			err);
	for (size_t i = 0; !ret && i < x->plan->chunks.n; i++)
		if (x->plan->chunks.v[i].c.reason)
			refuse_at(x, x->plan->windows.v[i].addr, x->plan->chunks.v[i].c.reason);
	ki_plan_free(x->plan);
	return ret;
}

/* Again without what has been refused. */
static int attempts(struct places *x, struct ki_splice_process **out, struct ki_err *err)
{
	for (int i = 0; i < TRIES; i++) {
		struct ki_err why = {0};
		int ret = attempt(x, out, &why);

		if (!ret)
			return 0;
		if (!why.reason)
			return ki_err_set(err, ret, why.addr, "%s", why.msg);
		if (!refuse_at(x, why.addr, why.reason)) {
			refuse_all(x, why.reason);
			return 0;
		}
	}
	refuse_all(x, KI_R_PROCESS_TEXT);
	return 0;
}

static int put_in(struct ki_target *t, struct ki_process_hit *hits, size_t n, uint8_t flags,
		  struct ki_splice_process **out, struct ki_err *err)
{
	struct places x = {.t = t, .v = calloc(n + 1, sizeof(*x.v)), .n = n, .flags = flags};
	int ret;

	*out = NULL;
	if (!x.v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the places");
	for (size_t i = 0; i < n; i++) {
		hits[i].reason = KI_R_OK;
		x.v[i] = &hits[i];
	}
	qsort(x.v, n, sizeof(*x.v), by_address);
	ret = attempts(&x, out, err);
	ki_function_free(x.fn);
	ki_vec_free(&x.semaphores);
	free(x.v);
	return ret;
}

int ki_process_new_hits(struct ki_target *t, struct ki_process_hit *v, size_t n,
			struct ki_splice_process **out, struct ki_err *err)
{
	return put_in(t, v, n, KI_PROCESS_HIT, out, err);
}

static bool is_at(const struct ki_edit *e, const uint64_t *addrs, size_t n)
{
	for (size_t i = 0; i < n && !(e->flags & KI_PROCESS_SEMAPHORE); i++)
		if (addrs[i] == e->addr)
			return true;
	return false;
}

int ki_process_shed_hits(struct ki_splice_process *s, const uint64_t *addrs, size_t n,
			 struct ki_err *err)
{
	const struct ki_linked *x = &s->linked;
	uint32_t *v = calloc(x->edits.n + 1, sizeof(*v));
	size_t found = 0;
	int ret;

	if (!v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	for (uint32_t i = 0; i < x->edits.n; i++)
		if (is_at(&x->edits.v[i], addrs, n))
			v[found++] = i;
	ret = ki_driver_release(s, v, found, err);
	free(v);
	return ret;
}

/* ---- where the loader waits ---- */

#define LOADED "_dl_debug_state" /* what it calls for debuggers; of all C libraries */

static const struct ki_symbol *loader_tells(struct ki_target *t)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(t, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, LOADED))
			return &all[i];
	return NULL;
}

int ki_process_new_loads(struct ki_target *t, struct ki_splice_process **out, struct ki_err *err)
{
	const struct ki_symbol *sym = loader_tells(t);
	struct ki_process_hit hit = {.addr = sym ? sym->addr : 0};
	int ret;

	*out = NULL;
	if (!sym)
		return ki_err_set(err, -ENOENT, 0,
				  "the program has no loader that says what it loads");
	ret = put_in(t, &hit, 1, KI_PROCESS_HOLD, out, err);
	return !ret && hit.reason ? ki_err_reason(err, hit.reason, hit.addr, LOADED) : ret;
}

int ki_process_waits(const struct ki_splice_process *s)
{
	return s->device;
}

int ki_process_go(const struct ki_splice_process *s)
{
	struct ki_process_go req = {.size = sizeof(req)};

	return ioctl(s->device, KI_IOC_PROCESS_GO, &req) ? -errno : 0;
}
