// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers of threads' words, which sessions own, and who is inside according to them.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#include "array.h"
#include "account/limit.h"
#include "data/threads.h"
#include "dev/request.h"
#include "symbols.h"
#include "user.h"

#define KI_START_BITS 56 /* of a word are a start time */

struct ki_look {
	struct ki_inside *req;
	struct ki_inside_row *rows;
};

struct ki_span {
	u32 first, count;
};

static void forget(u32 first, u32 count);
static struct ki_slots ki_words = {.forget = forget, .limit = KI_LIMIT_WORDS};

/* What calls the hooks of a switch, if there are several: ours is one (threads.c). */
static unsigned long ki_changer, ki_changer_size;

bool ki_words_change_in(unsigned long addr)
{
	return addr - ki_changer < ki_changer_size;
}

int ki_words_init(void)
{
	int err = ki_threads_init();
	unsigned long off;

	ki_changer = ki_symbol("__traceiter_sched_switch");
	if (!ki_changer ||
	    !ki_call(kallsyms_lookup_size_offset)(ki_changer, &ki_changer_size, &off))
		ki_changer_size = 0;
	if (!err)
		ki_slots_init(&ki_words, KI_THREAD_WORDS);
	return err;
}

void ki_words_exit(void)
{
	mutex_lock(&ki_lock);
	ki_threads_stop();
	mutex_unlock(&ki_lock);
	ki_threads_exit();
}

static void zero(struct ki_thread *t, void *arg)
{
	const struct ki_span *s = arg;

	memset(t->words + s->first, 0, s->count * sizeof(u64));
}

static void forget(u32 first, u32 count)
{
	struct ki_span span = {first, count};

	if (ki_words.used == count)
		ki_threads_stop();
	else
		ki_pool_each(zero, &span);
}

/* Nothing is asked of the scheduler for words that are refused. */
int ki_words_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
{
	LIST_HEAD(run);
	int err = ki_slots_take(&ki_words, s, count, first, reason);

	lockdep_assert_held(&ki_lock);
	if (err)
		return err;
	err = ki_threads_start();
	if (err) {
		list_move(s->runs.prev, &run);
		ki_runs_drop(&run);
		*first = 0;
		*reason = KI_R_NO_MEMORY;
	}
	return err;
}

bool ki_words_own(const struct ki_session *s, u64 n, u64 count)
{
	lockdep_assert_held(&ki_lock);
	return ki_slots_own(&ki_words, s, n, count);
}

void ki_words_info(struct ki_info *info)
{
	lockdep_assert_held(&ki_lock);
	info->tsc_khz = tsc_khz;
	info->words = KI_THREAD_WORDS;
	info->words_used = ki_words.used;
	info->wordless = ki_threads_wordless();
}

/*
 * The word first, then the clock: so the time since is never too long, not even if the block goes
 * over to a new thread, whose clock is small, in between.
 */
static void look_at_words(struct ki_look *l, const struct ki_thread *t, u32 i, u32 end)
{
	const u64 *words = t->words + l->req->first;

	for (; i < end; i++) {
		u64 word = READ_ONCE(words[i]), now = l->req->now;
		s64 ticks;

		if (!word)
			continue;
		smp_rmb();
		if (l->req->clock == KI_CLOCK_THREAD)
			now = ki_thread_clock(t);
		ticks = (s64)((now - word) << (64 - KI_START_BITS)) >> (64 - KI_START_BITS);
		l->rows[i].threads++;
		l->rows[i].ticks += max_t(s64, ticks, 0);
	}
}

/* Most words are 0, so eight are looked at at once. */
static void look_at_thread(struct ki_thread *t, void *arg)
{
	struct ki_look *l = arg;
	const u64 *w = t->words + l->req->first;
	u32 i, count = l->req->count;

	if (!READ_ONCE(t->task))
		return;
	for (i = 0; i + 8 <= count; i += 8)
		if (w[i] | w[i + 1] | w[i + 2] | w[i + 3] | w[i + 4] | w[i + 5] | w[i + 6] |
		    w[i + 7])
			look_at_words(l, t, i, i + 8);
	look_at_words(l, t, i, count);
}

int ki_words_inside(struct ki_request *q)
{
	struct ki_inside *req = &q->arg.inside;
	struct ki_look look = {.req = req};

	lockdep_assert_held(&ki_lock);
	if (req->clock >= KI_CLOCKS || !req->count)
		return -EINVAL;
	if (!ki_words_own(q->session, req->first, req->count))
		return -EACCES;
	look.rows = ki_array(req->count, sizeof(*look.rows), KI_GFP | __GFP_ZERO);
	if (!look.rows)
		return -ENOMEM;
	q->out = look.rows;
	req->now = rdtsc_ordered();
	ki_pool_each(look_at_thread, &look);
	return 0;
}
