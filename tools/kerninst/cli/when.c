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
#include "util/cpulist.h"

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

	if (ki_predicate_parse(text, &p, &err))
		return cli_misuse(self, "--if '%s': %s", text, err.msg);
	ki_predicate_free(p);
	return add(w, text);
}

int when_pid(const void *self, const char *text, void *w)
{
	char *all;
	int ret;

	for (const char *at = text;; at++) {
		size_t n = strspn(at, "0123456789");

		at += n;
		if (!n || n > 9 || at[-(long)n] == '0' || (*at && *at != ','))
			return cli_misuse(self, "--pid '%s': numbers of processes, with commas",
					  text);
		if (!*at)
			break;
	}
	if (asprintf(&all, "pid in (%s)", text) < 0)
		return cli_no_memory();
	ret = add(w, all);
	free(all);
	return ret;
}

int when_comm(const void *self, const char *name, void *w)
{
	char text[128], *to = stpcpy(text, "comm == \"");
	size_t len = strlen(name);

	if (!len || len > 15)
		return cli_misuse(self, "--comm '%s': a thread's name has 1 to 15 bytes", name);
	while (*name)
		to += sprintf(to, "\\%03o", (unsigned char)*name++);
	stpcpy(to, "\"");
	return add(w, text);
}

int when_cpu(const void *self, const char *text, void *w)
{
	struct ki_cpu_range r;
	const char *at = text;
	char *all;
	size_t len;
	FILE *f = open_memstream(&all, &len);
	int ret, more;

	if (!f)
		return cli_no_memory();
	while ((more = ki_cpulist_next(&at, &r)) > 0)
		fprintf(f, "%scpu >= %u && cpu <= %u", ftell(f) ? " || " : "", r.first, r.last);
	if (fclose(f))
		ret = cli_no_memory();
	else if (more < 0 || !*text)
		ret = cli_misuse(self, "--cpu '%s' is no list of CPUs, as 0-3,8", text);
	else
		ret = add(w, all);
	free(all);
	return ret;
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
	int error = ki_own_make(&id);

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
	if (!w->text || !ki_predicate_parse(w->text, out, &err))
		return CLI_OK;
	return cli_misuse(self, "%s: %s", w->text, err.msg);
}

void when_free(struct when *w)
{
	ki_own_end();
	free(w->text);
	w->text = NULL;
}
