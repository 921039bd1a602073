// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Memory of ours in a process: what counters stand in, without code that counts. */
#include <errno.h>

#include "process/ways.h"
#include "splice/plan.h"

#define MOST (1u << 30)

int ki_linked_memory(struct ki_linked *x, const struct ki_linking *how)
{
	const uint64_t addr = how->process->text.v[0].start;
	const struct ki_arena a = {.lo = addr, .hi = addr, .len = KI_PAGE};

	return ki_vec_push(&x->arenas, a) ? -ENOMEM : 0;
}

int ki_process_memory_new(struct ki_target *t, size_t len, struct ki_splice_process **out,
			  struct ki_err *err)
{
	struct ki_splice_process what = {.alone = true};
	struct ki_plan *none;
	int ret;

	if (!len || len > MOST)
		return ki_err_set(err, -EINVAL, 0, "memory in a process is 1 byte to 1 GB");
	if (ki_plan_new(&none))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	what.counters = (uint32_t)((len + 7) / 8);
	ret = ki_process_put(&what, t, none, out, err);
	if (!ret)
		(*out)->linked.plan = NULL;
	ki_plan_free(none);
	return ret;
}

uint64_t ki_process_memory(const struct ki_splice_process *s)
{
	return s->linked.arenas.n ? s->linked.arenas.v[0].base : 0;
}

void ki_process_memory_free(struct ki_splice_process *s)
{
	ki_process_free(s);
}
