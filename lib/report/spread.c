// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "report/spread.h"

#include <inttypes.h>
#include <string.h>

#include "out/seconds.h"
#include "snippet/tree.h"
#include "util/text.h"

#define BAR 40

static bool is_signed(const struct ki_record_field *f)
{
	return ki_types[f->type].sign;
}

/* Numbers that only tell one thing from another. */
static bool is_label(const struct ki_record_field *f)
{
	static const char *const labels[] = {"pid", "tid", "cpu", "uid", "cgroup"};

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (!strcmp(f->name, labels[i]))
			return true;
	return false;
}

static bool is_less(const struct ki_record_field *f, uint64_t a, uint64_t b)
{
	return is_signed(f) ? (int64_t)a < (int64_t)b : a < b;
}

void ki_spread_add(struct spread *s, const struct ki_record_field *f, uint64_t v, uint64_t n)
{
	if (!s->n || is_less(f, v, s->least))
		s->least = v;
	if (!s->n || is_less(f, s->most, v))
		s->most = v;
	s->n += n;
	s->sum += (is_signed(f) ? (double)(int64_t)v : (double)v) * (double)n;
	s->buckets[ki_log2_bucket(v)] += n;
}

/* A value, as a record would have it. */
static char *one(const struct ki_report *c, const struct ki_record_field *f, uint64_t v,
		 char text[KI_FIELD_TEXT])
{
	const struct ki_instrument in = {.fields = f, .nfields = 1};
	const struct ki_report_record e = {.in = &in, .values = &v};

	return ki_report_value(c, &e, 0, text);
}

static char *real(const struct ki_report *c, const struct ki_record_field *f, double v, char *text)
{
	uint32_t khz = ki_recording_origin(c->r)->tsc_khz;

	if (f->show == KI_SHOW_DECIMAL)
		snprintf(text, KI_FIELD_TEXT, "%.2f", v);
	else
		ki_seconds_text(f->show == KI_SHOW_SECONDS ? v / 1e9 : v / (khz ? khz : 1e6) / 1e3,
				text);
	return text;
}

static void draw(const struct ki_report *c, const struct ki_record_field *f, const struct spread *s)
{
	uint64_t most = 0, low, high;
	char a[KI_FIELD_TEXT], b[KI_FIELD_TEXT];

	for (unsigned int k = 0; k < KI_LOG2_BUCKETS; k++)
		most = s->buckets[k] > most ? s->buckets[k] : most;
	for (unsigned int k = 0; k < KI_LOG2_BUCKETS; k++) {
		int len = (int)((double)s->buckets[k] * BAR / (double)most + 0.5);

		if (!s->buckets[k] || ki_log2_bounds(k, &low, &high))
			continue;
		if (is_signed(f) && k == KI_LOG2_BUCKETS - 1)
			fprintf(c->out, "      %25s", "less than 0");
		else
			fprintf(c->out, "      %11s .. %10s", one(c, f, low, a),
				one(c, f, high, b));
		fprintf(c->out, " %10" PRIu64 " |%.*s%*s|\n", s->buckets[k], len,
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@", BAR - len, "");
	}
}

void ki_spread_print(const struct ki_report *c, const struct ki_record_field *f,
		     const struct spread *s)
{
	char least[KI_FIELD_TEXT], most[KI_FIELD_TEXT], mean[KI_FIELD_TEXT], sum[KI_FIELD_TEXT];

	ki_text_print(c->out, "  %s%s%s%s: min %s  mean %s  max %s", f->name, *f->unit ? " (" : "",
		      f->unit, *f->unit ? ")" : "", one(c, f, s->least, least),
		      real(c, f, s->sum / (double)s->n, mean), one(c, f, s->most, most));
	if (is_label(f)) {
		fputc('\n', c->out);
		return;
	}
	fprintf(c->out, "  sum %s\n", real(c, f, s->sum, sum));
	draw(c, f, s);
}
