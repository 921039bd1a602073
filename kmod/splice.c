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
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "ki.h"

/* A splice request while it is worked on. */
struct ki_job {
	struct ki_session *session;
	struct ki_splice *req;
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;
	struct ki_change *changes; /* one for each window */
	struct ki_piece **pieces;  /* one for each chunk */
	u64 *pushed;		   /* of each chunk: ki_vet_chunk */
};

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
	j->changes = kvcalloc(r->nwindows, sizeof(*j->changes), GFP_KERNEL);
	j->pieces = kvcalloc(r->nchunks, sizeof(*j->pieces), GFP_KERNEL);
	j->pushed = kvcalloc(r->nchunks, sizeof(*j->pushed), GFP_KERNEL);
	return j->changes && j->pieces && j->pushed ? 0 : -ENOMEM;
}

static void job_free(struct ki_job *j)
{
	u32 i;

	for (i = 0; j->changes && i < j->req->nwindows; i++)
		if (j->changes[i].win && j->changes[i].win->fresh)
			ki_win_free(j->changes[i].win);
	for (i = 0; j->pieces && i < j->req->nchunks; i++)
		kfree(j->pieces[i]);
	kvfree(j->windows);
	kvfree(j->copies);
	kvfree(j->chunks);
	kvfree(j->changes);
	kvfree(j->pieces);
	kvfree(j->pushed);
}

/* ---- checking it ---- */

static bool is_zero(const void *p, size_t len)
{
	return !memchr_inv(p, 0, len);
}

static u16 shape_of_fixups(const struct ki_fixup *f, u8 n, u8 len)
{
	u8 i;

	if (n > KI_FIXUPS || !is_zero(f + n, (KI_FIXUPS - n) * sizeof(*f)))
		return KI_R_BAD_FIXUP;
	for (i = 0; i < n; i++) {
		if (f[i].kind == KI_FIX_NONE || f[i].kind >= KI_FIX_KINDS || f[i].tail > 8 ||
		    !is_zero(f[i].zero, sizeof(f[i].zero)) || f[i].off + 4 > len)
			return KI_R_BAD_FIXUP;
		if (i && f[i].off < f[i - 1].off + 4)
			return KI_R_BAD_FIXUP;
	}
	return KI_R_OK;
}

static u16 shape_of_window(const struct ki_job *j, u32 i)
{
	const struct ki_window *w = &j->windows[i];
	u32 k;

	if (w->reason || w->len < KI_WINDOW_MIN || w->len > KI_WINDOW_MAX || !w->ncopy ||
	    w->ncopy > KI_WINDOW_INSNS || w->first_copy > j->req->ncopies ||
	    w->ncopy > j->req->ncopies - w->first_copy ||
	    !is_zero(w->orig + w->len, KI_WINDOW_MAX - w->len) || w->addr + w->len < w->addr)
		return KI_R_BAD_REQUEST;
	if (i && w->addr < w[-1].addr + w[-1].len)
		return KI_R_BAD_REQUEST;
	for (k = 0; k < w->ncopy; k++) {
		const struct ki_copy *c = &j->copies[w->first_copy + k];

		if (!c->len || c->len > KI_COPY_MAX || !is_zero(c->zero, sizeof(c->zero)))
			return KI_R_BAD_REQUEST;
		if (shape_of_fixups(c->fix, c->nfix, c->len))
			return KI_R_BAD_FIXUP;
	}
	return KI_R_OK;
}

static bool same_window(const struct ki_win *w, const struct ki_window *req,
			const struct ki_copy *copies)
{
	return w->addr == req->addr && w->len == req->len && w->ncopy == req->ncopy &&
	       !memcmp(w->orig, req->orig, sizeof(w->orig)) &&
	       !memcmp(w->copies, copies, w->ncopy * sizeof(*copies));
}

/* Find the window among the installed ones, or make and verify a new one. */
static u16 find_window(struct ki_job *j, struct ki_verifier *v, u32 i)
{
	const struct ki_window *req = &j->windows[i];
	const struct ki_copy *copies = &j->copies[req->first_copy];
	struct ki_win *w = ki_win_touching(req->addr, req->addr + req->len);

	if (w) {
		if (!same_window(w, req, copies))
			return KI_R_WINDOW_OVERLAP;
		j->changes[i].win = w;
		return KI_R_OK;
	}
	w = ki_win_new(req, copies);
	if (!w)
		return KI_R_NO_MEMORY;
	j->changes[i].win = w;
	return ki_verify_window(v, w);
}

static int check_windows(struct ki_job *j)
{
	const struct ki_reserved_row *rows;
	struct ki_verifier *v;
	int first = 0, err;
	u32 i, n;

	err = ki_reserved_get(&rows, &n);
	if (!err)
		err = ki_verifier_new(&v);
	if (err)
		return err;
	for (i = 0; i < j->req->nwindows; i++) {
		u16 reason = shape_of_window(j, i);

		INIT_LIST_HEAD(&j->changes[i].more);
		if (!reason)
			reason = find_window(j, v, i);
		j->windows[i].reason = reason;
		if (reason) {
			err = ki_refuse(&j->req->reason, reason);
			first = first ? first : err;
		}
		cond_resched();
	}
	ki_verifier_free(v);
	if (!first && ki_reserved_stale())
		return ki_refuse(&j->req->reason, KI_R_MODULE_GOING);
	return first;
}

