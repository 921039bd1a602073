// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stacks as keys of kerninst stat --by. What a process's addresses are has to be found out while it
 * lives, so whoever is new in the table of stacks is looked at every now and then. A stack that has
 * two numbers is one key; so are those of several processes that read the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/users.h"
#include "aggregate/inside.h"

#define LOOK 0.02 /* seconds */

int ki_aggregate_stacks_open(struct ki_aggregate *b, struct ki_target *t, struct ki_err *err)
{
	bool user = false;
	int ret = 0;

	for (unsigned int i = 0; i < b->key.n; i++)
		user |= b->key.values[i].kind == KI_RECORD_USTACK;
	if (b->key.stacks)
		ret = ki_stacks_map_new(t, NULL, &b->stacks, err);
	if (!ret && user && ki_users_new(&b->users))
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
	return ret;
}

void ki_aggregate_stacks_close(struct ki_aggregate *b)
{
	ki_users_free(b->users);
	ki_stacks_map_free(b->stacks);
}

double ki_aggregate_next_look(const struct ki_aggregate *b, double now, double deadline)
{
	double at = now + LOOK;

	return b->users && (deadline < 0 || at < deadline) ? at : deadline;
}

bool ki_aggregate_look(struct ki_aggregate *b)
{
	uint64_t now = b->users ? ki_stacks_count(b->stacks) : 0;
	struct ki_stack s;
	int ret = 0;

	if (now == b->looked)
		return b->users != NULL;
	b->looked = now;
	for (uint64_t n = 1; ret != -ERANGE; n++) {
		ret = ki_stacks_get(b->stacks, n, &s);
		if (!ret && s.tgid)
			ki_users_look(b->users, s.tgid);
	}
	return true;
}

struct named {
	char *text;
	uint32_t number;
};

static int by_text(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void free_named(struct named *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(all[i].text);
	free(all);
}

/* Those of processes, each once. */
static struct named *name_stacks(struct ki_aggregate *b, const uint32_t *same, size_t n,
				 size_t *count)
{
	struct named *all = calloc(n, sizeof(*all));
	struct ki_stack s;

	*count = 0;
	for (uint32_t i = 1; all && i < n; i++) {
		if (same[i] != i || ki_stacks_get(b->stacks, i, &s) || !s.tgid)
			continue;
		all[*count].number = i;
		all[*count].text = ki_aggregate_frames(b, &s);
		if (all[*count].text) {
			++*count;
			continue;
		}
		free_named(all, *count);
		all = NULL;
	}
	return all;
}

/* What processes have done alike is one key, wherever they have their code. */
static int join_processes(struct ki_aggregate *b, uint32_t *same, size_t n)
{
	size_t count;
	struct named *all = name_stacks(b, same, n, &count);

	if (!all)
		return -ENOMEM;
	qsort(all, count, sizeof(*all), by_text);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(all[i].text, all[i - 1].text))
			same[all[i].number] = same[all[i - 1].number];
	for (size_t i = 0; i < n; i++)
		same[i] = same[same[i]];
	free_named(all, count);
	return 0;
}

int ki_aggregate_join_stacks(struct ki_aggregate *b, struct ki_err *err)
{
	if (!b->stacks)
		return 0;
	ki_aggregate_look(b);
	free(b->same);
	b->same = NULL;
	if (ki_stacks_same(b->stacks, &b->same, &b->nsame) ||
	    (b->users && join_processes(b, b->same, b->nsame)))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	return 0;
}
