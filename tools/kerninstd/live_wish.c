// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "live_inside.h"
#include "kerninst/match.h"

void wish_refuse(struct wish *w, const char *reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->message, sizeof(w->message), fmt, ap);
	va_end(ap);
	snprintf(w->reason, sizeof(w->reason), "%s", reason);
	w->refused = true;
}

void wish_refuse_err(struct wish *w, const struct ki_err *err)
{
	const char *hint = ki_reason_hint(err->reason);

	wish_refuse(w, reply_tag(err), "%.160s%s%.70s", err->msg, *hint ? "; " : "", hint);
}

static void read_cpu(struct wish *w, unsigned int cpus, json_t *o)
{
	json_t *cpu = json_object_get(o, "cpu");
	const char *word = json_string_value(cpu);

	w->cpu = KI_ALL_CPUS;
	if (!cpu || (word && !strcmp(word, "all")))
		return;
	if (word && !strcmp(word, "each"))
		w->cpu = WISH_EACH;
	else if (json_is_integer(cpu) && json_integer_value(cpu) >= 0 &&
		 json_integer_value(cpu) < cpus)
		w->cpu = (int)json_integer_value(cpu);
	else
		wish_refuse(w, "NO_CPU", "cpu is \"all\", \"each\" or a number below %u", cpus);
}

static void read_condition(struct wish *w, json_t *o)
{
	struct ki_err err = {0};

	w->condition = json_string_value(json_object_get(o, "predicate"));
	if (!w->condition || !*w->condition)
		return;
	if (!ki_predicate_parse(w->condition, &w->when, &err))
		return;
	wish_refuse(w, err.reason ? reply_tag(&err) : "BAD_PREDICATE", "%s", err.msg);
}

static int take_symbol(void *ctx, const struct ki_symbol *sym)
{
	struct wish *w = ctx;

	w->sym = w->sym ? w->sym : sym;
	return 0;
}

static void read_point(struct wish *w, struct ki_target *t)
{
	char nothing[KI_MATCH_WHY];
	const char *why;
	size_t n;

	if (ki_pointspec_parse(w->point, &w->spec, &why)) {
		wish_refuse(w, "BAD_POINT", "'%.60s': %s", w->point, why);
		return;
	}
	if (w->spec.suffix == KI_POINTSPEC_ADDRESS) {
		w->sym = ki_target_symbol_at(t, w->spec.number);
		if (!w->sym)
			wish_refuse(w, ki_reason_tag(KI_R_NOT_TEXT), "%s",
				    ki_reason_text(KI_R_NOT_TEXT));
		return;
	}
	if (ki_pointspec_is_glob(w->spec.function) || ki_pointspec_is_glob(w->spec.module)) {
		wish_refuse(w, "MANY_POINTS", "%.100s names many functions: a curve is of one",
			    w->point);
		return;
	}
	ki_match_each(t, &w->spec, take_symbol, w, &n);
	if (n)
		return;
	ki_match_nothing(t, &w->spec, nothing);
	wish_refuse(w, ki_reason_tag(KI_R_NO_SYMBOL), "%.230s", nothing);
}

void wish_read(struct wish *w, struct ki_target *t, unsigned int cpus, json_t *o)
{
	w->name = json_string_value(json_object_get(o, "metric"));
	w->point = json_string_value(json_object_get(o, "point"));
	w->metric = w->name ? ki_metric_find(w->name) : NULL;
	w->name = w->name ? w->name : "";
	if (!w->metric || !w->point) {
		w->point = w->point ? w->point : "";
		wish_refuse(w, w->metric ? "BAD_POINT" : "NO_METRIC", "%s",
			    w->metric ? "no point is given" : "there is no such metric");
		return;
	}
	read_cpu(w, cpus, o);
	if (!w->refused)
		read_condition(w, o);
	if (!w->refused)
		read_point(w, t);
}

/* What the number behind a point's name is. */
enum number { NUMBER_NONE, NUMBER_BLOCK, NUMBER_EDGE, NUMBER_OFFSET, NUMBER_ADDRESS };

static const struct {
	enum ki_pointspec_suffix suffix;
	enum ki_point_kind kind;
	enum number number;
} kinds[] = {
	{KI_POINTSPEC_NONE, KI_POINT_ENTRY, NUMBER_NONE},
	{KI_POINTSPEC_ENTRY, KI_POINT_ENTRY, NUMBER_NONE},
	{KI_POINTSPEC_EXIT, KI_POINT_EXIT, NUMBER_NONE},
	{KI_POINTSPEC_EXIT_AFTER, KI_POINT_EXIT_AFTER, NUMBER_NONE},
	{KI_POINTSPEC_CALLS, KI_POINT_CALLS, NUMBER_NONE},
	{KI_POINTSPEC_RETURNS, KI_POINT_RETURNS, NUMBER_NONE},
	{KI_POINTSPEC_BLOCK, KI_POINT_BLOCK, NUMBER_BLOCK},
	{KI_POINTSPEC_BLOCK_END, KI_POINT_BLOCK_END, NUMBER_BLOCK},
	{KI_POINTSPEC_OFFSET, KI_POINT_INSN, NUMBER_OFFSET},
	{KI_POINTSPEC_AFTER, KI_POINT_AFTER, NUMBER_OFFSET},
	{KI_POINTSPEC_ADDRESS, KI_POINT_INSN, NUMBER_ADDRESS},
	{KI_POINTSPEC_EDGE, KI_POINT_EDGE, NUMBER_EDGE},
};

static void take_number(struct wish *w, const struct ki_function *fn, enum number number)
{
	uint64_t n = w->spec.number;
	bool there = true;

	switch (number) {
	case NUMBER_BLOCK:
		w->at.block = (uint32_t)n;
		there = n < fn->nblocks;
		break;
	case NUMBER_EDGE:
		w->at.edge = (uint32_t)n;
		there = n < fn->nedges;
		break;
	case NUMBER_OFFSET:
	case NUMBER_ADDRESS:
		w->at.addr = n + (number == NUMBER_OFFSET ? fn->start : 0);
		there = ki_function_insn_at(fn, w->at.addr);
		break;
	default:
		break;
	}
	if (!there)
		wish_refuse(w, ki_reason_tag(KI_R_NOT_BOUNDARY),
			    "%.100s: the function has no such place", w->point);
}

void wish_find_point(struct wish *w, const struct ki_function *fn)
{
	if (fn->reason) {
		wish_refuse(w, ki_reason_tag(fn->reason), "%s", ki_reason_text(fn->reason));
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (kinds[i].suffix != w->spec.suffix)
			continue;
		w->at.kind = kinds[i].kind;
		take_number(w, fn, kinds[i].number);
		return;
	}
	wish_refuse(w, "MANY_POINTS", "%.100s names many points: a curve is of one", w->point);
}
