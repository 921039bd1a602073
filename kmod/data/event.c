// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the kernel's perf counts: one of its events on each CPU for one of ours.
 *
 * They are pinned: each counts all the time, or perf refuses it, so a count needs no scaling, and
 * no other event takes the counter away later. Who comes when the counters are in use is
 * told so. (Events of perf that are not pinned give way, and say themselves that they did.)
 *
 * Reading is perf_event_read_local, which is made for any context: interrupts off, a read of this
 * CPU's counter, no lock. What it says is never less than it said before, also to a reader that
 * comes in between the reading and the saying. After an error the last count stands: the event is
 * off the counter for the moment, because perf is about to arrange them anew. A reader that meets
 * another one at the same level is told that count too. When a CPU comes back, a new event goes on
 * where the old one stopped. perf takes all events from a CPU that goes and does not give them
 * back, so we make new ones, in a piece of work: making one takes the lock that is held while a
 * CPU comes. What happens on that CPU until then is not counted.
 *
 * A thread's own count is the CPU's minus an offset, as its own clock is (threads.c). The switch
 * leaves in a word of the thread what it has counted, and the next CPU's offset is made from that.
 * So what the CPUs have counted before does not matter. All counts are read before anything
 * changes, because reading is a call, and code of ours may be in what is called.
 *
 * The helper and
 * the switch run with interrupts off. So when all CPUs have taken an interrupt
 * (kick_all_cpus_sync) since a pointer went, no CPU uses it.
 */
#include <linux/cpuhotplug.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "account/limit.h"
#include "data/event.h"
#include "symbols.h"

#define KI_EVENTS 32

/* On one CPU. */
struct ki_tally {
	struct perf_event *event; /* NULL: none counts here */
	u64 base;		  /* what was counted before it */
	u64 last;		  /* what was said last */
	u64 off;		  /* minus this: the count of the thread that runs here */
	bool stale;		  /* the CPU has been away: it needs a new one */
};

struct ki_counted {
	struct perf_event_attr attr;
	struct ki_tally __percpu *on;
	bool own;
	u32 word; /* own: what threads that do not run have counted */
};

u32 ki_events_owned;
static struct ki_counted *ki_events[KI_EVENTS];

static void forget(u32 first, u32 count);
static struct ki_slots ki_event_slots = {.forget = forget, .limit = KI_LIMIT_EVENTS};

static int ki_event_state; /* of CPU hotplug */
static struct cpumask ki_event_came;
static void go_on(struct work_struct *unused);
static DECLARE_DELAYED_WORK(ki_event_work, go_on);

/* ---- counts; interrupts off ---- */

/* Another that came in between may have raised it further. */
static __always_inline void raise(u64 *last, u64 count)
{
	u64 now;

	do
		now = READ_ONCE(*last);
	while (count > now && cmpxchg_local(last, now, count) != now);
}

static __always_inline u64 tally(const struct ki_counted *e)
{
	struct ki_tally *t = raw_cpu_ptr(e->on);
	struct perf_event *event = READ_ONCE(t->event);
	u64 count;

	if (event && !ki_call(perf_event_read_local)(event, &count, NULL, NULL))
		raise(&t->last, t->base + count);
	return READ_ONCE(t->last);
}

notrace void ki_events_count(u32 owned)
{
	for (; owned; owned &= owned - 1)
		tally(ki_events[__ffs(owned)]);
}

notrace void ki_events_change(u32 owned, struct ki_thread *from, const struct ki_thread *to)
{
	for (; owned; owned &= owned - 1) {
		const struct ki_counted *e = ki_events[__ffs(owned)];
		struct ki_tally *t = raw_cpu_ptr(e->on);
		u64 now = READ_ONCE(t->last);

		if (from)
			WRITE_ONCE(from->words[e->word], now - t->off);
		if (to)
			WRITE_ONCE(t->off, now - READ_ONCE(to->words[e->word]));
	}
}

/* A thread without words, or in the middle of a switch, has counted nothing. */
static __always_inline u64 count_of(const struct ki_counted *e, bool own, bool fresh)
{
	u64 now = fresh ? tally(e) : READ_ONCE(raw_cpu_ptr(e->on)->last);

	if (!own)
		return now;
	if (!e->own || !raw_cpu_read(ki_here.words))
		return 0;
	return now - raw_cpu_read(e->on->off);
}

static __always_inline u64 say(u64 which, bool fresh)
{
	const struct ki_counted *e;
	unsigned long flags;
	u64 number = which & ~(u64)KI_EVENT_THREAD, r = 0;

	if (number >= KI_EVENTS)
		return 0;
	raw_local_irq_save(flags);
	e = READ_ONCE(ki_events[number]);
	if (e)
		r = count_of(e, which & KI_EVENT_THREAD, fresh);
	raw_local_irq_restore(flags);
	return r;
}

