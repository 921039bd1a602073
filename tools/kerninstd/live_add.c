// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the curves asked for to a batch of curves that is in the kernel. Functions are analysed once
 * each, in the order of their addresses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live_inside.h"

static int by_symbol(const void *a, const void *b)
{
	const struct asked *x = *(struct asked *const *)a, *y = *(struct asked *const *)b;

	if (x->sym->addr != y->sym->addr)
		return x->sym->addr < y->sym->addr ? -1 : 1;
	return (x > y) - (x < y);
}

static void plan_asked(struct adding *a, struct asked *w, const struct ki_function *fn,
		       const struct ki_spans *spans)
{
	struct ki_err err = {0};

	asked_find_point(w, fn);
	if (!w->refused &&
	    ki_measure_add(a->m, w->metric,
			   &(struct ki_measured_at){fn, spans, &w->at, w->spec.order, w->when},
			   &w->number, &err))
		asked_refuse_err(w, &err);
}

/* All curves asked for of one function; they come in the order of the symbols. */
static int take_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct adding *a = arg;
	struct ki_spans spans = {0};
	struct ki_err err = {0};
	bool bad = ki_spans_find(fn, &spans, &err);

	for (; a->at < a->n && a->sorted[a->at]->sym->addr == a->syms[i]->addr; a->at++) {
		if (bad)
			asked_refuse_err(a->sorted[a->at], &err);
		else
			plan_asked(a, a->sorted[a->at], fn, &spans);
	}
	ki_spans_free(&spans);
	return 0;
}

/* A few functions are not worth reading all text for. */
#define FEW 16

static int analyze_few(struct adding *a, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < a->nsyms; i++) {
		struct ki_function *fn;

		ret = ki_function_analyze(a->session->t, a->syms[i], &fn, err);
		if (ret)
			break;
		ret = take_function(a, i, fn);
		ki_function_free(fn);
	}
	return ret;
}

static int analyze(struct adding *a, struct ki_err *err)
{
	if (a->n)
		qsort(a->sorted, a->n, sizeof(struct asked *), by_symbol);
	for (size_t i = 0; i < a->n; i++)
		if (!i || a->sorted[i]->sym->addr != a->sorted[i - 1]->sym->addr)
			a->syms[a->nsyms++] = a->sorted[i]->sym;
	if (a->nsyms <= FEW)
		return analyze_few(a, err);
	return ki_functions_analyze(
		a->session->t,
		&(struct ki_functions_job){
			.syms = a->syms, .n = a->nsyms, .take = take_function, .arg = a},
		err);
}

int adding_begin(struct adding *a, struct live *l, size_t room)
{
	*a = (struct adding){.live = l, .room = room};
	a->rows = calloc(room + 1, sizeof(*a->rows));
	a->sorted = calloc(room + 1, sizeof(*a->sorted));
	a->syms = calloc(room + 1, sizeof(*a->syms));
	return a->rows && a->sorted && a->syms ? 0 : -ENOMEM;
}

void adding_take(struct adding *a, struct asked *w)
{
	if (a->nrows == a->room)
		return;
	a->rows[a->nrows++] = w;
	if (!w->refused)
		a->sorted[a->n++] = w;
}

void adding_end(struct adding *a)
{
	free(a->rows);
	free(a->sorted);
	free(a->syms);
}

int adding_measure(struct adding *a, struct ki_err *err)
{
	bool each_cpu = false;
	int ret = ki_measure_new(a->session->t, &a->m, err);

	for (size_t i = 0; i < a->n; i++)
		each_cpu |= a->sorted[i]->cpu != KI_ALL_CPUS;

	if (ret)
		return ret;
	if (each_cpu)
		ki_measure_each_cpu(a->m);
	ki_measure_meter(a->m);
	ret = analyze(a, err);
	if (!ret)
		ret = ki_measure_start(a->m, err);
	for (size_t i = 0; !ret && i < a->n; i++) {
		unsigned int reason = a->sorted[i]->refused
					      ? KI_R_OK
					      : ki_measure_refusal(a->m, a->sorted[i]->number);

		if (reason)
			asked_refuse(a->sorted[i], ki_reason_tag(reason), "%s",
				     ki_reason_text(reason));
	}
	return ret;
}

/* A session that takes more, or a new one. */
static struct session *get_session(struct owner *o, struct ki_err *err)
{
	struct session *s = o->sessions;
	bool changed;

