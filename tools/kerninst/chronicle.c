// SPDX-License-Identifier: GPL-2.0-only
#include "chronicle_stack.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kerninst/snippet.h"
#include "snippet/tree.h"
#include "values.h"

#define EXACT (INT64_C(1) << 53)

static double khz(const struct chronicle *c)
{
	uint32_t n = ki_recording_origin(c->r)->tsc_khz;

	return n ? n : 1e6;
}

double chronicle_time(const struct chronicle *c, uint64_t tsc)
{
	double ticks = (double)(int64_t)(tsc - ki_recording_origin(c->r)->tsc);

	return round(ticks * 1e6 / khz(c)) / 1e9; /* whole nanoseconds */
}

double chronicle_end(const struct chronicle *c)
{
	double end = chronicle_time(c, ki_recording_state(c->r)->end);

	return c->to >= 0 && c->to < end ? c->to : end;
}

bool chronicle_wants(const struct chronicle *c, const struct ki_instrument *in)
{
	return !c->glob || !fnmatch(c->glob, in->name, 0);
}

int chronicle_field(const struct ki_instrument *in, const char *name)
{
	for (unsigned int i = 0; i < in->nfields; i++)
		if (!strcmp(in->fields[i].name, name))
			return (int)i;
	return -1;
}

void chronicle_span(const struct chronicle *c, const struct ki_instrument *in, double *on,
		    double *off)
{
	size_t n;
	const struct ki_record_event *e = ki_recording_events(c->r, &n);

	*on = 0;
	*off = chronicle_end(c);
	for (size_t i = 0; i < n; i++) {
		double time = chronicle_time(c, e[i].tsc);

		if (e[i].id == in->id && e[i].kind == KI_EVENT_INSTALLING)
			*on = time;
		if (e[i].id == in->id && e[i].kind == KI_EVENT_OFF && time < *off)
			*off = time;
	}
	*on = fmax(fmax(*on, in->on), c->from);
	if (in->off > 0)
		*off = fmin(*off, in->off);
}

bool chronicle_hits(const struct chronicle *c, const struct ki_instrument *in, uint64_t *hits)
{
	size_t n;
	const struct ki_record_event *e = ki_recording_events(c->r, &n);

	for (size_t i = 0; i < n && c->from <= 0 && c->to < 0; i++)
		if (e[i].id == in->id && e[i].kind == KI_EVENT_HITS) {
			*hits = e[i].value;
			return true;
		}
	return false;
}

/* ---- values ---- */

/* A text from words. */
static char *value_text(const struct seen_record *e, unsigned int i, char *text)
{
	size_t n = 0, words = 1;

	while (i + words < e->in->nfields && chronicle_goes_on(e->in, i + (unsigned int)words))
		words++;
	for (size_t w = 0; w < words; w++) {
		for (unsigned int b = 0; b < 8; b++) {
			char ch = (char)(e->values[i + w] >> 8 * b);

			if (!ch) {
				text[n] = 0;
				return text;
			}
			text[n++] = isprint((unsigned char)ch) ? ch : '?';
		}
	}
	text[n] = 0;
	return text;
}

static char *value_code(const struct chronicle *c, uint64_t v, char *text)
{
	uint64_t offset;
	const char *name = ki_recording_symbol(c->r, v, &offset);

	if (!name)
		snprintf(text, CHRONICLE_TEXT, "0x%" PRIx64, v);
	else if (!offset)
		snprintf(text, CHRONICLE_TEXT, "%s", name);
	else
		snprintf(text, CHRONICLE_TEXT, "%s+0x%" PRIx64, name, offset);
	return text;
}

static char *value_time(double seconds, char *text)
{
	if (seconds >= 0)
		return value_format_seconds(seconds, text);
	*text = '-';
	value_format_seconds(-seconds, text + 1);
	return text;
}

