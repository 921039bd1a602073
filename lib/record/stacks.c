// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The session's table of stacks: asking for it, mapping it, reading rows. A row that is there does
 * not change any more, so it is read in place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "record/stacks.h"
#include "util/sized.h"

#define USUAL_FRAMES 64
#define USUAL_ROWS   16384

static int ask(int fd, struct ki_stacks_map *m, const struct ki_stacks_options *o,
	       struct ki_err *err)
{
	struct ki_stacks req = {
		.size = sizeof(req), .frames = o->frames ? o->frames : USUAL_FRAMES, .rows = 1};
	const uint32_t rows = o->rows ? o->rows : USUAL_ROWS;
	int error;

	while (req.rows < rows && req.rows < KI_STACKS_ROWS)
		req.rows *= 2;
	if (req.rows < rows || req.frames > KI_STACK_FRAMES)
		return ki_err_set(err, -EINVAL, 0, "%u stacks of %u frames: at most %u of %u", rows,
				  req.frames, KI_STACKS_ROWS, KI_STACK_FRAMES);
	if (ioctl(fd, KI_IOC_STACKS, &req)) {
		error = errno;
		if (error == EEXIST)
			return ki_err_set(err, -error, 0,
					  "the session has a table of stacks already");
		if (req.reason)
			return ki_err_reason(err, req.reason, 0, "a table of %u stacks", req.rows);
		return ki_err_set(err, -error, 0, "a table of %u stacks: %s", req.rows,
				  strerror(error));
	}
	m->rows = req.rows;
	m->stride = req.stride;
	m->frames = req.frames;
	m->number = req.number;
	m->bytes = req.bytes;
	return 0;
}

int ki_stacks_begin(struct ki_stacks_map *m)
{
	m->looked = calloc(1, sizeof(*m->looked));
	if (!m->looked)
		return -ENOMEM;
	m->looked->bits = calloc(1, m->rows / 8 + 1);
	return m->looked->bits ? ki_users_new(&m->looked->users) : -ENOMEM;
}

void ki_stacks_end(struct ki_stacks_map *m)
{
	if (!m->looked)
		return;
	ki_users_free(m->looked->users);
	free(m->looked->bits);
	free(m->looked);
	m->looked = NULL;
}

static int map_table(struct ki_stacks_map *m, int fd, struct ki_err *err)
{
	void *base = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, fd, KI_MAP_STACKS);

	if (base == MAP_FAILED)
		return ki_err_set(err, -errno, 0, "a table of stacks: mmap: %s", strerror(errno));
	m->base = base;
	return ki_stacks_begin(m) ? ki_err_set(err, -ENOMEM, 0, "a table of stacks: out of memory")
				  : 0;
}

int ki_stacks_map_new(struct ki_target *t, const struct ki_stacks_options *o,
		      struct ki_stacks_map **out, struct ki_err *err)
{
	static const struct ki_stacks_options usual = {.size = sizeof(usual)};
	struct ki_stacks_map *m;
	int ret;

	*out = NULL;
	if (!ki_target_info(t))
		return ki_err_set(err, -EINVAL, 0, "a table of stacks: the target is not live");
	m = calloc(1, sizeof(*m));
	if (!m)
		return ki_err_set(err, -ENOMEM, 0, "a table of stacks: out of memory");
	ret = o ? ki_sized(o->size, sizeof(*o), "a table of stacks", err) : 0;
	if (!ret)
		ret = ask(ki_target_fd(t), m, o ? o : &usual, err);
	if (!ret)
		ret = map_table(m, ki_target_fd(t), err);
	if (ret)
		ki_stacks_map_free(m);
	else
		*out = m;
	return ret;
}

void ki_stacks_map_free(struct ki_stacks_map *m)
{
	if (!m)
		return;
	ki_stacks_end(m);
	if (m->base)
		munmap((void *)(uintptr_t)m->base, m->bytes);
	free(m);
}

uint32_t ki_stacks_number(const struct ki_stacks_map *m)
{
	return m->number;
}

static const struct ki_stacks_head *head_of(const struct ki_stacks_map *m)
{
	return (const void *)m->base;
}

uint64_t ki_stacks_lost(const struct ki_stacks_map *m)
{
	return __atomic_load_n(&head_of(m)->lost, __ATOMIC_RELAXED);
}

uint64_t ki_stacks_count(const struct ki_stacks_map *m)
{
	return __atomic_load_n(&head_of(m)->rows, __ATOMIC_RELAXED);
}

/* By process and frames; equal ones by number. */
static int by_frames(const void *a, const void *b)
{
	const struct ki_stack *x = a, *y = b;
	int order;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	order = memcmp(x->addrs, y->addrs, x->n * sizeof(*x->addrs));
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static bool is_same(const struct ki_stack *x, const struct ki_stack *y)
{
	return x->tgid == y->tgid && x->n == y->n &&
	       !memcmp(x->addrs, y->addrs, x->n * sizeof(*x->addrs));
}

int ki_stacks_same(const struct ki_stacks_map *m, uint32_t **same, size_t *n)
{
	struct ki_stack *all = calloc(m->rows, sizeof(*all));
	size_t there = 0;

	*n = m->rows + 1;
	*same = calloc(*n, sizeof(**same));
	if (!all || !*same) {
		free(all);
		free(*same);
		*same = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 1; i <= m->rows; i++)
		there += !ki_stacks_get(m, i, &all[there]);
	if (there)
		qsort(all, there, sizeof(*all), by_frames);
	for (size_t i = 0; i < there; i++)
		(*same)[all[i].number] = i && is_same(&all[i - 1], &all[i])
						 ? (*same)[all[i - 1].number]
						 : (uint32_t)all[i].number;
	free(all);
	return 0;
}

int ki_stacks_get(const struct ki_stacks_map *m, uint64_t number, struct ki_stack *out)
{
	const struct ki_stack_row *row;
	uint32_t n;

	if (!number || number > m->rows)
		return -ERANGE;
	row = (const void *)(m->base + STACKS_PAGE + (number - 1) * m->stride);
	n = __atomic_load_n(&row->frames, __ATOMIC_ACQUIRE);
	if (!n || n > m->frames)
		return -ENOENT;
	*out = (struct ki_stack){
		.number = number, .tgid = row->tgid, .n = n, .addrs = (const void *)(row + 1)};
	return 0;
}

void ki_stacks_look(const struct ki_stacks_map *m)
{
	struct ki_stacks_looked *l = m->looked;
	uint64_t now = ki_stacks_count(m);
	struct ki_stack s;

	if (now == l->rows)
		return;
	l->rows = now;
	for (uint64_t n = 1; n <= m->rows; n++) {
		if (l->bits[n / 8] & 1 << n % 8 || ki_stacks_get(m, n, &s))
			continue;
		l->bits[n / 8] |= (uint8_t)(1 << n % 8);
		if (s.tgid)
			ki_users_look(l->users, s.tgid);
	}
}