	while (s && s->pid)
		s = s->next;
	if (s && s->curves < SESSION_CURVES)
		return ki_target_refresh(s->t, &changed, err) ? NULL : s;
	s = calloc(1, sizeof(*s));
	if (!s || ki_target_new_live(&s->t, err)) {
		free(s);
		ki_err_set(err, -ENOMEM, 0, "out of memory");
		return NULL;
	}
	s->next = o->sessions;
	o->sessions = s;
	return s;
}

/* What ki_point_format writes after the function: "block/3"; "entry" for whole functions. */
static char *where_of(const struct asked *w)
{
	char name[KI_POINT_NAME_LEN];

	if (w->at.kind == KI_POINT_ENTRY ||
	    ki_point_format(&w->at, w->sym->addr, w->spec.order, name))
		return strdup("entry");
	return strdup(*name == ':' ? name + 1 : name);
}

/* A process's has its number before it, as in points. */
static char *module_of(const struct asked *w)
{
	char *name;

	if (!w->pid)
		return strdup(w->sym->module);
	return asprintf(&name, "%d/%s", (int)w->pid, w->sym->module) < 0 ? NULL : name;
}

static int push_curve(struct live *l, struct batch *b, struct asked *w, uint32_t id, int cpu)
{
	struct curve c = {
		.id = id ? id : l->next_id,
		.metric = w->metric,
		.point = strdup(w->point),
		.function = strdup(w->sym->name),
		.module = module_of(w),
		.where = where_of(w),
		.predicate = strdup(w->condition ? w->condition : ""),
		.cpu = cpu,
		.number = w->number,
		.first = true,
	};

	if (!c.point || !c.function || !c.module || !c.where || !c.predicate ||
	    ki_vec_push(&b->curves, c)) {
		curve_free(&c);
		return -ENOMEM;
	}
	l->next_id += !id;
	b->left++;
	return 0;
}

/* One, or one for each CPU. */
static int push_curves(struct live *l, struct batch *b, struct asked *w)
{
	const uint32_t id = w->id;
	const bool each = w->cpu == ASKED_EACH;
	int ret = 0;

	if (!id)
		w->id = l->next_id;
	for (unsigned int cpu = 0; !ret && cpu < (each ? l->cpus : 1); cpu++)
		ret = push_curve(l, b, w, id, each ? (int)cpu : w->cpu);
	return ret;
}

static void mark_first(struct batch *b)
{
	bool *seen = calloc(ki_measure_parts(b->m) + 1, sizeof(*seen));

	for (size_t i = 0; seen && i < b->curves.n; i++) {
		uint32_t part = ki_measure_part(b->m, b->curves.v[i].number);

		b->curves.v[i].first = !seen[part];
		seen[part] = true;
	}
	free(seen);
}

/* The curves of what has been measured since ki_measure_start. */
static struct batch *make_batch(struct adding *a)
{
	struct batch *b = calloc(1, sizeof(*b));
	int ret = b ? 0 : -ENOMEM;

	if (!b)
		return NULL;
	b->m = a->m;
	b->session = a->session;
	b->since = b->looked = engine_now();
	for (size_t i = 0; !ret && i < a->nrows; i++)
		if (!a->rows[i]->refused)
			ret = push_curves(a->live, b, a->rows[i]);
	mark_first(b);
	return b;
}

void adding_keep(struct adding *a, struct client *c)
{
	struct owner *o = c->own;
	struct batch *b = make_batch(a);

	if (!b || !b->left) {
		ki_measure_free(a->m);
		free(b);
		return;
	}
	live_sample(&a->live->source, c, engine_now()); /* of those that were there before */
	b->next = o->batches;
	o->batches = b;
	o->curves += b->left;
	a->session->batches++;
}

static int install_kernel(struct adding *a, struct client *c, struct asked *w, json_t *curves,
			  struct ki_err *err)
{
	json_t *o;
	size_t i;
	int ret;

	a->session = get_session(c->own, err);
	if (!a->session)
		return err->code;
	/* Their symbols are those of the session's own table. */
	json_array_foreach(curves, i, o)
	{
		if (w[i].refused || w[i].pid)
			continue;
		asked_read(&w[i], a->session->t, a->live->cpus, o);
		adding_take(a, &w[i]);
	}
	if (!a->n)
		return 0;
	ret = adding_measure(a, err);
	a->session->curves += a->n;
	return ret;
}

static bool is_of_kernel(const struct asked *w)
{
	return !w->refused && !w->pid;
}

