// SPDX-License-Identifier: GPL-2.0-only
#include "chronicle_stack.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

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

uint64_t chronicle_ns(double seconds)
{
	double ns = seconds * 1e9 + 0.5;

	if (!(seconds > 0))
		return 0;
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
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

bool chronicle_is_totals(const struct ki_instrument *in)
{
	return in->nfields == 1 && !strcmp(in->fields[0].unit, "hits");
}

/* ---- values ---- */

static const char *symbol_of(void *arg, uint64_t addr, uint64_t *offset)
{
	return ki_recording_symbol(((const struct chronicle *)arg)->r, addr, offset);
}

static bool stack_of(void *arg, uint64_t number, struct ki_stack *out)
{
	return !ki_recording_stack(((const struct chronicle *)arg)->r, number, out);
}

static char *frame_of(void *arg, const struct ki_stack *s, uint32_t k, char *text, size_t size)
{
	return chronicle_frame(arg, s, k, true, text, size);
}

char *chronicle_value(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		      char text[FIELD_TEXT])
{
	const struct field_names names = {.arg = (void *)(uintptr_t)c,
					  .khz = khz(c),
					  .symbol = symbol_of,
					  .stack = stack_of,
					  .frame = frame_of};

	return field_text(&names, &e->in->fields[i], &e->values[i],
			  field_words(e->in->fields, e->in->nfields, i), text);
}

/* Times are numbers of seconds; a number that not every reader can hold is a string. */
static void json_value(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		       struct ki_json *j)
{
	const struct ki_record_field *f = &e->in->fields[i];
	uint64_t v = e->values[i];
	char text[FIELD_TEXT];

	switch (f->show) {
	case KI_SHOW_STACK:
		chronicle_stack_json(c, e, i, f->name, j);
		return;
	case KI_SHOW_HEX:
		ki_json_hex(j, f->name, v);
		return;
	case KI_SHOW_TICKS:
		ki_json_double(j, f->name, field_number(f, v) / khz(c) / 1e3);
		return;
	case KI_SHOW_SECONDS:
		ki_json_double(j, f->name, field_number(f, v) / 1e9);
		return;
	case KI_SHOW_DECIMAL:
		if (!field_is_negative(f, v))
			ki_json_u64(j, f->name, v);
		else
			ki_json_i64(j, f->name, (int64_t)v);
		return;
	default:
		ki_json_str(j, f->name, chronicle_value(c, e, i, text));
	}
}

void chronicle_fields(const struct chronicle *c, const struct seen_record *e, struct ki_json *j)
{
	for (unsigned int i = 0; i < e->in->nfields; i++)
		if (!field_goes_on(e->in->fields, i))
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
