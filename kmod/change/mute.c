// SPDX-License-Identifier: GPL-2.0-only
/*
 * Muting: what is to go but cannot leave its patch is jumped over.
 *
 * A session has ended, and others have chunks in the same patch. The patch without the dying ones
 * is another patch, for which the heap may have no room: it is full, or no free piece is long
 * enough. Or another tool (a kprobe) stands on the springboard, which then must stay as it is. The
 * dying code must not run on for that. So it is made harmless where it stands, which takes nothing
 * of the heap and touches no springboard:
 *
 *   - a chunk begins with a jump past itself: jmp rel8, or rel32 where that does not reach; a
 *     chunk of one byte becomes a nop
 *   - the jump of a replacement leads to the one installed before it, or where control would go
 *     without any: that always stands in the patch (patch.c)
 *   - what runs when a tail jump's function has returned is a chunk like others. The return
 *     trampoline stays as long as the patch, because that still pushes its address (returns.c)
 *
 * The few bytes are text that runs, so they are swapped like springboards (text.c): a breakpoint
 * first, which sends the CPU past the chunk, then the wait, then the rest. From the breakpoint
 * on no CPU enters the chunk, since control comes into one only at its beginning (vet.c,
 * vet_long.c); after the wait no task is inside it any more, wherever inside. So when the request
 * returns, or the session has ended, the code has run for the last time. What belongs to it
 * (counters, words, modules that it calls) is retired as always.
 *
 * A muted piece belongs to no session: no ids, no charge. It holds its bytes of the heap, which are
 * charged with the patch, and its return trampoline. The other sessions' chunks in the patch cost
 * one jump more for each. The group's patch is built anew without what is muted at each of these
 * moments: something is spliced or taken out there, a session begins or ends, a patch is given back
 * to the heap.
 *
 * One thing cannot be jumped over: a call that leads to a replacement where it stands (direct.c),
 * while another's kprobe is on it. The kprobe has a copy of it. So the replacement is called until
 * the kprobe goes, and its module stays; the group is stuck, and says whose kprobe it is (held.c).
 *
 * If an interrupt, an NMI or a preempted task is here: as for any swap. A kprobe cannot come to the
 * heap (probes.c), so a swap here is never refused; memory for the table of breakpoints is waited
 * for. Nothing else can fail.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "change/mute.h"
#include "patch/direct.h"
#include "vet/long.h"
#include "window/charge.h"
#include "yield.h"

#define KI_MUTE_PART  16384 /* pieces between two waits */
#define KI_NOP	      0x90
#define KI_SHORT_LEN  2
#define KI_SHORT_MOST 127 /* bytes that a short jump goes over */

static LIST_HEAD(ki_muted); /* of ki_piece.in_session */
static u32 ki_nmuted;

/* The chunk begins with a jump over itself. */
static void swap_code(struct ki_swap *s, const struct ki_piece *p)
{
	u32 len = p->more ? p->more->len : p->len;
	s32 rel = len - KI_JMP_LEN;

	s->via = s->addr + len;
	if (len == 1) {
		s->len = 1;
		s->then[0] = KI_NOP;
	} else if (len <= KI_SHORT_LEN + KI_SHORT_MOST) {
		s->len = KI_SHORT_LEN;
		s->then[0] = KI_JMP_SHORT;
		s->then[1] = len - KI_SHORT_LEN;
	} else {
		s->len = KI_JMP_LEN;
		s->then[0] = KI_JMP;
		memcpy(s->then + 1, &rel, sizeof(rel));
	}
	s->wait = s->len > 1;
}

/* Of the replacements at the same place that stay, the one that is effective; NULL. */
static const struct ki_piece *heir_of(const struct ki_piece *gone)
{
	const struct ki_piece *p, *heir = NULL;

	list_for_each_entry (p, &gone->win->chunks, in_window) {
		if (p->dying || p->kind != KI_CHUNK_REPLACE || p->insn != gone->insn ||
		    p->where != gone->where)
			continue;
		if (!heir || p->order > heir->order ||
		    (p->order == heir->order && p->seq > heir->seq))
			heir = p;
	}
	return heir;
}

/* Where control goes from the jump at addr when nothing is replaced. */
static unsigned long unreplaced(const struct ki_piece *p, unsigned long addr)
{
	const struct ki_group *g = p->win->group;
	struct ki_copy c;
	int i;

	if (p->where == KI_BEFORE)
		return addr + KI_JMP_LEN;
	ki_win_copy(p->win, p->insn, &c);
	i = ki_group_find(g, c.fix[c.nfix - 1].target);
	return i < 0 ? c.fix[c.nfix - 1].target : g->patch.addr + g->at[i];
}

