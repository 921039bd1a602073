// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each client hears the recording from its beginning. One more, which nobody reads, is there from
 * the start: what it has heard is what /metrics says.
 */
#include "replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "openmetrics.h"

struct replay_curve *replay_find(struct replay *r, json_int_t id)
{
	for (size_t i = 0; i < r->curves.n; i++)
		if (r->curves.v[i].id == id)
			return &r->curves.v[i];
	return NULL;
}

static struct replay *replay_of(struct source *s)
{
	return (struct replay *)(void *)s; /* it is the first member */
}

static void info(struct source *s, struct ki_json *j)
{
	struct replay *r = replay_of(s);
	json_t *cpus = json_object_get(r->info, "cpus"), *cpu;
	size_t i;

	ki_json_str(j, "kernel", json_string_value(json_object_get(r->info, "kernel")));
	ki_json_str(j, "driver", json_string_value(json_object_get(r->info, "driver")));
	ki_json_open(j, "cpus", '[');
	json_array_foreach(cpus, i, cpu) ki_json_u64(j, NULL, (uint64_t)json_integer_value(cpu));
	ki_json_close(j);
}

static void put_value(struct ki_json *j, const char *key, json_t *v)
{
	if (json_is_boolean(v))
		ki_json_bool(j, key, json_is_true(v));
	else if (json_is_number(v))
		ki_json_double(j, key, json_number_value(v));
	else
		ki_json_str(j, key, json_string_value(v));
}

static void metrics(struct source *s, struct ki_json *j, const char *key)
{
	json_t *m, *v;
	const char *name;
	size_t i;

	ki_json_open(j, key, '[');
	json_array_foreach(replay_of(s)->metrics, i, m)
	{
		ki_json_open(j, NULL, '{');
		json_object_foreach(m, name, v) put_value(j, name, v);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static int begin(struct source *s, struct client *c)
{
	struct replay *r = replay_of(s);
	struct seat *seat = calloc(1, sizeof(*seat));

	if (!seat)
		return -ENOMEM;
	seat->has = calloc(r->curves.n + 1, sizeof(*seat->has));
	seat->asked = calloc(r->curves.n + 1, sizeof(*seat->asked));
	seat->since = calloc(r->curves.n + 1, sizeof(*seat->since));
	if (c->hidden)
		seat->totals =
			calloc((r->curves.n + 1) * OPENMETRICS_BUCKETS, sizeof(*seat->totals));
	c->own = seat;
	c->due = c->began;
	return seat->has && seat->asked && seat->since ? 0 : -ENOMEM;
}

static void end(struct source *s, struct client *c)
{
	struct seat *seat = c->own;

	(void)s;
	free(seat->has);
	free(seat->asked);
	free(seat->since);
	free(seat->totals);
	free(seat);
}

/* Curves that come into being now. */
static void take_curves(struct replay *r, struct client *c, json_t *data)
{
	struct seat *seat = c->own;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(data, "curves"), i, row)
	{
		json_int_t id = json_integer_value(json_object_get(row, "id"));
		struct replay_curve *k = replay_find(r, id);

		if (!k || seat->has[k - r->curves.v])
			continue;
		seat->has[k - r->curves.v] = true;
	}
}

static void add_totals(struct replay *r, struct seat *seat, json_t *data)
{
	const char *id;
	json_t *v, *one;
	size_t k;

	json_object_foreach(json_object_get(data, "values"), id, v)
	{
		struct replay_curve *curve = replay_find(r, atoll(id));
		double *to;

		if (!curve)
			continue;
		to = seat->totals + (curve - r->curves.v) * OPENMETRICS_BUCKETS;
		if (json_is_number(v) &&
		    !strcmp(json_string_value(json_object_get(curve->row, "form")) ?: "", "mean"))
			*to = json_number_value(v); /* a mean is of the last sample */
		else if (json_is_number(v))
			*to += json_number_value(v);
		json_array_foreach(v, k, one) if (k < OPENMETRICS_BUCKETS) to[k] +=
			json_number_value(one);
	}
}

/* A sample without what the client has had taken out. */
static void say_without(struct replay *r, struct client *c, json_t *data)
{
	struct seat *seat = c->own;
	char id[32], *text;

	for (size_t i = 0; i < r->curves.n; i++) {
		snprintf(id, sizeof(id), "%lld", (long long)r->curves.v[i].id);
		if (!seat->has[i])
			json_object_del(json_object_get(data, "values"), id);
	}
	text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(12));
	if (text)
		client_say(&r->engine->clients, c, "sample", text, strlen(text));
	free(text);
}

