// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "d_program.h"
#include "kerninst/dlang.h"
#include "kerninst/target.h"

#define PERIOD 100 /* milliseconds between two looks at what has been recorded */

struct running {
	struct d_program *p;
	struct ki_target *t;
	struct ki_dlang *d;
	struct ki_dlang_where where;
};

/* The engine has been told, or it stops, and looks when the thread has ended. Under the lock. */
static void submit(struct d_program *p)
{
	if (!p->submitted)
		p->submitted = engine_submit(p->engine, &p->news);
}

/* Closed and put after what is to be said. Under the lock. */
static void add_event(struct d_program *p, struct doc *doc)
{
	struct text line = {0};

	ki_json_close(&doc->j);
	if (!doc_end(doc, &line)) {
		text_put(&p->events, line.v, strcspn(line.v, "\n"));
		text_str(&p->events, "\n");
	}
	text_free(&line);
}

static bool begin_event(struct doc *doc)
{
	if (doc_begin(doc))
		return false;
	ki_json_open(&doc->j, NULL, '{');
	return true;
}

void d_flush(struct d_program *p)
{
	struct doc doc;

	if (p->said.n && begin_event(&doc)) {
		ki_json_str(&doc.j, "text", p->said.v);
		add_event(p, &doc);
	}
	text_free(&p->said);
	if (p->missing && p->events.n < D_QUEUE / 2 && begin_event(&doc)) {
		ki_json_u64(&doc.j, "missing", p->missing);
		add_event(p, &doc);
		p->missing = 0;
	}
}

/* JSON's strings have no zero bytes here. */
static void put_text(struct text *to, const char *text, size_t len)
{
	while (len) {
		size_t n = strnlen(text, len);

		text_put(to, text, n);
		n += n < len;
		text += n;
		len -= n;
	}
}

static void print(void *arg, const char *text, size_t len)
{
	struct d_program *p = arg;

	pthread_mutex_lock(&p->lock);
	if (p->missing || p->events.n + p->said.n + len > D_QUEUE)
		p->missing += len;
	else
		put_text(&p->said, text, len);
	if (p->said.n > D_PIECE)
		d_flush(p);
	submit(p);
	pthread_mutex_unlock(&p->lock);
}

static void warn(void *arg, const char *text)
{
	struct d_program *p = arg;
	struct doc doc;

	pthread_mutex_lock(&p->lock);
	d_flush(p);
	if (p->events.n < D_QUEUE && begin_event(&doc)) {
		ki_json_str(&doc.j, "warning", text);
		add_event(p, &doc);
	}
	submit(p);
	pthread_mutex_unlock(&p->lock);
}

static void put_error(const struct running *r, struct ki_json *j, const struct ki_err *err)
{
	const char *tag = r->where.tag ? r->where.tag : reply_tag(err);

	ki_json_open(j, "error", '{');
	ki_json_str(j, "reason", err->code == -EPERM && !err->reason ? "DESTRUCTIVE" : tag);
	ki_json_str(j, "message", r->where.tag ? ki_dlang_reason(err) : err->msg);
	if (r->where.tag) {
		ki_json_u64(j, "line", r->where.line);
		ki_json_u64(j, "column", r->where.column);
	}
	ki_json_close(j);
}

/* Whoever has asked is told; nothing is in the kernel. */
static void refuse(const struct running *r, const struct ki_err *err)
{
	struct d_program *p = r->p;
	struct doc doc;

	pthread_mutex_lock(&p->lock);
	if (begin_event(&doc)) {
		put_error(r, &doc.j, err);
		ki_json_close(&doc.j);
		doc_reply(&doc, &p->reply);
		p->reply.status = p->reply.status == 200 ? 400 : p->reply.status;
	} else {
		reply_no_memory(&p->reply);
	}
	p->state = D_REFUSED;
	pthread_mutex_unlock(&p->lock);
}

static int prepare(struct running *r, struct ki_err *err)
{
	const struct ki_dlang_options o = {.size = sizeof(o), .where = &r->where, .harmless = true};
	int ret = ki_dlang_new(r->p->text, &o, &r->d, err);

	if (!ret)
		ret = ki_target_new_live(&r->t, err);
	return ret ? ret : ki_dlang_match(r->d, r->t, err);
}

static bool is_stopped(struct d_program *p)
{
	bool stop;

	pthread_mutex_lock(&p->lock);
	stop = p->stop;
	pthread_mutex_unlock(&p->lock);
	return stop;
}

static void set_running(struct d_program *p)
{
	pthread_mutex_lock(&p->lock);
	p->state = D_RUNS;
	submit(p);
	pthread_mutex_unlock(&p->lock);
}

static void say_matched(const struct running *r)
{
	size_t n = ki_dlang_probes(r->d), left_out = 0;
	struct ki_dlang_probe probe;
	struct doc doc;

	for (size_t i = 0; i < n; i++) {
		ki_dlang_probe(r->d, i, &probe);
		left_out += probe.reason != KI_R_OK;
	}
	pthread_mutex_lock(&r->p->lock);
	d_flush(r->p);
	if (begin_event(&doc)) {
		ki_json_u64(&doc.j, "matched", n);
		ki_json_u64(&doc.j, "left_out", left_out);
		add_event(r->p, &doc);
	}
	submit(r->p);
	pthread_mutex_unlock(&r->p->lock);
}

static void put_ended(const struct running *r, struct ki_json *j, int ret)
{
	struct ki_dlang_drops drops;

	ki_dlang_drops(r->d, &drops);
	ki_json_open(j, "ended", '{');
	ki_json_i64(j, "status", ret < 0 ? 1 : ki_dlang_status(r->d));
	ki_json_open(j, "drops", '{');
	ki_json_u64(j, "records", drops.records);
	ki_json_u64(j, "aggregations", drops.aggregations);
	ki_json_u64(j, "variables", drops.variables);
	ki_json_u64(j, "strings", drops.strings);
	ki_json_u64(j, "speculations", drops.speculations);
	ki_json_u64(j, "refused", drops.refused);
	ki_json_u64(j, "signals", drops.signals);
	ki_json_close(j);
	ki_json_close(j);
}

static void say_ended(const struct running *r, int ret, const struct ki_err *err)
{
	struct d_program *p = r->p;
	struct doc doc;

	pthread_mutex_lock(&p->lock);
	d_flush(p);
	if (ret < 0 && begin_event(&doc)) {
		put_error(r, &doc.j, err);
		add_event(p, &doc);
	}
	if (begin_event(&doc)) {
		put_ended(r, &doc.j, ret);
		add_event(p, &doc);
	}
	pthread_mutex_unlock(&p->lock);
}

static void run(struct running *r)
{
	const struct ki_dlang_output out = {print, warn, NULL, r->p};
	struct ki_err err = {0};
	int ret;

	set_running(r->p);
	ret = ki_dlang_start(r->d, r->t, &err);
	if (!ret)
		say_matched(r);
	while (!ret && !is_stopped(r->p))
		ret = ki_dlang_work(r->d, PERIOD, &out, &err);
	if (ret >= 0)
		ret = ki_dlang_stop(r->d, &out, &err);
	say_ended(r, ret, &err);
}

void *d_work(void *program)
{
	struct d_program *p = program;
	struct running r = {.p = p};
	struct ki_err err = {0};

	if (prepare(&r, &err))
		refuse(&r, &err);
	else
		run(&r);
	ki_dlang_free(r.d);
	ki_target_free(r.t);
	pthread_mutex_lock(&p->lock);
	p->finished = true;
	submit(p);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}
