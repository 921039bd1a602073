// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ways through a function are taken in a second, and how often: of the kernel, or of a
 * process.
 *
 * usage: ways [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/path.h"

static int show(const struct ki_paths *p, const struct ki_path_counts *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct ki_path path;

		if (ki_path_of(ki_paths_numbers(p), c->v[i].number, &path))
			return 1;
		printf("%llu:", (unsigned long long)c->v[i].count);
		for (uint32_t k = 0; k < path.nblocks; k++)
			printf(" %u", path.blocks[k]);
		printf("\n");
		ki_path_free(&path);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct ki_symbol *sym = NULL;
	struct ki_path_counts counts = {0};
	struct ki_paths *paths = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = argc > 2 ? ki_target_new_process(atoi(argv[1]), &t, &err)
			   : ki_target_new_live(&t, &err);

	if (!ret)
		sym = ki_target_symbol_named(t, NULL, argc > 1 ? argv[argc - 1] : "", NULL);
	if (!ret && !sym)
		ret = ki_err_set(&err, -1, 0, "no function '%s'", argc > 1 ? argv[argc - 1] : "");
	if (!ret)
		ret = ki_paths_new(t, sym, NULL, &paths, &err);
	if (!ret)
		sleep(1);
	if (!ret)
		ret = ki_paths_remove(paths, &err);
	if (!ret)
		ret = ki_paths_read(paths, &counts, &err);
	if (ret)
		fprintf(stderr, "ways: %s\n", err.msg);
	else
		ret = show(paths, &counts);
	free(counts.v);
	ki_paths_free(paths);
	ki_target_free(t);
	return ret != 0;
}
