// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a splice request in order?
 *
 * Windows first, each by itself (verify.c), in order of address; then who bounces in whose tail;
 * then chunks (check_chunk.c). A window that is installed already must be described as it stands.
 * New windows claim the places that they will write, so that no two can want the same.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ki.h"
#include "patch/direct.h"
#include "splice/job.h"
#include "text/site.h"

static bool is_zero(const void *p, size_t len)
{
	return !memchr_inv(p, 0, len);
}

static u16 shape_of_copies(const struct ki_job *j, const struct ki_window *w)
{
	u32 k;

	if (!w->ncopy || w->ncopy > KI_WINDOW_INSNS || w->first_copy > j->req->ncopies ||
	    w->ncopy > j->req->ncopies - w->first_copy)
		return KI_R_BAD_REQUEST;
	for (k = 0; k < w->ncopy; k++) {
		const struct ki_copy *c = &j->copies[w->first_copy + k];

		if (!c->len || c->len > KI_COPY_MAX || !is_zero(c->zero, sizeof(c->zero)))
			return KI_R_BAD_REQUEST;
		if (ki_check_fixups(c->fix, c->nfix, c->len))
			return KI_R_BAD_FIXUP;
	}
	return KI_R_OK;
}

static u16 shape_of_board(const struct ki_window *w)
{
	s64 reach;

	if (w->board >= KI_BOARD_KINDS || w->len < ki_board_len(w->board))
		return KI_R_BAD_BOARD;
	if (w->board != KI_BOARD_BOUNCE)
		return w->bounce ? KI_R_BAD_BOARD : KI_R_OK;
	reach = w->bounce - (w->addr + 2);
	return reach == (s8)reach ? KI_R_OK : KI_R_BAD_BOARD;
}

static bool fits_group(const struct ki_window *w)
{
	if (w->group)
		return !(w->flags & (KI_WINDOW_CALL | KI_WINDOW_ASIDE)) ||
		       w->flags & KI_WINDOW_LAID;
	return !(w->flags & (KI_WINDOW_UNBOARDED | KI_WINDOW_LAID | KI_WINDOW_ASIDE));
}

/* The kernel writes it, so nothing is expected there, and nothing of ours ever stands there. */
static bool is_written(const struct ki_window *w)
{
	u8 what = w->flags & KI_WINDOW_WRITTEN;

	return what != KI_WINDOW_WRITTEN &&
	       (w->flags & ~KI_WINDOW_ASIDE) == (what | KI_WINDOW_LAID | KI_WINDOW_UNBOARDED) &&
	       w->board == KI_BOARD_TRAP && w->ncopy == 1 && is_zero(w->orig, KI_WINDOW_MAX);
}

static u16 shape_of_window(const struct ki_job *j, u32 i)
{
	const struct ki_window *w = &j->windows[i];

	if (w->reason || w->flags & ~KI_WINDOW_FLAGS || !fits_group(w) ||
	    (w->place && !(w->flags & KI_WINDOW_LAID)) || !w->len || w->len > KI_WINDOW_MAX ||
	    !is_zero(w->orig + w->len, KI_WINDOW_MAX - w->len) || w->addr + w->len < w->addr)
		return KI_R_BAD_REQUEST;
	if (i && w->addr < w[-1].addr + w[-1].len)
		return KI_R_BAD_REQUEST;
	if (w->flags & KI_WINDOW_WRITTEN && !is_written(w))
		return KI_R_BAD_REQUEST;
	return shape_of_board(w) ? KI_R_BAD_BOARD : shape_of_copies(j, w);
}

static bool same_window(const struct ki_win *w, const struct ki_window *req,
			const struct ki_copy *copies)
{
	struct ki_copy own;
	u8 i;

	if (w->addr != req->addr || w->len != req->len || w->ncopy != req->ncopy ||
	    w->board != req->board || w->bounce_at != req->bounce ||
	    memcmp(w->orig, req->orig, w->len))
		return false;
	for (i = 0; i < w->ncopy; i++) {
		ki_win_copy(w, i, &own);
		ki_copy_asked(w, &own);
		if (memcmp(&own, &copies[i], sizeof(own)))
			return false;
	}
	return true;
}

/* Another's bounce stands among the instructions of a window that is not its host. */
static bool bounced_in(const struct ki_win *w)
{
	unsigned long end = w->addr + w->len;
	struct ki_site *s = ki_site_touching(w->addr, end);

	while (s && s->addr < end && s->filler)
		s = ki_site_next(s);
	return s && s->addr < end;
}

