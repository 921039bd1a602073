// SPDX-License-Identifier: GPL-2.0-only
/*
 * Curves that are in the kernel: what they say, and how they go.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live_inside.h"
#include "openmetrics.h"
#include "util/search.h"

void curve_free(struct curve *c)
{
	free(c->point);
	free(c->function);
	free(c->module);
	free(c->where);
	free(c->predicate);
}

static void put_buckets(struct text *t, const struct batch *b, const struct ki_reading *to,
			const struct curve *c)
{
	uint64_t buckets[KI_LOG2_BUCKETS];

	ki_reading_buckets_cpu(b->m, b->last, to, c->number, c->cpu, buckets);
	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++) {
		text_put(t, i ? "," : "[", 1);
		text_u64(t, buckets[i]);
	}
	text_put(t, "]", 1);
}

static bool is_count(const struct ki_metric *m)
{
	return m->form == KI_FORM_TOTAL && m->unit == KI_UNIT_COUNT;
}

static void put_value(struct text *t, const struct batch *b, const struct ki_reading *to,
		      const struct curve *c)
{
	text_put(t, "\"", 1);
	text_u64(t, c->id);
	text_put(t, "\":", 2);
	if (c->metric->form == KI_FORM_HISTOGRAM)
		put_buckets(t, b, to, c);
	else if (is_count(c->metric))
		text_u64(t, ki_reading_count(b->m, b->last, to, c->number, c->cpu));
	else
		text_double(t, ki_reading_value(b->m, b->last, to, c->number, c->cpu));
}

/* What came in a batch since its last reading. Without a reading nothing is known. */
static void put_batch(struct text *t, struct batch *b, size_t *values)
{
	struct ki_reading *to = NULL;
	bool read = !ki_measure_read(b->m, &to, NULL);

	for (size_t i = 0; i < b->curves.n; i++) {
		if (b->curves.v[i].gone)
			continue;
		if ((*values)++)
			text_put(t, ",", 1);
		if (read)
			put_value(t, b, to, &b->curves.v[i]);
		else
			text_printf(t, "\"%u\":null", b->curves.v[i].id);
	}
	if (!read)
		return;
	ki_reading_free(b->last);
	b->last = to;
}

static void next_due(struct client *c, double now)
{
	double ms = c->interval_ms;

	c->due += ms / 1e3;
	if (c->due <= now)
		c->due = now + ms / 1e3;
}

void live_sample(struct source *s, struct client *c, double now)
{
	struct live *l = live_of(s);
	struct owner *o = c->own;
	struct text t = {0};
	size_t values = 0;

	if (c->hidden) {
		c->due = INFINITY;
		return;
	}
	text_printf(&t, "{\"from\":%.6f,\"to\":%.6f,\"values\":{", c->from - c->began,
		    now - c->began);
	for (struct batch *b = o->batches; b; b = b->next)
		put_batch(&t, b, &values);
	text_str(&t, "}}");
	if (values && !t.failed)
		client_say(&l->engine->clients, c, "sample", t.v, t.n);
	text_free(&t);
	c->from = now;
	if (c->due <= now)
		next_due(c, now);
}

void batch_free(struct live *l, struct owner *o, struct batch *b)
{
	struct session *s = b->session, **at = &o->sessions;
	struct batch **bt = &o->batches;

	while (*bt != b)
		bt = &(*bt)->next;
	*bt = b->next;
	o->curves -= b->left;
	for (size_t i = 0; i < b->curves.n; i++)
		curve_free(&b->curves.v[i]);
	ki_vec_free(&b->curves);
	ki_reading_free(b->last);
	ki_measure_free(b->m);
	free(b);
	s->batches--;
	if (!s->pid)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	live_process_forget(l, s->pid);
	ki_target_free(s->t);
	free(s);
}

