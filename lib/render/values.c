// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/value_text.h"

#include <inttypes.h>
#include <math.h>

#include "out/seconds.h"

#define BAR 50

uint64_t ki_value_count(const struct ki_cell *c, int cpu)
{
	return cpu < 0 ? c->count : c->cpus[cpu].count;
}

static double value_of(const struct ki_cell *c, int cpu)
{
	return cpu < 0 ? c->value : c->cpus[cpu].value;
}

char *ki_value_text(const struct ki_cell *c, int cpu, char text[KI_VALUE_TEXT])
{
	const struct ki_metric *m = c->metric;
	const double value = value_of(c, cpu);

	if (c->reason || isnan(value))
		snprintf(text, KI_VALUE_TEXT, "-");
	else if (m->unit == KI_UNIT_SECONDS)
		ki_seconds_text(value, text);
	else if (m->form == KI_FORM_TOTAL)
		snprintf(text, KI_VALUE_TEXT, "%" PRIu64, ki_value_count(c, cpu));
	else
		snprintf(text, KI_VALUE_TEXT, "%.2f", value);
	return text;
}

char *ki_value_plain(const struct ki_cell *c, int cpu, char text[KI_VALUE_TEXT])
{
	const double value = value_of(c, cpu);

	if (c->reason || isnan(value) || c->metric->unit != KI_UNIT_SECONDS)
		return ki_value_text(c, cpu, text);
	snprintf(text, KI_VALUE_TEXT, "%.9f", value);
	return text;
}

char *ki_value_rate(const struct ki_cell *c, int cpu, double seconds, char text[KI_VALUE_TEXT])
{
	double value = value_of(c, cpu);

	if (c->reason || isnan(value))
		snprintf(text, KI_VALUE_TEXT, "-");
	else
		snprintf(text, KI_VALUE_TEXT, c->metric->unit == KI_UNIT_SECONDS ? "%.3f" : "%.1f",
			 seconds > 0 ? value / seconds : 0.0);
	return text;
}

uint64_t ki_value_sum(const struct ki_cell *c)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++)
		sum += c->buckets[i];
	return sum;
}

/* Nanoseconds, or counts. */
static char *bound(const struct ki_metric *m, uint64_t v, char text[KI_VALUE_TEXT])
{
	if (m->unit == KI_UNIT_SECONDS)
		return ki_seconds_text((double)v / 1e9, text);
	snprintf(text, KI_VALUE_TEXT, "%" PRIu64, v);
	return text;
}

static void draw_bucket(FILE *out, const struct ki_cell *c, unsigned int i, uint64_t most)
{
	char from[KI_VALUE_TEXT], to[KI_VALUE_TEXT];
	uint64_t low, high;
	int len = (int)((double)c->buckets[i] * BAR / (double)most + 0.5);

	if (ki_log2_bounds(i, &low, &high))
		return;
	fprintf(out, "  %10s .. %10s %10" PRIu64 " |%.*s%*s|\n", bound(c->metric, low, from),
		bound(c->metric, high, to), c->buckets[i], len,
		"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@", BAR - len, "");
}

void ki_value_draw(FILE *out, const struct ki_named_point *p, const struct ki_cell *c,
		   const char *part)
{
	unsigned int first = KI_LOG2_BUCKETS, last = 0;
	uint64_t most = 0;

	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++) {
		if (!c->buckets[i])
			continue;
		first = first < i ? first : i;
		last = i;
		most = most > c->buckets[i] ? most : c->buckets[i];
	}
	fprintf(out, "%s%s%s: %s of %" PRIu64 " calls\n", p->name, part ? " " : "",
		part ? part : "", c->metric->name, ki_value_sum(c));
	for (unsigned int i = first; i <= last && most; i++)
		draw_bucket(out, c, i, most);
}
