// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst disas: the instructions of functions, as they were or as they stand now.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "kerninst/listing.h"
#include "open.h"
#include "select.h"

static const char usage[] =
	"Usage: kerninst disas [OPTION...] FUNCTION...\n"
	"Show the instructions of a function, block by block, and what must not be moved.\n"
	"FUNCTION is [MODULE:]NAME (a glob, too), NAME+OFFSET or an ADDRESS: from there on; of a\n"
	"process with PID/ before it.\n\n"
	"      --orig             the original code: what stands there without us (the default)\n"
	"      --live             what stands there now: lines that differ begin with '*' and\n"
	"                         say what they displace\n"
	"      --regs             the registers and flags that are free before each instruction:\n"
	"                         nobody reads their value any more (analyses all functions)\n"
	"      --bytes            the bytes of each instruction\n"
	"      --intel            Intel syntax (the default)\n"
	"      --att              AT&T syntax\n"
	"      --json             one object per function\n" OPEN_USAGE
	"  -h, --help             this text\n\n"
	"Jumps inside the function lead to +OFFSET. A word behind ';' is the reason why the\n"
	"instruction must stay where it is: kerninst explain TAG; or 'fixup', it has a row in the\n"
	"exception table, or 'bug', a row in the bug table: these may be displaced.\n\n"
	"Examples:\n"
	"  kerninst disas vfs_read\n"
	"  kerninst disas --bytes --live vfs_read+0x31\n"
	"  kerninst disas --regs --image vmlinux do_sys_openat2\n"
	"  kerninst disas --json 'ext4:ext4_file_*' | jq -r '.instructions[].text'\n";

struct disas {
	struct open_options open;
	bool live, regs, bytes, att, json;
	struct ki_target *t;
	struct ki_program *program; /* with regs */
};

static int find_registers(const struct disas *d, const struct ki_function *fn, ki_regset **out,
			  struct ki_err *err)
{
	if (!d->program)
		return 0;
	*out = calloc(fn->ninsns, sizeof(**out));
	if (!*out)
		return ki_err_set(err, -ENOMEM, fn->start, "%s: out of memory", fn->symbol->name);
	return ki_program_live(d->program, fn, *out, err);
}

static int show(const struct disas *d, const struct ki_selected *s, bool first)
{
	struct ki_page page = cli_page();
	struct ki_listing view = {0};
	ki_regset *registers = NULL;
	struct ki_function *fn;
	struct ki_err err = {0};
	int ret;

	page.json = d->json;
	page.verbose = d->bytes;
	if (ki_function_analyze(d->t, s->sym, &fn, &err))
		return cli_fail(&err);
	ret = ki_listing_new(&view, fn, s->from, d->live, d->att ? KI_SYNTAX_ATT : KI_SYNTAX_INTEL,
			     &err);
	if (!ret)
		ret = find_registers(d, fn, &registers, &err);
	if (ret) {
		ret = cli_fail(&err);
	} else {
		fputs(first || d->json ? "" : "\n", stdout);
		ki_listing_show(&view, registers, &page);
	}
	free(registers);
	ki_listing_free(&view);
	ki_function_free(fn);
	return ret;
}

static int show_all(struct disas *d, const struct verb *self, char **args, int n)
{
	ki_selection functions = {0};
	int ret = select_functions(d->t, self, args, n, true, &functions);

	if (!ret && d->regs)
		ret = open_program(d->t, NULL, false, &d->program);
	for (size_t i = 0; !ret && i < functions.n && !ferror(stdout); i++)
		ret = show(d, &functions.v[i], i == 0);
	ki_vec_free(&functions);
	ki_program_free(d->program);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct disas d = {0};
	const struct ki_option rows[] = {{"orig", 0, cli_no, &d.live}, {"live", 0, NULL, &d.live},
					 {"regs", 0, NULL, &d.regs},   {"bytes", 0, NULL, &d.bytes},
					 {"intel", 0, cli_no, &d.att}, {"att", 0, NULL, &d.att},
					 {"json", 0, NULL, &d.json},   OPEN_ROWS(d.open)};
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind == argc)
		return cli_misuse(self, "no FUNCTION is given");
	if (d.live && d.open.image)
		return cli_misuse(self, "--live: %s is a file and does not run", d.open.image);
	ret = open_process_prefix(&d.open, self, argv + optind, argc - optind);
	if (!ret)
		ret = open_or_fail(&d.open, &d.t);
	if (!ret)
		ret = show_all(&d, self, argv + optind, argc - optind);
	ki_target_free(d.t);
	return ret;
}

const struct verb verb_disas = {
	.name = "disas",
	.summary = "the instructions of a function, what is free in it and what must stay",
	.usage = usage,
	.run = run,
};
