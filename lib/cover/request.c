// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Requests: what has been gathered is sent to the driver in a thread of its own, while more is
 * gathered. One is under way at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "cover/live.h"
#include "splice/plan.h"

uint64_t ki_cover_heap_free(struct ki_cover *c)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ki_cover_is_process(c) || ioctl(ki_target_fd(c->t), KI_IOC_INFO, &info))
		return 0;
	return (info.heap_end - info.heap_start) * 31 / 32 - info.heap_used;
}

/* The driver has answered: probes that are there, and those that it refused. */
static void note_answers(struct ki_cover *c)
{
	for (size_t i = 0; i < c->nsent; i++) {
		const struct plan_chunk *chunk = &c->sent->chunks.v[i];
		struct cover_probe *p = &c->probes.v[c->first_sent + i];

		p->in = chunk->installed;
		p->id = chunk->c.id;
		if (p->in)
			c->totals.probes++;
		else
			ki_cover_leave_out(c, p, chunk->c.reason);
	}
}

static void *run_sender(void *arg)
{
	struct ki_cover *c = arg;

	c->sent_ret = ki_plan_apply(c->sent, c->t, true, &c->sent_err);
	return NULL;
}

int ki_cover_await(struct ki_cover *c, struct ki_err *err)
{
	if (!c->sent)
		return 0;
	pthread_join(c->sender, NULL);
	note_answers(c); /* after a failure too: what could not be undone is still there */
	if (c->sent_ret && err && !err->code)
		*err = c->sent_err;
	ki_plan_free(c->sent);
	c->sent = NULL;
	return c->sent_ret;
}

int ki_cover_send(struct ki_cover *c, struct ki_err *err)
{
	int ret = ki_cover_await(c, err);

	c->first_sent = c->fresh;
	c->nsent = c->probes.n - c->fresh;
	c->fresh = c->probes.n;
	if (ret || !c->nsent)
		return ret;
	c->sent = c->plan;
	c->plan = NULL;
	ki_plan_batch(c->sent, PLAN_BATCH_MOST);
	if (pthread_create(&c->sender, NULL, run_sender, c)) {
		ki_plan_free(c->sent);
		c->sent = NULL;
		ret = -ENOMEM;
	}
	if (!ret && ki_plan_new(&c->plan))
		ret = -ENOMEM;
	return ret ? ki_err_set(err, ret, 0, "coverage: out of memory") : 0;
}
