// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst metrics: the table of what can be measured.
 */
#include <errno.h>
#include <getopt.h>

#include "cli.h"
#include "kerninst/metric.h"
#include "out/json.h"
#include "out/table.h"

static const char usage[] =
	"Usage: kerninst metrics [-v] [--json]\n"
	"Say what kerninst stat -m can measure. FORM: total, which grows; mean, of calls or over time;\n"
	"log2, a histogram with buckets by powers of two. Not listed: events only of the kernel or of\n"
	"user mode, cycles:k, cycles:u, and events by their numbers, r01c2.\n\n"
	"  -v          also the formula of what is computed, what code is put where, and what this\n"
	"              machine does not count\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst metrics\n"
	"  kerninst metrics -v | less\n";

static const char *const forms[KI_FORMS] = {
	[KI_FORM_TOTAL] = "total",
	[KI_FORM_MEAN] = "mean",
	[KI_FORM_HISTOGRAM] = "log2",
};

/* "yes", or why it cannot be measured here; "?": the kernel does not tell. */
static const char *here(const struct ki_metric *m, struct ki_err *err)
{
	if (!ki_metric_check(m, err))
		return "yes";
	return err->reason ? err->msg : "?";
}

static int print_json(const struct ki_metric *m)
{
	char derived[KI_METRIC_DERIVED];
	struct ki_err err = {0};
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "name", m->name);
	ki_json_str(&j, "unit", ki_unit_name((enum ki_unit)m->unit));
	ki_json_str(&j, "form", forms[m->form]);
	ki_json_bool(&j, "lasts", m->lasts);
	ki_json_str(&j, "text", m->text);
	ki_metric_derived(m, derived, sizeof(derived));
	if (*derived)
		ki_json_str(&j, "derived", derived);
	ki_json_str(&j, "code", m->code);
	ki_json_str(&j, "here", here(m, &err));
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int print_all_json(void)
{
	const struct ki_metric *m;

	for (size_t i = 0; (m = ki_metric_at(i)); i++)
		if (print_json(m))
			return cli_unwritten("output");
	return CLI_OK;
}

static int print_table(bool code)
{
	static const struct ki_column columns[] = {
		{"METRIC", KI_ALIGN_LEFT, 0},  {"UNIT", KI_ALIGN_LEFT, 0},
		{"FORM", KI_ALIGN_LEFT, 0},    {"MEANING", KI_ALIGN_LEFT, 0},
		{"DERIVED", KI_ALIGN_LEFT, 0}, {"CODE", KI_ALIGN_LEFT, 0},
		{"HERE", KI_ALIGN_LEFT, 0}};
	const struct ki_metric *m;
	struct ki_table *t;
	int ret;

	if (ki_table_new(&t, columns, code ? 7 : 4))
		return cli_no_memory();
	for (size_t i = 0; (m = ki_metric_at(i)); i++) {
		const char *unit = ki_unit_name((enum ki_unit)m->unit);

		ki_table_cell(t, "%s", m->name);
		ki_table_cell(t, "%s", *unit ? unit : "-");
		ki_table_cell(t, "%s", forms[m->form]);
		ki_table_cell(t, "%s", m->text);
		if (code) {
			char derived[KI_METRIC_DERIVED];
			struct ki_err err = {0};

			ki_metric_derived(m, derived, sizeof(derived));
			ki_table_cell(t, "%s", *derived ? derived : "-");
			ki_table_cell(t, "%s", m->code);
			ki_table_cell(t, "%s", here(m, &err));
		}
	}
	ret = ki_table_print(t, stdout, cli_bold(stdout));
	ki_table_free(t);
	return ret ? cli_unwritten("output") : CLI_OK;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	bool json = false, code = false;
	int c;

	while ((c = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		if (c != 'j' && c != 'v')
			return cli_other_option(self, c, argv);
		json |= c == 'j';
		code |= c == 'v';
	}
	if (optind < argc)
		return cli_misuse(self, "metrics takes no argument");
	return json ? print_all_json() : print_table(code);
}

const struct verb verb_metrics = {
	.name = "metrics",
	.summary = "what stat can measure",
	.usage = usage,
	.run = run,
};
