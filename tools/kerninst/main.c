// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst: one front door for everything that is done from the shell.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "kerninst/pointspec.h"
#include "whole.h"

static const struct verb *const verbs[] = {
	&verb_stat,	&verb_top,	   &verb_record, &verb_report,	   &verb_metrics,
	&verb_replace,	&verb_list,	   &verb_disas,	 &verb_cfg,	   &verb_cover,
	&verb_paths,	&verb_kcov,	   &verb_calls,	 &verb_callers,	   &verb_info,
	&verb_explain,	&verb_instruments, &verb_build,	 &verb_load,	   &verb_sessions,
	&verb_evict,	&verb_reset,	   &verb_evolve, &verb_specialize, &verb_text,
	&verb_crosswalk};

#define NVERBS	   (sizeof(verbs) / sizeof(*verbs))
#define NEAR_EDITS 2

static void print_help(FILE *out)
{
	fputs("Usage: kerninst [--timing] [--priority N] VERB [OPTION...] [ARGUMENT...]\n"
	      "Instrument the running kernel, basic block by basic block.\n\n",
	      out);
	for (size_t i = 0; i < NVERBS; i++)
		fprintf(out, "  %-13s%s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n" WHOLE_USAGE "\n"
	      "  kerninst VERB --help   the options of a verb, and examples\n"
	      "  kerninst --version\n\n"
	      "Exit status: 0 done, 1 error, 2 wrong usage, 3 not possible on this system.\n",
	      out);
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < NVERBS; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

static int unknown_verb(const char *name)
{
	const char *near = NULL;
	unsigned int edits = NEAR_EDITS + 1;

	for (size_t i = 0; i < NVERBS; i++) {
		unsigned int d = ki_pointspec_distance(name, verbs[i]->name, NEAR_EDITS);

		if (d < edits && d < strlen(name)) {
			edits = d;
			near = verbs[i]->name;
		}
	}
	cli_warn("no verb '%s'%s%s; kerninst --help lists them", name, near ? "; near: " : "",
		 near ? near : "");
	return CLI_USAGE;
}

/* What has been printed must have arrived, or the status says so. */
static int finish(int status)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		cli_unwritten("output");
		return status ? status : CLI_ERROR;
	}
	return status;
}

static int help(const char *about)
{
	const struct verb *v;

	if (!about) {
		print_help(stdout);
		return CLI_OK;
	}
	v = find_verb(about);
	if (!v)
		return unknown_verb(about);
	fputs(v->usage, stdout);
	return CLI_OK;
}

static int run_verb(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : NULL;
	const struct verb *v;

	if (!what) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(what, "--help") || !strcmp(what, "-h") || !strcmp(what, "help"))
		return finish(help(argc > 2 ? argv[2] : NULL));
	if (!strcmp(what, "--version") || !strcmp(what, "-V") || !strcmp(what, "version")) {
		printf("kerninst %s (driver ABI %d)\n", KI_VERSION, KI_ABI_VERSION);
		return finish(CLI_OK);
	}
	v = find_verb(what);
	if (!v)
		return unknown_verb(what);
	return finish(v->run(v, argc - 1, argv + 1));
}

int main(int argc, char **argv)
{
	int status = whole_take(&argc, &argv);

	if (status)
		return status;
	status = run_verb(argc, argv);
	whole_end();
	return status;
}
