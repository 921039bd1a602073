// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where the kernel's variables are that a program names: /proc/kallsyms, read once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlang/words/names.h"

#include "dlang/probe/probe.h"
#include "dlang/run/run.h"

#define LINE 512

/* The module of a line, without its brackets; "": built in. */
static char *module_of(char *rest)
{
	char *open = strchr(rest, '[');

	if (open)
		open[strcspn(open, "]")] = 0;
	return open ? open + 1 : rest + strlen(rest);
}

static bool is_kernel(const char *module)
{
	return !*module || !strcmp(module, KI_D_KERNEL) || !strcmp(module, "kernel");
}

/* n->text is MODULE`NAME; without a module any is meant. */
static bool is_meant(const struct ki_d_node *n, const char *name, const char *module)
{
	const char *mark = strchr(n->text, '`');
	const size_t len = (size_t)(mark - n->text);
	char wanted[64];

	if (strcmp(mark + 1, name) != 0)
		return false;
	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, n->text);
	return !len || !strcmp(wanted, module) || (is_kernel(wanted) && is_kernel(module));
}

static void take_line(struct ki_dlang *d, char *line)
{
	char name[256], *rest;
	uint64_t addr;
	int n = 0;

	if (sscanf(line, "%" SCNx64 " %*c %255s%n", &addr, name, &n) != 2 || !addr)
		return;
	rest = module_of(line + n);
	for (size_t i = 0; i < d->symbols.n; i++)
		if (!d->symbols.v[i]->value && is_meant(d->symbols.v[i], name, rest))
			d->symbols.v[i]->value = addr;
}

static int not_there(struct ki_dlang *d, const struct ki_d_node *n, struct ki_err *err)
{
	const char *hint = ki_d_elsewhere_variable(strchr(n->text, '`') + 1);

	return ki_d_fail(d, err, n->at, "D_IDENT_UNDEF", "the kernel has no variable %.80s%s%s",
			 n->text, hint ? ": " : "", hint ? hint : "");
}

int ki_d_symbols(struct ki_dlang *d, struct ki_err *err)
{
	char line[LINE];
	FILE *f;

	if (!d->symbols.n)
		return 0;
	f = fopen("/proc/kallsyms", "re");
	if (!f)
		return ki_err_set(err, -errno, 0, "D: /proc/kallsyms cannot be read");
	while (fgets(line, sizeof(line), f))
		take_line(d, line);
	fclose(f);
	for (size_t i = 0; i < d->symbols.n; i++)
		if (!d->symbols.v[i]->value)
			return not_there(d, d->symbols.v[i], err);
	return 0;
}
