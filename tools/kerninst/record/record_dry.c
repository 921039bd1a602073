// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst record: what would be put in, without or before doing it.
 */
#include "record/record.h"
#include "kerninst/measured.h"

/* Of several that come and go at other times. */
static void print_times(const struct ki_recorder_group *g, FILE *out)
{
	fprintf(out, "from %g s", g->at);
	if (g->until > 0)
		fprintf(out, " to %g s", g->until);
	fputs(":\n", out);
}

static int show_group(const struct record *r, struct ki_recorder_group *g)
{
	struct ki_measured report = {.out = stdout, .bold = cli_bold(stdout)};
	int ret = CLI_OK;

	if (ki_measured_open(&report, &g->points, r->o->json))
		return cli_no_memory();
	if (r->r.ngroups > 1 && !r->o->json)
		print_times(g, report.out);
	if (r->o->show_code)
		ret = report_code(&report, &g->points);
	if (!ret && r->o->dry_run)
		ret = report_dry(&report, &g->points, g->predicted ? &g->prediction : NULL,
				 r->o->r.quiet);
	ki_measured_close(&report);
	return ret;
}

int record_show(struct record *r)
{
	int ret = CLI_OK;

	if (!r->o->show_code && !r->o->dry_run)
		return CLI_OK;
	for (size_t i = 0; i < r->r.ngroups; i++) {
		int one = show_group(r, &r->r.groups[i]);

		ret = ret ? ret : one;
	}
	return ret;
}
