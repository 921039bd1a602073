// SPDX-License-Identifier: GPL-2.0-only
/*
 * The modules of the running kernel, of a process or of a file, and how many functions each has.
 *
 * usage: modules [PID|FILE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/target.h"

struct module {
	const char *name;
	unsigned long functions, aliases;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct module *)a)->name, ((const struct module *)b)->name);
}

/* Symbols are in order of address, and a module's lie together: those of one name are added up. */
static size_t count(const struct ki_symbol *s, size_t n, struct module *to)
{
	size_t modules = 0, i, j;

	for (i = 0; i < n; i++) {
		struct module *m = modules ? &to[modules - 1] : NULL;

		if (!m || strcmp(m->name, ki_symbol_module(&s[i]))) {
			m = &to[modules++];
			*m = (struct module){.name = ki_symbol_module(&s[i])};
		}
		if (i && s[i].addr == s[i - 1].addr)
			m->aliases++;
		else
			m->functions++;
	}
	qsort(to, modules, sizeof(*to), by_name);
	for (i = j = 0; i < modules; i++) {
		if (j && !strcmp(to[j - 1].name, to[i].name)) {
			to[j - 1].functions += to[i].functions;
			to[j - 1].aliases += to[i].aliases;
		} else {
			to[j++] = to[i];
		}
	}
	return j;
}

static int open_target(const char *what, struct ki_target **t, struct ki_err *err)
{
	if (!what)
		return ki_target_new_live(t, err);
	if (what[strspn(what, "0123456789")])
		return ki_target_new_image(what, t, err);
	return ki_target_new_process(atoi(what), t, err);
}

int main(int argc, char **argv)
{
	const struct ki_symbol *symbols = NULL;
	struct module *modules = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	size_t n = 0;
	int ret = open_target(argc > 1 ? argv[1] : NULL, &t, &err);

	if (!ret)
		symbols = ki_target_symbols(t, &n);
	if (!ret)
		modules = calloc(n + 1, sizeof(*modules));
	n = modules ? count(symbols, n, modules) : 0;
	for (size_t i = 0; i < n; i++)
		printf("%-24s %6lu functions %5lu aliases\n", modules[i].name, modules[i].functions,
		       modules[i].aliases);
	if (ret)
		fprintf(stderr, "modules: %s\n", err.msg);
	free(modules);
	ki_target_free(t);
	return ret != 0;
}
