// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Taking a plan out: the last stage first, in requests that do not mix stages, as many chunks at a
 * time as are put in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "splice/plan.h"
#include "util/steps.h"

int ki_plan_failed(struct ki_err *err, const char *what, int error, uint32_t reason)
{
	if (!reason && error == EPROTO)
		reason = KI_R_ABI_MISMATCH;
	if (reason && reason < KI_R_COUNT)
		return ki_err_reason(err, reason, 0, "%s", what);
	return ki_err_set(err, -error, 0, "%s: %s", what, strerror(error));
}

int ki_plan_tell(const struct ki_plan *p, size_t done, size_t all, struct ki_err *err)
{
	if (!p->progress || p->progress(p->progress_arg, done, all))
		return 0;
	return ki_err_set(err, -ECANCELED, 0, "stopped");
}

int ki_unsplice(int fd, const uint32_t *ids, uint32_t n, struct ki_err *err)
{
	struct ki_unsplice req = {.size = sizeof(req), .ids = (uintptr_t)ids, .count = n};
	const uint64_t begun = ki_step_begin();
	int ret;

	do
		ret = ioctl(fd, KI_IOC_UNSPLICE, &req);
	while (ret && errno == EINTR);
	ki_step_end(KI_STEP_REMOVE, begun, n);
	return ret ? ki_plan_failed(err, "unsplice", errno, req.reason) : 0;
}

static int by_stage(const void *a, const void *b, void *plan)
{
	const struct ki_plan *p = plan;
	const uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
	const struct plan_chunk *ca = &p->chunks.v[ia], *cb = &p->chunks.v[ib];
	uint64_t wa = p->windows.v[ca->c.window].addr, wb = p->windows.v[cb->c.window].addr;

	if (ca->stage != cb->stage)
		return ca->stage > cb->stage ? -1 : 1;
	if (wa != wb)
		return wa < wb ? -1 : 1;
	return (ia > ib) - (ia < ib);
}

/* Those for which it holds; returns how many there are. */
static size_t gather(const struct ki_plan *p, ki_chunk_is *is, uint32_t *ids)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->chunks.n; i++)
		if (p->chunks.v[i].installed && (!is || is(&p->chunks.v[i])))
			ids[n++] = i;
	return n;
}

int ki_plan_take_out(struct ki_plan *p, int fd, ki_chunk_is *is, const struct ki_plan *listener,
		     struct ki_err *err)
{
	uint32_t *ids = malloc((p->chunks.n + 1) * sizeof(*ids));
	uint32_t *out = malloc(2 * p->batch * sizeof(*out));
	size_t n = ids && out ? gather(p, is, ids) : 0, i = 0;
	int ret = ids && out ? 0 : ki_err_set(err, -ENOMEM, 0, "unsplice: out of memory");

	if (n)
		qsort_r(ids, n, sizeof(*ids), by_stage, p);
	while (!ret && i < n) {
		const size_t first = i;
		const uint16_t stage = p->chunks.v[ids[i]].stage;

		for (; i < n && i - first < 2 * p->batch && p->chunks.v[ids[i]].stage == stage; i++)
			out[i - first] = p->chunks.v[ids[i]].c.id;
		ret = ki_unsplice(fd, out, (uint32_t)(i - first), err);
		for (size_t k = first; !ret && k < i; k++)
			p->chunks.v[ids[k]].installed = false;
		if (!ret && listener)
			ki_plan_tell(listener, i, n, NULL);
	}
	free(ids);
	free(out);
	return ret;
}

int ki_plan_remove_fd(struct ki_plan *p, int fd, struct ki_err *err)
{
	return ki_plan_take_out(p, fd, NULL, p, err);
}