static void play(struct replay *r, struct client *c, const struct replay_line *l)
{
	struct seat *seat = c->own;
	bool curves = !strcmp(l->event, "curves"), sample = !strcmp(l->event, "sample");
	json_t *data = NULL;

	if (curves || (sample && (seat->removed || seat->totals)))
		data = json_loadb(l->data, l->n, 0, NULL);
	if (data && curves && seat->totals)
		take_curves(r, c, data);
	if (data && sample && seat->totals)
		add_totals(r, seat, data);
	if (data && sample && seat->removed)
		say_without(r, c, data);
	else
		client_say(&r->engine->clients, c, l->event, l->data, l->n);
	json_decref(data);
}

static void sample(struct source *s, struct client *c, double now)
{
	struct replay *r = replay_of(s);
	struct seat *seat = c->own;
	double t = (now - c->began) * r->speed;

	while (seat->at < r->lines.n && r->lines.v[seat->at].t <= t)
		play(r, c, &r->lines.v[seat->at++]);
	if (seat->at < r->lines.n) {
		c->due = c->began + r->lines.v[seat->at].t / r->speed;
		return;
	}
	c->due = INFINITY;
	client_sayf(&r->engine->clients, c, "bye", "{\"why\":\"end of the recording\"}");
	client_end(&r->engine->clients, c);
}

static void remove_curves(struct source *s, struct client *c, json_t *ids, struct reply *reply)
{
	struct replay *r = replay_of(s);
	struct seat *seat = c->own;
	json_t *id;
	size_t i;

	json_array_foreach(ids, i, id)
	{
		struct replay_curve *k = replay_find(r, json_integer_value(id));

		if (!k || !seat->has[k - r->curves.v])
			continue;
		seat->has[k - r->curves.v] = seat->asked[k - r->curves.v] = false;
		seat->removed++;
	}
	reply->status = 200;
	reply->type = TYPE_JSON;
	text_str(&reply->body, "{}\n");
}

static void clear(struct source *s)
{
	struct replay *r = replay_of(s);

	for (struct client *c = r->engine->clients.first; c; c = c->next) {
		struct seat *seat = c->own;

		for (size_t i = 0; seat && !c->hidden && i < r->curves.n; i++) {
			if (seat->asked[i])
				client_say_cleared(&r->engine->clients, c,
						   (uint32_t)r->curves.v[i].id);
			seat->removed += seat->has[i];
			seat->has[i] = seat->asked[i] = false;
		}
	}
}

static void close_replay(struct source *s)
{
	replay_free(replay_of(s));
}

int replay_open(struct engine *e, const char *path, double speed, struct source **out,
		char why[256])
{
	struct replay *r = calloc(1, sizeof(*r));
	FILE *f = fopen(path, "re");
	int ret = -ENOMEM;

	if (!f) {
		ret = -errno;
		snprintf(why, 256, "%s", strerror(errno));
	} else if (r) {
		ret = replay_read(r, f, why);
	}
	if (f)
		fclose(f);
	if (ret) {
		if (r)
			replay_free(r);
		return ret;
	}
	r->engine = e;
	r->speed = speed;
	r->source = (struct source){
		.info = info,
		.metrics = metrics,
		.functions = replay_functions,
		.function = replay_function,
		.inserted = replay_inserted,
		.add = replay_add,
		.remove = remove_curves,
		.clear = clear,
		.openmetrics = replay_openmetrics,
		.begin = begin,
		.end = end,
		.sample = sample,
		.close = close_replay,
	};
	*out = &r->source;
	return 0;
}
