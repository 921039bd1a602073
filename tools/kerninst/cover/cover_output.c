// SPDX-License-Identifier: GPL-2.0-only
#include "cover/cover_output.h"

#include <string.h>

#include "cli.h"
#include "points.h"

int cover_debug(const void *self, const char *value, void *to)
{
	struct ki_cover_files *f = to;

	(void)self;
	f->no_debug = !strcmp(value, "none");
	return f->no_debug || !ki_vec_push(&f->debug, value) ? CLI_OK : cli_no_memory();
}

void cover_output_free(struct cover_output *o)
{
	ki_vec_free(&o->files.debug);
}

static int write_stdout(const struct cover_output *o, const struct ki_coverage *c)
{
	int ret = o->json ? ki_coverage_write_json(c, stdout)
			  : ki_cover_text(c, o->verbose, cli_bold(stdout), stdout);

	return ret ? cli_error("writing the result failed") : CLI_OK;
}

int cover_output_write(const struct cover_output *o, const struct ki_coverage *c,
		       struct ki_target *t)
{
	struct ki_err err = {0};

	if (ki_cover_files_write(&o->files, c, t, cli_listener(o->quiet), &err))
		return cli_fail(&err);
	return write_stdout(o, c);
}
