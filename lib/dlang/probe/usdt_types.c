// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Types of args[] of probes that are written into a program: as a note of the program says.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/probe/probe.h"
#include "dlang/probe/usdt.h"

struct asked {
	struct ki_dlang *d;
	const char *const *field;
	uint64_t i;
	pid_t pid;
	enum ki_d_usdt_says says;
	struct ki_d_type type;
};

/* The text is any program's: a type, or nothing that is looked at. */
static enum ki_d_usdt_says known(struct ki_dlang *d, const char *text, struct ki_d_type *type)
{
	static const char may[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ *";

	if (text[strspn(text, may)] || ki_d_type_written(d, text, type) || !ki_d_is_scalar(*type))
		return KI_D_USDT_UNKNOWN;
	return KI_D_USDT_TYPE;
}

static int take(void *arg, const struct ki_d_note *n)
{
	const struct ki_d_usdt_file *at = arg;
	struct asked *a = at->arg;
	char provider[KI_D_USDT_NAME], name[KI_D_USDT_NAME];
	enum ki_d_usdt_says says = KI_D_USDT_NONE;
	struct ki_d_type type = {0};
	struct ki_d_noted noted;

	ki_d_usdt_provider(n, a->pid, provider);
	ki_d_usdt_name(n, name);
	if (n->asks || !ki_d_field_matches(a->field[0], provider) ||
	    !ki_d_field_matches(a->field[3], name))
		return 0;
	if (ki_d_usdt_noted(at, n, &noted) != KI_D_NOTES_TYPES)
		says = KI_D_USDT_SILENT;
	else if (a->i < noted.n)
		says = known(a->d, noted.args[a->i].type, &type);
	if (a->says != KI_D_USDT_SILENT &&
	    (a->says != says || memcmp(&a->type, &type, sizeof(type)) != 0))
		says = KI_D_USDT_DIFFERS;
	a->says = says;
	a->type = type;
	return says == KI_D_USDT_DIFFERS;
}

enum ki_d_usdt_says ki_d_usdt_type(struct ki_dlang *d, const char *const field[4], uint64_t i,
				   struct ki_d_type *type)
{
	struct asked a = {.d = d, .field = field, .i = i, .pid = ki_d_usdt_pid(d, field[0])};
	const bool any = !a.pid;
	DIR *all = any ? opendir("/proc") : NULL;
	const struct dirent *e;

	if (!any)
		ki_d_usdt_each(a.pid, NULL, take, &a);
	while (all && a.says == KI_D_USDT_SILENT && (e = readdir(all))) {
		a.pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (a.pid > 0 && a.pid != getpid())
			ki_d_usdt_each(a.pid, NULL, take, &a);
	}
	if (all)
		closedir(all);
	*type = a.type;
	return a.says;
}

bool ki_dlang_wants_types(const struct ki_dlang *d)
{
	for (size_t i = 0; i < d->clauses.n; i++)
		if (d->clauses.v[i].nwritten)
			return true;
	return false;
}
