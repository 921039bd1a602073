// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "live_inside.h"
#include "kerninst/points.h"

void asked_refuse(struct asked *w, const char *reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->message, sizeof(w->message), fmt, ap);
	va_end(ap);
	snprintf(w->reason, sizeof(w->reason), "%s", reason);
	w->refused = true;
}

void asked_refuse_err(struct asked *w, const struct ki_err *err)
{
	const char *hint = ki_reason_hint(err->reason);

	asked_refuse(w, reply_tag(err), "%.160s%s%.70s", err->msg, *hint ? "; " : "", hint);
}

static void read_cpu(struct asked *w, unsigned int cpus, json_t *o)
{
	json_t *cpu = json_object_get(o, "cpu");
	const char *word = json_string_value(cpu);

	w->cpu = KI_ALL_CPUS;
	if (!cpu || (word && !strcmp(word, "all")))
		return;
	if (word && !strcmp(word, "each"))
		w->cpu = ASKED_EACH;
	else if (json_is_integer(cpu) && json_integer_value(cpu) >= 0 &&
		 json_integer_value(cpu) < cpus)
		w->cpu = (int)json_integer_value(cpu);
	else
		asked_refuse(w, "NO_CPU", "cpu is \"all\", \"each\" or a number below %u", cpus);
}

static void read_condition(struct asked *w, json_t *o)
{
	struct ki_err err = {0};

	w->condition = json_string_value(json_object_get(o, "predicate"));
	if (!w->condition || !*w->condition)
		return;
	if (!ki_predicate_new(w->condition, &w->when, &err))
		return;
	asked_refuse(w, err.reason ? reply_tag(&err) : "BAD_PREDICATE", "%s", err.msg);
}

static void read_point(struct asked *w, struct ki_target *t)
{
	struct ki_err err = {0};
	const char *why;

	if (ki_pointspec_parse(w->behind, &w->spec, &why)) {
		asked_refuse(w, "BAD_POINT", "'%.60s': %s", w->point, why);
		return;
	}
	switch (ki_pointspec_symbol(t, &w->spec, &w->sym, &err)) {
	case 0:
		return;
	case -E2BIG:
		asked_refuse(w, "MANY_POINTS", "%.100s names many functions: a curve is of one",
			     w->point);
		return;
	case -ENOENT:
		asked_refuse(w, ki_reason_tag(KI_R_NO_SYMBOL), "%.230s", err.msg);
		return;
	default:
		asked_refuse(w, ki_reason_tag(err.reason), "%s", ki_reason_text(err.reason));
	}
}

void asked_begin(struct asked *w, json_t *o)
{
	w->name = json_string_value(json_object_get(o, "metric"));
	w->point = json_string_value(json_object_get(o, "point"));
	w->metric = w->name ? ki_metric_find(w->name) : NULL;
	w->name = w->name ? w->name : "";
	if (!w->metric || !w->point) {
		w->point = w->point ? w->point : "";
		asked_refuse(w, w->metric ? "BAD_POINT" : "NO_METRIC", "%s",
			     w->metric ? "no point is given" : "there is no such metric");
		return;
	}
	w->pid = ki_pointspec_process(w->point, &w->behind);
}

void asked_read(struct asked *w, struct ki_target *t, unsigned int cpus, json_t *o)
{
	ki_predicate_free(w->when);
	w->when = NULL;
	read_cpu(w, cpus, o);
	if (w->pid && w->cpu != KI_ALL_CPUS)
		asked_refuse(w, "NO_CPU", "of a process cpu is \"all\"");
	if (!w->refused)
		read_condition(w, o);
	if (!w->refused)
		read_point(w, t);
}

void asked_find_point(struct asked *w, const struct ki_function *fn)
{
	if (fn->reason) {
		asked_refuse(w, ki_reason_tag(fn->reason), "%s", ki_reason_text(fn->reason));
		return;
	}
	switch (ki_pointspec_point(&w->spec, fn, &w->at)) {
	case 0:
		return;
	case -E2BIG:
		asked_refuse(w, "MANY_POINTS", "%.100s names many points: a curve is of one",
			     w->point);
		return;
	default:
		asked_refuse(w, ki_reason_tag(KI_R_NOT_BOUNDARY),
			     "%.100s: the function has no such place", w->point);
	}
}
