// SPDX-License-Identifier: GPL-2.0-only
#include "live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "live_inside.h"
#include "options.h"
#include "kerninst/sessions.h"
#include "kerninst/speed.h"

int live_info(struct live *l, struct ki_info *info)
{
	return ki_sessions_info(ki_target_fd(l->look), info);
}

static void info(struct source *s, struct ki_json *j)
{
	struct live *l = live_of(s);
	char driver[32];

	snprintf(driver, sizeof(driver), "interface %u", ki_target_info(l->look)->abi);
	ki_json_str(j, "kernel", l->release);
	ki_json_str(j, "driver", driver);
	ki_json_open(j, "cpus", '[');
	for (unsigned int i = 0; i < l->cpus; i++)
		ki_json_u64(j, NULL, i);
	ki_json_close(j);
}

static void put_metric(struct ki_json *j, const struct ki_metric *m)
{
	static const char *const forms[KI_FORMS] = {
		[KI_FORM_TOTAL] = "total",
		[KI_FORM_MEAN] = "mean",
		[KI_FORM_HISTOGRAM] = "histogram",
	};
	char derived[KI_METRIC_DERIVED];
	struct ki_err err = {0};

	ki_json_open(j, NULL, '{');
	ki_json_str(j, "name", m->name);
	ki_json_str(j, "unit", ki_unit_name((enum ki_unit)m->unit));
	ki_json_str(j, "form", forms[m->form]);
	ki_json_str(j, "text", m->text);
	ki_metric_derived(m, derived, sizeof(derived));
	ki_json_str(j, "derived", derived);
	ki_json_str(j, "code", m->code);
	ki_json_bool(j, "functions_only", m->lasts);
	if (ki_metric_check(m, &err) && err.reason)
		ki_json_str(j, "unsupported", err.msg);
	ki_json_close(j);
}

static void metrics(struct source *s, struct ki_json *j, const char *key)
{
	const struct ki_metric *m;

	(void)s;
	ki_json_open(j, key, '[');
	for (size_t i = 0; (m = ki_metric_at(i)); i++)
		put_metric(j, m);
	ki_json_close(j);
}

/* What is to be exported is measured for the daemon's own client. */
static int add_exports(struct live *l, struct client *c)
{
	json_t *curves = json_array();
	struct asked *w = calloc(l->exports.n + 1, sizeof(*w));

	for (size_t i = 0; i < l->exports.n; i++)
		json_array_append_new(curves,
				      json_pack("{s:s, s:s}", "metric", l->exports.v[i].metric,
						"point", l->exports.v[i].point));
	if (w && json_array_size(curves) == l->exports.n)
		live_install(l, c, w, curves);
	for (size_t i = 0; w && i < l->exports.n; i++)
		if (w[i].refused)
			complain("--export %s %s: %s [%s]", l->exports.v[i].metric,
				 l->exports.v[i].point, w[i].message, w[i].reason);
	free(w);
	json_decref(curves);
	return w ? 0 : -ENOMEM;
}

static int begin(struct source *s, struct client *c)
{
	struct live *l = live_of(s);

	c->own = calloc(1, sizeof(struct owner));
	if (!c->own)
		return -ENOMEM;
	c->from = c->began;
	c->due = c->began + c->interval_ms / 1e3;
	return c->hidden && l->exports.n ? add_exports(l, c) : 0;
}

static void end(struct source *s, struct client *c)
{
	live_take_out(live_of(s), c);
	free(c->own);
}

static void tell_gone(struct live *l, struct client *c)
{
	const struct owner *o = c->own;

	for (const struct batch *b = o->batches; b; b = b->next)
		for (size_t i = 0; i < b->curves.n; i++)
			if (!b->curves.v[i].gone)
				client_say_cleared(&l->engine->clients, c, b->curves.v[i].id);
}

static void clear(struct source *s)
{
	struct live *l = live_of(s);

	for (struct client *c = l->engine->clients.first; c; c = c->next) {
		if (!c->own)
			continue;
		live_sample(s, c, engine_now());
		tell_gone(l, c);
		live_take_out(l, c);
	}
}

static void close_live(struct source *s)
{
	struct live *l = live_of(s);

	live_known_end(l);
	live_process_forget(l, 0);
	text_free(&l->modules);
	ki_target_free(l->look);
	free(l);
}

int live_open(struct engine *e, const live_exports *exports, struct source **out,
	      struct ki_err *err)
{
	struct live *l = calloc(1, sizeof(*l));
	struct utsname u;
	int ret;

	if (!l)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = ki_target_new_live(&l->look, err);
	if (ret) {
		free(l);
		return ret;
	}
	l->engine = e;
	l->exports = *exports;
	l->next_id = 1;
	l->cpus = ki_target_info(l->look)->cpus;
	l->speed = ki_cpu_speed();
	uname(&u);
	snprintf(l->release, sizeof(l->release), "%s", u.release);
	l->source = (struct source){
		.info = info,
		.metrics = metrics,
		.functions = live_functions,
		.function = live_function,
		.inserted = live_inserted,
		.add = live_add,
		.remove = live_remove,
		.clear = clear,
		.openmetrics = live_openmetrics,
		.begin = begin,
		.end = end,
		.sample = live_sample,
		.close = close_live,
		.look_around = live_look_around,
		.processes = live_processes,
	};
	*out = &l->source;
	return 0;
}
