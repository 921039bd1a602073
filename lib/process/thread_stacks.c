// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stacks of a process's threads: copies first (stack_copies.c), then they are unwound (unwind.c).
 * The tables for that are kept until the process maps or unmaps code.
 */
#include "kerninst/thread_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/stack_copies.h"

struct ki_stack_reader {
	struct ki_stack_copies copies;
	struct ki_unwinder *unwinder;
	ki_process_mapped files; /* that it knows */
};

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "out of memory for stacks");
}

int ki_stack_reader_new(struct ki_target *t, struct ki_stack_reader **out, struct ki_err *err)
{
	struct ki_stack_reader *r;

	if (ki_target_kind(t) != KI_TARGET_PROCESS)
		return ki_err_set(err, -EINVAL, 0, "stacks of threads: it is no process");
	if (!ki_unwinder_has())
		return ki_err_set(err, -EOPNOTSUPP, 0, "built without libdw, so no stacks");
	r = calloc(1, sizeof(*r));
	if (!r)
		return no_memory(err);
	r->copies.process = t->own;
	*out = r;
	return 0;
}

void ki_stack_reader_free(struct ki_stack_reader *r)
{
	if (!r)
		return;
	ki_unwinder_free(r->unwinder);
	ki_stack_copies_free(&r->copies);
	ki_vec_free(&r->files);
	free(r);
}

void ki_thread_stacks_free(struct ki_thread_stacks *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free(s->v[i].v);
	if (s) {
		free(s->v);
		*s = (struct ki_thread_stacks){0};
	}
}

/* Tables of the files as they are mapped now. */
static int update(struct ki_stack_reader *r, struct ki_err *err)
{
	ki_process_mapped now = {0};

	if (ki_process_list_files(&r->copies.maps, &now)) {
		ki_vec_free(&now);
		return no_memory(err);
	}
	if (r->unwinder && now.n == r->files.n &&
	    (!now.n || !memcmp(now.v, r->files.v, now.n * sizeof(*now.v)))) {
		ki_vec_free(&now);
		return 0;
	}
	ki_unwinder_free(r->unwinder);
	ki_vec_free(&r->files);
	r->files = now;
	return ki_unwinder_new(r->copies.process, &r->copies.maps, &r->unwinder, err);
}

/* Those that have no frames yet; how many have to be looked at again. */
static int unwind(struct ki_stack_reader *r, struct ki_thread_stack *v, size_t *missing)
{
	int ret = 0;

	*missing = 0;
	for (size_t i = 0; !ret && i < r->copies.n; i++) {
		struct ki_stack_copy *c = &r->copies.all.v[i];

		if (!v[i].v && c->found)
			ret = ki_unwind(r->unwinder, c, &v[i]);
		*missing += ki_stack_copy_has_other(&r->copies, c);
	}
	return ret;
}

static int look_again(struct ki_stack_reader *r, struct ki_thread_stack *v, struct ki_err *err)
{
	size_t missing;
	int ret = ki_stack_copies_take(&r->copies, true, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < r->copies.n; i++)
		if (r->copies.all.v[i].other.len || !r->copies.all.v[i].found) {
			free(v[i].v);
			v[i] = (struct ki_thread_stack){0};
		}
	return unwind(r, v, &missing) ? no_memory(err) : 0;
}

static void take_over(const struct ki_stack_reader *r, struct ki_thread_stacks *out)
{
	for (size_t i = 0; i < r->copies.n; i++) {
		const struct ki_stack_copy *c = &r->copies.all.v[i];
		struct ki_thread_stack s = out->v[i];

		s.tid = c->tid;
		s.stuck = c->stuck;
		s.call = c->found ? c->call : -1;
		s.held_ns = c->held_ns;
		if (s.held_ns > out->held_ns)
			out->held_ns = s.held_ns;
		/* What has ended meanwhile is left out. */
		if (c->found || c->stuck)
			out->v[out->n++] = s;
	}
}

int ki_stack_reader_read(struct ki_stack_reader *r, struct ki_thread_stacks *out,
			 struct ki_err *err)
{
	size_t missing = 0;
	int ret;

	*out = (struct ki_thread_stacks){0};
	ret = ki_stack_copies_take(&r->copies, false, err);
	if (!ret)
		ret = update(r, err);
	if (ret)
		return ret;
	out->v = calloc(r->copies.n, sizeof(*out->v));
	if (!out->v)
		return no_memory(err);
	if (unwind(r, out->v, &missing))
		ret = no_memory(err);
	if (!ret && missing)
		ret = look_again(r, out->v, err);
	if (!ret) {
		take_over(r, out);
		return 0;
	}
	out->n = r->copies.n;
	ki_thread_stacks_free(out);
	return ret;
}

const struct ki_symbol *ki_stack_frame_symbol(const struct ki_target *t,
					      const struct ki_stack_frame *f)
{
	return ki_target_symbol_at(t, f->returns ? f->addr - 1 : f->addr);
}
