// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where the threads of the process are: in the program by unwinding their stacks, in the kernel by
 * what it says of those that wait (/proc/PID/task/TID/stack, which takes CAP_SYS_ADMIN).
 *
 * Two looks tell calls that lasted from one to the other. A thread that has not run meanwhile is
 * where it was. One that has is in the same call if the frame has the same address, and nobody has
 * called the function meanwhile: a later call may well have the same address.
 */
#include "crosswalk/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/process.h"
#include "util/clock.h"

/* The first number of its schedstat. */
static uint64_t ran(pid_t pid, pid_t tid)
{
	char *text = ki_crosswalk_read_text(pid, tid, "schedstat");
	const uint64_t ns = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return ns;
}

static struct ki_thread_stack *stack_of(const struct ki_crosswalk_stand *s, pid_t tid)
{
	for (size_t i = 0; i < s->stacks.n; i++)
		if (s->stacks.v[i].tid == tid)
			return &s->stacks.v[i];
	return NULL;
}

static int add_thread(struct ki_crosswalk *w, struct ki_crosswalk_stand *s, pid_t tid)
{
	struct ki_crosswalk_thread t = {
		.tid = tid, .ran = ran(w->pid, tid), .used = ki_crosswalk_used(w, tid)};

	t.kernel = w->kernel ? ki_crosswalk_read_text(w->pid, tid, "stack") : calloc(1, 1);
	if (t.kernel && !ki_vec_push(&s->threads, t))
		return 0;
	free(t.kernel);
	return -ENOMEM;
}

/* f of each thread. */
static int each_thread(struct ki_crosswalk *w, struct ki_crosswalk_stand *s,
		       int (*f)(struct ki_crosswalk *, struct ki_crosswalk_stand *, pid_t))
{
	const struct dirent *e;
	char path[32];
	int ret = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->pid);
	d = opendir(path);
	while (d && !ret && (e = readdir(d)))
		if (*e->d_name != '.')
			ret = f(w, s, atoi(e->d_name));
	if (d)
		closedir(d);
	return ret;
}

static int add_running(struct ki_crosswalk *w, struct ki_crosswalk_stand *s, pid_t tid)
{
	return ki_crosswalk_is_running(w, tid) && ki_vec_push(&s->running, tid) ? -ENOMEM : 0;
}

static bool was_running(const struct ki_crosswalk_stand *s, pid_t tid)
{
	for (size_t i = 0; i < s->running.n; i++)
		if (s->running.v[i] == tid)
			return true;
	return false;
}

/* If it ends, or somebody else holds it, nothing is known now. */
static void read_stacks(const struct ki_crosswalk *w, struct ki_crosswalk_stand *s)
{
	if (w->stacks)
		ki_stack_reader_read(w->stacks, &s->stacks, NULL);
}

int ki_crosswalk_stand_take(struct ki_crosswalk *w, bool times_after, struct ki_crosswalk_stand *s,
			    struct ki_err *err)
{
	int ret = 0;

	*s = (struct ki_crosswalk_stand){0};
	if (w->what == KI_WHAT_CPU)
		ret = each_thread(w, s, add_running);
	if (!ret && times_after)
		read_stacks(w, s);
	s->at = ki_now();
	if (!ret)
		ret = each_thread(w, s, add_thread);
	if (!ret && !times_after)
		read_stacks(w, s);
	for (size_t i = 0; !ret && i < s->threads.n; i++) {
		s->threads.v[i].user = stack_of(s, s->threads.v[i].tid);
		s->threads.v[i].running = was_running(s, s->threads.v[i].tid);
	}
	if (!ret)
		return 0;
	ki_crosswalk_stand_free(s);
	return ki_err_set(err, ret, 0, "search: out of memory");
}

int ki_crosswalk_stand_times(struct ki_crosswalk *w, struct ki_crosswalk_stand *s)
{
	*s = (struct ki_crosswalk_stand){.at = ki_now()};
	return each_thread(w, s, add_thread);
}

void ki_crosswalk_stand_free(struct ki_crosswalk_stand *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		free(s->threads.v[i].kernel);
	ki_vec_free(&s->threads);
	ki_vec_free(&s->running);
	ki_thread_stacks_free(&s->stacks);
	*s = (struct ki_crosswalk_stand){0};
}

static bool is_in_frame(const struct ki_crosswalk *w, const struct ki_thread_stack *u, size_t i,
			const struct ki_crosswalk_node *n)
{
	const struct ki_symbol *sym = ki_stack_frame_symbol(w->process, &u->v[i]);

	return sym && sym->addr == n->addr;
}

/* "[<0>] do_nanosleep+0x6d/0xf0" of its text */
static bool is_in_kernel(const struct ki_crosswalk_thread *t, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = strstr(t->kernel, "] "); at; at = strstr(at + 1, "] "))
		if (!strncmp(at + 2, name, len) && at[2 + len] == '+')
			return true;
	return false;
}

bool ki_crosswalk_thread_in(const struct ki_crosswalk *w, const struct ki_crosswalk_thread *t,
			    const struct ki_crosswalk_node *n)
{
	if (n->kernel)
		return is_in_kernel(t, n->name);
	for (size_t i = 0; t->user && i < t->user->n; i++)
		if (is_in_frame(w, t->user, i, n))
			return true;
	return false;
}

unsigned int ki_crosswalk_stand_in(const struct ki_crosswalk *w, const struct ki_crosswalk_stand *s,
				   const struct ki_crosswalk_node *n)
{
	unsigned int threads = 0;

	for (size_t i = 0; i < s->threads.n; i++)
		threads += ki_crosswalk_thread_in(w, &s->threads.v[i], n);
	return threads;
}

static bool has_frame(const struct ki_thread_stack *u, uint64_t frame)
{
	for (size_t i = 0; i < u->n; i++)
		if (frame && u->v[i].frame == frame)
			return true;
	return false;
}

static bool has_same_frame(const struct ki_crosswalk *w, const struct ki_crosswalk_thread *a,
			   const struct ki_crosswalk_thread *b, const struct ki_crosswalk_node *n)
{
	for (size_t i = 0; a->user && b->user && i < a->user->n; i++)
		if (is_in_frame(w, a->user, i, n) && has_frame(b->user, a->user->v[i].frame) &&
		    ki_crosswalk_thread_in(w, b, n))
			return true;
	return false;
}

static bool is_same_call(const struct ki_crosswalk *w, const struct ki_crosswalk_thread *a,
			 const struct ki_crosswalk_thread *b, const struct ki_crosswalk_node *n)
{
	if (n->kernel)
		return is_in_kernel(a, n->name) && is_in_kernel(b, n->name);
	return has_same_frame(w, a, b, n);
}

int ki_crosswalk_stand_both(const struct ki_crosswalk *w, const struct ki_crosswalk_stand *a,
			    const struct ki_crosswalk_stand *b, struct ki_crosswalk_node *n,
			    bool called)
{
	n->stood = 0;
	for (size_t i = 0; i < a->threads.n; i++)
		for (size_t k = 0; k < b->threads.n; k++) {
			const struct ki_crosswalk_thread *x = &a->threads.v[i],
							 *y = &b->threads.v[k];

			const double part = ki_crosswalk_part(&w->parts, x->tid);

			if (x->tid != y->tid || (called && (!x->ran || x->ran != y->ran)) ||
			    !is_same_call(w, x, y, n))
				continue;
			n->stood += part;
			if (ki_crosswalk_share_add(n, x->tid, part))
				return -ENOMEM;
		}
	return 0;
}
