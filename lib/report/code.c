// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "report/code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/vec.h"

#define ROWS 10 /* functions in a header */

#define GRAPH  17
#define MODULE 256 /* bytes of a name */

/* ---- as it is said ---- */

/* "" if it is not known. */
static void graph_text(const struct ki_record_function *fn, char text[GRAPH])
{
	*text = 0;
	if (fn->cfg)
		snprintf(text, GRAPH, "%016" PRIx64, fn->cfg);
}

void ki_report_code_print(const struct ki_report *c)
{
	const struct ki_record_origin *o = ki_recording_origin(c->r);
	size_t n, nmodules;
	const struct ki_record_function *fn = ki_recording_functions(c->r, &n);
	const struct ki_record_module *m = ki_recording_modules(c->r, &nmodules);
	char graph[GRAPH];

	if (*o->build)
		ki_text_print(c->out, "kernel: build %s\n", o->build);
	for (size_t i = 0; i < nmodules; i++)
		ki_text_print(c->out, "module %s: build %s\n", m[i].name,
			      *m[i].build ? m[i].build : "-");
	for (size_t i = 0; i < n && i < ROWS; i++) {
		graph_text(&fn[i], graph);
		ki_text_print(c->out, "function %s%s%s: graph %s\n", fn[i].module,
			      *fn[i].module ? ":" : "", fn[i].name, *graph ? graph : "not known");
	}
	if (n > ROWS)
		fprintf(c->out, "and %zu functions more: --json has all\n", n - ROWS);
}

