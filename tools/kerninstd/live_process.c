// SPDX-License-Identifier: GPL-2.0-only
/*
 * Curves in processes, one batch of a client in each, and processes that end or become others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live_inside.h"

static struct batch *batch_of(const struct owner *o, pid_t pid)
{
	struct batch *b = o->batches;

	while (b && b->session->pid != pid)
		b = b->next;
	return b;
}

static struct session *session_new(struct owner *o, pid_t pid, struct ki_err *err)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		ki_err_set(err, -ENOMEM, 0, "out of memory");
		return NULL;
	}
	s->t = live_process_open(pid, err);
	if (!s->t) {
		free(s);
		return NULL;
	}
	s->pid = pid;
	s->next = o->sessions;
	o->sessions = s;
	return s;
}

/* It is the newest one, and has no batch. */
static void session_drop(struct owner *o)
{
	struct session *s = o->sessions;

	o->sessions = s->next;
	ki_target_free(s->t);
	free(s);
}

static void tell_gone(struct live *l, struct client *c, uint32_t id, const char *reason,
		      const char *message)
{
	struct text said = {0};
	struct doc d;

	if (doc_begin(&d))
		return;
	ki_json_open(&d.j, NULL, '{');
	ki_json_u64(&d.j, "id", id);
	reply_refused(&d.j, "refused", reason, message);
	ki_json_close(&d.j);
	if (!doc_end(&d, &said))
		client_say(&l->engine->clients, c, "curve", said.v, strcspn(said.v, "\n"));
	text_free(&said);
}

/* What the list says of the process, as the target knows it: is any of it to be had? */
static bool read_new(const struct adding *a, struct ki_target *t, struct asked *w, json_t *curves,
		     pid_t pid)
{
	bool any = false;
	json_t *o;
	size_t i;

	json_array_foreach(curves, i, o)
	{
		if (w[i].pid != pid || w[i].refused)
			continue;
		asked_read(&w[i], t, a->live->cpus, o);
		any |= !w[i].refused;
	}
	return any;
}

/* A curve that is there, as if it were asked for again. */
static void read_again(const struct adding *a, const struct curve *c, struct asked *w)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "metric", c->metric->name, "point", c->point,
			      "predicate", c->predicate);

	w->id = c->id;
	asked_begin(w, o);
	if (!w->refused)
		asked_read(w, a->session->t, a->live->cpus, o);
	/* The batch lives on until this has been put in. */
	w->name = c->metric->name;
	w->point = c->point;
	ki_pointspec_process(w->point, &w->behind);
	w->condition = c->predicate;
	json_decref(o);
}

/* Take out what there is, and put in all: again has one for each curve of the old batch. */
static int install(struct adding *a, struct client *c, const struct batch *old, struct asked *again,
		   struct ki_err *err)
{
	if (old && ki_measure_stop(old->m, err))
		return err->code;
	a->session = session_new(c->own, again[0].pid, err);
	if (!a->session)
		return err->code;
	for (size_t i = 0; old && i < old->curves.n; i++) {
		if (old->curves.v[i].gone)
			continue;
		read_again(a, &old->curves.v[i], &again[i]);
		adding_take(a, &again[i]);
	}
	return 0;
}

/* Another's jump stands in a function: refuse what is wanted of that one. false: nothing is. */
static bool refuse_at(struct adding *a, const struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_at(a->session->t, err->addr);
	size_t n = 0, before = a->n;

	for (size_t i = 0; i < before; i++) {
		if (sym && a->sorted[i]->sym->addr == sym->addr)
			asked_refuse(a->sorted[i], ki_reason_tag(KI_R_FOREIGN_BREAKPOINT), "%s",
				     ki_reason_text(KI_R_FOREIGN_BREAKPOINT));
		else
			a->sorted[n++] = a->sorted[i];
	}
	a->n = n;
	return n < before;
}

/* All that can be; each function that cannot takes another try. */
static int measure_most(struct adding *a, struct ki_err *err)
{
	int ret = adding_measure(a, err);

	while (ret && err->reason == KI_R_BYTES_CHANGED && refuse_at(a, err)) {
		ki_measure_free(a->m);
		a->m = NULL;
		a->nsyms = a->at = 0;
		*err = (struct ki_err){0};
		ret = a->n ? adding_measure(a, err) : 0;
	}
	return ret;
}

