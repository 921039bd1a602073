// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks as keys of kerninst stat --by. What a process's addresses are has to be found out while it
 * lives, so whoever is new in the table of stacks is looked at every now and then. A stack that has
 * two numbers is one key; so are those of several processes that read the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "record/users.h"
#include "stat_by.h"

#define LOOK 0.02 /* seconds */

int stat_by_stacks_open(struct stat_by *b, struct ki_target *t)
{
	bool user = false;
	struct ki_err err = {0};

	for (unsigned int i = 0; i < b->key.n; i++)
		user |= b->key.values[i].kind == RECORD_USTACK;
	if (b->key.stacks && ki_stacks_open(t, NULL, &b->stacks, &err))
		return cli_fail(&err);
	if (user && ki_users_new(&b->users))
		return cli_no_memory();
	return CLI_OK;
}

void stat_by_stacks_close(struct stat_by *b)
{
	ki_users_free(b->users);
	ki_stacks_close(b->stacks);
}

double stat_by_next_look(const struct stat_by *b, double deadline)
{
	double at = wait_now() + LOOK;

	return b->users && (deadline < 0 || at < deadline) ? at : deadline;
}

bool stat_by_look(struct stat_by *b)
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
static struct named *name_stacks(struct stat_by *b, const uint32_t *same, size_t n, size_t *count)
{
	struct named *all = calloc(n, sizeof(*all));
	struct ki_stack s;

	*count = 0;
	for (uint32_t i = 1; all && i < n; i++) {
		if (same[i] != i || ki_stacks_get(b->stacks, i, &s) || !s.tgid)
			continue;
		all[*count].number = i;
		all[*count].text = stat_by_frames(b, &s);
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
static int join_processes(struct stat_by *b, uint32_t *same, size_t n)
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

int stat_by_join_stacks(struct stat_by *b)
{
	if (!b->stacks)
		return CLI_OK;
	stat_by_look(b);
	free(b->same);
	b->same = NULL;
	if (ki_stacks_same(b->stacks, &b->same, &b->nsame) ||
	    (b->users && join_processes(b, b->same, b->nsame)))
		return cli_no_memory();
	return CLI_OK;
}
