// SPDX-License-Identifier: GPL-2.0-only
/*
 * KI_IOC_UNSPLICE, and the end of a session: taking chunks out.
 *
 * It cannot be refused, and it ends: when it returns no task runs what was taken out, whatever the
 * heap looks like and whatever else stands in the text. There are four steps, of which the first
 * three give back what they can, and the last deals with all that is left:
 *
 *   1. groups that go wholly and bounce in others' tails: then their hosts are free to go
 *   2. all others that go wholly
 *   3. groups that others need, or have chunks in, are built anew without the dying chunks. For
 *      that a part of the heap is kept; no CPU waits for more, since the patches that were just
 *      taken out come back only after a wait. After a few groups that found no room the others are
 *      not tried.
 *   4. what is dying yet is muted where it stands (mute.c), all at once, which needs nothing of
 *      the heap.
 *
 * So there are as many waits as there are parts of KI_UNSPLICE_PART groups, which is one or two,
 * and one for muting. Each is bounded, and so is what stands between them. Other memory is waited
 * for.
 *
 * What is muted goes with the next patch of its group. That is tried (ki_unsplice_again) whenever
 * a session begins or ends, or space has come back to the heap (retire.c). What can be in the way
 * longer is another tool in the springboard of a group that goes wholly: it is stuck. Its windows
 * stay, and the module, until the other tool has gone; there is nothing in them then but what is
 * muted.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "change/mute.h"
#include "dev/request.h"
#include "user.h"
#include "window/charge.h"
#include "yield.h"

#define KI_UNSPLICE_PART 4096 /* groups of one swap, which may take a wait */
#define KI_MISSES	 8    /* groups that found no room until the others are not tried */
#define KI_BUILD_TRIES	 8    /* for want of memory, each a tick */

static u32 ki_nstuck, ki_new_stuck; /* groups; those that were not, before the last take_out() */

/* A patch without the dying pieces. False: there is no room for it. */
static bool rebuild(struct ki_change *c)
{
	u32 tries = KI_BUILD_TRIES;
	u16 reason;
	int err;

	while ((err = ki_patch_build(c->group, true, &c->patch, &reason)) == -ENOMEM && --tries)
		schedule_timeout_uninterruptible(1);
	if (err)
		return false;
	ki_step("patch built anew");
	return true;
}

static void record_removal(struct ki_change *c)
{
	ki_change_record(c);
	if (c->patch.addr) {
		ki_charge_group(c->group, NULL);
	} else {
		ki_group_erase(c->group);
		ki_group_free(c->group);
	}
}

/* Another tool has written into a springboard: the group stays as it is. */
static void leave_alone(struct ki_change *c)
{
	struct ki_group *g = c->group;
	bool goes = !c->patch.addr;

	ki_change_drop(c, 1);
	ki_nstuck += goes;
	ki_new_stuck += goes && !g->stuck;
	g->stuck = goes;
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
		ki_yield();
	}
	ki_probes_release();
	ki_step("taken out");
}

/* What becomes of a group: it stays as it is, it is built anew, it goes. */
enum fate { STAYS, SAMPLES, GOES };

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
	return dying ? SAMPLES : STAYS;
}

static bool bounces(const struct ki_group *g)
{
	u32 i;

	for (i = 0; i < g->n; i++)
		if (g->v[i]->host)
			return true;
	return false;
}

/* The steps: groups that meet with this fate, in any order. */
enum step { BOUNCING_GO, OTHERS_GO, ARE_SAMPLED };

static bool is_todo(const struct ki_group *g, enum step step)
{
	enum fate fate = fate_of(g);

	if (step == ARE_SAMPLED)
		return fate == SAMPLES;
	return fate == GOES && bounces(g) == (step == BOUNCING_GO);
}

static void list_todo(struct list_head *todo, enum step step)
{
	struct ki_win *w;

	for (w = ki_win_touching(0, ULONG_MAX); w; w = ki_win_next(w)) {
		struct ki_group *g = w->group;

		if (w == g->v[0] && is_todo(g, step))
			list_add_tail(&g->todo, todo);
		ki_yield();
	}
}

static void take_out_step(enum step step)
{
	static struct ki_change part[KI_UNSPLICE_PART]; /* under ki_lock */
	struct ki_group *g, *next;
	u32 n = 0, misses = 0;
	LIST_HEAD(todo);

	list_todo(&todo, step);
	list_for_each_entry_safe (g, next, &todo, todo) {
		part[n] = (struct ki_change){.group = g};
		if (step != ARE_SAMPLED || rebuild(&part[n]))
			n++;
		else if (++misses == KI_MISSES)
			break;
		if (n == KI_UNSPLICE_PART) {
			take_out_part(part, n);
			n = 0;
		}
		ki_yield();
	}
	if (n)
		take_out_part(part, n);
}

/* All dying pieces; those that are not muted yet are the session's. NULL: there are no others. */
static void take_out(struct ki_session *s)
{
	lockdep_assert_held(&ki_lock);
	ki_nstuck = 0;
	ki_new_stuck = 0;
	take_out_step(BOUNCING_GO);
	take_out_step(OTHERS_GO);
	take_out_step(ARE_SAMPLED);
	if (s)
		ki_mute(s);
}

void ki_unsplice_again(void)
{
	lockdep_assert_held(&ki_lock);
	if (ki_nstuck || ki_mute_count())
		take_out(NULL);
}

bool ki_unsplice_any_stuck(void)
{
	lockdep_assert_held(&ki_lock);
	return ki_nstuck;
}

bool ki_unsplice_is_stuck(const struct ki_group *g)
{
	lockdep_assert_held(&ki_lock);
	return g->stuck && fate_of(g) == GOES;
}

bool ki_unsplice_all(struct ki_session *s)
{
	struct ki_piece *p;

	lockdep_assert_held(&ki_lock);
	if (list_empty(&s->pieces)) {
		ki_unsplice_again();
		return true;
	}
	list_for_each_entry (p, &s->pieces, in_session) {
		p->dying = true;
		ki_yield();
	}
	take_out(s);
	return !ki_new_stuck;
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

/* Heap sort. There may be a hundred thousand, and sort() lets no other task run meanwhile. */
static void sort_ids(u32 *v, u32 n)
{
	u32 i;

	for (i = n / 2; i--; ki_yield())
		sift(v, i, n);
	for (i = n; i-- > 1; ki_yield()) {
		swap(v[0], v[i]);
		sift(v, 0, i);
	}
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
		ki_yield();
	}
	if (i == n)
		return 0;
	list_for_each_entry (p, &s->pieces, in_session) {
		p->dying = false;
		ki_yield();
	}
	return -ENOENT;
}

void ki_unsplice_run(struct ki_session *s, u32 first, u32 n)
{
	struct ki_piece *p;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry (p, &s->pieces, in_session) {
		p->dying = p->id - first < n;
		ki_yield();
	}
	take_out(s);
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
	bool back;
	int err;

	lockdep_assert_held(&ki_lock);
	if (names_all(req)) {
		back = ki_unsplice_all(s);
	} else {
		err = mark(s, q->ids, req->count);
		if (err)
			return err;
		take_out(s);
		back = !ki_new_stuck;
	}
	return back ? 0 : ki_refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT);
}