static void live_install_kernel(struct live *l, struct client *c, struct asked *w, json_t *curves)
{
	struct ki_err err = {0};
	size_t n = json_array_size(curves);
	struct adding a;
	int ret = adding_begin(&a, l, n);

	if (ret)
		ki_err_set(&err, ret, 0, "out of memory");
	else
		ret = install_kernel(&a, c, w, curves, &err);
	for (size_t i = 0; ret && i < n; i++)
		if (is_of_kernel(&w[i]))
			asked_refuse_err(&w[i], &err);
	if (a.m)
		adding_keep(&a, c);
	adding_end(&a);
}

void live_install(struct live *l, struct client *c, struct asked *w, json_t *curves)
{
	size_t n = json_array_size(curves), kernel = 0;

	for (size_t i = 0; i < n; i++) {
		asked_begin(&w[i], json_array_get(curves, i));
		kernel += is_of_kernel(&w[i]);
	}
	if (kernel)
		live_install_kernel(l, c, w, curves);
	/* Each process with all its curves, once. */
	for (size_t i = 0; i < n; i++)
		if (w[i].pid && !w[i].refused && !w[i].id)
			live_install_process(l, c, w, curves, w[i].pid);
	for (size_t i = 0; i < n; i++)
		ki_predicate_free(w[i].when);
}

static void put_curve(struct ki_json *j, const struct curve *c)
{
	static const char *const forms[KI_FORMS] = {
		[KI_FORM_TOTAL] = "total",
		[KI_FORM_MEAN] = "mean",
		[KI_FORM_HISTOGRAM] = "histogram",
	};

	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "id", c->id);
	ki_json_str(j, "metric", c->metric->name);
	ki_json_str(j, "point", c->point);
	ki_json_str(j, "function", c->function);
	ki_json_str(j, "unit", ki_unit_name((enum ki_unit)c->metric->unit));
	ki_json_str(j, "form", forms[c->metric->form]);
	if (c->cpu < 0)
		ki_json_str(j, "cpu", "all");
	else
		ki_json_u64(j, "cpu", (uint64_t)c->cpu);
	ki_json_str(j, "predicate", c->predicate);
	ki_json_close(j);
}

/* The curves of what was asked for have numbers one after the other, in one batch. */
static void put_asked(const struct live *l, const struct owner *o, const struct asked *w,
		      struct ki_json *j)
{
	uint32_t n = w->cpu == ASKED_EACH ? l->cpus : 1, found = 0;

	for (const struct batch *b = o->batches; b && !w->refused && !found; b = b->next)
		for (size_t i = 0; i < b->curves.n; i++)
			if (b->curves.v[i].id >= w->id && b->curves.v[i].id - w->id < n) {
				put_curve(j, &b->curves.v[i]);
				found++;
			}
	if (!w->refused)
		return;
	ki_json_open(j, NULL, '{');
	ki_json_str(j, "metric", w->name);
	ki_json_str(j, "point", w->point);
	reply_refused(j, "refused", w->reason, w->message);
	ki_json_close(j);
}

static void answer(struct live *l, const struct owner *o, const struct asked *w, size_t n,
		   struct reply *r)
{
	struct doc d;

	if (doc_begin(&d)) {
		reply_no_memory(r);
		return;
	}
	ki_json_open(&d.j, NULL, '{');
	ki_json_open(&d.j, "curves", '[');
	for (size_t i = 0; i < n; i++)
		put_asked(l, o, &w[i], &d.j);
	ki_json_close(&d.j);
	ki_json_close(&d.j);
	doc_reply(&d, r);
}

/* How many curves that can become. */
static size_t count(json_t *curves, unsigned int cpus)
{
	const char *cpu;
	size_t i, n = 0;
	json_t *o;

	json_array_foreach(curves, i, o)
	{
		cpu = json_string_value(json_object_get(o, "cpu"));
		n += cpu && !strcmp(cpu, "each") ? cpus : 1;
	}
	return n;
}

void live_add(struct source *s, struct client *c, json_t *curves, struct reply *r)
{
	struct live *l = live_of(s);
	struct owner *o = c->own;
	size_t n = json_array_size(curves);
	struct asked *w;

	if (o->curves + count(curves, l->cpus) > CURVES_MAX) {
		reply_error(r, 409, "TOO_MANY_CURVES", "a client has at most %d curves",
			    CURVES_MAX);
		return;
	}
	w = calloc(n + 1, sizeof(*w));
	if (!w) {
		reply_no_memory(r);
		return;
	}
	live_install(l, c, w, curves);
	answer(l, o, w, n, r);
	free(w);
}
