// SPDX-License-Identifier: GPL-2.0-only
/*
 * KI_IOC_SPLICE: installing chunks.
 *
 * The request is prepared completely (memory, checks, patches), then made in one batch
 * (change.c), then recorded. Until the batch nothing has changed, and after it nothing can fail.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "array.h"
#include "dev/request.h"
#include "user.h"
#include "vet/long.h"
#include "watch/who.h"
#include "window/charge.h"
#include "yield.h"

/* ---- what a job needs ---- */

static int job_new(struct ki_job *j)
{
	const struct ki_splice *r = j->req;

	j->wins = ki_array(r->nwindows, sizeof(*j->wins), KI_GFP | __GFP_ZERO);
	j->changes = ki_array(r->nwindows, sizeof(*j->changes), KI_GFP | __GFP_ZERO);
	j->pieces = ki_array(r->nchunks, sizeof(*j->pieces), KI_GFP | __GFP_ZERO);
	return j->wins && j->changes && j->pieces ? 0 : -ENOMEM;
}

/* New windows, alone or in groups. */
static void free_wins(struct ki_job *j)
{
	u32 i;

	for (i = 0; j->wins && i < j->req->nwindows; i++) {
		struct ki_win *w = j->wins[i];

		if (w && w->host && (!w->group || w->group->fresh))
			w->host->users--;
	}
	for (i = 0; j->wins && i < j->req->nwindows; i++) {
		struct ki_win *w = j->wins[i];

		if (w && !w->group)
			ki_win_free(w);
		else if (w && w->group->fresh && w == w->group->v[w->group->n - 1])
			ki_group_free(w->group);
		ki_yield();
	}
}

static void job_free(struct ki_job *j)
{
	u32 i;

	for (i = 0; j->pieces && i < j->req->nchunks; i++) {
		if (j->pieces[i])
			list_del(&j->pieces[i]->in_window);
		ki_piece_free(j->pieces[i]);
	}
	free_wins(j);
	ki_array_free(j->wins);
	ki_array_free(j->changes);
	ki_array_free(j->pieces);
}

/* ---- doing it ---- */

#define KI_SPLICE_TRIES 16 /* while modules come and go */

static u64 ki_seq;

/* A comparison, and `je target` after it. */
static void complete_guard(struct ki_piece *p)
{
	p->code[p->len] = 0x0f;
	p->code[p->len + 1] = 0x84;
	p->fix[p->nfix++] =
		(struct ki_fixup){.kind = KI_FIX_REL32, .off = p->len + 2, .target = p->target};
	p->len += KI_JCC_LEN;
}

static struct ki_piece *piece_new(struct ki_session *s, const struct ki_chunk *c)
{
	u8 more = c->kind == KI_CHUNK_GUARDED ? KI_JCC_LEN : 0;
	struct ki_piece *p = kzalloc(struct_size(p, code, c->len + more), KI_GFP);

	if (!p)
		return NULL;
	p->seq = ++ki_seq;
	p->id = s->next_id++;
	p->order = c->order;
	p->insn = c->insn;
	p->where = c->where;
	p->kind = c->kind;
	p->target = c->target;
	p->len = c->len;
	p->nfix = c->nfix;
	p->pushed = c->kind == KI_CHUNK_CODE ? ki_vet_pushed(c) : 0;
	memcpy(p->fix, c->fix, sizeof(p->fix));
	memcpy(p->code, c->code, c->len);
	if (more)
		complete_guard(p);
	return p;
}

/* What a piece needs beside itself. */
static u16 complete_piece(struct ki_piece *p)
{
	if (ki_piece_replaces(p) && ki_verify_callee(p->target, &p->owner))
		return KI_R_MODULE_GOING;
	if (p->where == KI_RETURNED)
		return ki_return_take(p->win, p->insn, &p->back);
	return KI_R_OK;
}