static int install_new(struct adding *a, struct asked *w, json_t *curves, pid_t pid,
		       struct ki_err *err)
{
	read_new(a, a->session->t, w, curves, pid);
	for (size_t i = 0; i < json_array_size(curves); i++)
		if (w[i].pid == pid && !w[i].refused)
			adding_take(a, &w[i]);
	if (!a->n)
		return 0;
	a->session->curves += a->n;
	return measure_most(a, err);
}

/* Those of the old batch that are not in the new one. */
static void end_old(struct live *l, struct client *c, struct batch *old, struct asked *again,
		    const struct ki_err *err)
{
	for (size_t i = 0; i < old->curves.n; i++) {
		if (err->code && !again[i].refused)
			asked_refuse_err(&again[i], err);
		if (!old->curves.v[i].gone && again[i].refused)
			tell_gone(l, c, old->curves.v[i].id, again[i].reason, again[i].message);
		ki_predicate_free(again[i].when);
	}
	batch_free(l, c->own, old);
}

void live_install_process(struct live *l, struct client *c, struct asked *w, json_t *curves,
			  pid_t pid)
{
	struct batch *old = batch_of(c->own, pid);
	size_t n = json_array_size(curves), before = old ? old->curves.n : 0;
	struct asked *again = calloc(before + 1, sizeof(*again));
	struct ki_err err = {0};
	struct adding a = {.live = l};

	/* Of nothing what is there takes no notice. */
	if (old && !read_new(&a, old->session->t, w, curves, pid)) {
		free(again);
		return;
	}
	if (!again || adding_begin(&a, l, n + before))
		ki_err_set(&err, -ENOMEM, 0, "out of memory");
	if (!err.code)
		again[0].pid = pid;
	if (!err.code && !install(&a, c, old, again, &err))
		install_new(&a, w, curves, pid, &err);
	for (size_t i = 0; err.code && i < n; i++)
		if (w[i].pid == pid && !w[i].refused)
			asked_refuse_err(&w[i], &err);
	if (a.m && !err.code)
		adding_keep(&a, c);
	else
		ki_measure_free(a.m);
	if (a.session && !a.session->batches)
		session_drop(c->own);
	if (old && again)
		end_old(l, c, old, again, &err);
	adding_end(&a);
	free(again);
}

/* Its end is the end of its curves, which have what was counted until then. */
static void end_in(struct live *l, struct client *c, struct batch *b)
{
	live_sample(&l->source, c, engine_now());
	for (size_t i = 0; i < b->curves.n; i++)
		if (!b->curves.v[i].gone)
			tell_gone(l, c, b->curves.v[i].id, ki_reason_tag(KI_R_PROCESS_GONE),
				  "the process has ended, or become another program");
	batch_free(l, c->own, b);
}

/* 0: nothing has changed; KI_CHANGE_ENDED: it is that process no more; another kind: modules. */
static int changes_of(struct ki_target *t)
{
	struct ki_change *v = NULL;
	size_t n = 0;
	int kind = 0;

	if (ki_target_changes(t, &v, &n, NULL))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (kind != KI_CHANGE_ENDED)
			kind = v[i].kind == KI_CHANGE_BECAME || v[i].kind == KI_CHANGE_ENDED
				       ? KI_CHANGE_ENDED
				       : KI_CHANGE_UNMAPPED;
	free(v);
	return kind;
}

static void look_at_client(struct live *l, struct client *c)
{
	struct owner *o = c->own;

	for (struct batch *next, *b = o->batches; b; b = next) {
		next = b->next;
		if (b->session->pid && changes_of(b->session->t) == KI_CHANGE_ENDED)
			end_in(l, c, b);
	}
}

static void tell_changed(struct live *l, pid_t pid, bool ended)
{
	struct clients *cs = &l->engine->clients;
	struct text said = {0};

	text_printf(&said, "{\"pid\":%d,\"ended\":%s}", (int)pid, ended ? "true" : "false");
	for (struct client *c = cs->first; c && !said.failed; c = c->next)
		if (c->own)
			client_say(cs, c, "process", said.v, said.n);
	text_free(&said);
}

void live_look_at_processes(struct live *l)
{
	size_t kept = 0;

	for (struct client *c = l->engine->clients.first; c; c = c->next)
		if (c->own)
			look_at_client(l, c);
	for (size_t i = 0; i < l->looked.n; i++) {
		struct looked at = l->looked.v[i];
		int what = changes_of(at.t);

		if (what)
			tell_changed(l, at.pid, what == KI_CHANGE_ENDED);
		at.stale |= what != 0;
		if (what == KI_CHANGE_ENDED)
			ki_target_free(at.t);
		else
			l->looked.v[kept++] = at;
	}
	l->looked.n = kept;
}