notrace u64 ki_event_read(u64 which)
{
	return say(which, true);
}

notrace u64 ki_event_last(u64 which)
{
	return say(which, false);
}

/* ---- on one CPU ---- */

struct ki_renewal {
	const struct ki_counted *e;
	struct perf_event *event; /* in: the new one; out: the old one */
};

/* There, interrupts off. */
static void renew(void *arg)
{
	struct ki_renewal *r = arg;
	struct ki_tally *t = raw_cpu_ptr(r->e->on);
	struct perf_event *old = t->event;
	u64 last = tally(r->e), count;

	if (ki_call(perf_event_read_local)(r->event, &count, NULL, NULL))
		count = 0;
	WRITE_ONCE(t->event, NULL);
	barrier();
	t->base = last - count;
	barrier();
	WRITE_ONCE(t->event, r->event);
	r->event = old;
}

/* A CPU that is not there, or goes meanwhile, counts when it comes. */
static int begin_on(const struct ki_counted *e, int cpu)
{
	struct perf_event_attr attr = e->attr;
	struct ki_renewal r = {.e = e};
	int err = 0;

	r.event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(r.event))
		return cpu_online(cpu) ? PTR_ERR(r.event) : 0;
	if (READ_ONCE(r.event->state) != PERF_EVENT_STATE_ACTIVE && cpu_online(cpu))
		err = -EBUSY;
	else
		smp_call_function_single(cpu, renew, &r, 1);
	if (r.event)
		perf_event_release_kernel(r.event);
	return err;
}

static int on_online(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &ki_event_came);
	schedule_delayed_work(&ki_event_work, 0);
	return 0;
}

/* false: its counters are in use just now. */
static bool renew_stale(const struct ki_counted *e, int cpu)
{
	struct ki_tally *t = per_cpu_ptr(e->on, cpu);

	if (t->stale && cpu_online(cpu))
		t->stale = begin_on(e, cpu);
	return !t->stale || !cpu_online(cpu);
}

static void go_on(struct work_struct *unused)
{
	bool all = true;
	int cpu, i;

	mutex_lock(&ki_lock);
	for_each_possible_cpu (cpu) {
		bool came = cpumask_test_and_clear_cpu(cpu, &ki_event_came);

		for (i = 0; i < KI_EVENTS; i++) {
			if (!ki_events[i])
				continue;
			per_cpu_ptr(ki_events[i]->on, cpu)->stale |= came;
			all &= renew_stale(ki_events[i], cpu);
		}
	}
	mutex_unlock(&ki_lock);
	if (all)
		return;
	pr_warn_once(
		"kerninst: a CPU came back whose counters are in use: an event waits for them\n");
	schedule_delayed_work(&ki_event_work, HZ);
}

/* ---- beginning and end ---- */

static void release(struct ki_counted *e)
{
	int cpu;

	for_each_possible_cpu (cpu) {
		struct perf_event *event = per_cpu_ptr(e->on, cpu)->event;

		if (event)
			perf_event_release_kernel(event);
	}
	free_percpu(e->on);
	kfree(e);
}

static void forget(u32 first, u32 count)
{
	struct ki_counted *e = ki_events[first];

	WRITE_ONCE(ki_events_owned, ki_events_owned & ~BIT(first));
	kick_all_cpus_sync();
	WRITE_ONCE(ki_events[first], NULL);
	kick_all_cpus_sync();
	release(e);
}

/* On each CPU, for the thread that runs there. */
static void own_here(void *event)
{
	const struct ki_counted *e = event;
	const struct ki_thread *t = raw_cpu_read(ki_here.thread);
	u64 now = tally(e);

	raw_cpu_write(e->on->off, now - (t ? t->words[e->word] : 0));
}

/* What perf says of an event, in our words. */
static u16 reason_of(int err)
{
	switch (err) {
	case -EBUSY:
	case -ENOSPC:
		return KI_R_EVENTS_BUSY;
	case -ENOMEM:
		return KI_R_NO_MEMORY;
	default:
		return KI_R_EVENT_UNKNOWN;
	}
}

static int begin_all(const struct ki_counted *e, u32 *reason)
{
	int cpu, err = 0;

	for_each_online_cpu (cpu) {
		err = begin_on(e, cpu);
		if (err)
			return ki_refuse(reason, reason_of(err));
	}
	return 0;
}

/* Software events: which count at all, and whether they tell user from kernel. */
enum { KI_SOFT_COUNTS = 1, KI_SOFT_SIDES = 2 };