static int make_pieces(struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->req->nchunks; i++) {
		struct ki_win *w = j->wins[j->chunks[i].window];
		struct ki_piece *p = piece_new(j->session, &j->chunks[i]);
		u16 reason;

		if (!p)
			return ki_refuse(&j->req->reason, KI_R_NO_MEMORY);
		p->win = w;
		list_add_tail(&p->in_window, &w->more);
		j->pieces[i] = p;
		if (j->longs)
			swap(p->more, j->longs[i].code);
		reason = complete_piece(p);
		if (reason) {
			j->chunks[i].reason = reason;
			return ki_refuse(&j->req->reason, reason);
		}
		j->chunks[i].id = p->id;
		if (ki_job_pause())
			return -EINTR;
	}
	return 0;
}

/* A host that is there already stays as it is; a kprobe may stand on it. */
static bool is_changed(const struct ki_group *g)
{
	u32 i;

	for (i = 0; i < g->n; i++)
		if (!list_empty(&g->v[i]->more))
			return true;
	return g->fresh;
}

/* One change for each group, in order of address. */
static void list_changes(struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->req->nwindows; i++) {
		struct ki_group *g = j->wins[i]->group;

		if (!g->job && is_changed(g)) {
			j->changes[j->nchanges].group = g;
			g->job = ++j->nchanges;
		}
	}
	for (i = 0; i < j->nchanges; i++)
		j->changes[i].group->job = 0;
}

/* A group is refused: its windows of the request say why. */
static int refuse_group(struct ki_job *j, const struct ki_group *g, u16 reason)
{
	u32 i;

	for (i = 0; i < j->req->nwindows; i++)
		if (j->wins[i]->group == g)
			j->windows[i].reason = reason;
	return ki_refuse(&j->req->reason, reason);
}

/* There is no room for a group: nor is there for those after it, or each would be asked for again.
 */
static int refuse_from(struct ki_job *j, const struct ki_group *g, u16 reason)
{
	u32 i;

	for (i = 0; i < j->req->nwindows; i++)
		if (j->wins[i]->group->v[0]->addr >= g->v[0]->addr && j->wins[i]->group->fresh)
			j->windows[i].reason = reason;
	return refuse_group(j, g, reason);
}

static int build_patches(struct ki_job *j)
{
	u32 i;

	ki_fill_decide(j->changes, j->nchanges);
	for (i = 0; i < j->nchanges; i++) {
		struct ki_change *c = &j->changes[i];
		u16 reason;

		if (ki_patch_build(c->group, false, &c->patch, &reason))
			return ki_heap_is_full() ? refuse_from(j, c->group, reason)
						 : refuse_group(j, c->group, reason);
		if (c->group->fill && !c->patch.filled)
			ki_fill_stop(j->changes, j->nchanges);
		ki_step("patch built");
		if (ki_job_pause())
			return -EINTR;
	}
	return 0;
}

static void record_splice(struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->nchanges; i++) {
		if (j->changes[i].group->fresh)
			ki_group_insert(j->changes[i].group);
		ki_change_record(&j->changes[i]);
		ki_step("recorded");
		ki_yield();
	}
	for (i = 0; i < j->req->nwindows; i++)
		list_splice_tail_init(&j->wins[i]->more, &j->wins[i]->chunks);
	for (i = 0; i < j->req->nchunks; i++) {
		list_add_tail(&j->pieces[i]->in_session, &j->session->pieces);
		ki_holder_piece(j->pieces[i], true);
		j->pieces[i] = NULL;
	}
	for (i = 0; i < j->nchanges; i++)
		ki_charge_group(j->changes[i].group, j->session->account);
}

/* Not the bytes that were checked: a kprobe has come, or another tool has written there. */
static int refuse_stale(struct ki_job *j, const struct ki_group *g)
{
	u16 reason = KI_R_BYTES_CHANGED;
	u32 i;

	for (i = 0; i < g->n; i++)
		if (ki_text_probed(g->v[i]->addr, g->v[i]->addr + g->v[i]->len))
			reason = KI_R_FOREIGN_BREAKPOINT;
	return refuse_group(j, g, reason);
}

static int make_changes(struct ki_job *j)
{
	u32 bad = 0;
	int err;

	ki_step("charged");
	ki_probes_hold();
	ki_step("kprobes held");
	err = ki_change_swap(j->changes, j->nchanges, &bad);
	if (err == -ESTALE)
		err = refuse_stale(j, j->changes[bad].group);
	else if (!err)
		record_splice(j);
	ki_probes_release();
	return err;
}

