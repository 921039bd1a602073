// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two requests that change text.
 *
 * Each is prepared completely (memory, patches, checks), then made in one batch (text.c), then
 * recorded. Until the batch nothing has changed, and after it nothing can fail. Taking chunks
 * out uses heap space that is kept for it, in parts of KI_UNSPLICE_PART windows.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "ki.h"

#define KI_UNSPLICE_PART 256

/* What happens to one window. */
struct ki_change {
	struct ki_win *win;
	struct list_head more; /* new pieces */
	struct ki_patch patch; /* the new one; none: the original bytes return */
};

/* A splice request while it is worked on. */
struct ki_job {
	struct ki_session *session;
	struct ki_splice *req;
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;
	struct ki_change *changes; /* one for each window */
	struct ki_piece **pieces;  /* one for each chunk */
};

static const int ki_errnos[] = {
#define KI_REASON(tag, err, text, hint) err,
#include "uapi/kerninst_reasons.def"
#undef KI_REASON
};

static int refuse(u32 *out, u16 reason)
{
	if (!*out)
		*out = reason;
	return -ki_errnos[reason];
}

static void springboard(u8 *out, unsigned long at, unsigned long to)
{
	s32 rel = to - (at + KI_JMP_LEN);

	out[0] = KI_JMP;
	memcpy(out + 1, &rel, 4);
}

static void fill_swap(struct ki_swap *s, const struct ki_change *c)
{
	const struct ki_win *w = c->win;

	s->addr = w->addr;
	s->wait = w->fresh && w->wait;
	s->via = c->patch.addr ? c->patch.addr : w->patch.addr;
	if (w->fresh)
		memcpy(s->now, w->orig, KI_JMP_LEN);
	else
		springboard(s->now, w->addr, w->patch.addr);
	if (c->patch.addr)
		springboard(s->then, w->addr, c->patch.addr);
	else
		memcpy(s->then, w->orig, KI_JMP_LEN);
}

static int swap_all(struct ki_change *changes, u32 n, u32 *bad)
{
	struct ki_swap *v;
	int err;
	u32 i;

	*bad = n;
	v = kvmalloc_array(n, sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		fill_swap(&v[i], &changes[i]);
	err = ki_text_swap(v, n, bad);
	kvfree(v);
	return err;
}

/* ---- reading a request ---- */

static void *take_array(u64 from, u32 n, size_t each, int *err)
{
	void *p;

	if (*err || !n)
		return NULL;
	p = kvmalloc_array(n, each, GFP_KERNEL);
	if (!p) {
		*err = -ENOMEM;
	} else if (copy_from_user(p, u64_to_user_ptr(from), (size_t)n * each)) {
		kvfree(p);
		p = NULL;
		*err = -EFAULT;
	}
	return p;
}

static int job_read(struct ki_job *j)
{
	const struct ki_splice *r = j->req;
	int err = 0;

	j->windows = take_array(r->windows, r->nwindows, sizeof(*j->windows), &err);
	j->copies = take_array(r->copies, r->ncopies, sizeof(*j->copies), &err);
	j->chunks = take_array(r->chunks, r->nchunks, sizeof(*j->chunks), &err);
	if (err)
		return err;
	j->changes = kvcalloc(r->nwindows, sizeof(*j->changes), GFP_KERNEL);
	j->pieces = kvcalloc(r->nchunks, sizeof(*j->pieces), GFP_KERNEL);
	return j->changes && j->pieces ? 0 : -ENOMEM;
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
			err = refuse(&j->req->reason, reason);
			first = first ? first : err;
		}
		cond_resched();
	}
	ki_verifier_free(v);
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
	return ki_vet_chunk(j->session, c);
}

static int check_chunks(struct ki_job *j)
{
	int first = 0, err;
	u32 i;

	for (i = 0; i < j->req->nchunks; i++) {
		u16 reason = check_chunk(j, &j->chunks[i]);

		j->chunks[i].reason = reason;
		if (reason) {
			err = refuse(&j->req->reason, reason);
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
	return full ? 0 : refuse(&j->req->reason, KI_R_BAD_REQUEST);
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
			return refuse(&j->req->reason, KI_R_NO_MEMORY);
		p->win = c->win;
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
			return refuse(&j->req->reason, reason);
		}
	}
	return 0;
}

static void drop_patches(struct ki_change *changes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (changes[i].patch.addr)
			ki_heap_free(changes[i].patch.addr, changes[i].patch.len);
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
		err = swap_all(j->changes, j->req->nwindows, &bad);
		if (err == -ESTALE) {
			j->windows[bad].reason = KI_R_BYTES_CHANGED;
			j->req->reason = KI_R_BYTES_CHANGED;
		}
	}
	if (err)
		drop_patches(j->changes, j->req->nwindows);
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
		return refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->nwindows > KI_BATCH_WINDOWS || req->nchunks > KI_BATCH_CHUNKS ||
	    req->ncopies > KI_BATCH_WINDOWS * KI_WINDOW_INSNS)
		return refuse(&req->reason, KI_R_TOO_MANY);
	err = run_job(&j);
	job_free(&j);
	return err;
}

