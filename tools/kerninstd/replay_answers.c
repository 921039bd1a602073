// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "openmetrics.h"
#include "replay.h"

static void answer(struct reply *reply, json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	if (!text) {
		reply_no_memory(reply);
		return;
	}
	reply->status = 200;
	reply->type = TYPE_JSON;
	text_str(&reply->body, text);
	free(text);
}

/* The list of a module, made if it is new. */
static json_t *module_list(json_t *modules, const char *name)
{
	json_t *m;
	size_t i;

	json_array_foreach(modules, i, m) if (!strcmp(json_string_value(json_object_get(m, "name")),
						      name)) return m;
	m = json_pack("{s:s, s:[], s:[]}", "name", name, "names", "addr");
	json_array_append_new(modules, m);
	return m;
}

static void add_name(json_t *modules, const char *module, const char *name, const char *addr)
{
	json_t *m = module_list(modules, module), *known;
	size_t i;

	json_array_foreach(json_object_get(m, "names"), i,
			   known) if (!strcmp(json_string_value(known), name)) return;
	json_array_append_new(json_object_get(m, "names"), json_string(name));
	json_array_append_new(json_object_get(m, "addr"), json_string(addr));
}

/* "fuse:fuse_read:exit" of fuse_read: "fuse". */
static void module_of(const struct replay_curve *c, const char *function, char module[64])
{
	const char *at = strstr(c->point, function);

	*module = '\0';
	if (at > c->point && at[-1] == ':' && at - c->point <= 64)
		snprintf(module, 64, "%.*s", (int)(at - c->point - 1), c->point);
}

/* What code and curves name. */
static json_t *make_functions(struct replay *r)
{
	json_t *modules = json_array(), *code;
	const char *key, *name;
	char module[64];

	json_object_foreach(r->code, key, code)
	{
		const char *m = json_string_value(json_object_get(code, "module"));
		const char *a = json_string_value(json_object_get(code, "addr"));

		add_name(modules, m ? m : "", key, a ? a : "0x0");
	}
	for (size_t i = 0; i < r->curves.n; i++) {
		name = json_string_value(json_object_get(r->curves.v[i].row, "function"));
		if (!name)
			continue;
		module_of(&r->curves.v[i], name, module);
		add_name(modules, module, name, "0x0");
	}
	return json_pack("{s:o}", "modules", modules);
}

void replay_functions(struct source *s, const char *process, struct reply *reply)
{
	struct replay *r = (struct replay *)(void *)s;

	if (*process) {
		reply_error(reply, 409, "REPLAY", "a recording has no processes to look at");
		return;
	}
	if (!r->functions)
		r->functions = make_functions(r);
	answer(reply, r->functions);
}

void replay_function(struct source *s, const char *name, struct reply *reply)
{
	struct replay *r = (struct replay *)(void *)s;
	json_t *code = json_object_get(r->code, name);

	if (code)
		answer(reply, code);
	else
		reply_error(reply, 404, "NOT_RECORDED", "%s: its code is not in the recording",
			    name);
}

static json_t *inserted_row(const struct client *c, const struct replay_curve *k, double since)
{
	return json_pack("{s:s, s:f, s:s, s:s, s:s, s:n, s:n, s:n}", "client", c->id, "since",
			 engine_now() - since, "metric", k->metric, "point", k->point, "predicate",
			 k->predicate, "hits", "cost_instructions", "share");
}

void replay_inserted(struct source *s, struct client *mine, struct reply *reply)
{
	struct replay *r = (struct replay *)(void *)s;
	json_t *rows = json_array(), *own = json_array(), *all;

	for (struct client *c = r->engine->clients.first; c; c = c->next) {
		const struct seat *seat = c->own;

		for (size_t i = 0; seat && !c->hidden && i < r->curves.n; i++) {
			if (!seat->asked[i])
				continue;
			if (c == mine)
				json_array_append_new(
					own, json_integer((json_int_t)json_array_size(rows)));
			json_array_append_new(rows,
					      inserted_row(c, &r->curves.v[i], seat->since[i]));
		}
	}
	all = json_pack("{s:o, s:i, s:i, s:i, s:i, s:o}", "rows", rows, "windows", 0, "heap_used",
			0, "heap_size", 0, "sessions", 0, "mine", own);
	answer(reply, all);
	json_decref(all);
}