static bool is_negative(const struct ki_record_field *f, uint64_t v)
{
	return ki_types[f->type].sign && (int64_t)v < 0;
}

static double number(const struct ki_record_field *f, uint64_t v)
{
	return is_negative(f, v) ? (double)(int64_t)v : (double)v;
}

char *chronicle_value(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		      char text[CHRONICLE_TEXT])
{
	const struct ki_record_field *f = &e->in->fields[i];
	uint64_t v = e->values[i];

	switch (f->show) {
	case KI_SHOW_HEX:
		snprintf(text, CHRONICLE_TEXT, "0x%" PRIx64, v);
		return text;
	case KI_SHOW_CODE:
		return value_code(c, v, text);
	case KI_SHOW_TICKS:
		return value_time(number(f, v) / khz(c) / 1e3, text);
	case KI_SHOW_SECONDS:
		return value_time(number(f, v) / 1e9, text);
	case KI_SHOW_TEXT:
		return value_text(e, i, text);
	case KI_SHOW_STACK:
		return chronicle_stack_text(c, e, i, text, CHRONICLE_TEXT);
	default:
		snprintf(text, CHRONICLE_TEXT, is_negative(f, v) ? "%" PRId64 : "%" PRIu64, v);
		return text;
	}
}

/* Times are numbers of seconds; a number that not every reader can hold is a string. */
static void json_value(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		       struct ki_json *j)
{
	const struct ki_record_field *f = &e->in->fields[i];
	uint64_t v = e->values[i];
	char text[CHRONICLE_TEXT];

	switch (f->show) {
	case KI_SHOW_STACK:
		chronicle_stack_json(c, e, i, f->name, j);
		return;
	case KI_SHOW_HEX:
		ki_json_hex(j, f->name, v);
		return;
	case KI_SHOW_TICKS:
		ki_json_double(j, f->name, number(f, v) / khz(c) / 1e3);
		return;
	case KI_SHOW_SECONDS:
		ki_json_double(j, f->name, number(f, v) / 1e9);
		return;
	case KI_SHOW_DECIMAL:
		if (!is_negative(f, v))
			ki_json_u64(j, f->name, v);
		else if ((int64_t)v > -EXACT)
			ki_json_double(j, f->name, (double)(int64_t)v);
		else
			ki_json_str(j, f->name, chronicle_value(c, e, i, text));
		return;
	default:
		ki_json_str(j, f->name, chronicle_value(c, e, i, text));
	}
}

void chronicle_fields(const struct chronicle *c, const struct seen_record *e, struct ki_json *j)
{
	for (unsigned int i = 0; i < e->in->nfields; i++)
		if (!chronicle_goes_on(e->in, i))
			json_value(c, e, i, j);
}

/* ---- going through ---- */

static int each(void *arg, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	struct chronicle *c = arg;
	const struct chronicle_format *f = c->format;
	size_t n;
	struct seen_record e = {.in = ki_recording_instrument(c->r, rec->id),
				.rec = rec,
				.values = values,
				.cpu = cpu,
				.time = chronicle_time(c, rec->tsc),
				.factor = chronicle_factor(c, rec)};

	if (e.time < c->from || (c->to >= 0 && e.time > c->to) || !chronicle_wants(c, e.in))
		return 0;
	e.index = (size_t)(e.in - ki_recording_instruments(c->r, &n));
	c->shown++;
	return f->record(c, &e);
}

int chronicle_show(struct chronicle *c, const struct chronicle_format *f)
{
	int ret = chronicle_sampling_begin(c);

	c->format = f;
	c->shown = 0;
	if (!ret && f->begin)
		ret = f->begin(c);
	if (!ret)
		ret = ki_recording_each(c->r, each, c);
	if (!ret && f->end)
		ret = f->end(c);
	if (f->free)
		f->free(c);
	chronicle_sampling_end(c);
	if (!ret && (fflush(c->out) || ferror(c->out)))
		ret = -EIO;
	return ret;
}
