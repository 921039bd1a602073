// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst cfg: a function's control-flow graph, to look at.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kerninst/cfg_view.h"
#include "cli.h"
#include "kerninst/match.h"
#include "open.h"

static const char usage[] =
	"Usage: kerninst cfg [OPTION...] FUNCTION\n"
	"Show the control-flow graph of a function: its blocks, how they lead to each other, loops,\n"
	"dominators, and where the function is left.\n\n"
	"FUNCTION is [MODULE:]NAME, NAME@0xADDRESS, or NAME+OFFSET, NAME:block/N or 0xADDRESS, which\n"
	"mark a block; of a process with PID/ before it.\n\n"
	"  -f, --format text|dot|svg|json  a table, a graph for graphviz, a picture, one object\n"
	"                                  [text; what the name of the output file ends in]\n"
	"  -o, --output FILE      write it there, not to standard output\n" OPEN_USAGE
	"  -h, --help             this text\n\n"
	"The picture shows in green where a branch goes when it is taken, in grey where it falls\n"
	"through, in blue jumps, in violet jump tables, in dashed orange exceptions. Thick lines go\n"
	"back; the darker a block, the deeper it is in loops.\n\n"
	"Examples:\n"
	"  kerninst cfg vfs_read\n"
	"  kerninst cfg -o tcp.svg tcp_v4_rcv\n"
	"  kerninst cfg -f dot do_sys_openat2 | dot -Tpdf > open.pdf\n"
	"  kerninst cfg --image vmlinux -f json vfs_read | jq '.loops'\n";

struct options {
	const char *function, *output;
	struct open_options open;
	ki_cfg_writer *write; /* NULL: not said */
	struct ki_pointspec spec;
};

static const struct {
	const char *name;
	ki_cfg_writer *write;
} formats[] = {{"text", ki_cfg_write_text},
	       {"dot", ki_cfg_write_dot},
	       {"svg", ki_cfg_write_svg},
	       {"json", ki_cfg_write_json}};

static ki_cfg_writer *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return formats[i].write;
	return NULL;
}

static int take_format(const void *self, const char *name, void *to)
{
	ki_cfg_writer **write = to;

	*write = find_format(name);
	return *write ? CLI_OK : cli_misuse(self, "no format '%s'; text, dot, svg or json", name);
}

static void choose_format(struct options *o)
{
	const char *dot = o->output ? strrchr(o->output, '.') : NULL;

	if (!o->write && dot)
		o->write = find_format(dot + 1);
	if (!o->write)
		o->write = ki_cfg_write_text;
}

static int parse_function(const struct verb *self, struct options *o, int n, char **args)
{
	const char *why;

	if (n != 1)
		return cli_misuse(self, n ? "one function at a time" : "no function is given");
	o->function = args[0];
	if (ki_pointspec_parse(args[0], &o->spec, &why))
		return cli_misuse(self, "'%s': %s", args[0], why);
	if (o->spec.suffix == KI_POINTSPEC_ENTRY || o->spec.suffix == KI_POINTSPEC_EXIT)
		return cli_misuse(self, "'%s': a function or a block is wanted", args[0]);
	if (ki_pointspec_is_glob(o->spec.function))
		return cli_misuse(self, "'%s': one function is wanted; kerninst list shows names",
				  args[0]);
	return CLI_OK;
}

/* CLI_OK; *done: there is nothing more to do, whatever is returned. */
static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	const struct ki_option rows[] = {{"format", 'f', take_format, &o->write},
					 {"output", 'o', cli_text, &o->output},
					 OPEN_ROWS(o->open)};
	int ret;

	*done = true;
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	ret = open_process_prefix(&o->open, self, argv + optind, argc - optind);
	if (!ret)
		ret = parse_function(self, o, argc - optind, argv + optind);
	choose_format(o);
	*done = ret != CLI_OK;
	return ret;
}

static int find_function(const struct options *o, struct ki_target *t, const struct ki_symbol **sym)
{
	struct ki_err err = {0};
	size_t others;
	int ret = ki_match_first(t, &o->spec, o->function, sym, &others, &err);

	if (ret == -ENOENT)
		return cli_nothing(t, &o->spec);
	if (ret)
		return cli_error("%s", err.msg);
	if (others)
		cli_warn("%zu more of the name %s; this is %s@0x%" PRIx64, others, (*sym)->name,
			 (*sym)->name, (*sym)->addr);
	return CLI_OK;
}

static int write_view(const struct options *o, const struct ki_cfg_view *v)
{
	FILE *out = o->output ? fopen(o->output, "we") : stdout;
	struct ki_err err = {0};
	bool failed;
	int ret;

	if (!out)
		return cli_error("%s: %s", o->output, strerror(errno));
	ret = o->write(v, out, &err) ? cli_fail(&err) : CLI_OK;
	if (out == stdout)
		return ret;
	failed = ferror(out);
	if ((fclose(out) || failed) && !ret)
		ret = cli_error("%s: writing it failed", o->output);
	return ret;
}

static int show(const struct options *o, struct ki_function *fn)
{
	struct ki_cfg_view v = {0};
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (!fn->nblocks) {
		ki_err_reason(&err, fn->reason ? fn->reason : KI_R_NO_CODE, fn->start, "%s",
			      fn->symbol->name);
		return cli_fail(&err);
	}
	if (ki_cfg_view_new(&v, fn, &err))
		ret = cli_fail(&err);
	v.bold = !o->output && cli_bold(stdout);
	if (!ret)
		ret = ki_cfg_view_mark(&v, &o->spec, o->function, &err) ? cli_fail(&err) : CLI_OK;
	if (!ret)
		ret = write_view(o, &v);
	ki_cfg_view_free(&v);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {0};
	struct ki_target *t = NULL;
	const struct ki_symbol *sym;
	struct ki_function *fn = NULL;
	struct ki_err err = {0};
	bool done;
	int ret = parse_options(self, argc, argv, &o, &done);

	if (done)
		return ret;
	ret = open_or_fail(&o.open, &t);
	if (!ret)
		ret = find_function(&o, t, &sym);
	if (!ret && ki_function_analyze(t, sym, &fn, &err))
		ret = cli_fail(&err);
	if (!ret)
		ret = show(&o, fn);
	ki_function_free(fn);
	ki_target_free(t);
	return ret;
}

const struct verb verb_cfg = {
	.name = "cfg",
	.summary = "a function's blocks, edges and loops: a table, a picture",
	.usage = usage,
	.run = run,
};
