// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A file's line tables and symbols, by libdw. Relocatable files (modules) are laid out and their
 * DWARF is relocated by it. Nothing is looked for elsewhere, least of all in the network.
 */
#include <errno.h>
#include <string.h>

#include "cover/lines.h"

void ki_line_table_free(struct ki_line_table *t)
{
	ki_vec_free(&t->rows);
	ki_vec_free(&t->symbols);
	ki_strings_free(&t->strings);
}

#ifdef HAVE_DW

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* Take "x/./y" and "x/z/../y" for "x/y". In place. */
static void tidy(char *path)
{
	char *out = path, *in = path;

	while (*in) {
		size_t n = strcspn(in, "/");
		char *before = out;

		while (before > path && before[-1] != '/')
			before--;
		if (n == 1 && *in == '.') {
			in += in[1] ? 2 : 1;
			continue;
		}
		if (n == 2 && !strncmp(in, "..", 2) && out > path + 1) {
			for (out--; out > path && out[-1] != '/'; out--)
				;
			in += in[2] ? 3 : 2;
			continue;
		}
		memmove(out, in, n);
		out += n;
		in += n;
		if (*in)
			*out++ = *in++;
	}
	*out = '\0';
}

static const char *keep_path(struct ki_line_table *t, const char *path)
{
	const char *kept;
	char *own;

	if (!strstr(path, "./"))
		return ki_strings_keep(&t->strings, path);
	own = strdup(path);
	if (!own)
		return NULL;
	tidy(own);
	kept = ki_strings_keep(&t->strings, own);
	free(own);
	return kept;
}

/* A row of libdw's: 0; 1: it only ends a sequence; -1: it cannot be read. */
static int get_row(Dwarf_Line *line, Dwarf_Addr bias, struct ki_line_row *row)
{
	int number;
	bool stmt, end;
	Dwarf_Addr addr;

	if (dwarf_lineaddr(line, &addr) || dwarf_lineno(line, &number) ||
	    dwarf_linebeginstatement(line, &stmt) || dwarf_lineendsequence(line, &end))
		return -1;
	*row = (struct ki_line_row){
		.addr = addr + bias, .line = (uint32_t)number & INT32_MAX, .stmt = stmt};
	return end;
}

/* The rows of one unit. Its files are few, and come one after the other. */
static int add_unit(struct ki_line_table *t, Dwarf_Die *unit, Dwarf_Addr bias)
{
	struct ki_line_row row, next;
	const char *last = NULL, *kept = NULL;
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return 0; /* has none */
	for (size_t i = 0; i + 1 < n; i++) {
		const char *path = dwarf_linesrc(dwarf_onesrcline(lines, i), NULL, NULL);

		if (get_row(dwarf_onesrcline(lines, i), bias, &row) || !path || !row.line ||
		    get_row(dwarf_onesrcline(lines, i + 1), bias, &next) < 0 ||
		    next.addr - row.addr > UINT32_MAX)
			continue;
		if (path != last)
			kept = keep_path(t, path);
		last = path;
		row.file = kept;
		row.len = (uint32_t)(next.addr - row.addr);
		if (!kept || ki_vec_push(&t->rows, row))
			return -ENOMEM;
	}
	return 0;
}

static int add_symbols(struct ki_line_table *t, Dwfl_Module *mod)
{
	int n = dwfl_module_getsymtab(mod);

	for (int i = 1; i < n; i++) {
		struct ki_line_symbol s = {0};
		GElf_Word section;
		GElf_Sym sym;
		const char *name =
			dwfl_module_getsym_info(mod, i, &sym, &s.addr, &section, NULL, NULL);

		if (!name || !*name || GELF_ST_TYPE(sym.st_info) > STT_FUNC ||
		    GELF_ST_TYPE(sym.st_info) == STT_OBJECT || section == SHN_UNDEF ||
		    section >= SHN_LORESERVE)
			continue;
		s.section = section;
		s.size = sym.st_size;
		s.name = ki_strings_keep(&t->strings, name);
		if (section >= t->nsections)
			t->nsections = section + 1;
		if (!s.name || ki_vec_push(&t->symbols, s))
			return -ENOMEM;
	}
	return 0;
}

static int row_order(const void *a, const void *b)
{
	const struct ki_line_row *ra = a, *rb = b;

	if (ra->addr != rb->addr)
		return ra->addr < rb->addr ? -1 : 1;
	return (ra->len > 0) - (rb->len > 0);
}

static int symbol_order(const void *a, const void *b)
{
	const struct ki_line_symbol *sa = a, *sb = b;
	int order = strcmp(sa->name, sb->name);

	return order ? order : sa->addr < sb->addr ? -1 : sa->addr > sb->addr;
}

static int read_module(const char *path, struct ki_line_table *t, Dwfl_Module *mod,
		       struct ki_err *err)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	int ret = add_symbols(t, mod);

	while (!ret && (unit = dwfl_module_nextcu(mod, unit, &bias)))
		ret = add_unit(t, unit, bias);
	if (ret)
		return ki_err_set(err, ret, 0, "out of memory");
	if (!t->rows.n || !t->symbols.n)
		return ki_err_set(err, -EINVAL, 0, "%s: no DWARF lines in it, or no symbols", path);
	qsort(t->rows.v, t->rows.n, sizeof(*t->rows.v), row_order);
	qsort(t->symbols.v, t->symbols.n, sizeof(*t->symbols.v), symbol_order);
	return 0;
}

/* Where libdw would look for a file's debug information: nowhere. */
static int find_nothing(Dwfl_Module *mod, void **data, const char *module, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)mod, (void)data, (void)module, (void)base, (void)file, (void)link, (void)crc,
		(void)path;
	return -1;
}

int ki_line_table_read(const char *path, struct ki_line_table *t, struct ki_err *err)
{
	static const Dwfl_Callbacks calls = {.find_elf = dwfl_build_id_find_elf,
					     .find_debuginfo = find_nothing,
					     .section_address = dwfl_offline_section_address};
	Dwfl *dwfl = dwfl_begin(&calls);
	Dwfl_Module *mod;
	int ret;

	*t = (struct ki_line_table){0};
	if (!dwfl)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	mod = dwfl_report_offline(dwfl, path, path, -1);
	if (mod && !dwfl_report_end(dwfl, NULL, NULL))
		ret = read_module(path, t, mod, err);
	else
		ret = ki_err_set(err, -EINVAL, 0, "%s: %s", path, dwfl_errmsg(-1));
	dwfl_end(dwfl);
	return ret;
}

#else

int ki_line_table_read(const char *path, struct ki_line_table *t, struct ki_err *err)
{
	*t = (struct ki_line_table){0};
	return ki_err_set(err, -ENOTSUP, 0, "%s: built without libdw, so no source lines", path);
}

#endif
