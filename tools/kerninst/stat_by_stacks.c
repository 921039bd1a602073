// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks as keys of kerninst stat --by. What a process's addresses are has to be found out while it
 * lives, so whoever is new in the table of stacks is looked at every now and then. A stack that has
 * two numbers is one key.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "command.h"
#include "record/users.h"
#include "stat_by.h"

#define LOOK 0.02 /* seconds */

static bool is_stack(const struct stat_by *b, unsigned int i)
{
	return b->key.fields[i].show == KI_SHOW_STACK;
}

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

static void rename_stacks(const struct stat_by *b, struct ki_table_reading *r, const uint32_t *same,
			  size_t n)
{
	for (size_t i = 0; i < r->n; i++) {
		uint64_t *key = r->words + i * (r->keys + r->values) + 1;

		for (unsigned int k = 0; k < b->key.n; k++)
			if (is_stack(b, k) && key[k] < n && same[key[k]])
				key[k] = same[key[k]];
	}
	ki_table_regroup(b->map, r);
}

int stat_by_join_stacks(struct stat_by *b)
{
	uint32_t *same;
	size_t n;

	if (!b->stacks)
		return CLI_OK;
	stat_by_look(b);
	if (ki_stacks_same(b->stacks, &same, &n))
		return cli_no_memory();
	rename_stacks(b, b->before, same, n);
	rename_stacks(b, b->now, same, n);
	free(same);
	return CLI_OK;
}
