// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stacks are read in place, like records: what is sorted are pointers. Nothing is believed of what
 * a file says but what lies inside its chunk.
 */
#include "record/read_stacks.h"

#include <stdlib.h>

int ki_known_stacks_read(struct known_stacks *k, const char *at, const char *end)
{
	const size_t before = k->stacks.n;
	int ret = 0;

	while (!ret && at < end) {
		const struct file_stack *s = (const void *)at;
		size_t left = (size_t)(end - at);

		if (left < sizeof(*s) || !s->frames || s->frames > KI_STACK_FRAMES ||
		    (left - sizeof(*s)) / sizeof(uint64_t) < s->frames)
			ret = -EBADMSG;
		else
			ret = ki_vec_push(&k->stacks, s);
		if (!ret)
			at += sizeof(*s) + s->frames * sizeof(uint64_t);
	}
	if (ret)
		k->stacks.n = before;
	return ret;
}

static const char *take_string(const char **at, const char *end)
{
	const char *s = *at, *zero = memchr(s, 0, (size_t)(end - s));

	if (!zero)
		return NULL;
	*at = zero + 1;
	return s;
}

static int read_user(struct known_stacks *k, const char **at, const char *end)
{
	struct known_user u = {.row = (const void *)*at};
	const char *begin = *at;

	if ((size_t)(end - *at) < sizeof(*u.row))
		return -EBADMSG;
	*at += sizeof(*u.row);
	u.symbol = take_string(at, end);
	u.path = u.symbol ? take_string(at, end) : NULL;
	u.build = u.path ? take_string(at, end) : NULL;
	if (!u.build)
		return -EBADMSG;
	*at += -(size_t)(*at - begin) & 7;
	return *at > end ? -EBADMSG : ki_vec_push(&k->users, u);
}

int ki_known_users_read(struct known_stacks *k, const char *at, const char *end)
{
	const size_t before = k->users.n;
	int ret = 0;

	while (!ret && at < end)
		ret = read_user(k, &at, end);
	if (ret)
		k->users.n = before;
	return ret;
}

static int by_number(const void *a, const void *b)
{
	const struct file_stack *x = *(const struct file_stack *const *)a;
	const struct file_stack *y = *(const struct file_stack *const *)b;

	return (x->number > y->number) - (x->number < y->number);
}

static int by_place(const void *a, const void *b)
{
	const struct file_user *x = ((const struct known_user *)a)->row;
	const struct file_user *y = ((const struct known_user *)b)->row;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

void ki_known_stacks_sort(struct known_stacks *k)
{
	if (k->stacks.n)
		qsort(k->stacks.v, k->stacks.n, sizeof(*k->stacks.v), by_number);
	if (k->users.n)
		qsort(k->users.v, k->users.n, sizeof(*k->users.v), by_place);
}

void ki_known_stacks_free(struct known_stacks *k)
{
	ki_vec_free(&k->stacks);
	ki_vec_free(&k->users);
}

int ki_known_stack(const struct known_stacks *k, uint64_t number, struct ki_stack *out)
{
	const struct file_stack key = {.number = number}, *at = &key, *const * there;

	there = k->stacks.n
			? bsearch(&at, k->stacks.v, k->stacks.n, sizeof(*k->stacks.v), by_number)
			: NULL;
	if (!there)
		return -ENOENT;
	*out = (struct ki_stack){.number = number,
				 .tgid = (*there)->tgid,
				 .n = (*there)->frames,
				 .addrs = (const void *)(*there + 1)};
	return 0;
}

int ki_known_user(const struct known_stacks *k, const struct ki_stack *s, uint32_t i,
		  struct ki_user_frame *out)
{
	const struct file_user row = {.tgid = s->tgid, .addr = ki_frame_place(s, i)};
	const struct known_user key = {.row = &row}, *u;

	u = k->users.n ? bsearch(&key, k->users.v, k->users.n, sizeof(*k->users.v), by_place)
		       : NULL;
	if (!u)
		return -ENOENT;
	*out = (struct ki_user_frame){.symbol = u->symbol,
				      .offset = u->row->offset + (*u->symbol && i),
				      .path = u->path,
				      .build = u->build,
				      .file_offset = u->row->file_offset + (i > 0)};
	return 0;
}