struct wanted_curve {
	const char *metric, *point, *predicate;
	bool each;
	int cpu;
};

static bool is_it(const struct replay_curve *k, const struct wanted_curve *w)
{
	return !strcmp(k->metric, w->metric) && !strcmp(k->point, w->point) &&
	       !strcmp(k->predicate, w->predicate) && (w->each ? k->cpu >= 0 : k->cpu == w->cpu);
}

static void add_one(struct replay *r, struct seat *seat, json_t *asked, json_t *answers)
{
	json_t *cpu = json_object_get(asked, "cpu");
	struct wanted_curve w = {
		.metric = json_string_value(json_object_get(asked, "metric")) ?: "",
		.point = json_string_value(json_object_get(asked, "point")) ?: "",
		.predicate = json_string_value(json_object_get(asked, "predicate")) ?: "",
		.each = !strcmp(json_string_value(cpu) ?: "", "each"),
		.cpu = json_is_integer(cpu) ? (int)json_integer_value(cpu) : -1,
	};
	bool found = false;

	for (size_t i = 0; i < r->curves.n && (w.each || !found); i++) {
		if (!is_it(&r->curves.v[i], &w))
			continue;
		found = true;
		if (!seat->asked[i])
			seat->since[i] = engine_now();
		seat->has[i] = seat->asked[i] = true;
		json_array_append(answers, r->curves.v[i].row);
	}
	if (!found)
		json_array_append_new(answers, json_pack("{s:s, s:s, s:{s:s, s:s}}", "metric",
							 w.metric, "point", w.point, "refused",
							 "reason", "NOT_RECORDED", "message",
							 "the recording has no such curve"));
}

void replay_add(struct source *s, struct client *c, json_t *curves, struct reply *reply)
{
	struct replay *r = (struct replay *)(void *)s;
	json_t *answers = json_array(), *asked, *all;
	size_t i;

	json_array_foreach(curves, i, asked) add_one(r, c->own, asked, answers);
	all = json_pack("{s:o}", "curves", answers);
	answer(reply, all);
	json_decref(all);
}

static const char *member(json_t *o, const char *name)
{
	const char *v = json_string_value(json_object_get(o, name));

	return v ? v : "";
}

static const char *help_of(const struct replay *r, const char *metric)
{
	json_t *m;
	size_t i;

	json_array_foreach(r->metrics, i,
			   m) if (!strcmp(member(m, "name"), metric)) return member(m, "text");
	return "";
}

void replay_openmetrics(struct source *s, bool open, struct reply *reply)
{
	struct replay *r = (struct replay *)(void *)s;
	struct openmetrics_row *rows = calloc(r->curves.n + 1, sizeof(*rows));
	char(*modules)[64] = calloc(r->curves.n + 1, sizeof(*modules));
	const struct seat *seat = NULL;
	size_t n = 0;

	for (struct client *c = r->engine->clients.first; c; c = c->next)
		seat = c->hidden && c->own ? c->own : seat;
	for (size_t i = 0; seat && rows && modules && i < r->curves.n; i++) {
		const struct replay_curve *k = &r->curves.v[i];
		const double *totals = seat->totals + i * OPENMETRICS_BUCKETS;
		const char *form = member(k->row, "form"), *at;

		if (!seat->has[i])
			continue;
		module_of(k, member(k->row, "function"), modules[i]);
		at = strstr(k->point, member(k->row, "function"));
		at = at ? at + strlen(member(k->row, "function")) : "";
		rows[n++] = (struct openmetrics_row){k->metric,
						     help_of(r, k->metric),
						     member(k->row, "unit"),
						     form,
						     member(k->row, "function"),
						     modules[i],
						     *at == ':' ? at + 1 : at,
						     k->predicate,
						     k->cpu,
						     *totals,
						     0,
						     strcmp(form, "histogram") ? NULL : totals};
	}
	openmetrics_reply(rows, n, open, reply);
	free(rows);
	free(modules);
}
