// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/loads.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"
#include "dlang/run/run.h"
#include "kerninst/process.h"

static void drop(struct ki_d_load *l)
{
	ki_process_free(l->splice);
	ki_target_free(l->t);
	*l = (struct ki_d_load){0};
}

void ki_d_loads_drop(struct ki_dlang *d, pid_t pid)
{
	for (size_t i = 0; i < d->run->loads.n; i++)
		if (d->run->loads.v[i].pid == pid)
			drop(&d->run->loads.v[i]);
}

void ki_d_loads_end(struct ki_d_run *r)
{
	for (size_t i = 0; i < r->loads.n; i++)
		drop(&r->loads.v[i]);
	ki_vec_free(&r->loads);
}

static bool is_named(const struct ki_dlang *d, pid_t pid)
{
	return pid > 0 && (pid == d->o.target || ki_d_means_pid(d, pid));
}

/* Where its thread cannot wait the probes come late: perf tells of what it has mapped. */
void ki_d_loads_again(struct ki_dlang *d, pid_t pid)
{
	struct ki_d_load l = {.pid = pid};

	if (d->set.uprobes || d->o.built_only || !is_named(d, pid))
		return;
	ki_d_loads_drop(d, pid);
	if (ki_target_new_process(pid, &l.t, NULL) || ki_process_new_loads(l.t, &l.splice, NULL) ||
	    ki_vec_push(&d->run->loads, l))
		drop(&l);
}

static bool has_one(const struct ki_dlang *d, pid_t pid)
{
	for (size_t i = 0; i < d->run->loads.n; i++)
		if (d->run->loads.v[i].pid == pid)
			return true;
	return false;
}

void ki_d_loads_begin(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->processes.n; i++)
		if (!has_one(d, d->processes.v[i].pid))
			ki_d_loads_again(d, d->processes.v[i].pid);
	if (ki_dlang_wants_process(d) && !has_one(d, d->o.target))
		ki_d_loads_again(d, d->o.target);
}

size_t ki_d_loads_poll(const struct ki_dlang *d, struct pollfd *to, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < d->run->loads.n && n < most; i++)
		if (d->run->loads.v[i].splice)
			to[n++] = (struct pollfd){.fd = ki_process_waits(d->run->loads.v[i].splice),
						  .events = POLLIN};
	return n;
}

int ki_d_loads_stir(struct ki_dlang *d, struct ki_d_stirs *out)
{
	for (size_t i = 0; i < d->run->loads.n; i++) {
		struct ki_d_load *l = &d->run->loads.v[i];
		struct pollfd p = {.events = POLLIN};
		struct ki_d_stir *s;

		if (!l->splice)
			continue;
		p.fd = ki_process_waits(l->splice);
		l->waits = poll(&p, 1, 0) == 1;
		if (!l->waits)
			continue;
		s = ki_d_stir_of(out, l->pid);
		if (!s)
			return -ENOMEM;
		s->all |= !d->watch;
	}
	return 0;
}

void ki_d_loads_go(struct ki_dlang *d, const struct ki_dlang_output *out)
{
	for (size_t i = 0; i < d->run->loads.n; i++) {
		struct ki_d_load *l = &d->run->loads.v[i];
		char text[160];

		if (!l->waits || !l->splice || ki_process_go(l->splice) != -ESRCH)
			continue;
		snprintf(text, sizeof(text),
			 "process %d has not waited any longer for the probes of a library that it "
			 "loads: of its first calls some may be missing",
			 l->pid);
		if (out->warn)
			out->warn(out->arg, text);
	}
	for (size_t i = 0; i < d->run->loads.n; i++)
		d->run->loads.v[i].waits = false;
}