static int install(struct ki_job *j)
{
	int err = make_pieces(j);

	ki_step("pieces");
	list_changes(j);
	if (!err)
		err = build_patches(j);
	if (!err)
		err = ki_charge_job(j);
	if (!err)
		err = make_changes(j);
	if (err)
		ki_change_drop(j->changes, j->nchanges);
	return err;
}

static int run_job(struct ki_job *j)
{
	int err = job_new(j);

	if (err)
		return err;
	err = ki_job_check(j);
	ki_step("checked");
	if (!err && !(j->req->flags & KI_SPLICE_DRY_RUN))
		err = install(j);
	return err;
}

static int splice_once(struct ki_request *q, bool *stale)
{
	struct ki_job j = {
		.session = q->session,
		.req = &q->arg.splice,
		.windows = q->windows,
		.copies = q->copies,
		.chunks = q->chunks,
		.longs = q->longs,
	};
	int err = run_job(&j);

	ki_step("installed");
	*stale = j.stale;
	job_free(&j);
	ki_step("job freed");
	return err;
}

/* Modules came or went: all is as it was asked for, to be checked once more. */
static void begin_again(struct ki_request *q)
{
	u32 i;

	q->arg.splice.reason = KI_R_OK;
	for (i = 0; i < q->arg.splice.nwindows; i++)
		q->windows[i].reason = KI_R_OK;
	for (i = 0; i < q->arg.splice.nchunks; i++)
		q->chunks[i].reason = KI_R_OK;
	ki_long_again(q);
}

int ki_splice(struct ki_request *q)
{
	u32 tries = KI_SPLICE_TRIES;
	bool stale;
	int err;

	lockdep_assert_held(&ki_lock);
	ki_step("taken");
	err = splice_once(q, &stale);
	while (stale && --tries && !fatal_signal_pending(current)) {
		begin_again(q);
		err = splice_once(q, &stale);
	}
	q->checked = err != -ENOMEM || q->arg.splice.reason;
	return err;
}

/* ---- from and to user memory ---- */

int ki_splice_take(struct ki_request *q)
{
	struct ki_splice *r = &q->arg.splice;
	int err = 0;

	ki_step("asked");
	r->reason = KI_R_OK;
	if ((r->flags & ~KI_SPLICE_DRY_RUN) || !r->nwindows || !r->nchunks)
		return ki_refuse(&r->reason, KI_R_BAD_REQUEST);
	if (r->nwindows > KI_BATCH_WINDOWS || r->nchunks > KI_BATCH_CHUNKS ||
	    r->ncopies > KI_BATCH_WINDOWS * KI_WINDOW_INSNS)
		return ki_refuse(&r->reason, KI_R_TOO_MANY);
	q->windows = ki_user_array(r->windows, r->nwindows, sizeof(*q->windows), &err);
	q->copies = ki_user_array(r->copies, r->ncopies, sizeof(*q->copies), &err);
	q->chunks = ki_user_array(r->chunks, r->nchunks, sizeof(*q->chunks), &err);
	return err ? err : ki_long_take(q);
}

/* Reasons and ids. Who cannot be told them has not installed anything. */
int ki_splice_answer(struct ki_request *q, int err)
{
	const struct ki_splice *r = &q->arg.splice;
	struct ki_who who;
	int failed;

	if (!q->checked)
		return err;
	failed = ki_user_give(r->windows, q->windows, (size_t)r->nwindows * sizeof(*q->windows));
	if (!failed)
		failed =
			ki_user_give(r->chunks, q->chunks, (size_t)r->nchunks * sizeof(*q->chunks));
	if (err || !failed)
		return err;
	if (!(r->flags & KI_SPLICE_DRY_RUN)) {
		mutex_lock(&ki_lock);
		ki_who_begin(&who, q->session);
		ki_unsplice_run(q->session, q->chunks[0].id, r->nchunks);
		ki_who_end();
		mutex_unlock(&ki_lock);
		ki_who_tell(&who);
	}
	return failed;
}
