// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst info: what kernel and driver this is, what cannot be done here, and what is known of
 * the code as a whole.
 */
#include "cli.h"
#include "kerninst/catalog.h"
#include "kerninst/overview.h"
#include "open.h"

static const char usage[] =
	"Usage: kerninst info [OPTION...]\n"
	"Show the kernel, the driver, what is in use, what is not supported here, and what the\n"
	"analysis of all functions finds.\n\n"
	"      --json             one object\n"
	"      --quick            no analysis: what the driver knows\n"
	"  -v, --verbose          also each function whose code is not fully known, and why\n"
	"      --events           no more than the events of processor and kernel: which are counted\n"
	"                         here, which not and why, and whose sessions count some\n"
	"      --threads N        of the analysis, 1 to 1024 (one for each CPU)\n"
	"      --text-hash        hash the text of kernel and modules as it is now; sites that the\n"
	"                         kernel itself rewrites are left out, and the driver: equal hashes\n"
	"                         mean that all that was installed has gone\n" OPEN_USAGE
	"  -h, --help             this text\n\n"
	"Examples:\n"
	"  kerninst info\n"
	"  kerninst info --quick --json --text-hash | jq -r .text_hash\n"
	"  kerninst info -v --image vmlinux --system-map System.map\n";

#define THREADS_MAX 1024

static int take_threads(const void *self, const char *text, void *to)
{
	return cli_count(self, "--threads", text, THREADS_MAX, to);
}

static int show(struct ki_overview *f, struct ki_target *t, const struct ki_page *page, bool quick)
{
	struct ki_program_options analysis = {.size = sizeof(analysis), .threads = f->threads};
	struct ki_err err = {0};
	int ret = quick ? CLI_OK : open_program(t, &analysis, false, &f->program);

	if (!ret && ki_overview_gather(f, t, &err))
		ret = cli_fail(&err);
	if (!ret && page->json)
		ki_overview_json(f, page->verbose, stdout);
	else if (!ret)
		ki_overview_print(f, page->verbose, stdout);
	ki_program_free(f->program);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_page page = cli_page();
	struct ki_overview f = {0};
	struct open_options open = {0};
	struct ki_target *t = NULL;
	bool quick = false, events = false;
	const struct ki_option rows[] = {{"json", 0, NULL, &page.json},
					 {"quick", 0, NULL, &quick},
					 {"events", 0, NULL, &events},
					 {"verbose", 'v', NULL, &page.verbose},
					 {"threads", 0, take_threads, &f.threads},
					 {"text-hash", 0, NULL, &f.hashed},
					 OPEN_ROWS(open)};
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind < argc)
		return cli_misuse(self, "'%s': info takes no arguments", argv[optind]);
	if (events)
		return cli_shown(ki_events_show(&page));
	f.image = open.image;
	ret = open_or_fail(&open, &t);
	if (!ret)
		ret = show(&f, t, &page, quick);
	ki_target_free(t);
	return ret;
}

const struct verb verb_info = {
	.name = "info",
	.summary = "the kernel, the driver, what is not supported here, and what all code is like",
	.usage = usage,
	.run = run,
};
