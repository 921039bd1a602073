// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coverage of a process: what the driver does for the kernel does the library's own linker here.
 *
 * All probes go in by one plan, so none is sent before all functions have been looked at. Counters
 * are numbered from 0, in memory that is shared with the process, and outlive it. A thread can
 * stand between any two instructions when the probes come and when they go, so every block has a
 * probe of its own; and no function is moved.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cover/live.h"
#include "kerninst/process.h"
#include "splice/plan.h"
#include "target/process.h"

#define SLOTS (1u << 24)

bool ki_cover_is_process(const struct ki_cover *c)
{
	return ki_target_kind(c->t) == KI_TARGET_PROCESS;
}

/* The last part of its path. */
static char *program_of(const struct ki_process *p)
{
	char link[40], path[4096], *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", p->pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = 0;
	slash = strrchr(path, '/');
	return strdup(slash ? slash + 1 : "(unknown)");
}

int ki_cover_process_begin(struct ki_cover *c, struct ki_err *err)
{
	if (c->o.when)
		return ki_err_set(err, -EOPNOTSUPP, 0,
				  "coverage: of a process there are no conditions yet");
	c->o.every = c->o.stay = true;
	c->end_slot = SLOTS;
	c->program = program_of(c->t->own);
	return !c->program || ki_plan_new(&c->plan)
		       ? ki_err_set(err, -ENOMEM, 0, "coverage: out of memory")
		       : 0;
}

/* The plan is in: probes that are there, and those that were left out. */
static void note(struct ki_cover *c)
{
	for (size_t i = 0; i < c->probes.n; i++) {
		struct cover_probe *p = &c->probes.v[i];
		unsigned int reason = ki_plan_refusal(c->plan, (uint32_t)i);

		p->in = !reason;
		if (p->in)
			c->totals.probes++;
		else
			ki_cover_leave_out(c, p, reason);
	}
}

int ki_cover_process_install(struct ki_cover *c, struct ki_err *err)
{
	int ret;

	if (!c->probes.n)
		return 0;
	ret = ki_process_new(c->t, c->plan, c->next_slot, &c->process, err);
	if (!ret)
		note(c);
	return ret;
}

uint64_t ki_cover_process_read(const struct ki_cover *c, const struct cover_probe *p)
{
	const uint64_t n = c->process ? ki_process_read(c->process, p->slot) : 0;

	return c->o.mode == KI_COVER_HIT ? n != 0 : n;
}

int ki_cover_process_remove(struct ki_cover *c, struct ki_err *err)
{
	for (size_t i = 0; i < c->probes.n; i++)
		c->probes.v[i].in = false;
	return c->process ? ki_process_remove(c->process, err) : 0;
}

int ki_cover_ended(const struct ki_cover *c)
{
	return c->process ? ki_process_ended(c->process) : -1;
}