/* The springboard's place; the bounce's is claimed when all windows are known, find_places. */
static u16 claim_site(struct ki_win *w, struct ki_verifier *v)
{
	if (bounced_in(w))
		return KI_R_WINDOW_OVERLAP;
	if (!w->boarded)
		return KI_R_OK;
	if (!ki_site_claim(&w->site, w->addr, ki_board_len(w->board), w->orig) ||
	    !ki_direct_claim(w))
		return KI_R_WINDOW_OVERLAP;
	if (w->board == KI_BOARD_BOUNCE)
		w->bounce.filler = ki_verify_filler(v, w->bounce_at);
	return KI_R_OK;
}

/* Find the window among the installed ones, or make and verify a new one. */
static u16 find_window(struct ki_job *j, struct ki_verifier *v, u32 i)
{
	const struct ki_window *req = &j->windows[i];
	const struct ki_copy *copies = &j->copies[req->first_copy];
	struct ki_win *w = ki_win_touching(req->addr, req->addr + req->len);
	u16 reason;

	if (w) {
		if (!same_window(w, req, copies))
			return KI_R_WINDOW_OVERLAP;
		j->wins[i] = w;
		return KI_R_OK;
	}
	w = ki_win_new(req, copies);
	if (!w)
		return KI_R_NO_MEMORY;
	j->wins[i] = w;
	reason = ki_verify_window(v, w, copies);
	if (!reason)
		reason = ki_direct_check(w);
	return reason ? reason : claim_site(w, v);
}

/* The installed or requested window that [start, start + 5) lies in. */
static struct ki_win *window_around(const struct ki_job *j, unsigned long start)
{
	struct ki_win *w = ki_win_touching(start, start + KI_JMP_LEN);
	u32 lo = 0, hi = j->req->nwindows;

	while (!w && lo < hi) {
		u32 mid = (lo + hi) / 2;
		const struct ki_window *r = &j->windows[mid];

		if (start < r->addr)
			hi = mid;
		else if (start >= r->addr + r->len)
			lo = mid + 1;
		else
			return r->reason ? NULL : j->wins[mid];
	}
	return w;
}

/*
 * A task that sleeps in a fault comes back there, however long we wait (faults.c), and runs the
 * window from there to its end.
 */
static bool sleepers_return(unsigned long start, unsigned long end)
{
	const struct ki_reserved_row *row;
	u32 from = 0;

	while ((row = ki_reserved_next(start, end, &from)))
		if (row->reason == KI_R_EXTABLE)
			return true;
	return false;
}

/* Patches jump to a call that ends a window: no bounce may ever stand there (patch.c). */
static unsigned long tail_end(const struct ki_win *host)
{
	u8 last = host->ncopy - 1;

	if (host->flow[last] & KI_FLOW_CALL)
		return ki_win_insn(host, last);
	return host->addr + host->len;
}

static bool can_host(const struct ki_win *host, const struct ki_win *w)
{
	return host && host->boarded && !host->calls && host->board == KI_BOARD_JMP &&
	       w->bounce_at >= host->addr + KI_JMP_LEN &&
	       w->bounce_at + KI_JMP_LEN <= tail_end(host);
}

/*
 * Where a bounce stands: in a host, if a window is around it that can be one; else in filler.
 * Filler in a window's tail is both, so that it does not matter who comes first.
 */
static u16 find_place(struct ki_job *j, struct ki_win *w)
{
	struct ki_win *host;
	u8 orig[KI_JMP_LEN];

	if (w->board != KI_BOARD_BOUNCE || !w->boarded || w->bounce.len)
		return KI_R_OK;
	host = window_around(j, w->bounce_at);
	if (!can_host(host, w))
		host = NULL;
	if (!w->bounce.filler &&
	    (!host || sleepers_return(host->addr + 1, w->bounce_at + KI_JMP_LEN)))
		return KI_R_BOUNCE_LIVE;
	if (ki_text_read(w->bounce_at, orig, sizeof(orig), KI_VIEW_ORIG) ||
	    !ki_site_claim(&w->bounce, w->bounce_at, KI_JMP_LEN, orig))
		return KI_R_BOUNCE_TAKEN;
	if (host && (!w->group || host->group != w->group)) {
		w->host = host;
		host->users++;
	}
	return KI_R_OK;
}

static int find_places(struct ki_job *j)
{
	int first = 0;
	u32 i;

	for (i = 0; i < j->req->nwindows; i++) {
		u16 reason = j->windows[i].reason;

		if (!reason)
			reason = find_place(j, j->wins[i]);
		if (reason && !j->windows[i].reason) {
			int err = ki_refuse(&j->req->reason, reason);

			j->windows[i].reason = reason;
			first = first ? first : err;
		}
	}
	return first;
}

/*
 * A host's group must not bounce in others' tails itself: hosts are taken out after those who
 * bounce in them, and of a chain or a ring none would be the last.
 */
static int find_chains(struct ki_job *j)
{
	u32 i, k;

	for (i = 0; i < j->req->nwindows; i++) {
		const struct ki_win *host = j->wins[i]->host;

		for (k = 0; host && k < host->group->n; k++)
			if (host->group->v[k]->host) {
				j->windows[i].reason = KI_R_BAD_BOARD;
				return ki_refuse(&j->req->reason, KI_R_BAD_BOARD);
			}
	}
	return 0;
}