static u16 check_chunk(const struct ki_job *j, const struct ki_chunk *c)
{
	if (c->window >= j->req->nwindows || c->zero || c->id || c->reason || !c->len ||
	    c->len > KI_CHUNK_MAX || !is_zero(c->code + c->len, KI_CHUNK_MAX - c->len))
		return KI_R_BAD_REQUEST;
	if (c->slot >= j->windows[c->window].ncopy)
		return KI_R_BAD_SLOT;
	if (shape_of_fixups(c->fix, c->nfix, c->len))
		return KI_R_BAD_FIXUP;
	return ki_vet_chunk(j->session, c, &j->pushed[c - j->chunks]);
}

static int check_chunks(struct ki_job *j)
{
	int first = 0, err;
	u32 i;

	for (i = 0; i < j->req->nchunks; i++) {
		u16 reason = check_chunk(j, &j->chunks[i]);

		cond_resched();
		j->chunks[i].reason = reason;
		if (reason) {
			err = ki_refuse(&j->req->reason, reason);
			first = first ? first : err;
		}
	}
	return first;
}

/* A window without a chunk would be a springboard to nothing. */
static int check_all_used(struct ki_job *j)
{
	unsigned long *used = kvcalloc(BITS_TO_LONGS(j->req->nwindows), sizeof(long), GFP_KERNEL);
	bool full;
	u32 i;

	if (!used)
		return -ENOMEM;
	for (i = 0; i < j->req->nchunks; i++)
		__set_bit(j->chunks[i].window, used);
	full = bitmap_full(used, j->req->nwindows);
	kvfree(used);
	return full ? 0 : ki_refuse(&j->req->reason, KI_R_BAD_REQUEST);
}

/* ---- doing it ---- */

static struct ki_piece *piece_new(struct ki_session *s, const struct ki_chunk *c)
{
	struct ki_piece *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->id = s->next_id++;
	p->slot = c->slot;
	p->len = c->len;
	p->nfix = c->nfix;
	memcpy(p->fix, c->fix, sizeof(p->fix));
	memcpy(p->code, c->code, sizeof(p->code));
	return p;
}

static int make_pieces(struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->req->nchunks; i++) {
		struct ki_change *c = &j->changes[j->chunks[i].window];
		struct ki_piece *p = piece_new(j->session, &j->chunks[i]);

		if (!p)
			return ki_refuse(&j->req->reason, KI_R_NO_MEMORY);
		p->win = c->win;
		p->pushed = j->pushed[i];
		list_add_tail(&p->in_window, &c->more);
		j->pieces[i] = p;
		j->chunks[i].id = p->id;
	}
	return 0;
}

static int build_patches(struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->req->nwindows; i++) {
		struct ki_change *c = &j->changes[i];
		u16 reason;
		int err = ki_patch_build(c->win, &c->more, false, &c->patch, &reason);

		if (err) {
			j->windows[i].reason = reason;
			return ki_refuse(&j->req->reason, reason);
		}
	}
	return 0;
}

static void record_splice(struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->req->nwindows; i++) {
		struct ki_change *c = &j->changes[i];

		if (c->win->fresh)
			ki_win_insert(c->win);
		ki_bury_patch(c->win->patch);
		c->win->patch = c->patch;
		list_splice_tail_init(&c->more, &c->win->chunks);
	}
	for (i = 0; i < j->req->nchunks; i++) {
		list_add_tail(&j->pieces[i]->in_session, &j->session->pieces);
		j->pieces[i] = NULL;
	}
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

static int install(struct ki_job *j)
{
	u32 bad = 0;
	int err = make_pieces(j);

	if (!err)
		err = build_patches(j);
	if (!err)
		err = answer(j);
	if (!err) {
		err = ki_change_swap(j->changes, j->req->nwindows, &bad);
		if (err == -ESTALE) {
			j->windows[bad].reason = KI_R_BYTES_CHANGED;
			j->req->reason = KI_R_BYTES_CHANGED;
		}
	}
	if (err)
		ki_change_drop(j->changes, j->req->nwindows);
	else
		record_splice(j);
	return err;
}

static int run_job(struct ki_job *j)
{
	int err = job_read(j), chunks_err;

	if (err)
		return err;
	err = check_windows(j);
	if (err == -ENOMEM && !j->req->reason)
		return err;
	chunks_err = check_chunks(j);
	err = err ? err : chunks_err;
	if (!err)
		err = check_all_used(j);
	if (!err && !(j->req->flags & KI_SPLICE_DRY_RUN))
		err = install(j);
	else if (!err)
		return answer(j);
	if (err)
		answer(j); /* a second failure adds nothing */
	return err;
}

int ki_splice(struct ki_session *s, struct ki_splice *req)
{
	struct ki_job j = {.session = s, .req = req};
	int err;

	req->reason = KI_R_OK;
	if ((req->flags & ~KI_SPLICE_DRY_RUN) || !req->nwindows || !req->nchunks)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->nwindows > KI_BATCH_WINDOWS || req->nchunks > KI_BATCH_CHUNKS ||
	    req->ncopies > KI_BATCH_WINDOWS * KI_WINDOW_INSNS)
		return ki_refuse(&req->reason, KI_R_TOO_MANY);
	err = run_job(&j);
	job_free(&j);
	return err;
}
