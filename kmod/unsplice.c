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
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "charge.h"
#include "long.h"
#include "request.h"
#include "user.h"
#include "who.h"

#define KI_UNSPLICE_PART 4096 /* each may take a wait */

static u32 ki_stuck; /* groups without chunks that could not go */

/*
 * A patch without the dying pieces; the space for it is kept in reserve, memory is waited for.
 * False: even the reserve does not do, because patches taken out a moment ago still lie there.
 */
static bool rebuild(struct ki_change *c)
{
	bool again = false;
	u16 reason;
	int err;

	while ((err = ki_patch_build(c->group, true, &c->patch, &reason))) {
		if (err == -ENOMEM) {
			cond_resched();
			continue;
		}
		if (again)
			return false;
		again = true;
		ki_bury_now();
	}
	return true;
}

static void free_dying(struct ki_win *w)
{
	struct ki_piece *p, *next;

	list_for_each_entry_safe (p, next, &w->chunks, in_window) {
		if (!p->dying)
			continue;
		list_del(&p->in_window);
		list_del(&p->in_session);
		ki_step("piece dies");
		ki_holder_piece(p, false);
		ki_bury_module(p->owner);
		p->owner = NULL;
		ki_long_bury(p->more);
		ki_piece_free(p);
	}
}

static void record_removal(struct ki_change *c)
{
	u32 i;

	for (i = 0; i < c->group->n; i++)
		free_dying(c->group->v[i]);
	ki_change_record(c);
	if (c->patch.addr) {
		ki_charge_group(c->group, NULL);
	} else {
		ki_group_erase(c->group);
		ki_group_free(c->group);
	}
}

/* Another tool has written into a springboard: leave the group as it is. */
static void leave_alone(struct ki_change *c)
{
	struct ki_piece *p;
	bool empty = true;
	u32 i;

	ki_change_drop(c, 1);
	for (i = 0; i < c->group->n; i++) {
		empty &= list_empty(&c->group->v[i]->chunks);
		list_for_each_entry (p, &c->group->v[i]->chunks, in_window)
			p->dying = false;
	}
	ki_stuck += empty;
}

/* Nothing has been changed, so others may use kprobes meanwhile. */
static void wait_for_memory(void)
{
	ki_probes_release();
	schedule_timeout_uninterruptible(1);
	ki_probes_hold();
}

static void take_out_part(struct ki_change *c, u32 n)
{
	u32 bad, i;
	int err;

	ki_step("to be taken out");
	ki_probes_hold();
	ki_step("kprobes held to take out");
	while (n && (err = ki_change_swap(c, n, &bad))) {
		if (err == -ESTALE) {
			leave_alone(&c[bad]);
			memmove(&c[bad], &c[bad + 1], (--n - bad) * sizeof(*c));
		} else { /* -ENOMEM: must not be given up */
			wait_for_memory();
		}
	}
	for (i = 0; i < n; i++) {
		record_removal(&c[i]);
		ki_step("removal recorded");
		cond_resched();
	}
	ki_probes_release();
	ki_step("taken out");
}

/* A group that other chunks stay in: one by one, so that each gives its old patch back. */
static void thin_out(struct ki_group *g)
{
	struct ki_change c = {.group = g};

	if (rebuild(&c)) {
		ki_step("patch built anew");
		take_out_part(&c, 1);
	} else {
		leave_alone(&c);
	}
}

/* What becomes of a group: it stays as it is, it is built anew, it goes. */
enum fate { STAYS, THINS, GOES };

static enum fate fate_of(const struct ki_group *g)
{
	const struct ki_piece *p;
	bool dying = false, needed = false;
	u32 i;

	for (i = 0; i < g->n; i++) {
		needed |= g->v[i]->users;
		list_for_each_entry (p, &g->v[i]->chunks, in_window) {
			dying |= p->dying;
			needed |= !p->dying;
		}
	}
	if (!needed)
		return GOES;
	return dying ? THINS : STAYS;
}

static bool bounces(const struct ki_group *g)
{
	u32 i;

	for (i = 0; i < g->n; i++)
		if (g->v[i]->host)
			return true;
	return false;
}

