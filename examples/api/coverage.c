// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which blocks of a function are executed in a second: of the kernel, or of a process.
 *
 * usage: coverage [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/cover.h"
#include "kerninst/target.h"

static void show(const struct ki_coverage *c)
{
	const struct ki_cover_function *f = c->functions;

	printf("%s: %llu of %u blocks\n", f->name, (unsigned long long)c->totals.hit, f->nblocks);
	for (uint32_t i = 0; i < f->nblocks; i++) {
		const struct ki_cover_block *b = &c->blocks[f->first_block + i];

		if (b->how == KI_COVER_UNKNOWN)
			printf("  block %u  %s\n", i, ki_reason_tag(b->reason));
		else
			printf("  block %u  %llu\n", i, (unsigned long long)b->count);
	}
}

int main(int argc, char **argv)
{
	const struct ki_cover_options o = {.size = sizeof(o), .mode = KI_COVER_COUNT};
	struct ki_coverage *coverage = NULL;
	struct ki_cover *cover = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	const struct ki_symbol *sym = NULL;
	int ret = argc > 2 ? ki_target_new_process(atoi(argv[1]), &t, &err)
			   : ki_target_new_live(&t, &err);

	if (!ret && argc > 1)
		sym = ki_target_symbol_named(t, NULL, argv[argc - 1], NULL);
	if (!ret && !sym)
		ret = ki_err_set(&err, -1, 0, "no function '%s'", argc > 1 ? argv[argc - 1] : "");
	if (!ret)
		ret = ki_cover_new(t, &sym, 1, &o, &cover, &err);
	if (!ret)
		sleep(1);
	if (!ret)
		ret = ki_cover_remove(cover, &err);
	if (!ret)
		ret = ki_cover_read(cover, &coverage, &err);
	if (ret)
		fprintf(stderr, "coverage: %s\n", err.msg);
	else
		show(coverage);
	ki_coverage_free(coverage);
	ki_cover_free(cover);
	ki_target_free(t);
	return ret != 0;
}