/* Windows [i, end) of the request are to be one group. */
static u16 make_group(struct ki_job *j, u32 i, u32 end)
{
	struct ki_group *g = j->wins[i]->group;
	u32 k;

	for (k = i + 1; k < end; k++)
		if (j->wins[k]->group != g || j->wins[k]->owner != j->wins[i]->owner)
			return KI_R_GROUP_MIXED;
	if (g)
		return ki_lay_same(g, &j->wins[i], &j->windows[i], end - i);
	if (ki_group_new(&j->wins[i], end - i))
		return KI_R_NO_MEMORY;
	return ki_lay_out(j->wins[i]->group, &j->windows[i]);
}

/* All windows have a group, most one of their own. */
static int find_groups(struct ki_job *j)
{
	u32 i, k, end, n = j->req->nwindows;
	int first = 0, err;

	for (i = 0; i < n; i = end) {
		u16 reason = KI_R_OK;

		for (end = i + 1; end < n && j->windows[i].group; end++)
			if (j->windows[end].group != j->windows[i].group)
				break;
		for (k = i; k < end && !reason; k++)
			reason = j->windows[k].reason;
		if (reason) /* one is refused: the others of the group have nothing to stand in */
			err = ki_refuse(&j->req->reason, reason);
		else if ((reason = make_group(j, i, end)))
			err = ki_refuse(&j->req->reason, reason);
		else
			continue;
		for (k = i; k < end; k++)
			if (!j->windows[k].reason)
				j->windows[k].reason = reason;
		first = first ? first : err;
	}
	return first;
}

static int check_windows(struct ki_job *j)
{
	const struct ki_reserved_row *rows;
	struct ki_verifier *v;
	int first = 0, killed = 0, err;
	u32 i, n;

	err = ki_reserved_get(&rows, &n);
	if (!err)
		err = ki_verifier_new(&v);
	if (err)
		return err;
	for (i = 0; i < j->req->nwindows && !killed; i++) {
		u16 reason = shape_of_window(j, i);

		if (!reason)
			reason = find_window(j, v, i);
		j->windows[i].reason = reason;
		if (reason) {
			err = ki_refuse(&j->req->reason, reason);
			first = first ? first : err;
		}
		killed = ki_job_pause();
	}
	ki_verifier_free(v);
	if (killed)
		return killed;
	err = find_groups(j);
	first = first ? first : err;
	err = find_places(j);
	first = first ? first : err;
	if (!first)
		first = find_chains(j);
	return first ? first : err;
}

/*
 * Modules have come or gone during the check: what has been said of their code, or of code that
 * may lead to theirs, is of yesterday. The kernel's own rows stay the same.
 */
static int check_time(struct ki_job *j)
{
	u32 i;

	if (!ki_reserved_stale())
		return 0;
	for (i = 0; i < j->req->nwindows; i++)
		j->stale |= j->wins[i]->owner != NULL;
	for (i = 0; i < j->req->nchunks; i++) /* what is called, or jumped to */
		j->stale |= j->chunks[i].where == KI_RETURNED || j->chunks[i].kind != KI_CHUNK_CODE;
	return j->stale ? ki_refuse(&j->req->reason, KI_R_MODULE_GOING) : 0;
}

static bool group_used(const struct ki_group *g)
{
	bool used = g->job;
	u32 i;

	for (i = 0; i < g->n; i++)
		used |= g->v[i]->users;
	return used;
}

/* A window without a chunk would be a springboard to nothing, if no window bounces in it. */
static int check_all_used(struct ki_job *j)
{
	int err = 0;
	u32 i;

	for (i = 0; i < j->req->nchunks; i++)
		j->wins[j->chunks[i].window]->group->job = 1;
	for (i = 0; i < j->req->nwindows; i++) {
		if (group_used(j->wins[i]->group))
			continue;
		j->windows[i].reason = KI_R_NO_HOST;
		err = ki_refuse(&j->req->reason, KI_R_NO_HOST);
	}
	for (i = 0; i < j->req->nwindows; i++)
		j->wins[i]->group->job = 0;
	return err;
}

int ki_job_check(struct ki_job *j)
{
	int err = check_windows(j), chunks_err;

	lockdep_assert_held(&ki_lock);
	if (err == -EINTR || (err == -ENOMEM && !j->req->reason))
		return err;
	chunks_err = ki_job_check_chunks(j);
	if (chunks_err == -EINTR)
		return chunks_err;
	err = err ? err : chunks_err;
	err = err ? err : ki_job_check_circles(j);
	err = err ? err : check_all_used(j);
	return err ? err : check_time(j);
}
