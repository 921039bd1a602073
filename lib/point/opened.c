// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/opened.h"

#include <errno.h>
#include <stdio.h>

#include "util/vec.h"

const struct ki_opened_process *ki_opened_find(const struct ki_opened_processes *p, pid_t asked)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].asked == asked)
			return &p->v[i];
	return NULL;
}

int ki_opened_add(struct ki_opened_processes *p, pid_t asked, pid_t pid, struct ki_err *err)
{
	struct ki_opened_process o = {.asked = asked, .pid = pid};
	int ret;

	if (ki_opened_find(p, asked))
		return 0;
	ret = ki_target_new_process(pid, &o.t, err);
	if (ret)
		return ret;
	snprintf(o.prefix, sizeof(o.prefix), "%d/", (int)pid);
	if (!ki_vec_push(p, o))
		return 0;
	ki_target_free(o.t);
	return ki_err_set(err, -ENOMEM, 0, "out of memory");
}

void ki_opened_free(struct ki_opened_processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		ki_target_free(p->v[i].t);
	ki_vec_free(p);
}
