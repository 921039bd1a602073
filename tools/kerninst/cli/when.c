// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short forms become text of the predicates' language, so that there is one way from there on.
 */
#include "when.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "kerninst/own.h"

/* One more condition, which must hold too. */
static int add(struct when *w, const char *text)
{
	char *all;

	if (asprintf(&all, "%s%s(%s)", w->text ? w->text : "", w->text ? " && " : "", text) < 0)
		return cli_no_memory();
	free(w->text);
	w->text = all;
	return CLI_OK;
}

/* By itself it must be one: what is wrong with it is said of what was written. */
int when_if(const void *self, const char *text, void *w)
{
	struct ki_err err = {0};
	struct ki_predicate *p;

	if (ki_predicate_new(text, &p, &err))
		return cli_misuse(self, "--if '%s': %s", text, err.msg);
	ki_predicate_free(p);
	return add(w, text);
}

/* made: of what was written; NULL: that is wrong, and that is what is said. */
static int add_short(struct when *w, char *made, const struct verb *self, const char *wrong,
		     const char *text)
{
	const int error = errno;
	int ret = made		    ? add(w, made)
		  : error == EINVAL ? cli_misuse(self, wrong, text)
				    : cli_no_memory();

	free(made);
	return ret;
}

int when_pid(const void *self, const char *text, void *w)
{
	return add_short(w, ki_predicate_pids(text), self,
			 "--pid '%s': numbers of processes, with commas", text);
}

int when_comm(const void *self, const char *name, void *w)
{
	return add_short(w, ki_predicate_comm(name), self,
			 "--comm '%s': a thread's name has 1 to 15 bytes", name);
}

int when_cpu(const void *self, const char *text, void *w)
{
	return add_short(w, ki_predicate_cpus(text), self,
			 "--cpu '%s' is no list of CPUs, as 0-3,8", text);
}

int when_own(const void *self, const char *unused, void *w)
{
	struct when *when = w;

	(void)unused;
	if (!command_given())
		return cli_misuse(self, "--own is for what a command does: -- COMMAND...");
	when->own = true;
	return CLI_OK;
}

static int add_own(struct when *w)
{
	char text[48];
	uint64_t id;
	int error = ki_own_new(&id);

	if (error == -ENODEV)
		return cli_error(
			"--own: no cgroup2 is mounted, which tells the command's processes "
			"from others; mount -t cgroup2 none /sys/fs/cgroup");
	if (error)
		return cli_error("--own: no control group can be made: %s", strerror(-error));
	snprintf(text, sizeof(text), "cgroup == %llu", (unsigned long long)id);
	w->own = false;
	return add(w, text);
}

int when_predicate(struct when *w, const struct verb *self, struct ki_predicate **out)
{
	struct ki_err err = {0};
	int ret = w->own ? add_own(w) : CLI_OK;

	*out = NULL;
	if (ret)
		return ret;
	if (!w->text || !ki_predicate_new(w->text, out, &err))
		return CLI_OK;
	return cli_misuse(self, "%s: %s", w->text, err.msg);
}

void when_free(struct when *w)
{
	ki_own_free();
	free(w->text);
	w->text = NULL;
}