static int json_module(const struct ki_report *c, const struct ki_record_module *m)
{
	struct ki_json j;

	ki_json_init(&j, c->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "module");
	ki_json_str(&j, "name", m->name);
	ki_json_str(&j, "build", m->build);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int json_function(const struct ki_report *c, const struct ki_record_function *fn)
{
	struct ki_json j;
	char graph[GRAPH];

	ki_json_init(&j, c->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "function");
	ki_json_str(&j, "name", fn->name);
	ki_json_str(&j, "module", fn->module);
	ki_json_hex(&j, "address", fn->addr);
	graph_text(fn, graph);
	if (*graph)
		ki_json_str(&j, "cfg", graph);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

int ki_report_code_json(const struct ki_report *c)
{
	size_t n, nmodules;
	const struct ki_record_function *fn = ki_recording_functions(c->r, &n);
	const struct ki_record_module *m = ki_recording_modules(c->r, &nmodules);
	int ret = 0;

	for (size_t i = 0; !ret && i < nmodules; i++)
		ret = json_module(c, &m[i]);
	for (size_t i = 0; !ret && i < n; i++)
		ret = json_function(c, &fn[i]);
	return ret;
}

/* ---- as it is now ---- */

/* What the symbols of that name are like, one after the other in struct now. */
struct named {
	size_t first, n;
};

/* Symbols that have the names of functions: those of each name once, however many functions have
   it. */
struct now {
	ki_vec(const struct ki_symbol *) syms;
	struct ki_record_function *is; /* each of them */
	struct named *of;	       /* of each function */
};

static int by_name(const void *a, const void *b)
{
	const struct ki_record_function *x = *(const struct ki_record_function *const *)a;
	const struct ki_record_function *y = *(const struct ki_record_function *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->module, y->module);
}

/* The module whose file it is; "": none. */
static void module_of(const char *image, char module[MODULE])
{
	const char *slash = strrchr(image, '/'), *name = slash ? slash + 1 : image;
	const char *end = strstr(name, ".ko");

	snprintf(module, MODULE, "%.*s", end && (!end[3] || end[3] == '.') ? (int)(end - name) : 0,
		 name);
	for (char *dash = module; (dash = strchr(dash, '-'));)
		*dash = '_';
}

/* image: the module that it is of; NULL: it is a kernel with its modules. */
static int add_named(struct now *now, const struct ki_target *t, const char *image,
		     const struct ki_record_function *fn, struct named *out)
{
	const struct ki_symbol *s = NULL;

	out->first = now->syms.n;
	if (image && strcmp(image, fn->module) != 0)
		return 0;
	while ((s = ki_target_symbol_named(t, image ? "" : fn->module, fn->name, s)))
		if (ki_vec_push(&now->syms, s))
			return -ENOMEM;
	out->n = now->syms.n - out->first;
	return 0;
}

/* Those whose graph is known, by name. */
static int add_all(struct now *now, const struct ki_target *t, const char *image,
		   const struct ki_record_function *fn, size_t n)
{
	const struct ki_record_function **order = calloc(n + 1, sizeof(*order));
	size_t known = 0;
	int ret = 0;

	now->of = calloc(n + 1, sizeof(*now->of));
	if (!order || !now->of)
		ret = -ENOMEM;
	for (size_t i = 0; !ret && i < n; i++)
		if (fn[i].cfg)
			order[known++] = &fn[i];
	if (known)
		qsort(order, known, sizeof(*order), by_name);
	for (size_t i = 0; !ret && i < known; i++) {
		struct named *own = &now->of[order[i] - fn];

		if (i && !by_name(&order[i - 1], &order[i]))
			*own = now->of[order[i - 1] - fn];
		else
			ret = add_named(now, t, image, order[i], own);
	}
	free(order);
	return ret;
}

static int look(struct now *now, struct ki_target *t, const char *file,
		const struct ki_record_function *fn, size_t n, struct ki_err *err)
{
	char module[MODULE];
	int ret;

	if (file)
		module_of(file, module);
	ret = add_all(now, t, file ? module : NULL, fn, n);
	now->is = calloc(now->syms.n + 1, sizeof(*now->is));
	if (ret || !now->is)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	return ki_record_functions_find(t, now->syms.v, now->syms.n, now->is, err);
}

enum verdict { GONE, OTHER, SAME, UNKNOWN, VERDICTS };

/* Of several of one name one that is as it was is enough. */
static enum verdict judge(const struct now *now, const struct ki_record_function *fn, size_t i)
{
	const struct named *of = &now->of[i];

	if (!fn->cfg)
		return UNKNOWN;
	for (size_t k = 0; k < of->n; k++)
		if (now->is[of->first + k].cfg == fn->cfg)
			return SAME;
	return of->n ? OTHER : GONE;
}

static void add_name(FILE *f, const struct ki_record_function *fn, size_t before)
{
	if (before < ROWS)
		fprintf(f, "%s%s%s%s", before ? ", " : ": ", fn->module, *fn->module ? ":" : "",
			fn->name);
	else if (before == ROWS)
		fprintf(f, ", ...");
}

/* What has become of each function; the names of those with another graph. */
static int judge_all(struct ki_recording *r, const struct now *now, struct ki_report_check *out,
		     struct ki_err *err)
{
	size_t n, count[VERDICTS] = {0}, len;
	const struct ki_record_function *fn = ki_recording_functions(r, &n);
	FILE *f = open_memstream(&out->names, &len);

	for (size_t i = 0; f && i < n; i++) {
		enum verdict v = judge(now, &fn[i], i);

		if (v == OTHER)
			add_name(f, &fn[i], count[OTHER]);
		count[v]++;
	}
	if (!f || fclose(f))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	out->functions = n - count[UNKNOWN];
	out->same = count[SAME];
	out->gone = count[GONE];
	out->other = count[OTHER];
	return 0;
}

int ki_report_check(struct ki_recording *r, struct ki_target *t, const char *image,
		    struct ki_report_check *out, struct ki_err *err)
{
	struct now now = {0};
	size_t n;
	const struct ki_record_function *fn = ki_recording_functions(r, &n);
	int ret;

	*out = (struct ki_report_check){0};
	ret = look(&now, t, image, fn, n, err);
	if (!ret)
		ret = judge_all(r, &now, out, err);
	ki_vec_free(&now.syms);
	free(now.of);
	free(now.is);
	return ret;
}

void ki_report_check_free(struct ki_report_check *c)
{
	free(c->names);
	c->names = NULL;
}
