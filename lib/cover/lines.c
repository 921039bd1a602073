// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which function of a coverage is where in a file with DWARF.
 *
 * Everything of a section has moved by the same distance since the file was linked. The functions
 * whose name is there once say by which; then each function is the symbol of its name that this
 * distance brings to its address. If they do not agree, the file is that of another build.
 */
#include "cover/lines.h"

#include <errno.h>
#include <string.h>

#include "cover/coverage.h"
#include "util/search.h"

#define FILLER_MAX 64 /* bytes between functions are less, but for a few */

struct place {
	const struct ki_line_table *table; /* NULL: in no file */
	uint64_t addr;			   /* there */
};

struct ki_cover_lines {
	const struct ki_coverage *c;
	const struct ki_cover_function **by_name;
	struct place *places; /* one for each function */
	ki_vec(struct ki_line_table *) tables;
};

int ki_cover_lines_new(const struct ki_coverage *c, struct ki_cover_lines **out, struct ki_err *err)
{
	struct ki_cover_lines *l = calloc(1, sizeof(*l));

	if (l) {
		l->c = c;
		l->by_name = ki_coverage_by_name(c);
		l->places = calloc(c->nfunctions + 1, sizeof(*l->places));
	}
	if (!l || !l->by_name || !l->places) {
		ki_cover_lines_free(l);
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	}
	*out = l;
	return 0;
}

void ki_cover_lines_free(struct ki_cover_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->tables.n; i++) {
		ki_line_table_free(l->tables.v[i]);
		free(l->tables.v[i]);
	}
	ki_vec_free(&l->tables);
	free(l->by_name);
	free(l->places);
	free(l);
}

/* How far a section has moved: what most of its functions say. */
struct section {
	uint64_t distance;
	size_t votes; /* while it is found: of this distance more than of others */
};

struct fit {
	struct ki_cover_lines *l;
	const struct ki_line_table *t;
	struct section *sections;
	size_t first, end; /* the module's functions in by_name */
	size_t asked, agreed;
};

/* Symbols of a name, from *v on. */
static size_t named(const struct ki_line_table *t, const char *name,
		    const struct ki_line_symbol **v)
{
	size_t low = KI_FIRST(i, t->symbols.n, strcmp(t->symbols.v[i].name, name) >= 0);
	size_t n = 0;

	*v = t->symbols.v + low;
	while (low + n < t->symbols.n && !strcmp((*v)[n].name, name))
		n++;
	return n;
}

/* What follows the function is no more than filler. */
static bool same_size(const struct ki_cover_function *f, const struct ki_line_symbol *s)
{
	return !s->size || (s->size <= f->size && f->size - s->size < FILLER_MAX);
}

/* The symbol of a function whose name is there once on both sides; NULL. */
static const struct ki_line_symbol *only(const struct fit *x, size_t i)
{
	const struct ki_cover_function *const *f = x->l->by_name + i;
	const struct ki_line_symbol *s;

	if ((i > x->first && !strcmp(f[-1]->name, f[0]->name)) ||
	    (i + 1 < x->end && !strcmp(f[1]->name, f[0]->name)))
		return NULL;
	return named(x->t, f[0]->name, &s) == 1 ? s : NULL;
}

static void vote(struct fit *x)
{
	for (size_t i = x->first; i < x->end; i++) {
		const struct ki_line_symbol *s = only(x, i);
		struct section *sec = s ? &x->sections[s->section] : NULL;
		uint64_t distance = s ? x->l->by_name[i]->addr - s->addr : 0;

		if (sec && !sec->votes)
			sec->distance = distance;
		if (sec)
			sec->votes += sec->distance == distance ? 1 : (size_t)-1;
	}
	for (size_t i = x->first; i < x->end; i++) {
		const struct ki_line_symbol *s = only(x, i);

		x->asked += s != NULL;
		x->agreed += s && same_size(x->l->by_name[i], s) &&
			     x->sections[s->section].distance == x->l->by_name[i]->addr - s->addr;
	}
}

