// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst cfg: a function's control-flow graph, to look at.
 */
#include <errno.h>
#include <getopt.h>
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

static int take_option(const struct verb *self, int c, void *arg)
{
	struct options *o = arg;
	switch (c) {
	case 'f':
		o->write = find_format(optarg);
		if (!o->write)
			return cli_misuse(self, "no format '%s'; text, dot, svg or json", optarg);
		break;
	case 'o':
		o->output = optarg;
		break;
	default:
		open_option(&o->open, c, optarg);
	}
	return CLI_OK;
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
	static const struct option options[] = {{"format", required_argument, NULL, 'f'},
						{"output", required_argument, NULL, 'o'},
						OPEN_OPTIONS,
						{"help", no_argument, NULL, 'h'},
						{0}};
	const struct cli_syntax syntax = {":f:o:h", options, take_option, o};
	int ret;

	*done = true;
	if (!cli_take_options(self, argc, argv, &syntax, &ret))
		return ret;
	ret = open_process_prefix(&o->open, self, argv + optind, argc - optind);
	if (!ret)
		ret = parse_function(self, o, argc - optind, argv + optind);
	choose_format(o);
	*done = ret != CLI_OK;
	return ret;
}

struct found {
	const struct ki_symbol *sym;
	size_t others; /* at other addresses */
};

static int take_first(void *ctx, const struct ki_symbol *sym)
{
	struct found *f = ctx;

	if (!f->sym)
		f->sym = sym;
	else
		f->others += sym->addr != f->sym->addr;
	return CLI_OK;
}

static int find_function(const struct options *o, struct ki_target *t, const struct ki_symbol **sym)
{
	struct found f = {0};
	size_t count;

	if (o->spec.suffix == KI_POINTSPEC_ADDRESS) {
		*sym = ki_target_symbol_at(t, o->spec.number);
		if (!*sym)
			return cli_error("%s: %s; %s", o->function, ki_reason_text(KI_R_NOT_TEXT),
					 ki_reason_hint(KI_R_NOT_TEXT));
		return CLI_OK;
	}
	ki_match_each(t, &o->spec, take_first, &f, &count);
	if (!f.sym)
		return cli_nothing(t, &o->spec);
	if (f.others)
		cli_warn("%zu more of the name %s; this is %s@0x%" PRIx64, f.others, f.sym->name,
			 f.sym->name, f.sym->addr);
	*sym = f.sym;
	return CLI_OK;
}

static int mark_block(const struct options *o, struct ki_cfg_view *v)
{
	const struct ki_function *fn = v->fn;
	const struct ki_block *b;
	uint64_t addr;

	switch (o->spec.suffix) {
	case KI_POINTSPEC_BLOCK:
		if (o->spec.number >= fn->nblocks)
			return cli_error("%s: no such block: %s has %u, numbered from 0",
					 o->function, fn->symbol->name, fn->nblocks);
		v->mark = (uint32_t)o->spec.number;
		return CLI_OK;
	case KI_POINTSPEC_OFFSET:
	case KI_POINTSPEC_ADDRESS:
		addr = o->spec.number + (o->spec.suffix == KI_POINTSPEC_OFFSET ? fn->start : 0);
		b = ki_function_block_at(fn, addr);
		if (!b)
			return cli_error("%s: no block covers it; %s has 0x%" PRIx64 " bytes",
					 o->function, fn->symbol->name, ki_cfg_view_bytes(v));
		v->mark = (uint32_t)(b - fn->blocks);
		return CLI_OK;
	default:
		return CLI_OK;
	}
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
	if (ki_cfg_view_make(&v, fn, &err))
		ret = cli_fail(&err);
	v.bold = !o->output && cli_bold(stdout);
	if (!ret)
		ret = mark_block(o, &v);
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
	ki_target_close(t);
	return ret;
}

const struct verb verb_cfg = {
	.name = "cfg",
	.summary = "a function's blocks, edges and loops: a table, a picture",
	.usage = usage,
	.run = run,
};