/* ---- taking out ---- */

static bool all_dying(struct ki_win *w)
{
	struct ki_piece *p;

	list_for_each_entry (p, &w->chunks, in_window)
		if (!p->dying)
			return false;
	return true;
}

/* A patch without the dying pieces; the space for it is kept in reserve. */
static void rebuild(struct ki_change *c)
{
	u16 reason;

	while (ki_patch_build(c->win, NULL, true, &c->patch, &reason)) {
		ki_bury_now();
		cond_resched();
	}
}

static void free_dying(struct ki_win *w)
{
	struct ki_piece *p, *next;

	list_for_each_entry_safe (p, next, &w->chunks, in_window) {
		if (!p->dying)
			continue;
		list_del(&p->in_window);
		list_del(&p->in_session);
		kfree(p);
	}
}

static void record_removal(struct ki_change *c)
{
	struct ki_win *w = c->win;

	free_dying(w);
	ki_bury_patch(w->patch);
	w->patch = c->patch;
	if (!w->patch.addr) {
		ki_win_erase(w);
		ki_win_free(w);
	}
}

/* Another tool has written into the springboard: leave this window as it is. */
static void leave_alone(struct ki_change *c)
{
	struct ki_piece *p;

	drop_patches(c, 1);
	list_for_each_entry (p, &c->win->chunks, in_window)
		p->dying = false;
}

static void take_out_part(struct ki_change *c, u32 n)
{
	u32 bad, i;
	int err;

	for (i = 0; i < n; i++) {
		c[i].patch = (struct ki_patch){};
		if (!all_dying(c[i].win))
			rebuild(&c[i]);
	}
	while ((err = swap_all(c, n, &bad))) {
		if (err != -ESTALE) {
			cond_resched(); /* -ENOMEM: must not be given up */
			continue;
		}
		leave_alone(&c[bad]);
		memmove(&c[bad], &c[bad + 1], (--n - bad) * sizeof(*c));
		if (!n)
			return;
	}
	for (i = 0; i < n; i++)
		record_removal(&c[i]);
}

/* All windows with dying pieces, in order of address, part by part. */
static void take_out(void)
{
	static struct ki_change part[KI_UNSPLICE_PART]; /* under ki_lock */
	struct ki_win *w = ki_win_touching(0, ULONG_MAX), *next;
	u32 n = 0;

	for (; w; w = next) {
		struct ki_piece *p;

		next = ki_win_next(w);
		list_for_each_entry (p, &w->chunks, in_window) {
			if (p->dying) {
				part[n++] = (struct ki_change){.win = w};
				break;
			}
		}
		if (n == KI_UNSPLICE_PART) {
			take_out_part(part, n);
			n = 0;
		}
	}
	if (n)
		take_out_part(part, n);
}

static struct ki_piece *find_piece(struct ki_session *s, u32 id)
{
	struct ki_piece *p;

	list_for_each_entry (p, &s->pieces, in_session)
		if (p->id == id)
			return p;
	return NULL;
}

void ki_unsplice_all(struct ki_session *s)
{
	struct ki_piece *p;

	if (list_empty(&s->pieces))
		return;
	list_for_each_entry (p, &s->pieces, in_session)
		p->dying = true;
	take_out();
}

static int by_id(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : *(const u32 *)a > *(const u32 *)b;
}

/* Mark the pieces whose ids are in the sorted array; both it and the list are in order of id. */
static int mark(struct ki_session *s, const u32 *ids, u32 n)
{
	struct ki_piece *p;
	u32 i = 0;

	list_for_each_entry (p, &s->pieces, in_session) {
		if (i < n && ids[i] == p->id) {
			p->dying = true;
			i++;
		}
	}
	if (i == n)
		return 0;
	list_for_each_entry (p, &s->pieces, in_session)
		p->dying = false;
	return -ENOENT;
}

int ki_unsplice(struct ki_session *s, struct ki_unsplice *req)
{
	int err = 0;
	u32 *ids;

	req->reason = KI_R_OK;
	if (req->flags == KI_UNSPLICE_ALL && !req->count && !req->ids) {
		ki_unsplice_all(s);
		return list_empty(&s->pieces) ? 0 : refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
	}
	if (req->flags || !req->count)
		return refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->count > KI_BATCH_CHUNKS)
		return refuse(&req->reason, KI_R_TOO_MANY);
	ids = take_array(req->ids, req->count, sizeof(*ids), &err);
	if (!ids)
		return err;
	sort(ids, req->count, sizeof(*ids), by_id, NULL);
	err = mark(s, ids, req->count);
	if (!err) {
		take_out();
		if (find_piece(s, ids[0])) /* left alone */
			err = refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
	}
	kvfree(ids);
	return err;
}
