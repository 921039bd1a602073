// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/callable.h"
#include "kerninst/catalog.h"
#include "out/json.h"
#include "out/table.h"

#define VALUE_LEN 4097 /* the kernel shows a page at most */

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

static int print_json(const struct ki_callable *c, size_t n, bool loaded, FILE *out)
{
	char text[VALUE_LEN];
	struct ki_json j;

	ki_json_init(&j, out);
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
			return -EIO;
	}
	return 0;
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

static int print_table(const struct ki_callables *list, bool loaded, const struct ki_page *page)
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
		return -ENOMEM;
	c = ki_callables_all(list, &n);
	for (size_t i = 0; i < n; i++)
		if (!c[i].is_value)
			add_row(t, &c[i], loaded);
	ret = ki_table_print(t, page->out, page->bold);
	ki_table_free(t);
	return ret;
}

/* What is longer than a line stands below its name. */
static void print_values(const struct ki_callables *list, FILE *out)
{
	char text[VALUE_LEN];
	const struct ki_callable *c;
	size_t n;

	c = ki_callables_all(list, &n);
	for (; n; n--, c++) {
		if (!c->is_value || c->version != KI_INSTRUMENT_ABI)
			continue;
		module_file(c->module, "parameters/", c->name, text, sizeof(text));
		fprintf(out, "\n%s:%s: %s\n%s\n", c->module, c->name, c->sentence, text);
	}
}

int ki_callables_show(const struct ki_callables *list, bool loaded, const struct ki_page *page)
{
	const struct ki_callable *all;
	size_t n;
	int ret;

	if (page->json) {
		all = ki_callables_all(list, &n);
		return print_json(all, n, loaded, page->out);
	}
	ret = print_table(list, loaded, page);
	if (!ret && page->verbose && loaded)
		print_values(list, page->out);
	return ret;
}
