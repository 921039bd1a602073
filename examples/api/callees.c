// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a function of the kernel or of a process calls through pointers in a second, and how often.
 *
 * usage: callees [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/callees.h"

static void show(struct ki_target *t, const struct ki_callee *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ki_symbol *by = ki_target_symbol_at(t, v[i].site);
		const struct ki_symbol *to = ki_target_symbol_at(t, v[i].target);

		printf("%s+0x%llx %s %llu\n", by->name, (unsigned long long)(v[i].site - by->addr),
		       to ? to->name : "?", (unsigned long long)v[i].count);
	}
}

static int watch(struct ki_callees *c, struct ki_target *t, const char *name, struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, NULL, name, NULL);
	struct ki_function *fn = NULL;
	struct ki_callee *v = NULL;
	size_t n = 0;
	int ret = sym ? ki_function_analyze(t, sym, &fn, err)
		      : ki_err_set(err, -1, 0, "no function '%s'", name);

	if (!ret)
		ret = ki_callees_watch_all(c, fn, err);
	if (!ret)
		ret = ki_callees_start(c, err);
	if (!ret)
		ret = sleep(1) || ki_callees_stop(c, err) || ki_callees_read(c, &v, &n, err);
	if (!ret)
		show(t, v, n);
	ki_free(v);
	ki_function_free(fn);
	return ret;
}

int main(int argc, char **argv)
{
	struct ki_target *kernel = NULL, *process = NULL;
	struct ki_callees *c = NULL;
	struct ki_err err = {0};
	int ret = ki_target_new_live(&kernel, &err);

	if (!ret && argc > 2)
		ret = ki_target_new_process(atoi(argv[1]), &process, &err);
	if (!ret)
		ret = ki_callees_new(kernel, process, NULL, &c, &err);
	if (!ret)
		ret = watch(c, process ? process : kernel, argc > 1 ? argv[argc - 1] : "", &err);
	if (ret)
		fprintf(stderr, "callees: %s\n", err.msg);
	ki_callees_free(c);
	ki_target_free(process);
	ki_target_free(kernel);
	return ret != 0;
}