static void place_symbols(struct fit *x)
{
	for (size_t i = x->first; i < x->end; i++) {
		const struct ki_cover_function *f = x->l->by_name[i];
		const struct ki_line_symbol *s;
		size_t n = named(x->t, f->name, &s);

		for (size_t k = 0; k < n; k++)
			if (x->sections[s[k].section].distance == f->addr - s[k].addr)
				x->l->places[f - x->l->c->functions] =
					(struct place){.table = x->t, .addr = s[k].addr};
	}
}

/* "xfs" of "/lib/modules/xfs.ko.debug". */
static void module_of_path(const char *path, char *buf, size_t len)
{
	const char *slash = strrchr(path, '/');
	char *dot;

	snprintf(buf, len, "%s", slash ? slash + 1 : path);
	dot = strchr(buf, '.');
	if (dot)
		*dot = '\0';
	for (char *c = buf; *c; c++)
		*c = *c == '-' ? '_' : *c;
}

/* The functions that the file may be about: of the module of its name, else of the kernel. Equal
   names of modules are one string. */
static const char *find_module(struct fit *x, const char *path)
{
	const struct ki_cover_function **v = x->l->by_name;
	const char *wanted = NULL;
	size_t n = x->l->c->nfunctions;
	char name[128];

	module_of_path(path, name, sizeof(name));
	for (size_t i = 0; i < n; i++)
		if (v[i]->module && !strcmp(v[i]->module, name))
			wanted = v[i]->module;
	for (x->first = 0; x->first < n && v[x->first]->module != wanted; x->first++)
		;
	for (x->end = x->first; x->end < n && v[x->end]->module == wanted; x->end++)
		;
	return wanted;
}

static int fit_table(struct ki_cover_lines *l, const struct ki_line_table *t, const char *path,
		     struct ki_err *err)
{
	struct fit x = {.l = l, .t = t};
	const char *module = find_module(&x, path);

	x.sections = calloc((size_t)t->nsections + 1, sizeof(*x.sections));
	if (!x.sections)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	vote(&x);
	if (x.agreed && x.agreed * 10 >= x.asked * 9)
		place_symbols(&x);
	free(x.sections);
	if (x.agreed && x.agreed * 10 >= x.asked * 9)
		return 0;
	return ki_err_set(err, -EINVAL, 0,
			  "%s: does not fit: of %zu functions of %s that it has too, %zu are where "
			  "they should be, and of their size; it is another build's",
			  path, x.asked, module ? module : "the kernel", x.agreed);
}

int ki_cover_lines_add(struct ki_cover_lines *l, const char *path, struct ki_err *err)
{
	struct ki_line_table *t = malloc(sizeof(*t));
	int ret;

	if (!t)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = ki_line_table_read(path, t, err);
	if (!ret && ki_vec_push(&l->tables, t))
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
	if (ret) {
		ki_line_table_free(t);
		free(t);
		return ret;
	}
	return fit_table(l, t, path, err);
}

/* The first row that begins at addr or after. */
static size_t row_from(const struct ki_line_table *t, uint64_t addr)
{
	return KI_FIRST(i, t->rows.n, t->rows.v[i].addr >= addr);
}

const struct ki_line_row *ki_cover_lines_rows(const struct ki_cover_lines *l, size_t function,
					      uint32_t off, uint32_t len, size_t *n)
{
	const struct place *p = &l->places[function];
	uint64_t start = p->addr + off;
	size_t first, end;

	*n = 0;
	if (!p->table)
		return NULL;
	first = row_from(p->table, start);
	end = row_from(p->table, start + len);
	if (first && p->table->rows.v[first - 1].addr + p->table->rows.v[first - 1].len > start)
		first--;
	*n = end - first;
	return p->table->rows.v + first;
}

const struct ki_line_row *ki_cover_lines_at(const struct ki_cover_lines *l, size_t function,
					    uint32_t off)
{
	size_t n;
	const struct ki_line_row *rows = ki_cover_lines_rows(l, function, off, 1, &n);

	return n ? &rows[n - 1] : NULL;
}

const char *ki_cover_lines_function(const struct ki_cover_lines *l, size_t function,
				    unsigned int *line)
{
	size_t n;
	const struct ki_line_row *rows = ki_cover_lines_rows(l, function, 0, 1, &n);

	if (!n)
		return NULL;
	if (line)
		*line = rows->line;
	return rows->file;
}
