// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "report/stack.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

static double khz(const struct ki_report *c)
{
	uint32_t n = ki_recording_origin(c->r)->tsc_khz;

	return n ? n : 1e6;
}

double ki_report_time(const struct ki_report *c, uint64_t tsc)
{
	double ticks = (double)(int64_t)(tsc - ki_recording_origin(c->r)->tsc);

	return round(ticks * 1e6 / khz(c)) / 1e9; /* whole nanoseconds */
}

uint64_t ki_report_ns(double seconds)
{
	double ns = seconds * 1e9 + 0.5;

	if (!(seconds > 0))
		return 0;
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

double ki_report_end(const struct ki_report *c)
{
	double end = ki_report_time(c, ki_recording_state(c->r)->end);

	return c->to >= 0 && c->to < end ? c->to : end;
}

bool ki_report_wants(const struct ki_report *c, const struct ki_instrument *in)
{
	return !c->glob || !fnmatch(c->glob, in->name, 0);
}

int ki_report_field(const struct ki_instrument *in, const char *name)
{
	for (unsigned int i = 0; i < in->nfields; i++)
		if (!strcmp(in->fields[i].name, name))
			return (int)i;
	return -1;
}

void ki_report_span(const struct ki_report *c, const struct ki_instrument *in, double *on,
		    double *off)
{
	size_t n;
	const struct ki_record_event *e = ki_recording_events(c->r, &n);

	*on = 0;
	*off = ki_report_end(c);
	for (size_t i = 0; i < n; i++) {
		double time = ki_report_time(c, e[i].tsc);

		if (e[i].id == in->id && e[i].kind == KI_EVENT_INSTALLING)
			*on = time;
		if (e[i].id == in->id && e[i].kind == KI_EVENT_OFF && time < *off)
			*off = time;
	}
	*on = fmax(fmax(*on, in->on), c->from);
	if (in->off > 0)
		*off = fmin(*off, in->off);
}

bool ki_report_hits(const struct ki_report *c, const struct ki_instrument *in, uint64_t *hits)
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

bool ki_report_is_totals(const struct ki_instrument *in)
{
	return in->nfields == 1 && !strcmp(in->fields[0].unit, "hits");
}

/* ---- values ---- */

static const char *symbol_of(void *arg, uint64_t addr, uint64_t *offset)
{
	return ki_recording_symbol(((const struct ki_report *)arg)->r, addr, offset);
}

static bool stack_of(void *arg, uint64_t number, struct ki_stack *out)
{
	return !ki_recording_stack(((const struct ki_report *)arg)->r, number, out);
}

static char *frame_of(void *arg, const struct ki_stack *s, uint32_t k, char *text, size_t size)
{
	return ki_report_frame(arg, s, k, true, text, size);
}

char *ki_report_value(const struct ki_report *c, const struct ki_report_record *e, unsigned int i,
		      char text[KI_FIELD_TEXT])
{
	const struct ki_field_names names = {.arg = (void *)(uintptr_t)c,
					     .khz = khz(c),
					     .symbol = symbol_of,
					     .stack = stack_of,
					     .frame = frame_of};

	return ki_field_text(&names, &e->in->fields[i], &e->values[i],
			     ki_field_words(e->in->fields, e->in->nfields, i), text);
}

/* Times are numbers of seconds; a number that not every reader can hold is a string. */
static void json_value(const struct ki_report *c, const struct ki_report_record *e, unsigned int i,
		       struct ki_json *j)
{
	const struct ki_record_field *f = &e->in->fields[i];
	uint64_t v = e->values[i];
	char text[KI_FIELD_TEXT];

	switch (f->show) {
	case KI_SHOW_STACK:
		ki_report_stack_json(c, e, i, f->name, j);
		return;
	case KI_SHOW_HEX:
		ki_json_hex(j, f->name, v);
		return;
	case KI_SHOW_TICKS:
		ki_json_double(j, f->name, ki_field_number(f, v) / khz(c) / 1e3);
		return;
	case KI_SHOW_SECONDS:
		ki_json_double(j, f->name, ki_field_number(f, v) / 1e9);
		return;
	case KI_SHOW_DECIMAL:
		if (!ki_field_is_negative(f, v))
			ki_json_u64(j, f->name, v);
		else
			ki_json_i64(j, f->name, (int64_t)v);
		return;
	default:
		ki_json_str(j, f->name, ki_report_value(c, e, i, text));
	}
}

void ki_report_fields(const struct ki_report *c, const struct ki_report_record *e,
		      struct ki_json *j)
{
	for (unsigned int i = 0; i < e->in->nfields; i++)
		if (!ki_field_goes_on(e->in->fields, i))
			json_value(c, e, i, j);
}

/* ---- going through ---- */

static int each(void *arg, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	struct ki_report *c = arg;
	const struct ki_report_format *f = c->format;
	size_t n;
	struct ki_report_record e = {.in = ki_recording_instrument(c->r, rec->id),
				     .rec = rec,
				     .values = values,
				     .cpu = cpu,
				     .time = ki_report_time(c, rec->tsc),
				     .factor = ki_report_factor(c, rec)};

	if (e.time < c->from || (c->to >= 0 && e.time > c->to) || !ki_report_wants(c, e.in))
		return 0;
	e.index = (size_t)(e.in - ki_recording_instruments(c->r, &n));
	c->shown++;
	return f->record(c, &e);
}

int ki_report_go_through(struct ki_report *c, const struct ki_report_format *f)
{
	int ret = ki_report_sampling_begin(c);

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
	ki_report_sampling_end(c);
	if (!ret && (fflush(c->out) || ferror(c->out)))
		ret = -EIO;
	return ret;
}

/* ---- from the outside ---- */

static const struct ki_report_format *const formats[] = {
	&ki_report_table,  &ki_report_summary, &ki_report_series, &ki_report_json,  &ki_report_csv,
	&ki_report_chrome, &ki_report_folded,  &ki_report_counts, &ki_report_paths,
};

const char *ki_report_format_name(size_t n)
{
	return n < sizeof(formats) / sizeof(*formats) ? formats[n]->name : NULL;
}

static const struct ki_report_format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

int ki_report_show(struct ki_recording *r, const struct ki_report_options *o, struct ki_err *err)
{
	const struct ki_report_format *format = o->format ? find_format(o->format) : NULL;
	struct ki_report c = {.r = r,
			      .out = o->out,
			      .from = o->from,
			      .to = o->to,
			      .glob = o->glob,
			      .series = o->series,
			      .times = o->times,
			      .threads = o->threads,
			      .bold = o->bold};
	int ret = 0;

	if (o->size != sizeof(*o))
		return ki_err_set(err, -EINVAL, 0, "options of a report: %zu bytes, not %zu",
				  o->size, sizeof(*o));
	if (o->format && !format)
		return ki_err_set(err, -EINVAL, 0, "%s: no format of a report", o->format);
	if (!format)
		ret = ki_report_choose(&c, &format);
	if (!ret)
		ret = ki_report_go_through(&c, format);
	if (ret)
		ki_err_set(err, ret, 0,
			   ret == -ENOMEM ? "out of memory" : "writing the result failed");
	return ret;
}
