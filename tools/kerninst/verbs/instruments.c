// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst instruments: what loaded modules, or one's file, have that expressions can call.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "verbs/instruments.h"
#include "out/json.h"
#include "out/table.h"

static const char usage[] =
	"Usage: kerninst instruments [-v] [--json] [FILE.ko]\n"
	"List the instruments of loaded modules, or those in a module's file: functions written in C that\n"
	"expressions can call. IN USE: by how many pieces of inserted code, of all sessions, that call\n"
	"something in the module; a piece is code at one place.\n\n"
	"  -v          also what the modules show of themselves, as it is now\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst build reads.c && kerninst load reads.ko\n"
	"  kerninst instruments\n"
	"  kerninst record 'vfs_read=read_size(arg0,arg2)' -- make\n"
	"  kerninst stat --if 'read_size(arg0,arg2) > 4096' vfs_read -- make\n"
	"  kerninst instruments -v\n";

/* The first bytes of a file below /sys/module/MODULE, without the last newline; "": none. */
static const char *module_file(const char *module, const char *dir, const char *file, char *to,
			       size_t size)
{
	char path[256];
	size_t n;
	FILE *f;

	*to = 0;
	snprintf(path, sizeof(path), "/sys/module/%s/%s%s", module, dir, file);
	f = fopen(path, "re");
	if (!f)
		return to;
	n = fread(to, 1, size - 1, f);
	fclose(f);
	to[n] = 0;
	if (n && to[n - 1] == '\n')
		to[n - 1] = 0;
	return to;
}

/* The driver holds a module once for each chunk, and once more while it says that it does. */
static unsigned long chunks_in(const char *module)
{
	char text[32], path[256];
	unsigned long held =
		strtoul(module_file(module, "", "refcnt", text, sizeof(text)), NULL, 10);

	snprintf(path, sizeof(path), "/sys/module/%s/holders/kerninst", module);
	return held && !access(path, F_OK) ? held - 1 : held;
}

static int print_json(const struct ki_callable *c, size_t n, bool loaded)
{
	char text[INSTRUMENT_VALUE_LEN];
	struct ki_json j;

	ki_json_init(&j, stdout);
	for (; n; n--, c++) {
		ki_json_open(&j, NULL, '{');
		ki_json_str(&j, "type", c->is_value ? "value" : "instrument");
		ki_json_str(&j, "name", c->name);
		ki_json_str(&j, "module", c->module);
		ki_json_u64(&j, "version", c->version);
		ki_json_str(&j, "text", c->sentence);
		if (!c->is_value) {
			ki_json_str(&j, "prototype", c->prototype);
			ki_json_str(&j, "records", c->records);
		}
		if (loaded && !c->is_value) {
			snprintf(text, sizeof(text), "%lu", chunks_in(c->module));
			ki_json_str(&j, "chunks", text);
		} else if (loaded)
			ki_json_str(
				&j, "value",
				module_file(c->module, "parameters/", c->name, text, sizeof(text)));
		ki_json_close(&j);
		if (ki_json_end_line(&j))
			return cli_unwritten("output");
	}
	return CLI_OK;
}

static void add_row(struct ki_table *t, const struct ki_callable *c, bool loaded)
{
	unsigned long chunks;

	ki_table_cell(t, "%s", c->name);
	ki_table_cell(t, "%s", c->module);
	if (loaded) {
		chunks = chunks_in(c->module);
		ki_table_cell(t, chunks == 1 ? "%lu chunk" : "%lu chunks", chunks);
	}
	if (c->version != KI_INSTRUMENT_ABI) {
		ki_table_cell(t, "-");
		ki_table_cell(t, "not usable: version %u of the interface, not %d", c->version,
			      KI_INSTRUMENT_ABI);
		return;
	}
	ki_table_cell(t, "%s", c->prototype);
	ki_table_cell(t, "%s%s%s%s", c->sentence, *c->records ? " [records: " : "", c->records,
		      *c->records ? "]" : "");
}

int instruments_print(const struct ki_callables *list, bool loaded)
{
	static const struct ki_column columns[] = {{"INSTRUMENT", KI_ALIGN_LEFT, 0},
						   {"MODULE", KI_ALIGN_LEFT, 0},
						   {"IN USE", KI_ALIGN_RIGHT, 0},
						   {"PARAMETERS", KI_ALIGN_LEFT, 0},
						   {"MEANING", KI_ALIGN_LEFT, 0}};
	static const struct ki_column of_file[] = {{"INSTRUMENT", KI_ALIGN_LEFT, 0},
						   {"MODULE", KI_ALIGN_LEFT, 0},
						   {"PARAMETERS", KI_ALIGN_LEFT, 0},
						   {"MEANING", KI_ALIGN_LEFT, 0}};
	const struct ki_callable *c;
	struct ki_table *t;
	size_t n;
	int ret;

	if (ki_table_new(&t, loaded ? columns : of_file, loaded ? 5 : 4))
		return cli_no_memory();
	c = ki_callables_all(list, &n);
	for (size_t i = 0; i < n; i++)
		if (!c[i].is_value)
			add_row(t, &c[i], loaded);
	ret = ki_table_print(t, stdout, cli_bold(stdout));
	ki_table_free(t);
	return ret ? cli_unwritten("output") : CLI_OK;
}

/* What is longer than a line stands below its name. */
static void print_values(const struct ki_callables *list)
{
	char text[INSTRUMENT_VALUE_LEN];
	const struct ki_callable *c;
	size_t n;

	c = ki_callables_all(list, &n);
	for (; n; n--, c++) {
		if (!c->is_value || c->version != KI_INSTRUMENT_ABI)
			continue;
		module_file(c->module, "parameters/", c->name, text, sizeof(text));
		printf("\n%s:%s: %s\n%s\n", c->module, c->name, c->sentence, text);
	}
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	bool json = false, verbose = false;
	const struct ki_callable *all;
	struct ki_callables *list;
	struct ki_err err = {0};
	const char *file;
	size_t n;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		if (c != 'j' && c != 'v')
			return cli_other_option(self, c, argv);
		json |= c == 'j';
		verbose |= c == 'v';
	}
	if (optind + 1 < argc)
		return cli_misuse(self, "one file at most");
	file = argv[optind];
	if (ki_callables_read(file, &list, &err))
		return cli_fail(&err);
	all = ki_callables_all(list, &n);
	ret = json ? print_json(all, n, !file) : instruments_print(list, !file);
	if (!ret && verbose && !json && !file)
		print_values(list);
	ki_callables_free(list);
	return ret;
}

const struct verb verb_instruments = {
	.name = "instruments",
	.summary = "functions of modules that expressions can call",
	.usage = usage,
	.run = run,
};
