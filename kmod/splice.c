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
#include <linux/uaccess.h>

#include "charge.h"
#include "long.h"

/* ---- reading a request ---- */

static int job_read(struct ki_job *j)
{
	const struct ki_splice *r = j->req;
	int err = 0;

	j->windows = ki_take_array(r->windows, r->nwindows, sizeof(*j->windows), &err);
	j->copies = ki_take_array(r->copies, r->ncopies, sizeof(*j->copies), &err);
	j->chunks = ki_take_array(r->chunks, r->nchunks, sizeof(*j->chunks), &err);
	if (err)
		return err;
	j->wins = kvcalloc(r->nwindows, sizeof(*j->wins), GFP_KERNEL);
	j->changes = kvcalloc(r->nwindows, sizeof(*j->changes), GFP_KERNEL);
	j->pieces = kvcalloc(r->nchunks, sizeof(*j->pieces), GFP_KERNEL);
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
		cond_resched();
	}
}

static void job_free(struct ki_job *j)
{
	u32 i;

	for (i = 0; j->longs && i < j->req->nchunks; i++)
		ki_long_free(j->longs[i]);
	kvfree(j->longs);
	for (i = 0; j->pieces && i < j->req->nchunks; i++) {
		if (j->pieces[i])
			list_del(&j->pieces[i]->in_window);
		ki_piece_free(j->pieces[i]);
	}
	free_wins(j);
	kvfree(j->windows);
	kvfree(j->copies);
	kvfree(j->chunks);
	kvfree(j->wins);
	kvfree(j->changes);
	kvfree(j->pieces);
}

/* ---- doing it ---- */

#define KI_SPLICE_TRIES 16 /* while modules come and go */

static u64 ki_seq;

static struct ki_piece *piece_new(struct ki_session *s, const struct ki_chunk *c)
{
	struct ki_piece *p = kzalloc(struct_size(p, code, c->len), GFP_KERNEL);

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
	return p;
}

/* What a piece needs beside itself. */
static u16 complete_piece(struct ki_piece *p)
{
	if (p->kind == KI_CHUNK_REPLACE && ki_verify_callee(p->target, &p->owner))
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
		cond_resched();
		list_add_tail(&p->in_window, &w->more);
		j->pieces[i] = p;
		if (j->longs)
			swap(p->more, j->longs[i]);
		reason = complete_piece(p);
		if (reason) {
			j->chunks[i].reason = reason;
			return ki_refuse(&j->req->reason, reason);
		}
		j->chunks[i].id = p->id;
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

/* There is no room for a group: nor is there for those behind it, or each would be asked for again.
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
		cond_resched();
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
		cond_resched();
	}
	for (i = 0; i < j->req->nwindows; i++)
		list_splice_tail_init(&j->wins[i]->more, &j->wins[i]->chunks);
	for (i = 0; i < j->req->nchunks; i++) {
		list_add_tail(&j->pieces[i]->in_session, &j->session->pieces);
		j->pieces[i] = NULL;
	}
	for (i = 0; i < j->nchanges; i++)
		ki_charge_group(j->changes[i].group, j->session->account);
}

/* The answers: reasons and ids. Before the change, so that a bad pointer changes nothing. */
static int answer(struct ki_job *j)
{
	const struct ki_splice *r = j->req;

	if (copy_to_user(u64_to_user_ptr(r->windows), j->windows,
			 (size_t)r->nwindows * sizeof(*j->windows)) ||
	    copy_to_user(u64_to_user_ptr(r->chunks), j->chunks,
			 (size_t)r->nchunks * sizeof(*j->chunks)))
		return -EFAULT;
	return 0;
}

/* Not the bytes that were checked: a kprobe has come, or somebody else has written there. */
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

	ki_step("answered");
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
		err = answer(j);
	if (!err)
		err = make_changes(j);
	if (err)
		ki_change_drop(j->changes, j->nchanges);
	return err;
}

static int run_job(struct ki_job *j)
{
	int err;

	ki_step("asked");
	err = job_read(j);
	if (err)
		return err;
	ki_step("read");
	err = ki_job_check(j);
	ki_step("checked");
	if (err == -ENOMEM && !j->req->reason)
		return err;
	if (!err && !(j->req->flags & KI_SPLICE_DRY_RUN))
		err = install(j);
	else if (!err)
		return answer(j);
	if (err)
		answer(j); /* a second failure adds nothing */
	return err;
}

static int splice_once(struct ki_session *s, struct ki_splice *req, bool *stale)
{
	struct ki_job j = {.session = s, .req = req};
	int err;

	req->reason = KI_R_OK;
	err = run_job(&j);
	ki_step("installed");
	*stale = j.stale;
	job_free(&j);
	ki_step("job freed");
	return err;
}

int ki_splice(struct ki_session *s, struct ki_splice *req)
{
	u32 tries = KI_SPLICE_TRIES;
	bool stale;
	int err;

	req->reason = KI_R_OK;
	if ((req->flags & ~KI_SPLICE_DRY_RUN) || !req->nwindows || !req->nchunks)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->nwindows > KI_BATCH_WINDOWS || req->nchunks > KI_BATCH_CHUNKS ||
	    req->ncopies > KI_BATCH_WINDOWS * KI_WINDOW_INSNS)
		return ki_refuse(&req->reason, KI_R_TOO_MANY);
	do
		err = splice_once(s, req, &stale);
	while (stale && --tries && !fatal_signal_pending(current));
	return err;
}
