// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Trace events, as Chrome and Perfetto read them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/pairs.h"
#include "report/stack.h"

struct chrome {
	struct pairs *pairs;
	struct ki_json j;
};

static uint64_t field_or(const struct ki_report_record *e, const char *name, uint64_t otherwise)
{
	int i = ki_report_field(e->in, name);

	return i < 0 ? otherwise : e->values[i];
}

/* Each on a line, so that also a text editor can open it. */
static void begin_event(struct chrome *v, const struct ki_report_record *e, const char *name,
			const char *ph, double time)
{
	uint64_t tid = field_or(e, "tid", field_or(e, "pid", 0));

	fputc('\n', v->j.out);
	ki_json_open(&v->j, NULL, '{');
	ki_json_str(&v->j, "name", name);
	ki_json_str(&v->j, "cat", "kernel");
	ki_json_str(&v->j, "ph", ph);
	ki_json_double(&v->j, "ts", round(time * 1e9) / 1e3);
	ki_json_u64(&v->j, "pid", field_or(e, "pid", 0));
	ki_json_u64(&v->j, "tid", tid);
}

/* The kernel's stack, as the format has it. */
static void event_stack(struct ki_report *c, const struct ki_report_record *e)
{
	struct chrome *v = c->own;
	struct ki_stack s;

	for (unsigned int i = 0; i < e->in->nfields; i++)
		if (ki_report_stack(c, e, i, &s) && !s.tgid) {
			ki_report_stack_json(c, e, i, "stack", &v->j);
			return;
		}
}

static int end_event(struct chrome *v)
{
	ki_json_close(&v->j); /* args */
	ki_json_close(&v->j);
	return v->j.err;
}

static int chrome_single(struct ki_report *c, const struct ki_report_record *e)
{
	struct chrome *v = c->own;

	begin_event(v, e, e->in->name, "i", e->time);
	ki_json_str(&v->j, "s", "t");
	event_stack(c, e);
	ki_json_open(&v->j, "args", '{');
	ki_json_u64(&v->j, "CPU", e->cpu);
	ki_report_fields(c, e, &v->j);
	return end_event(v);
}

static int chrome_pair(struct ki_report *c, const struct thread *t,
		       const struct ki_report_record *e)
{
	struct chrome *v = c->own;
	const struct frame *f = &t->stack.v[t->stack.n - 1];
	const struct ki_report_record entry = {.in = f->in, .values = f->values, .cpu = f->cpu};
	double dur = round(e->time * 1e9) - round(f->start * 1e9);
	char *name = strndup(f->in->name, (size_t)ki_pairs_name_len(f->in->name));

	if (!name)
		return -ENOMEM;
	begin_event(v, &entry, name, "X", f->start);
	free(name);
	ki_json_double(&v->j, "dur", dur / 1e3);
	event_stack(c, &entry);
	ki_json_open(&v->j, "args", '{');
	ki_json_u64(&v->j, "CPU", f->cpu);
	ki_report_fields(c, &entry, &v->j);
	ki_json_open(&v->j, "exit", '{');
	ki_report_fields(c, e, &v->j);
	ki_json_close(&v->j);
	return end_event(v);
}

static int chrome_begin(struct ki_report *c)
{
	static const struct pairs_to to = {chrome_pair, chrome_single};
	struct chrome *v = calloc(1, sizeof(*v));

	c->own = v;
	if (!v || ki_pairs_new(c, &to, &v->pairs))
		return -ENOMEM;
	ki_json_init(&v->j, c->out);
	ki_json_open(&v->j, NULL, '{');
	ki_json_str(&v->j, "displayTimeUnit", "ns");
	ki_json_open(&v->j, "traceEvents", '[');
	return v->j.err;
}

static int chrome_record(struct ki_report *c, const struct ki_report_record *e)
{
	return ki_pairs_record(((struct chrome *)c->own)->pairs, e);
}

static int chrome_end(struct ki_report *c)
{
	const struct ki_record_origin *o = ki_recording_origin(c->r);
	struct chrome *v = c->own;
	int ret = ki_pairs_end(v->pairs);

	if (ret)
		return ret;
	ki_json_close(&v->j);
	ki_json_open(&v->j, "otherData", '{');
	ki_json_str(&v->j, "kernel", o->kernel);
	ki_json_str(&v->j, "host", o->host);
	ki_json_str(&v->j, "command", o->command);
	ki_json_u64(&v->j, "lost", ki_recording_state(c->r)->lost);
	ki_json_close(&v->j);
	ki_json_close(&v->j);
	return ki_json_end_line(&v->j);
}

static void chrome_free(struct ki_report *c)
{
	struct chrome *v = c->own;

	if (v)
		ki_pairs_free(v->pairs);
	free(v);
}

const struct ki_report_format ki_report_chrome = {"chrome", chrome_begin, chrome_record, chrome_end,
						  chrome_free};