/* All groups with something to do that bounce in others' tails, or all that do not. */
static void list_todo(struct list_head *todo, bool bouncing)
{
	struct ki_win *w;

	for (w = ki_win_touching(0, ULONG_MAX); w; w = ki_win_next(w)) {
		struct ki_group *g = w->group;

		if (w == g->v[0] && bounces(g) == bouncing && fate_of(g) != STAYS)
			list_add_tail(&g->todo, todo);
		cond_resched();
	}
}

static void take_out_kind(bool bouncing)
{
	static struct ki_change part[KI_UNSPLICE_PART]; /* under ki_lock */
	struct ki_group *g, *next;
	LIST_HEAD(todo);
	u32 n = 0;

	list_todo(&todo, bouncing);
	list_for_each_entry_safe (g, next, &todo, todo) {
		if (fate_of(g) == GOES)
			part[n++] = (struct ki_change){.group = g};
		else
			thin_out(g);
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
	lockdep_assert_held(&ki_lock);
	ki_stuck = 0;
	take_out_kind(true);
	take_out_kind(false);
}

bool ki_unsplice_stuck(void)
{
	return ki_stuck;
}

void ki_unsplice_all(struct ki_session *s)
{
	struct ki_piece *p;

	lockdep_assert_held(&ki_lock);
	if (list_empty(&s->pieces) && !ki_stuck)
		return;
	list_for_each_entry (p, &s->pieces, in_session) {
		p->dying = true;
		cond_resched();
	}
	take_out();
}

/* Let v[i] sink to its place in the heap of the first n. */
static void sift(u32 *v, u32 i, u32 n)
{
	u32 child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && v[child] < v[child + 1])
			child++;
		if (v[i] >= v[child])
			break;
		swap(v[i], v[child]);
		i = child;
	}
}

/* Heap sort. There may be a hundred thousand, and sort() lets nobody else run meanwhile. */
static void sort_ids(u32 *v, u32 n)
{
	u32 i;

	for (i = n / 2; i--; cond_resched())
		sift(v, i, n);
	for (i = n; i-- > 1; cond_resched()) {
		swap(v[0], v[i]);
		sift(v, 0, i);
	}
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
		cond_resched();
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
		cond_resched();
	}
	if (i == n)
		return 0;
	list_for_each_entry (p, &s->pieces, in_session) {
		p->dying = false;
		cond_resched();
	}
	return -ENOENT;
}

void ki_unsplice_run(struct ki_session *s, u32 first, u32 n)
{
	struct ki_piece *p;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry (p, &s->pieces, in_session) {
		p->dying = p->id - first < n;
		cond_resched();
	}
	take_out();
}

static bool names_all(const struct ki_unsplice *req)
{
	return req->flags == KI_UNSPLICE_ALL && !req->count && !req->ids;
}

/* It gives back, so memory is waited for; but not by a task that is being killed. */
int ki_unsplice_take(struct ki_request *q)
{
	struct ki_unsplice *req = &q->arg.unsplice;
	int err;

	req->reason = KI_R_OK;
	if (names_all(req))
		return 0;
	if (req->flags || !req->count)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->count > KI_BATCH_CHUNKS)
		return ki_refuse(&req->reason, KI_R_TOO_MANY);
	do {
		err = 0;
		q->ids = ki_user_array(req->ids, req->count, sizeof(*q->ids), &err);
	} while (err == -ENOMEM && !schedule_timeout_killable(1) && !fatal_signal_pending(current));
	if (!err)
		sort_ids(q->ids, req->count);
	return err;
}

int ki_unsplice(struct ki_request *q)
{
	struct ki_unsplice *req = &q->arg.unsplice;
	struct ki_session *s = q->session;
	u32 stuck = ki_stuck;
	int err;

	lockdep_assert_held(&ki_lock);
	if (names_all(req)) {
		ki_unsplice_all(s);
		return list_empty(&s->pieces) && ki_stuck <= stuck
			       ? 0
			       : ki_refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
	}
	err = mark(s, q->ids, req->count);
	if (err)
		return err;
	take_out();
	if (any_left(s, q->ids, req->count) || ki_stuck > stuck) /* left alone */
		return ki_refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
	return 0;
}