/* Batches without curves, sessions that are used up. */
static void sweep(struct live *l, struct owner *o, bool all)
{
	struct session **at = &o->sessions, *s;

	for (struct batch *next, *b = o->batches; b; b = next) {
		next = b->next;
		if (!b->left || all)
			batch_free(l, o, b);
	}
	while ((s = *at)) {
		if (s->batches || (s->curves < SESSION_CURVES && !all)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		ki_target_free(s->t);
		free(s);
	}
}

void live_take_out(struct live *l, struct client *c)
{
	sweep(l, c->own, true);
}

/* Code that no curve has any more is paused for good. */
static void rest_unused(struct batch *b)
{
	uint32_t n = ki_measure_parts(b->m);
	bool *used = calloc(n + 1, sizeof(*used));

	for (size_t i = 0; used && i < b->curves.n; i++)
		if (!b->curves.v[i].gone)
			used[ki_measure_part(b->m, b->curves.v[i].number)] = true;
	for (size_t i = 0; used && i < b->curves.n; i++) {
		uint32_t part = ki_measure_part(b->m, b->curves.v[i].number);

		if (used[part])
			continue;
		ki_measure_pause(b->m, part, true, true);
		used[part] = true;
	}
	free(used);
}

static bool is_asked_for(const json_int_t *ids, size_t n, json_int_t id)
{
	size_t low = KI_FIRST(i, n, ids[i] >= id);

	return low < n && ids[low] == id;
}

static void remove_from(struct owner *o, struct batch *b, const json_int_t *ids, size_t n,
			struct ki_err *err)
{
	size_t before = b->left;

	for (size_t i = 0; i < b->curves.n; i++) {
		struct curve *c = &b->curves.v[i];

		if (c->gone || !is_asked_for(ids, n, c->id))
			continue;
		c->gone = true;
		b->left--;
		o->curves--;
	}
	/* In a process what has no curve stays, as long as others are there. */
	if (!b->left || b->left == before || b->session->pid)
		return;
	rest_unused(b);
	ki_measure_update(b->m, err);
}

static int by_number(const void *a, const void *b)
{
	const json_int_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void live_remove(struct source *s, struct client *c, json_t *ids, struct reply *r)
{
	struct owner *o = c->own;
	size_t n = json_array_size(ids);
	json_int_t *v = calloc(n + 1, sizeof(*v));
	struct ki_err err = {0};

	if (!v) {
		reply_no_memory(r);
		return;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = json_integer_value(json_array_get(ids, i));
	if (n)
		qsort(v, n, sizeof(*v), by_number);
	live_sample(s, c, engine_now());
	for (struct batch *b = o->batches; b; b = b->next)
		remove_from(o, b, v, n, &err);
	sweep(live_of(s), o, false);
	free(v);
	if (err.code) {
		reply_error(r, 500, reply_tag(&err), "%s", err.msg);
		return;
	}
	r->status = 200;
	r->type = TYPE_JSON;
	text_str(&r->body, "{}\n");
}

/* ---- /metrics ---- */

struct exported {
	ki_vec(struct openmetrics_row) rows;
	ki_vec(double *) buckets;
};

static double *read_buckets(struct exported *x, const struct batch *b, const struct ki_reading *now,
			    const struct curve *c)
{
	uint64_t counts[KI_LOG2_BUCKETS];
	double *to = calloc(KI_LOG2_BUCKETS, sizeof(*to));

	ki_reading_buckets_cpu(b->m, NULL, now, c->number, c->cpu, counts);
	for (unsigned int i = 0; to && i < KI_LOG2_BUCKETS; i++)
		to[i] = (double)counts[i];
	if (to && ki_vec_push(&x->buckets, to)) {
		free(to);
		return NULL;
	}
	return to;
}

static void export_curve(struct exported *x, const struct batch *b, const struct ki_reading *now,
			 const struct curve *c)
{
	static const char *const forms[KI_FORMS] = {
		[KI_FORM_TOTAL] = "total",
		[KI_FORM_MEAN] = "mean",
		[KI_FORM_HISTOGRAM] = "histogram",
	};
	struct openmetrics_row row = {
		.metric = c->metric->name,
		.help = c->metric->text,
		.unit = ki_unit_name((enum ki_unit)c->metric->unit),
		.form = forms[c->metric->form],
		.function = c->function,
		.module = c->module,
		.point = c->where,
		.predicate = c->predicate,
		.cpu = c->cpu,
		.since = b->since,
	};

	if (c->metric->form == KI_FORM_HISTOGRAM) {
		row.buckets = read_buckets(x, b, now, c);
		if (!row.buckets)
			return;
	} else if (is_count(c->metric)) {
		row.value = (double)ki_reading_count(b->m, NULL, now, c->number, c->cpu);
	} else {
		row.value = ki_reading_value(b->m, NULL, now, c->number, c->cpu);
	}
	if (ki_vec_push(&x->rows, row))
		return;
}

void live_openmetrics(struct source *s, bool open, struct reply *r)
{
	struct exported x = {0};

	for (struct client *c = live_of(s)->engine->clients.first; c; c = c->next) {
		const struct owner *o = c->own;

		for (struct batch *b = o ? o->batches : NULL; b; b = b->next) {
			struct ki_reading *now;

			if (ki_measure_read(b->m, &now, NULL))
				continue;
			for (size_t i = 0; i < b->curves.n; i++)
				if (!b->curves.v[i].gone)
					export_curve(&x, b, now, &b->curves.v[i]);
			ki_reading_free(now);
		}
	}
	openmetrics_reply(x.rows.v, x.rows.n, open, r);
	for (size_t i = 0; i < x.buckets.n; i++)
		free(x.buckets.v[i]);
	ki_vec_free(&x.buckets);
	ki_vec_free(&x.rows);
}