static const u8 ki_soft[PERF_COUNT_SW_MAX] = {
	[PERF_COUNT_SW_CPU_CLOCK] = KI_SOFT_COUNTS,
	[PERF_COUNT_SW_TASK_CLOCK] = KI_SOFT_COUNTS,
	[PERF_COUNT_SW_PAGE_FAULTS] = KI_SOFT_COUNTS | KI_SOFT_SIDES,
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = KI_SOFT_COUNTS,
	[PERF_COUNT_SW_CPU_MIGRATIONS] = KI_SOFT_COUNTS,
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = KI_SOFT_COUNTS | KI_SOFT_SIDES,
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = KI_SOFT_COUNTS | KI_SOFT_SIDES,
	[PERF_COUNT_SW_CGROUP_SWITCHES] = KI_SOFT_COUNTS,
};

#define KI_SIDES (KI_EVENT_USER | KI_EVENT_KERNEL)

static u16 check_software(const struct ki_event_req *req)
{
	u8 can;

	if (req->config >= PERF_COUNT_SW_MAX)
		return KI_R_EVENT_UNKNOWN;
	can = ki_soft[array_index_nospec(req->config, PERF_COUNT_SW_MAX)];
	if (!(can & KI_SOFT_COUNTS))
		return KI_R_EVENT_NEVER;
	return req->flags & KI_SIDES && !(can & KI_SOFT_SIDES) ? KI_R_EVENT_SIDE : KI_R_OK;
}

/* What is above 32 bits of the general ones names another unit, perhaps one that must sleep. */
static u16 check_kind(const struct ki_event_req *req)
{
	switch (req->type) {
	case PERF_TYPE_SOFTWARE:
		return check_software(req);
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return req->config >> 32 ? KI_R_EVENT_TYPE : KI_R_OK;
	case PERF_TYPE_RAW:
		return KI_R_OK;
	default:
		return KI_R_EVENT_TYPE;
	}
}

int ki_event_check(struct ki_event_req *req)
{
	const u32 known = KI_SIDES | KI_EVENT_OWN | KI_EVENT_CHECK;
	u16 reason;

	if (req->zero || req->reason || req->flags & ~known ||
	    (req->flags & KI_SIDES) == KI_SIDES) {
		req->reason = KI_R_BAD_REQUEST;
		return -EINVAL;
	}
	req->number = 0;
	reason = check_kind(req);
	return reason ? ki_refuse(&req->reason, reason) : 0;
}

static struct ki_counted *new_event(const struct ki_event_req *req)
{
	struct ki_counted *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);

	if (!e)
		return NULL;
	e->attr = (struct perf_event_attr){
		.size = sizeof(e->attr),
		.type = req->type,
		.config = req->config,
		.pinned = 1,
		.exclude_user = !!(req->flags & KI_EVENT_KERNEL),
		.exclude_kernel = !!(req->flags & KI_EVENT_USER),
	};
	e->on = alloc_percpu_gfp(struct ki_tally, GFP_KERNEL_ACCOUNT);
	if (e->on)
		return e;
	kfree(e);
	return NULL;
}

/* It is known from here on, and goes with its run; at once, if that is all that is asked. */
static int publish(struct ki_session *s, struct ki_counted *e, struct ki_event_req *req)
{
	LIST_HEAD(run);
	u32 number, first;
	int err = ki_slots_take(&ki_event_slots, s, 1, &number, &req->reason);

	if (err) {
		release(e);
		return err;
	}
	list_move(s->runs.prev, &run);
	WRITE_ONCE(ki_events[number], e);
	if (req->flags & KI_EVENT_OWN) {
		err = ki_words_take(s, 1, &first, &req->reason);
		if (err) {
			ki_runs_drop(&run);
			return err;
		}
		e->word = first;
		e->own = true;
		WRITE_ONCE(ki_events_owned, ki_events_owned | BIT(number));
		on_each_cpu(own_here, e, 1);
	}
	if (req->flags & KI_EVENT_CHECK) {
		if (req->flags & KI_EVENT_OWN)
			list_move_tail(s->runs.prev, &run);
		ki_runs_drop(&run);
		return 0;
	}
	list_splice(&run, &s->runs); /* before its word: so it goes first */
	req->number = number;
	return 0;
}

int ki_event_take(struct ki_session *s, struct ki_event_req *req)
{
	struct ki_counted *e = new_event(req);
	int err;

	lockdep_assert_held(&ki_lock);
	req->reason = KI_R_OK;
	if (!e)
		return ki_refuse(&req->reason, KI_R_NO_MEMORY);
	err = begin_all(e, &req->reason);
	if (!err)
		return publish(s, e, req);
	release(e);
	return err;
}

int ki_events_init(void)
{
	int err;

	ki_slots_init(&ki_event_slots, KI_EVENTS);
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "kerninst:online", on_online, NULL);
	if (err < 0)
		return err;
	ki_event_state = err;
	return 0;
}

void ki_events_exit(void)
{
	cpuhp_remove_state_nocalls(ki_event_state);
	cancel_delayed_work_sync(&ki_event_work);
}
