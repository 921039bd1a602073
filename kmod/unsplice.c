// SPDX-License-Identifier: GPL-2.0-only
/*
 * KI_IOC_UNSPLICE, and the end of a session: taking chunks out.
 *
 * It cannot be refused for lack of memory: patches that must be built anew for the other
 * sessions' chunks use heap space that is kept for that, one at a time; other memory is waited
 * for. What can be in the way is another tool in the springboard: then the window stays, its
 * chunks go on, and they can be taken out when the other tool has gone (session.c: orphans).
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "ki.h"

#define KI_UNSPLICE_PART 256

/* A patch without the dying pieces; the space for it is kept in reserve. */
static bool rebuild(struct ki_change *c)
{
	u16 reason;

	if (!ki_patch_build(c->win, NULL, true, &c->patch, &reason))
		return true;
	ki_bury_now();
	return !ki_patch_build(c->win, NULL, true, &c->patch, &reason);
}

static void free_dying(struct ki_win *w)
{
	struct ki_piece *p, *next;

	list_for_each_entry_safe (p, next, &w->chunks, in_window) {
		if (!p->dying)
			continue;
		list_del(&p->in_window);
		list_del(&p->in_session);
		ki_piece_free(p);
	}
}

static void record_removal(struct ki_change *c)
{
	struct ki_win *w = c->win;

	free_dying(w);
	ki_bury_patch(w->patch);
	w->patch = c->patch;
	if (!w->patch.addr) {
		if (w->host)
			w->host->users--;
		ki_win_erase(w);
		ki_win_free(w);
	}
}

/* Another tool has written into the springboard: leave this window as it is. */
static void leave_alone(struct ki_change *c)
{
	struct ki_piece *p;

	ki_change_drop(c, 1);
	list_for_each_entry (p, &c->win->chunks, in_window)
		p->dying = false;
}

static void take_out_part(struct ki_change *c, u32 n)
{
	u32 bad, i;
	int err;

	ki_probes_hold();
	while (n && (err = ki_change_swap(c, n, &bad))) {
		if (err == -ESTALE) {
			leave_alone(&c[bad]);
			memmove(&c[bad], &c[bad + 1], (--n - bad) * sizeof(*c));
		}
		cond_resched(); /* -ENOMEM: must not be given up */
	}
	for (i = 0; i < n; i++)
		record_removal(&c[i]);
	ki_probes_release();
}

/* A window that other chunks stay in: one by one, so that each gives its old patch back. */
static void thin_out(struct ki_win *w)
{
	struct ki_change c = {.win = w};

	if (rebuild(&c))
		take_out_part(&c, 1);
	else
		leave_alone(&c);
}

/* What becomes of a window: it stays as it is, it is built anew, it goes. */
enum fate { STAYS, THINS, GOES };

static enum fate fate_of(const struct ki_win *w)
{
	const struct ki_piece *p;
	bool dying = false, living = false;

	list_for_each_entry (p, &w->chunks, in_window) {
		dying |= p->dying;
		living |= !p->dying;
	}
	if (!living && !w->users)
		return GOES;
	return dying ? THINS : STAYS;
}

/* All windows with a springboard of this kind, or of the others, in order of address. */
static void take_out_kind(bool bouncing)
{
	static struct ki_change part[KI_UNSPLICE_PART]; /* under ki_lock */
	struct ki_win *w = ki_win_touching(0, ULONG_MAX), *next;
	u32 n = 0;

	for (; w; w = next) {
		enum fate fate = fate_of(w);

		next = ki_win_next(w);
		if ((w->board == KI_BOARD_BOUNCE) != bouncing)
			continue;
		if (fate == GOES)
			part[n++] = (struct ki_change){.win = w};
		else if (fate == THINS)
			thin_out(w);
		if (n == KI_UNSPLICE_PART) {
			take_out_part(part, n);
			n = 0;
		}
	}
	if (n)
		take_out_part(part, n);
}

/* Those who bounce first: then their hosts are free to go. */
static void take_out(void)
{
	take_out_kind(true);
	take_out_kind(false);
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

/* Is one of the sorted ids still there? */
static bool any_left(struct ki_session *s, const u32 *ids, u32 n)
{
	struct ki_piece *p;
	u32 i = 0;

	list_for_each_entry (p, &s->pieces, in_session) {
		while (i < n && ids[i] < p->id)
			i++;
		if (i < n && ids[i] == p->id)
			return true;
	}
	return false;
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
		return list_empty(&s->pieces) ? 0
					      : ki_refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
	}
	if (req->flags || !req->count)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->count > KI_BATCH_CHUNKS)
		return ki_refuse(&req->reason, KI_R_TOO_MANY);
	ids = ki_take_array(req->ids, req->count, sizeof(*ids), &err);
	if (!ids)
		return err;
	sort(ids, req->count, sizeof(*ids), by_id, NULL);
	err = mark(s, ids, req->count);
	if (!err) {
		take_out();
		if (any_left(s, ids, req->count)) /* left alone */
			err = ki_refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
	}
	kvfree(ids);
	return err;
}