/* Another distance; there are no places inside of a jump. */
static void swap_replacement(struct ki_swap *s, const struct ki_piece *p)
{
	const struct ki_piece *heir = heir_of(p);
	s32 rel;

	s->via = heir ? heir->target : unreplaced(p, s->addr);
	s->len = KI_JMP_LEN;
	rel = s->via - (s->addr + KI_JMP_LEN);
	memcpy(s->then + 1, &rel, sizeof(rel));
}

/* False: nothing changes, of a replacement that is not effective. */
static bool fill_swap(struct ki_swap *s, const struct ki_piece *p)
{
	*s = (struct ki_swap){.addr = p->win->group->patch.addr + p->at};
	memcpy(s->then, (const void *)s->addr, KI_JMP_LEN);
	memcpy(s->now, s->then, KI_JMP_LEN);
	if (p->kind == KI_CHUNK_KEEP)
		return false; /* there is nothing to run */
	if (p->kind == KI_CHUNK_REPLACE)
		swap_replacement(s, p);
	else
		swap_code(s, p);
	return memcmp(s->now, s->then, s->len);
}

/*
 * Replacements at one place have one jump, which the first that dies sees to. (The session's list
 * and the window's are in the same order.)
 */
static bool is_done_by_another(const struct ki_piece *p)
{
	const struct ki_piece *q;

	if (p->kind != KI_CHUNK_REPLACE)
		return false;
	list_for_each_entry (q, &p->win->chunks, in_window) {
		if (q == p)
			break;
		if (q->dying && !q->muted && q->kind == KI_CHUNK_REPLACE && q->insn == p->insn &&
		    q->where == p->where)
			return true;
	}
	return false;
}

/* The swaps of the session's first n dying pieces; how many. */
static u32 fill_swaps(struct ki_session *s, struct ki_swap *v, u32 n)
{
	const struct ki_piece *p;
	u32 swaps = 0;

	list_for_each_entry (p, &s->pieces, in_session) {
		ki_yield();
		if (!p->dying)
			continue;
		if (!n--)
			break;
		if (!is_done_by_another(p) && fill_swap(&v[swaps], p))
			swaps++;
	}
	return swaps;
}

/* No task runs it any more: it is none of its session from now on. */
static void record_mute(struct ki_piece *p)
{
	p->muted = true;
	ki_nmuted++;
	list_move_tail(&p->in_session, &ki_muted);
	ki_charge_end(p);
	p->account = NULL;
	if (!ki_direct_leads(p)) /* it is called yet: its module must stay */
		ki_piece_retire(p);
	ki_long_free(p->more);
	p->more = NULL;
	ki_charge_group(p->win->group, NULL);
	ki_step("piece muted");
}

static void record_part(struct ki_session *s, u32 n)
{
	struct ki_piece *p, *next;

	list_for_each_entry_safe (p, next, &s->pieces, in_session) {
		ki_yield();
		if (!p->dying)
			continue;
		if (!n--)
			break;
		record_mute(p);
	}
}

static u32 count_dying(const struct ki_session *s)
{
	const struct ki_piece *p;
	u32 n = 0;

	list_for_each_entry (p, &s->pieces, in_session) {
		n += p->dying;
		ki_yield();
	}
	return n;
}

static struct ki_swap *take_swaps(u32 n)
{
	struct ki_swap *v;

	while (!(v = ki_array(n, sizeof(*v), GFP_KERNEL)))
		schedule_timeout_uninterruptible(1);
	return v;
}

static void mute_part(struct ki_session *s, struct ki_swap *v, u32 n)
{
	u32 swaps = fill_swaps(s, v, n), bad;

	ki_step("to be muted");
	ki_probes_hold();
	while (ki_text_swap(v, swaps, &bad)) { /* -ENOMEM */
		ki_probes_release();
		schedule_timeout_uninterruptible(1);
		ki_probes_hold();
	}
	ki_step("muted");
	record_part(s, n);
	ki_probes_release();
}

void ki_mute(struct ki_session *s)
{
	u32 left = count_dying(s), n;
	struct ki_swap *v;

	lockdep_assert_held(&ki_lock);
	if (!left)
		return;
	v = take_swaps(min_t(u32, left, KI_MUTE_PART));
	for (; left; left -= n) {
		n = min_t(u32, left, KI_MUTE_PART);
		mute_part(s, v, n);
	}
	ki_array_free(v);
}

void ki_mute_forget(struct ki_piece *p)
{
	lockdep_assert_held(&ki_lock);
	ki_nmuted -= p->muted;
}

u32 ki_mute_count(void)
{
	lockdep_assert_held(&ki_lock);
	return ki_nmuted;
}

u32 ki_mute_in(const struct ki_group *g)
{
	const struct ki_piece *p;
	u32 i, n = 0;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < g->n; i++)
		list_for_each_entry (p, &g->v[i]->chunks, in_window)
			n += p->muted;
	return n;
}
